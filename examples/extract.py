"""Facts out of free text, as JSON that always fits its schema.

mercury-lsp http &    python examples/extract.py "Invoice 17, 12 March 2026, 3 chairs at 49.50 EUR each"
"""

import json
import sys

from openai import OpenAI

SCHEMA = {
    "type": "object",
    "properties": {
        "number": {"type": "string", "maxLength": 12},
        "date": {"type": "string", "format": "date"},
        "currency": {"enum": ["EUR", "USD", "GBP"]},
        "items": {
            "type": "array",
            "maxItems": 5,
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "maxLength": 30},
                    "count": {"type": "integer", "minimum": 1},
                    "price": {"type": "number", "minimum": 0},
                },
                "required": ["name", "count", "price"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["number", "date", "currency", "items"],
    "additionalProperties": False,
}


def extract(client: OpenAI, text: str) -> dict:
    """Raises `ValueError` where the answer was cut off: it is valid as far as it goes then, but not whole."""
    form = {"type": "json_schema", "json_schema": {"name": "invoice", "schema": SCHEMA, "strict": True}}
    said = client.chat.completions.create(
        model="default", messages=[{"role": "user", "content": text}], response_format=form, max_tokens=400
    ).choices[0]
    if said.finish_reason != "stop":
        raise ValueError(f"not whole: {said.message.content}")
    return json.loads(said.message.content)


if __name__ == "__main__":
    text = " ".join(sys.argv[1:]) or "Invoice 17, 12 March 2026, 3 chairs at 49.50 EUR each"
    print(json.dumps(extract(OpenAI(base_url="http://127.0.0.1:8012/v1", api_key="none"), text), indent=2))
