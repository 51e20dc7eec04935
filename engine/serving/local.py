"""A local model as a service: from the text of a work to ids, through the scheduler, and back to text. Knows no protocol."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence

import torch

from engine.api import EngineConfig, PromptTooLong, RequestInvalid, RewriteRequest, Turn
from engine.beginnings import first_ids
from engine.cache import CacheSlot
from engine.checkpoints.catalog import find
from engine.checkpoints.load import Checkpoint, load_checkpoint
from engine.config import SPARE
from engine.dedent import ended
from engine.drafting import Decoder, Limits, Source
from engine.engine import KEEP, compute_dtype, default_threads, rewriting_room
from engine.follow import Follow
from engine.layout import chat_ids, infill_ids, rewrite_ids
from engine.serving.choice import Chooser, Pick
from engine.serving.generation import Generation, Step
from engine.serving.grammar import Grammars
from engine.serving.memory import ServingCache
from engine.serving.outlet import Outlet
from engine.serving.requests import (
    Alternative,
    Conversation,
    Ended,
    Event,
    Facts,
    Finished,
    Hole,
    Load,
    Progress,
    TokenLog,
    Usage,
    Work,
)
from engine.serving.scheduler import Bounds, Job, Scheduler

# Tokens of an answer whose length nobody set.
_USUAL_ANSWER = 1024
# Tokens whose keys and values are kept, where nobody says how many: those of sixteen holes.
_CACHE_TOKENS = 24_576
# Characters a token at most, on average, for a text to be worth counting: runs of spaces are long tokens.
_CHARS_A_TOKEN = 16
# Share of the layout's context for a region, and the characters of a token of code, with which a region is cut before it is refused.
_REGION_SHARE, _CHARS_OF_CODE = 3 / 8, 2.5


class LocalService:
    """A checkpoint behind a scheduler. `submit` belongs to the event loop; the engine has a thread of its own."""

    def __init__(self, checkpoint: Checkpoint, name: str, *, cache_tokens: int | None = None, bounds: Bounds = Bounds()) -> None:  # noqa: B008
        """`cache_tokens` bounds the memory of keys and values, of running requests and of what is kept between them.

        By default it is 24,576, or as many as the model's whole context takes.
        """
        self._tokenizer, self._layout = checkpoint.tokenizer, checkpoint.layout
        config = checkpoint.transformer.config
        cache_tokens = cache_tokens or max(_CACHE_TOKENS, config.max_positions + 2 * SPARE)
        cache_tokens = cache_tokens // CacheSlot.rounded(1) * CacheSlot.rounded(1)
        banned = [index for index in checkpoint.tokenizer.special_ids if index != checkpoint.layout.end_id]
        self._decoder = Decoder(checkpoint.transformer, checkpoint.layout, torch.tensor(banned), checkpoint.chain)
        self._by_text: dict[bytes, int] | None = None
        self._grammars = Grammars(checkpoint.tokenizer, checkpoint.layout.end_id)
        self.facts = Facts(
            model=name,
            context=min(config.max_positions, cache_tokens - SPARE),
            converses=checkpoint.layout.chat is not None,
            rewrites=checkpoint.layout.edit is not None,
            calibration=checkpoint.calibration,
            rewrite_chars=int(checkpoint.layout.context * _REGION_SHARE * _CHARS_OF_CODE),
        )
        cache = ServingCache(config, checkpoint.transformer.dtype, cache_tokens, paged=checkpoint.transformer.paged)
        self._scheduler = Scheduler(self._decoder, cache, bounds)

    @classmethod
    def load_model(
        cls,
        config: EngineConfig,
        *,
        context: int | None = None,
        cache_tokens: int | None = None,
        bounds: Bounds = Bounds(),  # noqa: B008
    ) -> LocalService:
        """`context`: positions of prompt and answer, as `engine.config.reaching` has it; None for the model's own.

        Raises `ModelMissing`, `CheckpointInvalid` or `SettingInvalid`.
        """
        torch.set_num_threads(config.threads or default_threads())
        files = find(config.model)
        checkpoint = load_checkpoint(files.gguf, files.adapter, compute_dtype(config.dtype), context, bounds.streams)
        return cls(checkpoint, config.model, cache_tokens=cache_tokens, bounds=bounds)

    def submit(self, work: Work) -> _Stream:
        # Compiled here, so that who asked hears at once of what is not supported.
        frontier = None if work.grammar is None else self._grammars.frontier(work.grammar)
        begun = self._begun(work.begins)
        if frontier is not None:
            frontier.begun(begun)
        prompt = [*self._prompt(work), *begun]
        most = self._room(work, len(prompt))
        if frontier is not None:
            frontier.begin(most)
        stream = _Stream(asyncio.get_running_loop())
        seed = work.sampling.seed if work.sampling.seed is not None else int.from_bytes(os.urandom(6))
        not_first = first_ids(self._tokenizer, work.task.unlike) if isinstance(work.task, Hole) else ()
        may_stay = isinstance(work.task, RewriteRequest) and not work.task.instruction
        limits = Limits(most, self._line_ends(work), lambda ids: False, verify=True, not_first=not_first, may_stay=may_stay)
        answer = _Answer(work, len(prompt), Outlet(self._tokenizer, work.stop), stream.put, self._layout.end_id, self._tokenizer.to_bytes)

        def start(cache: ServingCache) -> Generation | None:
            slot = cache.take(prompt[:-1], len(prompt) + most + SPARE)
            if slot is None:
                return None
            answer.begun(len(slot.ids))
            chooser = Chooser(work.sampling, self._layout.end_id, seed, work.logprobs, frontier)
            return Generation(self._decoder, slot, prompt, chooser, limits, self._sources(work), frontier)

        job = Job(start, answer.heard, answer.done, interactive=work.interactive, deadline=work.deadline, shown=work.canvas)
        self._scheduler.submit(job)
        stream.job = job
        return stream

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode(text))

    def load(self) -> Load:
        return self._scheduler.load()

    def close(self) -> None:
        self._scheduler.close()

    # ------------------------------------------------------------------------------------------ text to ids

    def _prompt(self, work: Work) -> list[int]:
        task = work.task
        if isinstance(task, Hole):
            return infill_ids(
                self._tokenizer,
                self._layout,
                path=task.path,
                prefix=_end_of(task.prefix, self._layout.context * _CHARS_A_TOKEN),
                suffix=task.suffix,
                related=task.related,
                on_top=True,
            )
        if isinstance(task, RewriteRequest):
            return self._rewriting(task)
        texts = [turn.text for turn in task.turns] if isinstance(task, Conversation) else [task.text]
        chars, most = sum(map(len, texts)), self.facts.context * _CHARS_A_TOKEN
        if chars > most:  # not worth the time to count its tokens
            raise PromptTooLong(f"the prompt has {chars} characters, which cannot be {self.facts.context} tokens or fewer")
        if isinstance(task, Conversation):
            return self._conversation(task.turns)
        return [self._layout.prefix_id, *self._tokenizer.encode(task.text)]

    def _begun(self, texts: Sequence[bytes]) -> list[int]:
        """Raises `RequestInvalid` where one of them is no token."""
        if not texts:
            return []
        if self._by_text is None:
            self._by_text = {self._tokenizer.to_bytes([index]): index for index in reversed(range(len(self._tokenizer)))}
        ids = [self._by_text.get(text) for text in texts]
        if None in ids or b"" in texts:
            raise RequestInvalid("an answer is to go on after what is no token of this model")
        return [index for index in ids if index is not None]

    def _conversation(self, turns: Sequence[Turn]) -> list[int]:
        """In a model's own layout, or for one that has none as text with names in front."""
        if self._layout.chat is not None:
            return chat_ids(self._tokenizer, self._layout, turns)
        said = "".join(f"{turn.role}: {turn.text}\n\n" for turn in turns)
        return [self._layout.prefix_id, *self._tokenizer.encode(f"{said}assistant:")]

    def _rewriting(self, task: RewriteRequest) -> list[int]:
        return rewrite_ids(
            self._tokenizer,
            self._layout,
            path=task.path,
            prefix=_end_of(task.prefix, self._layout.context * _CHARS_A_TOKEN),
            region=task.region,
            suffix=task.suffix,
            cursor=task.cursor,
            history=task.history,
            instruction=task.instruction,
            related=task.related,
        )

    def _room(self, work: Work, prompt: int) -> int:
        """How many tokens the answer may have. Raises `PromptTooLong` with both numbers where there is none."""
        if work.max_tokens is not None and work.max_tokens < 1:
            raise RequestInvalid(f"max_tokens {work.max_tokens}: expected at least 1")
        room = self.facts.context - prompt
        if room < 1:
            raise PromptTooLong(f"the model reads and writes {self.facts.context} tokens; the prompt alone has {prompt}")
        if work.max_tokens is None and isinstance(work.task, RewriteRequest):
            region = self.count(work.task.region) + 1
            return min(room, rewriting_room(self._layout, prompt, region, asked=bool(work.task.instruction)))
        return min(work.max_tokens or _USUAL_ANSWER, room)

    def _sources(self, work: Work) -> list[Source]:
        if not isinstance(work.task, RewriteRequest):
            return []
        return [Follow([*self._tokenizer.encode(work.task.region), self._layout.end_id], KEEP)]

    def _line_ends(self, work: Work) -> Callable[[int], bool]:
        """Where nothing is drafted beyond the first line break, since nothing beyond it is sent."""
        return self._tokenizer.has_newline if "\n" in work.stop else lambda index: False


