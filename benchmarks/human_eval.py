"""Tasks of the public HumanEval-Infilling format: read from a file, filled by a model, judged by their own tests.

Such a file is for measuring only: `engine.training.guard` keeps it out of training.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import msgspec

from benchmarks.figures import Share, quotient, share_of, similarity
from benchmarks.infilling import Contender
from benchmarks.limited import Limits, Verdict, verdict_of
from engine.api import InfillRequest, SettingInvalid, StopFlag

_MOST_TOKENS = 256  # a multi-line middle may be a whole function


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A function with a hole: `prompt` before it, `canonical_solution` in it, `suffix` after it, `test` defines `check`."""

    task_id: str
    entry_point: str
    prompt: str
    suffix: str
    canonical_solution: str
    test: str

    @property
    def subset(self) -> str:
        """`SingleLineInfilling` of `SingleLineInfilling/HumanEval/0/L0`."""
        return self.task_id.partition("/")[0]

    @property
    def line(self) -> bool:
        """Whether the hole is one whole line with its break."""
        return self.subset.startswith("SingleLine") and self.canonical_solution.endswith("\n")

    def request(self) -> InfillRequest:
        """A whole line's break is left where an editor has it: after the cursor."""
        return InfillRequest(
            prefix=self.prompt,
            suffix="\n" + self.suffix if self.line else self.suffix,
            path="solution.py",
            multiline=not self.line,
            max_tokens=_MOST_TOKENS,
        )

    def program(self, middle: str) -> str:
        """What the public evaluation runs."""
        return f"{self.prompt}{middle}{self.suffix}\n{self.test}\ncheck({self.entry_point})\n"


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one task."""

    subset: str
    verdict: Verdict
    exact: bool
    similarity: float
    tokens: int
    forwards: int


class Passed(msgspec.Struct, frozen=True, kw_only=True):
    """Averages over the tasks of a subset: pass@1 of greedy drafts, and what they cost."""

    passed: Share
    timeouts: int
    exact: float
    similarity: float
    tokens_a_forward: float | None


def read_tasks(path: Path) -> list[Task]:
    """The tasks of a `.jsonl` or `.jsonl.gz` file. Raises `SettingInvalid` that names the file and the line."""
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError) as error:
        raise SettingInvalid(f"{path}: cannot be read ({error})") from None
    tasks = []
    for number, line in enumerate(raw.splitlines(), 1):
        if not line.strip():
            continue
        try:
            tasks.append(msgspec.json.decode(line, type=Task))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise SettingInvalid(f"{path}, line {number}: not a task of HumanEval-Infilling ({error})") from None
    return tasks


def attempt(contender: Contender, task: Task, limits: Limits = Limits()) -> Trial:  # noqa: B008 (a frozen value)
    """Fill one task and run its tests."""
    draft = contender.engine.infill(task.request(), StopFlag())
    middle = draft.text + "\n" if task.line else draft.text
    return Trial(
        subset=task.subset,
        verdict=verdict_of(task.program(middle), limits),
        exact=middle == task.canonical_solution,
        similarity=similarity(middle, task.canonical_solution),
        tokens=draft.tokens,
        forwards=draft.forwards,
    )


def summary(trials: list[Trial]) -> dict[str, Passed]:
    """By subset."""
    subsets = dict.fromkeys(trial.subset for trial in trials)
    return {subset: _passed([trial for trial in trials if trial.subset == subset]) for subset in subsets}


def _passed(trials: list[Trial]) -> Passed:
    return Passed(
        passed=share_of(trial.verdict == "passed" for trial in trials),
        timeouts=sum(trial.verdict == "timeout" for trial in trials),
        exact=sum(trial.exact for trial in trials) / len(trials),
        similarity=sum(trial.similarity for trial in trials) / len(trials),
        tokens_a_forward=quotient(sum(trial.tokens for trial in trials), sum(trial.forwards for trial in trials)),
    )
