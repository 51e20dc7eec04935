"""One run's parts put together from settings: base, corpus, trainer; and what can be asked of it. Knows no terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from msgspec.structs import replace
from torch import Tensor

from engine.api import SettingInvalid
from engine.config import ChatIds, EditIds, InfillLayout
from engine.training.base import fresh_adapter
from engine.training.base_file import read_base
from engine.training.blocks import NoiseRules, Row
from engine.training.corpus import Corpus, read_corpus
from engine.training.data import Rows
from engine.training.evaluate import Report, evaluate
from engine.training.export import export_adapter, positions_seen, read_adapter
from engine.training.infill import InfillRows, RowRules
from engine.training.loop import STATE, RunRules, StepMetrics, Stop, train
from engine.training.mixture import Sources, mixed_rows
from engine.training.objective import Objective, ObjectiveRules
from engine.training.trainer import OptimiserRules, Trainer

# The ids that the base never used and the layout gives a meaning: file name, file separator, jupyter's start and text, empty output.
PATH_ID, RELATED_ID, SUFFIX_ID, PREFIX_ID, END_ID, MASK_ID = 6, 5, 11, 12, 0, 16
# Issue start, jupyter's code, issue comment, jupyter's script and output; and those around a turn, which the base knows.
EDIT_IDS = EditIds(history=8, region=13, cursor=9, instruction=15, rewrite=14)
CHAT_IDS = ChatIds(turn=1, close=2)
_EVALUATION_SEED = 1234
_EVALUATION_STEP = 10**9  # no training step has this number


def default_layout(context: int) -> InfillLayout:
    """The layout that adapters trained here declare; rows are laid out at several contexts."""
    return InfillLayout(
        path_id=PATH_ID,
        related_id=RELATED_ID,
        suffix_id=SUFFIX_ID,
        prefix_id=PREFIX_ID,
        end_id=END_ID,
        mask_id=MASK_ID,
        context=context,
        block=8,
        edit=EDIT_IDS,
        chat=CHAT_IDS,
    )


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """What a run is made of."""

    base: Path
    folder: Path
    data: tuple[Path, ...]
    own: Path | None = None
    edits: Path | None = None
    chat: Path | None = None
    held_out: tuple[Path, ...] = ()
    from_run: Path | None = None
    from_adapter: Path | None = None  # its weights under a fresh optimiser
    name: str = "quicksilver-135m"
    seed: int = 0
    steps: int | None = None
    minutes: float | None = None
    decay_steps: int | None = None
    slots: int = 3072
    rate: float = 1e-3
    fully_masked: float = NoiseRules.fully_masked
    chained: float = NoiseRules.chained
    device: str = "cpu"
    compiled: bool = True
    averaged: bool = True  # export and evaluate the running mean
    context: int = 512
    evaluation_rows: int = 64


class Run:
    """A run that stands in `settings.folder`, or starts there."""

    def __init__(self, settings: TrainSettings) -> None:
        """Raises `CheckpointInvalid` where the base cannot be read."""
        self.settings = settings
        base, self._tokenizer = read_base(settings.base)
        self._base = base if settings.device == "cpu" else base.to(settings.device)
        self._objective = Objective(self._base, ObjectiveRules(compiled=settings.compiled))
        self._noise = NoiseRules(
            mask_id=MASK_ID,
            specials=base.shape.specials,
            end_id=END_ID,
            fully_masked=settings.fully_masked,
            chained=settings.chained,
        )
        layout = default_layout(settings.context)
        self._layout = layout if settings.chat else replace(layout, chat=None)  # an adapter is asked only for what it was taught

    @cached_property
    def trainer(self) -> Trainer:
        """The trainer, taken up where the folder or `from_run` left it, or begun with the weights of `from_adapter`."""
        settings = self.settings
        settings.folder.mkdir(parents=True, exist_ok=True)
        own, other = settings.folder / STATE, settings.from_run and settings.from_run / STATE
        state = own if own.exists() else other
        weights, seen = fresh_adapter(self._base, settings.seed), 0
        if state is None and settings.from_adapter:
            weights, seen = _same_shapes(settings.from_adapter, weights), positions_seen(settings.from_adapter)
        trainer = Trainer(self._objective, weights, OptimiserRules(peak=settings.rate), positions=seen)
        if state:
            trainer.load(state)
        if settings.decay_steps:
            began = _decay_start(settings.folder, trainer.step_number)
            trainer.rules = OptimiserRules(peak=settings.rate, decay_from=began, decay_steps=settings.decay_steps)
        return trainer

    def steps(self, stop: Stop) -> Iterator[StepMetrics]:
        """Train, giving the metrics of each step. Raises `SettingInvalid` where there is nothing to train on."""
        settings, rules = self.settings, self.trainer.rules
        last = settings.steps if rules.decay_from is None else rules.decay_from + rules.decay_steps
        sources = Sources(data=settings.data, own=settings.own, edits=settings.edits, chat=settings.chat)
        rows = mixed_rows(sources, self._tokenizer, self._layout, settings.seed)
        limits = RunRules(slots=settings.slots, steps=last, minutes=settings.minutes)
        yield from train(self.trainer, rows, self._noise, limits, settings.folder, stop)

    def evaluate_now(self) -> Report:
        """Evaluate the weights as they stand."""
        adapter = self.trainer.adapter(averaged=self.settings.averaged)
        dtype = self._base.norm.dtype
        return evaluate(self._objective, {name: value.to(dtype) for name, value in adapter.items()}, self._held_out_rows, self._noise)

    def evaluate_file(self, path: Path) -> Report:
        """Evaluate an adapter in a file."""
        adapter = {name: value.to(self._base.norm) for name, value in read_adapter(path).items()}
        return evaluate(self._objective, adapter, self._held_out_rows, self._noise)

    def export(self, path: Path) -> None:
        """Write the adapter as it stands."""
        export_adapter(
            path,
            self.trainer.adapter(averaged=self.settings.averaged),
            self._base.shape,
            self._layout,
            name=self.settings.name,
            base=self.settings.base.stem,
            positions=self.trainer.positions,
        )

    @cached_property
    def _held_out_rows(self) -> list[Row]:
        """Short rows without related text, that the first adapter's layout knows as well."""
        settings = self.settings
        corpus = Corpus(())
        if settings.held_out:
            corpus = read_corpus(settings.held_out, held_out=True, whole=True)
        elif settings.data:
            corpus = read_corpus(settings.data, held_out=True)
        if not corpus.files:
            raise SettingInvalid("no held-out files; name folders with --held-out or --data")
        rules = RowRules(contexts=((256, 1.0),), with_related=0.0)
        rows = Rows([(1.0, InfillRows(corpus, self._tokenizer, self._layout, rules))], _EVALUATION_SEED)
        return list(rows.several(_EVALUATION_STEP, settings.evaluation_rows))


def _same_shapes(path: Path, fresh: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """An adapter's tensors. Raises `SettingInvalid` where they are not those that `fresh` would train."""
    weights = read_adapter(path)
    if {name: value.shape for name, value in weights.items()} != {name: value.shape for name, value in fresh.items()}:
        raise SettingInvalid(f"{path} is no adapter of this base and rank; name the base that it was trained on with --base")
    return weights


def _decay_start(folder: Path, step: int) -> int:
    """The step at which the decay began: kept in the folder, so that a decay that was stopped goes on as it would have."""
    note = folder / "decay_from"
    if not note.exists():
        note.write_text(str(step))
    return int(note.read_text())


def use_threads(threads: int) -> None:
    """Threads for torch's own work."""
    torch.set_num_threads(threads)
