"""What the commands say to the model, worded as it was trained. Knows no region and no command's title."""

from __future__ import annotations

from types import MappingProxyType

# Braces stand for what the command fills in. A free instruction of the user's is sent as it was typed.
INSTRUCTIONS = MappingProxyType(
    {
        "docstring": "write the docstring",
        "update_docstring": "update the docstring",
        "types": "add type annotations",
        "body": "complete the body",
        "comment": "convert the comment to code",
        "simplify": "simplify",
        "fix": "fix: {message}",  # the diagnostic's message as the client has it; the cursor stands where the diagnostic begins
        "rename": "rename {old} to {new}",
        "parameter": "add the parameter {parameter}",
        "handle_errors": "handle the error {error}",
        "add_comments": "add comments",
        "remove_comments": "remove the comments",
        "log": "add logging",
    }
)


def instruction(name: str, **values: str) -> str:
    """The wording for a command, filled in. A message of several lines is cut to its first."""
    first_lines = {key: value.strip().partition("\n")[0] for key, value in values.items()}
    return INSTRUCTIONS[name].format(**first_lines)


def about(question: str, code: str, language: str) -> str:
    """A user's turn that asks about a selection."""
    return f"{question}\n```{language}\n{code}\n```"