class _Answer:
    """What came of a job so far, as events. Lives on the engine's thread."""

    def __init__(
        self,
        work: Work,
        prompt_tokens: int,
        outlet: Outlet,
        put: Callable[[Event | BaseException], None],
        end_id: int,
        to_bytes: Callable[[Sequence[int]], bytes],
    ) -> None:
        self._work, self._prompt_tokens, self._outlet, self._put, self._end_id = work, prompt_tokens, outlet, put, end_id
        self._to_bytes = to_bytes
        self._cached = self._committed = self._forced = self._steps = 0
        self._started = self._first = 0.0
        self._text = ""
        self._dedent = work.task.dedent if isinstance(work.task, Hole) else None
        self._end: float | None = None
        self._canvas = ""  # all that went out, where the canvas is told

    def begun(self, cached: int) -> None:
        self._cached, self._started = cached, time.perf_counter()

    def heard(self, step: Step) -> bool:
        """Send on what was committed. False where a stop string ended it, or it has left its block."""
        self._first = self._first or time.perf_counter()
        self._committed += len(step.picks)
        self._forced += step.forced
        self._steps += step.denoised
        picks = [pick for pick in step.picks if pick.index != self._end_id]
        if self._work.logprobs is not None and len(picks) < len(step.picks):
            self._end = step.picks[-1].logprob
        text = self._outlet.push([pick.index for pick in picks])
        tokens = () if self._work.logprobs is None else tuple(self._log(pick) for pick in picks)
        canvas = None
        if self._work.canvas:
            self._canvas += text
            canvas = self._canvas if self._outlet.stopped or step.ended else self._canvas + self._outlet.peek(step.draft)
        if text or tokens or canvas is not None:
            self._text += text
            self._put(Progress(text, tokens, canvas))
        return not (self._outlet.stopped or (self._dedent is not None and ended(self._text, self._dedent) is not None))

    def done(self, how: Ended | BaseException) -> None:
        if isinstance(how, BaseException):
            self._put(how)
            return
        rest = self._outlet.close()
        if isinstance(self._work.task, RewriteRequest) and how == "end" and not (self._text or rest):
            rest = self._work.task.region  # nothing is to change
        if rest:
            self._put(Progress(rest, (), self._canvas + rest if self._work.canvas else None))
        now = time.perf_counter()
        usage = Usage(
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._committed,
            cached_tokens=self._cached,
            forced_tokens=self._forced,
            denoise_steps=self._steps,
            prefill_ms=((self._first or now) - (self._started or now)) * 1e3,
            decode_ms=(now - (self._first or now)) * 1e3,
        )
        self._put(Finished(how, usage, self._end))

    def _log(self, pick: Pick) -> TokenLog:
        top = tuple(Alternative(self._to_bytes([index]), logprob) for index, logprob in pick.top)
        return TokenLog(self._to_bytes([pick.index]), pick.logprob, top)


class _Stream:
    """Events from the engine's thread, on the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.job: Job | None = None
        self._loop = loop
        self._events: asyncio.Queue[Event | BaseException] = asyncio.Queue()

    def put(self, event: Event | BaseException) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is gone, and who asked with it
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)

    def stop(self) -> None:
        if self.job is not None:
            self.job.stop.set()

    async def __aiter__(self) -> AsyncIterator[Event]:
        for _ in itertools.count():
            event = await self._events.get()
            if isinstance(event, BaseException):
                raise event
            yield event
            if isinstance(event, Finished):
                return


def _end_of(text: str, chars: int) -> str:
    """The last `chars` characters of a text or somewhat fewer, from an edge that moves in coarse steps."""
    surplus = len(text) - chars
    step = max(1, chars // 4)
    return text if surplus <= 0 else text[-(-surplus // step) * step :]
