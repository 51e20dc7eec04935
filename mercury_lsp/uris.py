"""From a URI to the document and the path it names. Knows no file system."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from pygls.uris import to_fs_path


def key_of(uri: str) -> str:
    """One key for a document: some clients escape its URI in one message and not in the next."""
    return unquote(uri)


def path_of(uri: str) -> str:
    """The path, whatever the scheme: `untitled:`, a notebook's cell and a remote file have one as well. Raises `ValueError`."""
    parts = urlsplit(uri)
    local = parts.scheme == "file" and parts.netloc != "localhost"
    return (local and to_fs_path(uri)) or unquote(parts.path)


def file_key(uri: str) -> str:
    """One key for a file, open or not: its path; of a document that is none the document's own key. Raises `ValueError`."""
    return path_of(uri) if urlsplit(uri).scheme == "file" else key_of(uri)
