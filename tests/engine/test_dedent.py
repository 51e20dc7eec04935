"""A draft, and where it leaves its block: `|` marks the end."""

from __future__ import annotations

import pytest

from engine.dedent import ended


@pytest.mark.parametrize(
    ("dedent", "marked"),
    [
        (4, "a()\n    return b|\n\n\ndef g():"),
        (4, "a()|\nb"),
        (4, "a()|\n\n  \n b"),
        (4, "a()\n\treturn b|\n  c"),
        (4, "a()\n  \tb|\n   c"),
        (2, "return 1;\n}|\n\nfunction g() {"),
        (2, "return 1;\n};  |\n"),
        (4, "a,\n    b\n  );|\n  c();\n"),
        (2, "b();\n} else {\n  c();\n}\nd();"),
        (4, "b();\n  } else {\n    c();\n  }\n  d();\n}|\ne();"),
        (1, "\n    return 1|\ndef g"),
        (1, "\n    return 1\n# but\n    x|\ny"),
        (0, "a\nb\nc"),
        (4, "a"),
        (4, ""),
        (4, "a\n"),
        (4, "a\n  "),
        (4, "a\n}"),
        (4, "a\n};"),
        (4, "a\n} "),
        (4, "a\n}|\n"),
        (4, "a\n    b\n\n"),
    ],
)
def test_end(dedent: int, marked: str) -> None:
    text, bar, rest = marked.partition("|")
    assert ended(text + rest, dedent) == (len(text) if bar else None)


@pytest.mark.parametrize("dedent", [1, 2, 4])
@pytest.mark.parametrize(
    "text", ["\n    a\n    b\nc\n", "a;\n}\n\nb", "b();\n } else {\n    c();\n}\nd();", "a\n\n\n  b\n", "x\n  )\n ]\n}\n", "\n\tx\n#y\nz"]
)
def test_more_text_changes_nothing_once_it_has_ended(text: str, dedent: int) -> None:
    ends = [ended(text[:length], dedent) for length in range(len(text) + 1)]
    first = next((index for index, end in enumerate(ends) if end is not None), len(ends))
    assert len(set(ends[first:])) <= 1
    assert all(end <= len(text[:first]) for end in ends[first:] if end is not None)
