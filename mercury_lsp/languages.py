"""Which language a document is in, by the client's id or the file's name. Knows no grammar and no text."""

from __future__ import annotations

from collections.abc import Container
from pathlib import PurePosixPath
from types import MappingProxyType

_NAMES = frozenset(
    "python javascript typescript tsx go rust java c cpp csharp ruby php lua bash html css json yaml toml markdown sql"
    " swift kotlin scala dart elixir erlang haskell ocaml fsharp clojure julia r perl zig nim vue svelte scss less xml"
    " dockerfile makefile cmake powershell graphql proto terraform latex".split()
)

# Ids that clients send for a language that is called something else here. JavaScript's grammar reads JSX; TypeScript's does not read TSX.
_IDS = MappingProxyType(
    {
        "javascriptreact": "javascript",
        "jsx": "javascript",
        "typescriptreact": "tsx",
        "shellscript": "bash",
        "sh": "bash",
        "shell": "bash",
        "zsh": "bash",
        "c#": "csharp",
        "cs": "csharp",
        "c++": "cpp",
        "cuda-cpp": "cpp",
        "golang": "go",
        "jsonc": "json",
        "py": "python",
        "rs": "rust",
        "rb": "ruby",
        "ts": "typescript",
        "js": "javascript",
        "md": "markdown",
        "yml": "yaml",
        "dockercompose": "yaml",
        "mysql": "sql",
        "postgres": "sql",
        "proto3": "proto",
        "perl6": "perl",
        "tex": "latex",
    }
)

_SUFFIXES = MappingProxyType(
    {
        suffix: language
        for language, suffixes in {
            "python": "py pyi pyw",
            "javascript": "js jsx mjs cjs",
            "typescript": "ts mts cts",
            "tsx": "tsx",
            "go": "go",
            "rust": "rs",
            "java": "java",
            "c": "c h",
            "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp inl cu cuh ino",
            "csharp": "cs csx",
            "ruby": "rb rake gemspec ru",
            "php": "php phtml",
            "lua": "lua",
            "bash": "sh bash zsh ksh bats",
            "html": "html htm xhtml",
            "css": "css",
            "json": "json jsonc json5 webmanifest",
            "yaml": "yaml yml",
            "toml": "toml",
            "markdown": "md markdown mdx",
            "sql": "sql ddl dml",
            "swift": "swift",
            "kotlin": "kt kts",
            "scala": "scala sc",
            "dart": "dart",
            "elixir": "ex exs",
            "haskell": "hs",
            "julia": "jl",
            "r": "r",
            "perl": "pl pm",
            "zig": "zig",
            "vue": "vue",
            "svelte": "svelte",
            "scss": "scss",
            "less": "less",
            "xml": "xml svg xsd",
            "cmake": "cmake",
            "powershell": "ps1 psm1",
            "graphql": "graphql gql",
            "proto": "proto",
            "terraform": "tf tfvars",
            "latex": "tex",
        }.items()
        for suffix in suffixes.split()
    }
)

_FILES = MappingProxyType(
    {
        "dockerfile": "dockerfile",
        "makefile": "makefile",
        "gnumakefile": "makefile",
        "cmakelists.txt": "cmake",
        "gemfile": "ruby",
        "rakefile": "ruby",
        "vagrantfile": "ruby",
        "sconstruct": "python",
        "sconscript": "python",
        "pipfile": "toml",
        "cargo.lock": "toml",
        "uv.lock": "toml",
        "poetry.lock": "toml",
        ".bashrc": "bash",
        ".bash_profile": "bash",
        ".profile": "bash",
        ".zshrc": "bash",
        ".babelrc": "json",
        ".prettierrc": "json",
        ".clang-format": "yaml",
    }
)


def language_of(language_id: str, path: str) -> str:
    """The normalised language, "" where neither `language_id` nor the file's name tells. `path` may be a URI or use backslashes."""
    lowered = language_id.strip().lower()
    named = _IDS.get(lowered, lowered)
    return named if named in _NAMES else _by_name(path)


def suffixes_of(languages: Container[str]) -> list[str]:
    """The endings of file names that stand for one of `languages`."""
    return [suffix for suffix, language in _SUFFIXES.items() if language in languages]


def _by_name(path: str) -> str:
    name = PurePosixPath(path.replace("\\", "/").split("?")[0].split("#")[0]).name.lower()
    return _FILES.get(name) or _SUFFIXES.get(name.rpartition(".")[2] if "." in name else "", "")
