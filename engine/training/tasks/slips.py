"""A table of slips that fit in a line: how right code is made wrong, and what a checker says then. Knows no file and no task."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Slip:
    """`pattern` is looked for in a line whose strings and comments are hidden. In `wrong` and `messages`, {1}… are its groups."""

    languages: frozenset[str]
    pattern: re.Pattern[str]
    wrong: str  # what the match becomes
    messages: tuple[str, ...]
    at_end: bool = False  # whether the checker points behind the match, or at its start


def _slip(languages: str, pattern: str, wrong: str, *messages: str, at_end: bool = False) -> Slip:
    return Slip(languages=frozenset(languages.split()), pattern=re.compile(pattern), wrong=wrong, messages=messages, at_end=at_end)


_SCRIPT = "javascript typescript"
_PLACE = r"[A-Za-z_][\w.]*"

SLIPS = (
    # ------------------------------------------------------------------------------------------------ Python
    _slip("python", r"^(\s*(?:if|for|while|def|class|else|elif|try|except|with|finally|async def|async for|async with)\b.*):\s*$", "{1}",
          "expected ':'", "Expected ':'", "SyntaxError: expected ':'", at_end=True),
    _slip("python", rf"\b(if|elif|while)( not)? ({_PLACE}) == ", "{1}{2} {3} = ",
          "invalid syntax. Maybe you meant '==' or ':=' instead of '='?", "Expected ':', found '='", "invalid syntax"),
    _slip("python", rf"({_PLACE}) is None\b", "{1} == None", "Comparison to `None` should be `cond is None`",
          "comparison to None should be 'if cond is None:'"),
    _slip("python", rf"({_PLACE}) is not None\b", "{1} != None", "Comparison to `None` should be `cond is not None`"),
    _slip("python", rf"({_PLACE}) not in ", "not {1} in ", "Test for membership should be `not in`",
          "test for membership should be 'not in'"),
    _slip("python", rf"({_PLACE}) is not ({_PLACE})", "not {1} is {2}", "Test for object identity should be `is not`"),
    _slip("python", r"\bself\.([a-z_]\w+)", "{1}", "undefined name '{1}'", "Undefined name `{1}`", '"{1}" is not defined',
          "name '{1}' is not defined"),
    _slip("python", r"^(\s+(?:async )?def \w+)\(self, ", "{1}(", "First argument of a method should be named `self`",
          'Instance methods should take a "self" parameter', "undefined name 'self'"),
    _slip("python", r"^(\s+(?:async )?def \w+)\(self\)", "{1}()", "First argument of a method should be named `self`",
          "undefined name 'self'"),
    _slip("python", r"\bawait ([\w.]+)\(", "{1}(", "coroutine '{1}' was never awaited", "RuntimeWarning: coroutine '{1}' was never awaited",
          "Result of async function call is not used"),
    _slip("python", r"\bexcept Exception:", "except:", "Do not use bare `except`", "do not use bare 'except'"),
    _slip("python", r"\bTrue\b", "true", "undefined name 'true'", "Undefined name `true`", '"true" is not defined'),
    _slip("python", r"\bFalse\b", "false", "undefined name 'false'", "Undefined name `false`"),
    _slip("python", r"\bNone\b(?!\s*[\]|])", "null", "undefined name 'null'", "Undefined name `null`", '"null" is not defined'),
    _slip("python", r" and ", " && ", "invalid syntax", "Expected expression",
          "Simple statements must be separated by newlines or semicolons"),
    _slip("python", r"^(\s*)elif ", "{1}else if ", "expected ':'", "invalid syntax", "Expected ':', found 'if'"),
    _slip("python", r"\bif not ([\w.]+):", "if !{1}:", "invalid syntax", "Expected an expression", "SyntaxError: invalid syntax"),
    _slip("python", r"^(\s*)([a-z]\w*) \+= 1$", "{1}{2}++", "invalid syntax", "Expected an expression", "Expected expression"),
    _slip("python", r"\brange\(len\(([\w.]+)\)\)", "range(len({1}) + 1)", "list index out of range", "IndexError: list index out of range"),
    _slip("python", r"\breturn\b", "retrun", "invalid syntax", "undefined name 'retrun'", "Expected expression"),
    _slip("python", r"^from ([\w.]+) import ", "form {1} import ", "invalid syntax", "SyntaxError: invalid syntax"),
    _slip("python", r"\blen\(([\w.]+)\)", "{1}.length", 'Cannot access attribute "length"', "object has no attribute 'length'"),
    # ------------------------------------------------------------------------------------------------ JavaScript, TypeScript
    _slip(_SCRIPT, r" === ", " == ", "Expected '===' and instead saw '=='."),
    _slip(_SCRIPT, r" !== ", " != ", "Expected '!==' and instead saw '!='."),
    _slip(_SCRIPT, r"\b(if|while) \(([\w.]+) ===? ", "{1} ({2} = ", "Expected a conditional expression and instead saw an assignment."),
    _slip(_SCRIPT, r"^(\s*)(?:const|let) (\w+) =", "{1}var {2} =", "Unexpected var, use let or const instead."),
    _slip(_SCRIPT, r"^(\s*)const (\w+) = ", "{1}{2} = ", "Cannot find name '{2}'.", "'{2}' is not defined."),
    _slip(_SCRIPT, r"^(\s*)const (\w+ =)", "{1}cosnt {2}", "Unexpected keyword or identifier.", "Parsing error: Unexpected token"),
    _slip(_SCRIPT, r"\bawait ([\w.]+)\(", "{1}(", "Promises must be awaited, end with a call to .catch, or end with a call to .then",
          "This condition will always return true since this Promise is always defined"),
    _slip(_SCRIPT, r"\bnew ([A-Z]\w*)\(", "{1}(", "Value of type 'typeof {1}' is not callable. Did you mean to include 'new'?",
          "Class constructor {1} cannot be invoked without 'new'"),
    _slip(_SCRIPT, r"\bthis\.(\w+)", "{1}", "Cannot find name '{1}'. Did you mean the instance member 'this.{1}'?",
          "'{1}' is not defined."),
    _slip(_SCRIPT, r"\b(null|undefined)\b", "None", "Cannot find name 'None'.", "'None' is not defined."),
    _slip(_SCRIPT, r" \|\| ", " or ", "';' expected.", "Parsing error: Unexpected token or"),
    _slip(_SCRIPT, r" && ", " and ", "';' expected.", "Parsing error: Unexpected token and"),
    _slip(_SCRIPT, r" < ([\w.]+)\.length\b", " <= {1}.length", "index is out of bounds", "Object is possibly 'undefined'."),
    _slip(_SCRIPT, r" => ", " -> ", "';' expected.", "Unexpected token. Did you mean `{{'>'}}` or `&gt;`?", "'=>' expected."),
    _slip(_SCRIPT, r"\breturn\b", "retrun", "Cannot find name 'retrun'.", "'retrun' is not defined.", "Unexpected keyword or identifier."),
    _slip("typescript", r"(\w)\?\.(\w+)", "{1}.{2}", "Object is possibly 'undefined'.", "Object is possibly 'null'."),
    # ------------------------------------------------------------------------------------------------ the others
    _slip("go", r"^(\s*)(\w+)(, \w+)? := ", "{1}{2}{3} = ", "undefined: {2}"),
    _slip("go", r" != nil\b", " != null", "undefined: null"),
    _slip("go", r"\bnil\b", "null", "undefined: null"),
    _slip("go", r"\bfor (.*) := range ", "for {1} in ", "syntax error: unexpected in, expected {{ after for clause"),
    _slip("go", r" < len\((\w+)\)", " <= len({1})", "index out of range"),
    _slip("go", r"^func ", "fn ", "syntax error: non-declaration statement outside function body"),
    _slip("rust", r"\blet mut (\w+)", "let {1}", "cannot borrow `{1}` as mutable, as it is not declared as mutable",
          "cannot assign twice to immutable variable `{1}`"),
    _slip("rust", r"^(\s*)let (\w+) =", "{1}{2} =", "cannot find value `{2}` in this scope"),
    _slip("rust", r"\)\?;", ");", "unused `Result` that must be used", "mismatched types"),
    _slip("rust", r"\b(vec|format|println|assert_eq|assert|panic|matches|write)!([\[(])", "{1}{2}",
          "cannot find function `{1}` in this scope",
          "expected function, found macro `{1}`"),
    _slip("rust", r"\bself\.(\w+)", "{1}", "cannot find value `{1}` in this scope"),
    _slip("rust", r"^(\s*)(pub )?fn ", "{1}{2}func ", "expected one of `!` or `::`, found `func`"),
    _slip("java", r"\bnew ([A-Z]\w*)\(", "{1}(", "cannot find symbol: method {1}", "cannot find symbol"),
    _slip("java", r"\bString ", "string ", "cannot find symbol: class string", "string cannot be resolved to a type"),
    _slip("java", r"\bboolean ", "bool ", "cannot find symbol: class bool", "bool cannot be resolved to a type"),
    _slip("java", r"\bnull\b", "None", "cannot find symbol: variable None"),
    _slip("java", r"\bfinal (\w+) (\w+) = ", "final {2} = ", "cannot find symbol: class {2}", "<identifier> expected"),
    _slip("java", r" < ([\w.]+\.(?:length|size\(\)))", " <= {1}", "index out of bounds", "ArrayIndexOutOfBoundsException"),
    _slip("c c++", r"(\w+)->(\w+)", "{1}.{2}", "member reference type is a pointer; did you mean to use '->'?"),
    _slip("c c++", r"\bif \(([\w.>-]+) == ", "if ({1} = ", "using the result of an assignment as a condition without parentheses"),
    _slip("c c++", r"\bNULL\b", "null", "use of undeclared identifier 'null'"),
    _slip("c++", r"\bnullptr\b", "null", "use of undeclared identifier 'null'"),
    _slip("c++", r"\bstd::(string|vector|move|unique_ptr|size_t)\b", "{1}",
          "use of undeclared identifier '{1}'; did you mean 'std::{1}'?", "unknown type name '{1}'"),
    _slip("lua", r"^(\s*)local (\w+) = ", "{1}{2} = ", "setting non-standard global variable '{2}'", "Undefined global `{2}`."),
    _slip("lua", r"\bthen$", "", "'then' expected", at_end=True),
    _slip("lua", r" ~= ", " != ", "unexpected symbol near '!'", "'=' expected near '!'"),
    _slip("shell", r"^(\s*if .*); then$", "{1}", "syntax error near unexpected token `fi'", "Did you forget the 'then' for this 'if'?"),
    _slip("shell", r"\[\[? (.*) \]\]?", "[ {1}]", "You need a space before the ].", "missing `]'"),
    _slip("php", r"\$this->(\w+)\(", "{1}(", "Call to undefined function {1}()"),
    _slip("ruby", r"\belsif ", "else if ", "syntax error, unexpected end-of-input", "expected an `end` to close the conditional clause"),
    _slip("ruby", r"\bnil\b", "null", "undefined local variable or method 'null'"),
)  # fmt: skip
