"""Everything that SECURITY.md promises, counted: `python -m trust [--full] [PART…]`, from the folder `tests`.

Prints one table and ends with 1 where anything was lost. The short run takes about a minute of one core, and its parts
are ordinary tests too; the full one takes about an hour.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from trust import escapes, events, feedback, fuzzing, healers, healinglog, mishaps, planting, traced
from trust.tally import FULL, Amounts, Count, timed

Part = Callable[[Amounts], list[Count]]


def _heal(much: Amounts) -> list[Count]:
    found = healers.run(much.heal_processes, much.heal_calls)
    return [*found, *(healers.run(8, 5, size=100_000_000) if much.large else [])]


PARTS: dict[str, Part] = {
    "events": lambda much: events.run(much.event_files, much.event_files_by_warehouse),
    "feedback": lambda much: feedback.run(much.feedback_files),
    "healing-log": lambda much: healinglog.run(much.healing_files),
    "fuzz": lambda much: fuzzing.run(much.fuzz_seconds),
    "kills": lambda much: mishaps.run(much.build_kills, every=much.large),
    "heal": _heal,
    "secrets": lambda much: planting.run(everywhere=much.large),
    "escapes": lambda much: escapes.run(),
    "strace": lambda much: traced.run(),
}


def main(words: Sequence[str]) -> int:
    """Run the parts that are named, or all; return 1 where something was lost."""
    parser = argparse.ArgumentParser(prog="python -m trust", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="only these parts")
    parser.add_argument("--full", action="store_true", help="as much as SECURITY.md tells of")
    given = parser.parse_args(words)
    much = FULL if given.full else Amounts()
    lost = 0
    print(f"{'what':<44} {'count':>9} {'losses':>7} {'seconds':>8}  note")
    for name in given.parts or PARTS:
        counts, seconds = timed(lambda name=name: PARTS[name](much))  # type: ignore[misc]
        for count in counts:
            lost += len(count.losses)
            told = f"skipped: {count.skipped}" if count.skipped else count.note
            number, losses = ("-", "-") if count.skipped else (f"{count.number:,}", f"{len(count.losses):,}")
            print(f"{count.what:<44} {number:>9} {losses:>7} {seconds:>8.1f}  {told}", flush=True)
            for loss in count.losses[:20]:
                print(f"    {loss[:400]}", file=sys.stderr, flush=True)
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
