"""`mercury-lsp train`: arguments to a run, its progress to the terminal. Knows nothing of how training works."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.training.run import Run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-command's arguments."""
    parser.add_argument("--base", type=_file, required=True, help="the base model, a GGUF file")
    parser.add_argument("--data", type=Path, nargs="+", default=[], help="folders of source files, one folder a repository in each")
    parser.add_argument("--own", type=_file, help="the model's own text (python -m engine.training.own)")
    parser.add_argument("--edits", type=_file, help="mined edits (python -m engine.training.mine)")
    parser.add_argument("--chat", type=_file, help="conversations (python -m engine.training.chat_data)")
    parser.add_argument("--held-out", type=Path, nargs="*", default=[], help="folders that never train (default: 1 file in 64 of --data)")
    parser.add_argument("--run", type=Path, help="the run's folder; a run that is there is taken up (default: beside --out)")
    parser.add_argument("--out", type=Path, required=True, help="the adapter to write (or, with --evaluate, to read)")
    parser.add_argument("--from-run", type=Path, help="start from another run's state")
    parser.add_argument("--from-adapter", type=_file, help="start from an adapter's weights, with a fresh optimiser")
    parser.add_argument("--name", default="quicksilver-135m", help="the adapter's name")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, help="the step to stop at (default: until stopped)")
    parser.add_argument("--minutes", type=float, help="stop after so long")
    parser.add_argument("--decay-steps", type=int, help="let the rate fall over so many steps from where the run stands, and stop")
    parser.add_argument("--slots", type=int, default=3072, help="positions a step, of both streams (default: %(default)s)")
    parser.add_argument("--rate", type=float, default=1e-3, help="peak learning rate (default: %(default)s)")
    parser.add_argument("--fully-masked", type=float, default=0.75, metavar="SHARE", help="of the noisy blocks (default: %(default)s)")
    parser.add_argument(
        "--chained", type=float, default=0.6, metavar="SHARE", help="of the noisy slots, told the token before (default: %(default)s)"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--eager", action="store_true", help="do not compile the element-wise parts")
    parser.add_argument("--evaluate", action="store_true", help="evaluate the adapter --out on held-out rows and stop")
    parser.add_argument("--evaluate-every", type=int, default=0, metavar="STEPS", help="evaluate on held-out rows while training")
    parser.add_argument("--export-only", action="store_true", help="write --out from the run's state and stop")
    parser.add_argument("--last", action="store_true", help="export the last weights instead of their running mean")
    parser.add_argument("--context", type=int, default=1024, help="context that the adapter's metadata declares (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=64, help="held-out rows to evaluate on (default: %(default)s)")


def _file(text: str) -> Path:
    if not Path(text).is_file():
        raise argparse.ArgumentTypeError(f"{text}: no such file")
    return Path(text)


def run(args: argparse.Namespace) -> int:
    """Train, evaluate or export; 0 when done, 1 with a line that says why not."""
    from engine.api import MercuryError  # what needs torch is imported here, not with the other commands
    from engine.training.run import Run, TrainSettings, use_threads

    use_threads(args.threads)
    try:
        training = Run(
            TrainSettings(
                base=args.base,
                folder=args.run or args.out.with_suffix(".run"),
                data=tuple(args.data),
                own=args.own,
                edits=args.edits,
                chat=args.chat,
                held_out=tuple(args.held_out),
                from_run=args.from_run,
                from_adapter=args.from_adapter,
                name=args.name,
                seed=args.seed,
                steps=args.steps,
                minutes=args.minutes,
                decay_steps=args.decay_steps,
                slots=args.slots,
                rate=args.rate,
                fully_masked=args.fully_masked,
                chained=args.chained,
                device=args.device,
                compiled=not args.eager,
                averaged=not args.last,
                context=args.context,
                evaluation_rows=args.rows,
            )
        )
        if args.evaluate:
            report = training.evaluate_file(args.out) if args.out.exists() else training.evaluate_now()
            print(*report.lines(), sep="\n")
            return 0
        if not args.export_only:
            _train(training, args.evaluate_every)
        training.export(args.out)
    except MercuryError as error:
        print(f"mercury-lsp: {error}", file=sys.stderr)
        return 1
    print(f"wrote {args.out}", file=sys.stderr)
    return 0


def _train(training: Run, evaluate_every: int) -> None:
    """Train until the run ends or is told to stop. A terminal sees a line that renews itself, a file one line in ten steps."""
    from rich.console import Console

    from engine.training.loop import stop_on_signals

    console = Console(stderr=True, soft_wrap=True, highlight=False)
    with stop_on_signals() as stop, console.status("reading the data") as status:
        for metrics in training.steps(stop):
            text = (
                f"step {metrics.step}  {metrics.positions / 1e6:.3f}M positions  {metrics.positions_a_second:.0f}/s"
                f"  rate {metrics.rate:.2g}  causal {metrics.causal_loss:.3f} {metrics.causal_right:.0%}"
                f"  blocks {metrics.block_loss:.3f} {metrics.block_right:.0%}"
                f"  agree {metrics.agreement:.0%}, chained {metrics.chained_agreement:.0%}  gradient {metrics.gradient:.2f}"
            )
            status.update(text)
            if not console.is_terminal and metrics.step % 10 == 0:
                console.print(text)
            if evaluate_every and metrics.step % evaluate_every == 0:
                console.print(f"held out, step {metrics.step}", *training.evaluate_now().lines(), sep="\n")


def _main() -> int:
    parser = argparse.ArgumentParser(prog="mercury-lsp train")
    add_arguments(parser)
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(_main())
