"""Files that stay out of prompts."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mercury_lsp.privacy import Privacy
from mercury_lsp.uris import path_of

IGNORES = {
    ".gitignore": "build/\n*.log\n!keep.log\n/lib/only.py\n",
    "lib/.gitignore": "!very.log\n*.tmp\n",
    ".mercuryignore": "private/\n",
}
FILES = "a.py build/x.py lib/build/keep.log z.log keep.log lib/very.log lib/only.py only.py lib/q.tmp q.tmp lib/deep/q.tmp".split()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user whose configuration is the test's."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return home


@pytest.fixture
def project(tmp_path: Path) -> Path:
    top = tmp_path / "project"
    for name, rules in IGNORES.items():
        (top / name).parent.mkdir(exist_ok=True, parents=True)
        (top / name).write_text(rules)
    return top


def git(*command: str | Path) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    return subprocess.run(["git", *identity, *command], capture_output=True, text=True, check=True).stdout


def check_as_git(project: Path, *files: str) -> None:
    """What is hidden is what git ignores, and that is neither nothing nor everything."""
    hidden = [name for name in files if Privacy().hides(str(project / name))]
    assert hidden == git("-C", project, "check-ignore", *files).splitlines() != []
    assert hidden != list(files)


def test_ignored_as_git_ignores(project: Path) -> None:
    git("init", "-q", project)
    check_as_git(project, *FILES)


@pytest.mark.parametrize("line", ["!", "\\", "foo\\", "[z-a]", "[a", "[a-\\]", "//", "\x00", "[[:alpha:]"])
def test_a_line_that_is_no_pattern_is_passed_over(project: Path, line: str, capfd: pytest.CaptureFixture[str]) -> None:
    git("init", "-q", project)
    (project / ".gitignore").write_text(f"{line}\n*.log\n{line}\n!keep.log\n")
    check_as_git(project, "foo", "a.py", "x.log", "keep.log")
    assert capfd.readouterr().err == ""


def test_the_repositorys_own_exclude_file(project: Path) -> None:
    git("init", "-q", project)
    (project / ".git/info/exclude").write_text("/excluded.py\n!z.log\n!very.log\n")
    check_as_git(project, "excluded.py", "lib/excluded.py", *FILES)


CONFIGS = [
    "[core]\n\texcludesFile = {ignore}\n",
    '[core]\n\texcludesfile="{ignore}" ; mine\n',
    '[CORE] ExcludesFile = {ignore} # mine\n[core "x"]\n\texcludesFile = /nowhere\n',
    "[core]\n\texcludesFile = /nowhere\n\texcludesFile = ~/rules\n",
    "[include]\n\tpath = more\n[core]\n\teditor = vi\n",
]


@pytest.mark.parametrize("config", CONFIGS)
def test_the_users_exclude_file(project: Path, home: Path, config: str) -> None:
    git("init", "-q", project)
    (home / ".gitconfig").write_text(config.format(ignore=home / "rules"))
    (home / "more").write_text(CONFIGS[0].format(ignore=home / "rules"))
    (home / "rules").write_text("mine.*\n!z.log\n")
    check_as_git(project, "mine.py", "lib/mine.rs", "other.py", "z.log")


def test_the_users_exclude_file_at_its_usual_place(project: Path, home: Path) -> None:
    git("init", "-q", project)
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("mine.py\n")
    check_as_git(project, "mine.py", "other.py")
    git("-C", project, "config", "core.excludesFile", "own")  # relative to the top
    (project / "own").write_text("other.py\n")
    check_as_git(project, "mine.py", "other.py")


def test_another_work_tree(project: Path, tmp_path: Path) -> None:
    git("init", "-q", project)
    git("-C", project, "commit", "-q", "--allow-empty", "-m", "a")
    git("-C", project, "worktree", "add", "-q", tmp_path / "second")
    (project / ".git/info/exclude").write_text("excluded.py\n")
    check_as_git(tmp_path / "second", "excluded.py", "a.py")


def test_a_configuration_that_changes_is_read_again(project: Path, home: Path) -> None:
    git("init", "-q", project)
    privacy, path = Privacy(), str(project / "a.py")
    (home / "rules").write_text("a.py\n")
    assert not privacy.hides(path)
    git("-C", project, "config", "core.excludesFile", "~/rules")
    assert privacy.hides(path)


def test_a_link_into_an_ignored_folder(project: Path) -> None:
    (project / "build").mkdir()
    (project / "link").symlink_to("build")
    assert Privacy().hides(str(project / "link/x.py")) and not Privacy().hides(str(project / "x.py"))


@pytest.mark.parametrize(
    "scheme", ["file://", "FILE://", "file://localhost", "untitled:", "vscode-notebook-cell:", "vscode-remote://ssh%2Bh", "oil://"]
)
def test_a_uri_of_any_scheme(project: Path, scheme: str) -> None:
    hidden = [
        name for name in (".env", "build/x.py#W0", "a%2elog", "a.py", "a.py#W0") if Privacy().hides(path_of(f"{scheme}{project}/{name}"))
    ]
    assert hidden == [".env", "build/x.py#W0", "a%2elog"]


@pytest.mark.parametrize(("path", "hidden"), [("Untitled-1", False), (".env", True), ("", False), ("/a\0b", False), ("/a\0/.env", True)])
def test_what_is_no_path_in_the_file_system_goes_by_name(path: str, hidden: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".gitignore").write_text("*\n")  # of a folder that has nothing to do with it
    assert Privacy().hides(path) is hidden


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


SECRETS = """
.env .env.local prod.env server.pem SERVER.KEY id_rsa id_ed25519.pub credentials.json .aws/config .git/config .git/modules/sub/config
.docker/config.json .dockercfg kubeconfig staging.kubeconfig .kube/config main.tfvars main.tfvars.json terraform.tfstate.backup
.bash_history .zsh_history .histfile .python_history fish/fish_history .netrc .npmrc .pypirc .my.cnf .config/gh/hosts.yml
""".split()


@pytest.mark.parametrize("name", SECRETS)
def test_secrets_go_by_name(tmp_path: Path, name: str) -> None:
    assert Privacy().hides(str(tmp_path / name))


SOURCE = (
    "env.py environment.ts credentials.py key.go identity.rs kubeconfig.go history.py config.json src/config main.tf .git/COMMIT_EDITMSG"
)


@pytest.mark.parametrize("name", SOURCE.split())
def test_source_is_no_secret(tmp_path: Path, name: str) -> None:
    assert not Privacy().hides(str(tmp_path / name))


def test_a_link_to_a_secret_is_one(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("TOKEN=1")
    (tmp_path / "notes.txt").symlink_to(".env")
    assert Privacy().hides(str(tmp_path / "notes.txt"))


@pytest.mark.parametrize(
    ("glob", "hidden"),
    [
        ("a.py", "a.py"),  # from the top on
        ("**/a.py", "a.py lib/a.py lib/gen/a.py"),
        ("*.py", "a.py"),
        ("lib", "lib/a.py lib/b.js lib/gen/a.py"),
        ("./lib/gen/", "lib/gen/a.py"),
        ("**/gen/**", "lib/gen/a.py"),
        ("**/*.{js,ts}", "lib/b.js"),
        ("{lib,other}/{a.py,{b,c}.js}", "lib/a.py lib/b.js"),
        ("**/[ab].?s", "lib/b.js"),
        ("!a.py", ""),
        ("", ""),
        ("[z-a]", ""),
    ],
)
def test_globs_of_an_editors_kind(tmp_path: Path, glob: str, hidden: str) -> None:
    top, outside = tmp_path / "top", tmp_path / "lib"
    privacy = Privacy()
    assert not any(privacy.hides(str(top / name)) for name in ("a.py", "lib/b.js"))
    privacy.exclude([glob], [str(top)])
    files = "a.py lib/a.py lib/b.js lib/gen/a.py"
    assert " ".join(name for name in files.split() if privacy.hides(str(top / name))) == hidden
    assert not privacy.hides(str(outside / "a.py"))
    sieve = privacy.sieve(top)
    assert [sieve("a.py", False), sieve("lib", True)] == ["a.py" in hidden.split(), glob == "lib"]
    privacy.exclude([], [str(top)])
    assert not any(privacy.hides(str(top / name)) for name in files.split())


def test_braces_beside_each_other_do_not_take_for_ever() -> None:
    privacy = Privacy()
    privacy.exclude(["{a,b}" * 40], ["/top"])
    assert privacy.hides("/top/" + "a" * 40) and not privacy.hides("/top/" + "c" * 40)
