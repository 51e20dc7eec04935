"""Cases of next edits from the commit histories of repositories.

python -m engine.training.mine --repositories FOLDER_OR_JSON --out FILE.jsonl
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from engine.training.corpus import SUFFIXES, language_of
from engine.training.edit_cases import EditCase, write_cases
from engine.training.guard import quotes_evaluation_set
from engine.training.histories import Commit, Window, draw_commits, held_out_paths, read_commits
from engine.training.moments import begun, finished, followers
from engine.training.worth import is_source, is_worth

_COMMITS = 6_000  # of a repository, looked at
_PROSE = frozenset({"markdown", "yaml", "json", "toml", "html"})  # changes in them seldom follow from others
_KEPT_PROSE = 0.15
_KINDS = {"follow": 0.55, "continue": 0.25, "nothing": 0.20}  # shares of a repository's cases, at most


def mine(git_dir: Path, repo: str, most: int, seed: int, *, held_out: bool = False) -> list[EditCase]:
    """Up to `most` cases of one repository. Files whose text is kept from training give none, unless the whole repository is `held_out`."""
    rng = random.Random(f"{seed}/{repo}")
    room = Counter({kind: int(most * share) for kind, share in _KINDS.items()})
    cases: list[EditCase] = []
    for commit in read_commits(git_dir, draw_commits(git_dir, _COMMITS, rng), SUFFIXES):
        for case in cases_of(commit, rng):
            if room[case.kind] > 0 and (case.language not in _PROSE or rng.random() < _KEPT_PROSE):
                room[case.kind] -= 1
                cases.append(replace(case, repo=repo))
        if not any(room.values()):
            break
    kept_back = set() if held_out else held_out_paths(git_dir, sorted({case.path for case in cases}))
    return [case for case in cases if case.path not in kept_back]


def cases_of(commit: Commit, rng: random.Random) -> Iterator[EditCase]:
    """The cases of a commit, none where it teaches nothing or quotes an evaluation set."""
    if not is_worth(commit):
        return
    windows = [window for window in commit.windows if language_of(window.path) and is_source(window.path)]
    if not windows or any(quotes_evaluation_set(window.path, _text(window)) for window in windows):
        return
    for case in (*followers(windows, rng), *begun(windows, rng), *finished(windows, rng)):
        yield replace(case, commit=commit.name[:12])


def _text(window: Window) -> str:
    return "\n".join([*window.lines, *(line for change in window.changes for line in change.lines)])


def _repositories(source: Path) -> list[tuple[str, Path]]:
    """(name, git directory) of each: from a JSON list of {name, git_dir}, or the folders in a folder."""
    if source.is_file():
        return [(entry["name"], Path(entry["git_dir"])) for entry in json.loads(source.read_text())]
    found = [
        (folder.name, next((git for git in (folder / ".git", folder / "repo", folder) if (git / "HEAD").exists()), None))
        for folder in sorted(source.iterdir())
        if folder.is_dir()
    ]
    return [(name, git) for name, git in found if git is not None]


def _all(repositories: list[tuple[str, Path]], arguments: argparse.Namespace) -> Iterator[EditCase]:
    for number, (name, git_dir) in enumerate(repositories):
        cases = mine(git_dir, name, arguments.cases, arguments.seed, held_out=arguments.held_out)
        counts = Counter(case.kind for case in cases)
        print(f"{number + 1}/{len(repositories)} {name}: {dict(counts)}", file=sys.stderr, flush=True)
        yield from cases


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cases", type=int, default=300, help="of a repository, at most")
    parser.add_argument("--most-megabytes", type=int, default=250)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--held-out", action="store_true", help="the repositories are set apart as a whole, for evaluation")
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    count = write_cases(arguments.out, _all(_repositories(arguments.repositories), arguments), arguments.most_megabytes * 1_000_000)
    print(f"{count} cases", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
