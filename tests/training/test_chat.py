"""Conversations: what is asked, how the base answers many at once, which answers are kept, and their rows."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest
from snippets import PYTHON, SNIPPETS
from tiny import LAYOUT, base, tokenizer, write_gguf

from engine.api import SettingInvalid, Turn
from engine.layout import chat_ids
from engine.training.chat import ChatRows, Conversation, read_conversations
from engine.training.chat_data import is_clean, main
from engine.training.chat_prompts import prompts
from engine.training.corpus import Corpus, SourceFile
from engine.training.explanations import explanation
from engine.training.replies import Replies, ReplyRules
from engine.training.run import CHAT_IDS
from engine.training.syntax import Source

TALKS = msgspec.structs.replace(LAYOUT, context=1024, chat=CHAT_IDS)
PROMPTS = [[1, 40, 50, 60, 2], [1, 70, 2, 80], [1, 90], [1, 41, 42, 43, 44, 45, 46], [1, 99, 98, 2]]


def answers(rules: ReplyRules, prompts: list[list[int]]) -> dict[int, tuple[list[int], bool]]:
    return {number: (ids, ended) for number, ids, ended in Replies(base(), CHAT_IDS.close, rules).answer(iter(enumerate(prompts)))}


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_answers_do_not_depend_on_what_is_answered_beside_them(temperature: float) -> None:
    together = answers(ReplyRules(slots=3, capacity=64, longest=12, temperature=temperature), PROMPTS)
    alone = answers(ReplyRules(slots=1, capacity=64, longest=12, temperature=temperature), PROMPTS)
    assert together == alone and len(together) == len(PROMPTS)
    assert len({tuple(ids) for ids, _ in together.values()}) > 1


def test_an_answer_goes_on_as_if_what_is_said_had_been_part_of_the_prompt() -> None:
    """The cache gives what a reading of the whole text gives."""
    rules = ReplyRules(slots=2, capacity=64, longest=10, temperature=0)
    for number, (ids, _) in answers(rules, PROMPTS).items():
        for said in range(1, len(ids)):
            (onward, _) = answers(rules, [PROMPTS[number] + ids[:said]])[0]
            assert onward[: len(ids) - said] == ids[said:]


def test_prompts_are_many_and_the_same_every_time() -> None:
    asked = prompts(2000, seed=0)
    assert asked == prompts(2000, seed=0) and len(set(asked)) == 2000 and asked != prompts(2000, seed=1)
    assert 0.1 < sum(len(turns) == 2 for turns in asked) / 2000 < 0.3
    assert not any("{" in turn for turns in asked for turn in turns)


@pytest.mark.parametrize(
    ("answer", "clean"),
    [
        ("A stack is a list in which the last item that was added is the first to be taken off.", True),
        ("Hello!", True),
        ("```python\ndef add(a, b):\n    return a + b\n```", True),
        ("", False),
        ("A stack is a list in which the last", False),
        ("```python\ndef add(a, b):\n    return a + b", False),
        ("I am so glad you are here. I am so glad you are here. I am so glad you are here.", False),
        ("The first step is easy.\nThe first step is easy.\n", False),
        ("```python\nif a:\n    return False\nif b > 2:\n    return False\n```", True),
        ("1. **Rye bread**\n2. **White bread**\n3. **White bread**", False),
        ("1. **Rye bread**\n2. **White bread**\n3. **Brown bread**", True),
        ("Here are three kinds of bread that many people like:\n\n- rye bread\n- white bread\n- brown bread", True),
        ("I am SmolLM, and I am glad to help.", False),
        ("def has_close_elements(numbers, threshold): is a function of HumanEval.", False),
    ],
)
def test_what_is_kept(answer: str, clean: bool) -> None:
    assert is_clean(answer) == clean


def test_the_file_is_written_as_answers_come_and_taken_up_where_it_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.training.chat_data.is_clean", lambda answer: True)  # a base of random weights says nothing clean
    ended = Replies.answer
    monkeypatch.setattr(Replies, "answer", lambda self, prompts: ((number, ids, True) for number, ids, _ in ended(self, prompts)))
    gguf, out = write_gguf(tmp_path / "base.gguf"), tmp_path / "chat" / "chat.jsonl"
    assert main(["--base", str(gguf), "--out", str(out), "--count", "4"]) == 0
    first = out.read_bytes()
    with out.open("ab") as file:
        file.write(b'{"number": 9')  # stopped while it wrote
    assert main(["--base", str(gguf), "--out", str(out), "--count", "7"]) == 0
    assert out.read_bytes().startswith(first)
    kept = read_conversations(out)
    assert len(kept) == 7 and len({conversation.number for conversation in kept}) == 7
    asked = prompts(12, seed=0)
    for conversation in kept[:4]:
        assert tuple(turn.text for turn in conversation.turns if turn.role == "user") == asked[conversation.number]
        assert [turn.role for turn in conversation.turns] == ["user", "assistant"] * len(asked[conversation.number])


# ------------------------------------------------------------------------------------------------ rows


def written(path: Path, *conversations: tuple[Turn, ...]) -> Path:
    path.write_bytes(b"".join(msgspec.json.encode(Conversation(number, turns)) + b"\n" for number, turns in enumerate(conversations)))
    return path


def test_a_row_is_what_serving_sends_and_ends(tmp_path: Path) -> None:
    turns = (Turn("user", "Hi"), Turn("assistant", "Hello!"), Turn("user", "Why?"), Turn("assistant", "Because."))
    rows = ChatRows(written(tmp_path / "chat.jsonl", turns), tokenizer(), TALKS)
    said = set()
    for seed in range(40):
        row = rows.row(random.Random(seed))
        answer = tokenizer().decode(row.ids[row.start : -1])
        known = [turn.text for turn in turns].index(answer)
        prompts = [chat_ids(tokenizer(), TALKS, [*system, *turns[:known]]) for system in SYSTEMS]
        assert list(row.ids[: row.start]) in prompts and row.ids[-1] == TALKS.end_id and row.kind == "chat"
        said.add(answer)
        assert row == rows.row(random.Random(seed))
    assert said == {"Hello!", "Because."}


SYSTEMS = [
    [], [Turn("system", "You are a helpful assistant.")], [Turn("system", "You are a helpful coding assistant.")],
    [Turn("system", "Answer briefly.")],
]  # fmt: skip


def test_functions_are_explained_by_their_documentation(tmp_path: Path) -> None:
    files = tuple(SourceFile(repo="shop", path=name, language=name, text=text) for name, text in SNIPPETS.items())
    chat = written(tmp_path / "chat.jsonl", (Turn("user", "Hi"), Turn("assistant", "Hello!")))
    rows = ChatRows(chat, tokenizer(), TALKS, Corpus(files))
    kinds = [rows.row(random.Random(seed)).kind for seed in range(60)]
    assert 5 < kinds.count("chat/explain") < 30 and set(kinds) == {"chat", "chat/explain"}


@pytest.mark.parametrize(
    ("language", "name", "answer"),
    [
        ("python", "def has", "Say whether the item called `name` is there."),
        ("python", "def price", "Return the price of an item after the discount."),
        ("typescript", "add(", "Adds a number to the count and says what it is now."),
        ("typescript", "function readNames", "Reads the names of all users from a file."),
        ("go", "func Join", "Join puts the names together, with commas between them."),
        ("rust", "fn count_words", "Counts how often each word occurs in a text."),
        ("java", "boolean add", "Adds an item to the basket unless it is there already."),
        ("c", "int sum", "Adds up the first values of an array."),
        ("lua", "function M.largest", "Returns the largest value of a list of numbers."),
    ],
)
def test_an_explanation(language: str, name: str, answer: str) -> None:
    found = [explanation(Source(SNIPPETS[language], language), random.Random(seed)) for seed in range(80)]
    about = [turns for turns in found if turns is not None and name in turns[0].text]
    assert about
    for question, reply in about:
        assert reply == Turn("assistant", answer)
        assert answer not in question.text and f"```{language}\n" in question.text and question.text.endswith("\n```")


def test_code_without_documentation_is_not_explained() -> None:
    assert explanation(Source("def f(x):\n    return x\n", "python"), random.Random(0)) is None
    assert explanation(Source(PYTHON[PYTHON.index("def total") :], "python"), random.Random(0)) is None


def test_a_file_without_conversations_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingInvalid, match="holds no conversations"):
        ChatRows(tmp_path / "missing.jsonl", tokenizer(), TALKS)
