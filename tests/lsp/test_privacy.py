"""Files that stay out of prompts."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mercury_lsp.privacy import Privacy

IGNORES = {
    ".gitignore": "build/\n*.log\n!keep.log\n/lib/only.py\n",
    "lib/.gitignore": "!very.log\n*.tmp\n",
    ".mercuryignore": "private/\n",
}
FILES = "a.py build/x.py lib/build/keep.log z.log keep.log lib/very.log lib/only.py only.py lib/q.tmp q.tmp lib/deep/q.tmp".split()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, rules in IGNORES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(rules)
    return tmp_path


def test_ignored_as_git_ignores(project: Path) -> None:
    subprocess.run(["git", "init", "-q", project], check=True)
    asked = subprocess.run(["git", "-C", project, "check-ignore", *FILES], capture_output=True, text=True, check=True)
    hidden = [name for name in FILES if Privacy().hides(str(project / name))]
    assert hidden == asked.stdout.split() != []


def test_our_own_ignore_file(project: Path) -> None:
    assert Privacy().hides(str(project / "private/a.py")) and not Privacy().hides(str(project / "public/a.py"))


def test_an_ignore_file_that_changes_is_read_again(project: Path) -> None:
    privacy, path = Privacy(), str(project / "a.py")
    assert not privacy.hides(path)
    (project / ".gitignore").write_text("a.py\n")
    os.utime(project / ".gitignore", ns=(1, 1))
    assert privacy.hides(path)
    (project / ".gitignore").unlink()
    assert not privacy.hides(path)


SECRETS = ".env .env.local prod.env server.pem SERVER.KEY id_rsa id_ed25519.pub credentials.json .aws/config".split()


@pytest.mark.parametrize("name", SECRETS)
def test_secrets_go_by_name(tmp_path: Path, name: str) -> None:
    assert Privacy().hides(str(tmp_path / name))


@pytest.mark.parametrize("name", ["env.py", "environment.ts", "credentials.py", "key.go", "identity.rs"])
def test_source_is_no_secret(tmp_path: Path, name: str) -> None:
    assert not Privacy().hides(str(tmp_path / name))


def test_a_link_to_a_secret_is_one(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("TOKEN=1")
    (tmp_path / "notes.txt").symlink_to(".env")
    assert Privacy().hides(str(tmp_path / "notes.txt"))
