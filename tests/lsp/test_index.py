"""The index: a view that never changes, and the work of keeping it, over real folders."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsp_client import within

from mercury_lsp.background import Background
from mercury_lsp.definitions import Definition, Source
from mercury_lsp.index import Table, View
from mercury_lsp.indexing import Indexing

SECRET = "def topmost_secret(): ...\n"


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have rules of their own."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))


def write(top: Path, **files: str) -> None:
    """`a__b_py="…"` is written to `a/b.py`."""
    for name, text in files.items():
        path = top / (name.replace("__", "/")[:-3] + "." + name[-2:])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def indexed(top: Path, indexing: Indexing | None = None) -> Indexing:
    indexing = indexing or Indexing()
    indexing.look_through([str(top)])
    return worked(indexing)


def worked(indexing: Indexing) -> Indexing:
    while indexing.step():
        pass
    return indexing


def paths(indexing: Indexing, name: str) -> list[str]:
    return sorted(Path(each.source.path).name for each in indexing.view.find(name))


def opened(indexing: Indexing, path: Path, text: str) -> None:
    indexing.open(Source(str(path), str(path), "python"), text)
    worked(indexing)


# ------------------------------------------------------------------------------------------------ view and table


def define(file: str, *names: str) -> Sequence[Definition]:
    return [Definition(name, Source(file, file, "python"), f"def {name}(): ...") for name in names]


Step = tuple[str, tuple[str, ...]]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.lists(st.sampled_from(["walk", "total", "other"]), max_size=4)), max_size=12))
def test_a_table_says_what_its_files_say(steps: list[tuple[str, list[str]]]) -> None:
    table, files = Table(), dict[str, list[str]]()
    for file, names in steps:
        before, known = table.view, {name: table.view.find(name) for name in ("walk", "total", "other")}
        if names:
            table.put(file, 1, define(file, *names))
            files[file] = names
        else:
            table.drop(file)
            files.pop(file, None)
        assert {name: before.find(name) for name in known} == known  # a view that somebody holds stays as it is
    for name in ("walk", "total", "other"):
        expected = sorted(file for file, names in files.items() for each in names if each == name)
        assert sorted(each.source.key for each in table.view.find(name)) == expected


def test_a_full_table_takes_no_more_definitions() -> None:
    table = Table(most_files=2)
    for file in "abc":
        table.put(file, 1, define(file, "total"))
    assert [each.source.key for each in table.view.find("total")] == ["a", "b"] and table.is_full
    table.drop("a")
    table.drop("c")
    table.put("d", 1, define("d", "total"))
    assert [each.source.key for each in table.view.find("total")] == ["b", "d"]


def test_a_table_is_bounded_in_bytes() -> None:
    table = Table(most_bytes=100_000)
    for number in range(1_000):
        table.put(f"{number}", 1, [Definition(f"name_{number}", Source("f", "f", "python"), "x" * 1_000)])
    assert 50 < sum(bool(table.view.find(f"name_{number}")) for number in range(1_000)) < 80


def test_an_empty_view_finds_nothing() -> None:
    assert View().find("total") == ()


# ------------------------------------------------------------------------------------------------ files


def test_a_workspace_is_read(tmp_path: Path) -> None:
    write(tmp_path, a_py="def total(): ...\n", deep__er__b_py="def total(): ...\n", c_go="package c\nfunc total() {}\n")
    assert paths(indexed(tmp_path), "total") == ["a.py", "b.py", "c.go"]


def test_what_is_not_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        node_modules__a_js="function total() {}\n",
        dot__b_py="def total(): ...\n",
        venv__c_py="def total(): ...\n",
        long_py="def total(): ...\nx = '" + "x" * 1_000 + "'\n",
        large_py="def total(): ...\n" * 40_000,
    )
    (tmp_path / "dot").rename(tmp_path / ".dot")
    (tmp_path / "venv" / "pyvenv.cfg").write_text("")
    (tmp_path / "binary.py").write_bytes(b"def total(): ...\n\xff")
    (tmp_path / "zero.py").write_bytes(b"def total(): ...\n\0")
    (tmp_path / "link.py").symlink_to(tmp_path / "venv" / "c.py")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert paths(indexed(tmp_path), "total") == []


@pytest.mark.parametrize("folder", ["~", "~/..", "/"])
def test_a_home_is_no_workspace(folder: str) -> None:
    home = Path(os.environ["HOME"])
    write(home, a_py="def total(): ...\n")
    assert paths(indexed(Path(os.path.realpath(folder.replace("~", str(home))))), "total") == []


def test_line_ends_and_byte_order_marks_are_none_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"\xef\xbb\xbfdef total():\r\n    return 1\r\n")
    (found,) = indexed(tmp_path).view.find("total")
    assert found.text == "def total():\n    return 1"


def test_a_pipe_with_a_files_name_is_left_alone(tmp_path: Path) -> None:
    indexing = indexed(tmp_path)
    os.mkfifo(tmp_path / "pipe.py")
    indexing.touch(str(tmp_path / "pipe.py"))
    assert paths(indexed(tmp_path, indexing), "total") == []


def test_what_happens_on_disk_is_followed(tmp_path: Path) -> None:
    write(tmp_path, a_py="def total(): ...\n", deep__b_py="def total(): ...\n")
    indexing = indexed(tmp_path)
    write(tmp_path, a_py="def other(): ...\n", c_py="def total(): ...\n", node_modules__d_py="def total(): ...\n")
    for name in ("a.py", "c.py", "node_modules/d.py", "gone.py"):
        indexing.touch(str(tmp_path / name))
    assert paths(worked(indexing), "total") == ["b.py", "c.py"]
    (tmp_path / "deep" / "b.py").unlink()
    (tmp_path / "deep").rmdir()
    indexing.touch(str(tmp_path / "deep"))
    assert paths(worked(indexing), "total") == ["c.py"] and paths(indexing, "other") == ["a.py"]


def test_looking_through_again_reads_what_changed_and_forgets_what_went(tmp_path: Path) -> None:
    write(tmp_path, a_py="def total(): ...\n", b_py="def total(): ...\n", c_py="def total(): ...\n")
    indexing = indexed(tmp_path)
    (tmp_path / "a.py").unlink()
    write(tmp_path, b_py="def other(): ...\n")
    os.utime(tmp_path / "b.py", ns=(1, 1))
    assert paths(indexed(tmp_path, indexing), "total") == ["c.py"]
    assert paths(indexing, "other") == ["b.py"]


def test_folders_come_and_go(tmp_path: Path) -> None:
    write(tmp_path, one__a_py="def total(): ...\n", two__b_py="def total(): ...\n")
    indexing = indexed(tmp_path / "one")
    assert paths(indexed(tmp_path / "two", indexing), "total") == ["b.py"]


def test_an_open_document_counts_as_it_is_in_the_editor(tmp_path: Path) -> None:
    write(tmp_path, a_py="def total(): ...\n")
    indexing = indexed(tmp_path)
    opened(indexing, tmp_path / "a.py", "def other(): ...\n")
    write(tmp_path, a_py="def third(): ...\n")
    indexing.touch(str(tmp_path / "a.py"))
    indexed(tmp_path, indexing)
    assert [paths(indexing, name) for name in ("total", "other", "third")] == [[], ["a.py"], []]
    indexing.close(str(tmp_path / "a.py"))
    worked(indexing)
    assert [paths(indexing, name) for name in ("total", "other", "third")] == [[], [], ["a.py"]]


def test_a_document_that_is_no_file_is_forgotten_when_it_is_closed() -> None:
    indexing = Indexing()
    indexing.open(Source("untitled:Untitled-1", "Untitled-1", "python"), "def total(): ...\n")
    assert paths(worked(indexing), "total") == ["Untitled-1"]
    indexing.close("untitled:Untitled-1")
    assert paths(worked(indexing), "total") == []


# ------------------------------------------------------------------------------------------------ privacy


@pytest.mark.parametrize(
    ("rules", "name"),
    [
        (".gitignore", "private.py"),
        (".gitignore", "/private.py"),
        (".mercuryignore", "priv*"),
        ("deep/.gitignore", "private.py"),
        (".gitignore", "deep/"),
        (".gitignore", "/deep"),
        (".gitignore", "**/private.py"),
        (".git/info/exclude", "private.py"),
    ],
)
def test_ignored_files_are_not_read(tmp_path: Path, rules: str, name: str) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    write(tmp_path, deep__private_py=SECRET, private_py=SECRET, deep__open_py="def total(): ...\n")
    (tmp_path / rules).write_text(name + "\n")
    shown = paths(indexed(tmp_path), "topmost_secret")
    in_deep = name in ("deep/", "/deep") or rules.startswith("deep")
    assert len(shown) == (1 if in_deep or name == "/private.py" else 0)
    assert paths(indexed(tmp_path), "total") == ([] if name in ("deep/", "/deep") else ["open.py"])


def test_secrets_by_name_are_not_read(tmp_path: Path) -> None:
    write(tmp_path, credentials__a_py=SECRET)
    (tmp_path / ".env.py").write_text(SECRET)
    (tmp_path / "id_rsa.py").write_text(SECRET)
    assert paths(indexed(tmp_path), "topmost_secret") == []


def test_rules_that_change_are_heeded(tmp_path: Path) -> None:
    write(tmp_path, private_py=SECRET, shown_py=SECRET, open_py="def total(): ...\n")
    indexing = indexed(tmp_path)
    opened(indexing, tmp_path / "private.py", SECRET)
    assert paths(indexing, "topmost_secret") == ["private.py", "shown.py"]
    for rules, left in (("private.py\nshown.py\n", []), ("", ["shown.py"])):
        (tmp_path / ".mercuryignore").write_text(rules)
        os.utime(tmp_path / ".mercuryignore", ns=(len(rules) + 1, len(rules) + 1))
        indexing.touch(str(tmp_path / ".mercuryignore"))
        assert paths(worked(indexing), "topmost_secret") == left
    assert paths(indexing, "total") == ["open.py"]


def test_an_ignored_document_is_not_read_though_it_is_open(tmp_path: Path) -> None:
    (tmp_path / ".mercuryignore").write_text("private.py")
    indexing = Indexing()
    opened(indexing, tmp_path / "private.py", SECRET)
    assert paths(indexing, "topmost_secret") == []


# ------------------------------------------------------------------------------------------------ in the background


def test_the_background_works_sleeps_and_is_woken() -> None:
    left, done = [3], threading.Event()

    def step() -> bool:
        if not left[0]:
            done.set()
            return False
        left[0] -= 1
        if left[0] == 1:
            raise OSError("a file that cannot be read")
        return True

    background = Background(step, lambda: False)
    assert not done.wait(0.05)
    background.start()
    assert done.wait(30) and left == [0]
    done.clear()
    left[0] = 1
    background.wake()
    assert done.wait(30) and left == [0]
    background.close()


def test_the_background_rests_while_something_else_matters() -> None:
    busy, steps = threading.Event(), [0]
    busy.set()

    def step() -> bool:
        steps[0] += 1
        background.pause()
        return steps[0] < 5

    background = Background(step, busy.is_set)
    background.start()
    assert not within(lambda: steps[0] > 1, 0.2)
    busy.clear()
    assert within(lambda: steps[0] == 5)
    background.close()
