"""Passages ranked by how likely the model finds "yes" as to whether they help, and the best of them summarised.

mercury-lsp http &    python examples/rerank.py "How do I reset it?" notes.txt manual.txt
"""

import math
import sys
from pathlib import Path

from openai import OpenAI

KEPT = 3


def relevance(client: OpenAI, question: str, passage: str) -> float:
    """The share of yes among yes and no."""
    ask = f"Question: {question}\nPassage: {passage[:800]}\nDoes the passage help to answer the question? Answer yes or no."
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"enum": ["yes", "no"]}, "strict": True}}
    said = client.chat.completions.create(
        model="default",
        messages=[{"role": "user", "content": ask}],
        response_format=form,
        max_tokens=8,
        logprobs=True,
        top_logprobs=20,
    ).choices[0]
    chances = {"yes": 1e-9, "no": 1e-9}
    for token in said.logprobs.content:
        for each in token.top_logprobs:
            word = each.token.strip('" ').lower()
            if word and "yes".startswith(word):
                chances["yes"] += math.exp(each.logprob)
            elif word and "no".startswith(word):
                chances["no"] += math.exp(each.logprob)
    return chances["yes"] / (chances["yes"] + chances["no"])


def best(client: OpenAI, question: str, passages: list[str]) -> list[str]:
    return sorted(passages, key=lambda passage: -relevance(client, question, passage))[:KEPT]


def summary(client: OpenAI, question: str, passages: list[str]) -> str:
    shown = "\n\n".join(passage[:800] for passage in best(client, question, passages))
    ask = [{"role": "user", "content": f"{shown}\n\nAnswer in two sentences: {question}"}]
    return client.chat.completions.create(model="default", messages=ask, max_tokens=120).choices[0].message.content


if __name__ == "__main__":
    texts = [Path(name).read_text("utf-8") for name in sys.argv[2:]]
    print(summary(OpenAI(base_url="http://127.0.0.1:8012/v1", api_key="none"), sys.argv[1], texts))
