"""Puts what the VS Code tests need into a cache folder, from the package registries: code-server without its native builds, and a browser.

Node comes with the test environment. Run as a program; does nothing where all is there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSION = "4.139.1"
CACHE = Path(os.environ.get("MERCURY_EDITORS") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mercury-lsp-editors")
CODE_SERVER = CACHE / f"code-server-{VERSION}" / "node_modules" / "code-server"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BIN = Path(sys.executable).parent
# The scripts would compile native parts. Without them files are watched less well, and what writes logs is one of our own.
NPM = ("npm", "install", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


def browser() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def run(*command: str, at: Path) -> None:
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run([shutil.which(command[0], path=environment["PATH"]) or command[0], *command[1:]], cwd=at, env=environment, check=True)


def install_code_server() -> None:
    stamp = CODE_SERVER / ".installed"
    if stamp.exists():
        return
    home = CODE_SERVER.parent.parent
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    (home / "package.json").write_text('{"private": true}')
    print(f"installing code-server {VERSION} into {home}", flush=True)
    run(*NPM, f"code-server@{VERSION}", at=home)
    run(*NPM, at=CODE_SERVER / "lib" / "vscode")
    run(*NPM, at=CODE_SERVER / "lib" / "vscode" / "extensions")
    stamp.touch()


def install_log_writer() -> None:
    modules = CODE_SERVER / "lib" / "vscode" / "node_modules"
    shutil.copy(Path(__file__).parent / "log_writer.cjs", modules / "@vscode" / "spdlog" / "index.js")


def install_browser() -> None:
    if browser() is not None:
        return
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("apt-get") is None:
        sys.exit("the VS Code tests need Chromium on PATH: install your system's package, on Debian `apt-get install chromium`")
    run("apt-get", "update", "-qq", at=Path("/"))
    run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium", "fonts-dejavu-core", at=Path("/"))


if __name__ == "__main__":
    install_code_server()
    install_log_writer()
    install_browser()
