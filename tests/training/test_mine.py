"""Commits to cases of next edits: what is learnt from, what is left alone, and that no answer is in the text before it."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from engine.training.corpus import digest_of, is_held_out
from engine.training.edit_cases import EditCase, read_cases, rewriting
from engine.training.histories import read_commits
from engine.training.mine import mine

SHAPES = '''"""Shapes of a drawing."""

import math


class Circle:
    """A round shape."""

    def __init__(self, radius):
        self.radius = radius

    def area(self):
        """How much it covers."""
        return math.pi * self.radius ** 2

    def outline(self):
        """How long its edge is."""
        return 2 * math.pi * self.radius

    def scaled(self, factor):
        """One that is so many times as large."""
        return Circle(self.radius * factor)


def largest(circles):
    """The circle with the largest radius."""
    return max(circles, key=lambda circle: circle.radius)
'''


class Repository:
    """A repository to commit to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q")

    def git(self, *arguments: str) -> str:
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        command = ["git", "-C", str(self.folder), *who, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def commit(self, subject: str, **files: str) -> None:
        for name, text in files.items():
            path = self.folder / name.replace("__", "/").replace("_py", ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)

    def cases(self, most: int = 100) -> list[EditCase]:
        return mine(self.folder / ".git", "owner+repo", most, seed=0)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "owner+repo")
    made.commit("First shapes", shapes_py=SHAPES)
    return made


def trained_on(text: str) -> str:
    """The text with a comment at the end that puts it on the training side."""
    return next(tried for number in range(99) if not is_held_out(digest_of(tried := f"{text}# {number}\n")))


RENAMED = trained_on(SHAPES.replace("radius", "extent"))


def test_the_other_changes_of_a_commit_lead_to_a_change(repository: Repository) -> None:
    repository.commit("Rename radius", shapes_py=RENAMED)
    followed = [case for case in repository.cases() if case.kind == "follow"]
    assert followed
    for case in followed:
        drawn = rewriting(case, random.Random(1), prefix_lines=30, suffix_lines=30)
        assert drawn is not None and "radius" in drawn.region and "extent" in drawn.answer
        assert drawn.prefix + drawn.region + drawn.suffix == case.text
        assert case.history and all("+" in edit.diff and "extent" in edit.diff for edit in case.history)
        target = next(change for change in case.due if change.first == case.first)
        assert "\n".join(target.lines) in drawn.answer


def test_a_change_that_was_begun_is_gone_on_with(repository: Repository) -> None:
    body = "\n    def grown(self, factor):\n        radius = self.radius * factor\n        return Circle(radius)\n"
    repository.commit("Growing", shapes_py=trained_on(SHAPES.replace("\n\ndef largest", f"{body}\n\ndef largest")))
    begun = [case for case in repository.cases() if case.kind == "continue"]
    assert begun
    drawn = rewriting(begun[0], random.Random(0), prefix_lines=30, suffix_lines=30)
    assert drawn is not None and drawn.cursor is not None
    assert drawn.answer.startswith(drawn.region[: drawn.cursor]) and len(drawn.answer) > len(drawn.region)
    assert "return Circle(radius)" in drawn.answer


def test_what_is_made_as_a_whole_leaves_nothing_to_do(repository: Repository) -> None:
    repository.commit("Rename radius", shapes_py=RENAMED)
    case = next(case for case in repository.cases() if case.kind == "nothing")
    drawn = rewriting(case, random.Random(0), prefix_lines=0, suffix_lines=0)
    assert drawn is not None and drawn.answer == drawn.region and "radius" not in case.text and case.history


@pytest.mark.parametrize("subject", ["Bump version to 2.0", "Reformat with black", "Revert the renaming", "Update translations"])
def test_commits_without_a_reason_in_the_text_are_left_out(repository: Repository, subject: str) -> None:
    repository.commit(subject, shapes_py=RENAMED)
    assert repository.cases() == []


@pytest.mark.parametrize(
    "files",
    [
        {"shapes_py": trained_on(SHAPES.replace("    ", "\t"))},  # nothing but white space
        {"vendor__shapes_py": RENAMED},
        {"shapes_py": RENAMED + "\ndef has_close_elements(numbers):\n    return numbers\n"},  # an evaluation set's
    ],
)
def test_files_that_teach_nothing_or_must_not_are_left_out(repository: Repository, files: dict[str, str]) -> None:
    repository.commit("Add a copy", vendor__shapes_py=SHAPES)
    repository.commit("Change things", **files)
    assert repository.cases() == []


def test_a_file_that_is_held_out_gives_no_case(repository: Repository) -> None:
    held = next(tried for number in range(9_999) if is_held_out(digest_of(tried := f"{RENAMED}# {number}\n")))
    repository.commit("Rename radius", shapes_py=held)
    assert repository.cases() == []
    assert mine(repository.folder / ".git", "owner+repo", 100, seed=0, held_out=True)


def test_the_command_writes_a_line_a_case_and_the_same_again(repository: Repository, tmp_path: Path) -> None:
    repository.commit("Rename radius", shapes_py=RENAMED)
    listing = tmp_path / "repositories.json"
    listing.write_text(json.dumps([{"name": "owner+repo", "git_dir": str(repository.folder / ".git")}]))
    written = []
    for source in (listing, tmp_path):
        out = tmp_path / f"{source.name}.jsonl"
        command = [sys.executable, "-m", "engine.training.mine", "--repositories", str(source), "--out", str(out)]
        subprocess.run(command, check=True, capture_output=True)
        written.append(read_cases(out))
    assert written[0] and written[0] == written[1]


def test_a_commit_whose_text_the_repository_lacks_costs_only_itself(repository: Repository, caplog: pytest.LogCaptureFixture) -> None:
    for number in range(6):
        repository.commit(f"Set x to {number}", a_py=f"x = {number}\n")
    names = repository.git("rev-list", "HEAD").split()
    blob = repository.git("rev-parse", f"{names[3]}:a.py").strip()
    (repository.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    found = [commit.name for commit in read_commits(repository.folder / ".git", names[:-1], ["py"])]
    assert found == [names[0], names[1], names[4]]  # two commits touch the text that is gone
    assert names[2] in caplog.text and names[3] in caplog.text and blob in caplog.text
