"""Names that somebody might give something instead of the one it has. Knows no syntax."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_CAMEL = re.compile(r"[a-z][A-Z]")
_SPELT = (
    "idx=index i=index n=count num=number cfg=config conf=config msg=message req=request res=result resp=response ret=result"
    " val=value v=value k=key ctx=context err=error e=error btn=button fn=func cb=callback tmp=temp arr=items obj=item"
    " el=element elem=element src=source dst=target dest=target dir=folder fname=filename f=file s=text str=text x=item d=data"
    " buf=buffer len=length pos=position prev=previous cur=current curr=current cmd=command args=arguments params=options"
    " opts=options attr=attribute attrs=attributes doc=document env=environment info=details db=database conn=connection"
    " usr=user pwd=password ver=version desc=description param=option p=point"
)
_LONG = dict(pair.split("=") for pair in _SPELT.split())
_ADDED = "new old raw base inner outer current default parsed full safe local main all real initial cached total next first last".split()
_ENDING = "list map set name id path value count info data item items key text index config options type".split()


def new_name(old: str, words: Sequence[str], rng: random.Random) -> str | None:
    """A name in the same case as `old`: a part put in, left out, put in place of another, or spelt out.

    `words` are those of the file. None where what came out is no other name.
    """
    lead = old[: len(old) - len(old.lstrip("_$@"))]
    parts = [part.lower() for part in _PART.findall(old)]
    if not parts or any(part.isdigit() for part in parts):
        return None
    parts = _changed(parts, [part.lower() for word in words for part in _PART.findall(word) if len(part) > 2 and part.isalpha()], rng)
    camel = sum("_" in word.strip("_") for word in words) < sum(_CAMEL.search(word) is not None for word in words)
    new = lead + _joined(parts, old[len(lead) :], camel)
    return new if new != old and 2 <= len(new) <= 40 and new not in words else None


def _changed(parts: list[str], vocabulary: Sequence[str], rng: random.Random) -> list[str]:
    spelt = [_LONG.get(part, part) for part in parts]
    if spelt != parts and rng.random() < 0.6:
        return spelt
    way = rng.random()
    place = rng.randrange(len(parts))
    if way < 0.25 and len(parts) > 1:
        return parts[:place] + parts[place + 1 :]
    word = rng.choice(vocabulary) if vocabulary and rng.random() < 0.7 else rng.choice(_ENDING)
    if way < 0.6:
        return [*parts[:place], word, *parts[place + 1 :]]
    if way < 0.8:
        return [rng.choice(_ADDED), *parts]
    return [*parts, word if word != parts[-1] else rng.choice(_ENDING)]


def _joined(parts: Sequence[str], like: str, camel: bool) -> str:
    if like.isupper() and len(like) > 1:
        return "_".join(parts).upper()
    if like[0].isupper():
        return "".join(part.capitalize() for part in parts)
    if "_" in like or (like.islower() and not camel):
        return "_".join(parts)
    return parts[0] + "".join(part.capitalize() for part in parts[1:])
