"""The shell commands. `heal` is answered before anything heavy is imported, so that it starts at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run `reportgen …` and return its exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    if args[:1] == ["heal"]:
        return _unless_interrupted(lambda: _heal(args[1:], "reportgen heal"))
    return _unless_interrupted(lambda: _command_line(args, "reportgen"))


def pipeline_optimizer(argv: Sequence[str] | None = None) -> int:
    """Run `pipeline-optimizer [--pipeline NAME]`: `reportgen build` in the current directory."""
    args = list(sys.argv[1:] if argv is None else argv)
    return _unless_interrupted(lambda: _command_line(args, "pipeline-optimizer"))


def self_healing(argv: Sequence[str] | None = None) -> int:
    """Run `self-healing …`: `reportgen heal` under its first name."""
    args = list(sys.argv[1:] if argv is None else argv)
    return _unless_interrupted(lambda: _heal(args, "self-healing"))


def _heal(args: list[str], prog: str) -> int:
    from reportgen import healing

    return healing.main(args, prog)


def _command_line(args: list[str], prog: str) -> int:
    from reportgen import cli

    return cli.run(args, prog)


def _unless_interrupted(command: Callable[[], int]) -> int:
    try:
        return command()
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted.\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
