"""An agent that answers a question about a folder with two tools: the model calls them until it has something to say.

mercury-lsp http &    python examples/agent.py "What is in this folder?"
"""

import json
import sys
from pathlib import Path

from openai import OpenAI

MOST_TURNS = 6


def list_files(folder: str = ".") -> str:
    return "\n".join(sorted(path.name for path in Path(folder).iterdir() if not path.name.startswith(".")))


def read_file(path: str) -> str:
    return Path(path).read_text("utf-8")[:2000]


TOOLS = {"list_files": (list_files, "folder"), "read_file": (read_file, "path")}


def described(name: str, parameter: str) -> dict:
    schema = {
        "type": "object",
        "properties": {parameter: {"type": "string", "maxLength": 80}},
        "required": [parameter],
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "parameters": schema, "strict": True}}


def answer(client: OpenAI, question: str) -> str:
    messages = [{"role": "system", "content": "Look before you answer."}, {"role": "user", "content": question}]
    tools = [described(name, parameter) for name, (_, parameter) in TOOLS.items()]
    for turn in range(MOST_TURNS):
        choice = "none" if turn == MOST_TURNS - 1 else "auto"
        said = client.chat.completions.create(model="default", messages=messages, tools=tools, tool_choice=choice, max_tokens=300)
        message = said.choices[0].message
        if not message.tool_calls:
            return message.content or ""
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            function, _ = TOOLS[call.function.name]
            try:
                result = function(**json.loads(call.function.arguments))
            except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
                result = f"error: {error}"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise AssertionError("the last turn has no tools")


if __name__ == "__main__":
    print(answer(OpenAI(base_url="http://127.0.0.1:8012/v1", api_key="none"), " ".join(sys.argv[1:]) or "What is in this folder?"))
