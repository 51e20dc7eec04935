"""What a voice assistant needs: each sentence as soon as it is whole, the time to the first one, and an end when the user speaks.

mercury-lsp http &    python examples/voice.py "Tell me about the sea."
"""

import re
import sys
import time
from collections.abc import Callable, Iterator

from openai import OpenAI

_SENTENCE = re.compile(r"(.+?[.!?])(?:\s+|$)", re.DOTALL)


def sentences(client: OpenAI, question: str, interrupted: Callable[[], bool] = lambda: False) -> Iterator[str]:
    """Sentences of the answer while it is written. Leaving, or an interruption, ends the server's work too."""
    stream = client.chat.completions.create(
        model="default", messages=[{"role": "user", "content": question}], stream=True, max_tokens=300
    )
    held = ""
    with stream:
        for chunk in stream:
            if interrupted():
                return
            held += (chunk.choices[0].delta.content or "") if chunk.choices else ""
            while (found := _SENTENCE.match(held)) and found.end() < len(held):  # the next one has begun
                yield found[1].strip()
                held = held[found.end() :]
    if held.strip():
        yield held.strip()


if __name__ == "__main__":
    client = OpenAI(base_url="http://127.0.0.1:8012/v1", api_key="none")
    started = time.perf_counter()
    for number, sentence in enumerate(sentences(client, " ".join(sys.argv[1:]) or "Tell me about the sea.")):
        if number == 0:
            print(f"[first sentence after {(time.perf_counter() - started) * 1e3:.0f} ms]")
        print(sentence, flush=True)
