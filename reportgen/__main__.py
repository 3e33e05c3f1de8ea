"""The shell commands. `heal` and `hook` are answered before anything heavy is imported, so that they start at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run `reportgen …` and return its exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    if args[:1] == ["heal"]:
        return _unless_interrupted(lambda: _heal(args[1:], "reportgen heal"))
    if args[:1] == ["hook"]:
        return _hook(args[1:])
    return _process(lambda: _command_line(args, "reportgen"), argv)


def pipeline_optimizer(argv: Sequence[str] | None = None) -> int:
    """Run `pipeline-optimizer [--pipeline NAME]`: `reportgen build` in the current directory."""
    args = list(sys.argv[1:] if argv is None else argv)
    return _process(lambda: _command_line(args, "pipeline-optimizer"), argv)


def self_healing(argv: Sequence[str] | None = None) -> int:
    """Run `self-healing …`: `reportgen heal` under its first name."""
    args = list(sys.argv[1:] if argv is None else argv)
    return _unless_interrupted(lambda: _heal(args, "self-healing"))


def _heal(args: list[str], prog: str) -> int:
    from reportgen import healing

    return healing.main(args, prog)


def _hook(args: list[str]) -> int:
    try:
        from reportgen import hook

        return hook.main(args)
    except KeyboardInterrupt:
        return 0  # whatever happens here must not fail the caller's tool call


def _command_line(args: list[str], prog: str) -> int:
    from reportgen import cli

    return cli.run(args, prog)


def _process(command: Callable[[], int], argv: Sequence[str] | None) -> int:
    """Run a command; where it is all that the process is there for, garbage is looked for less often than usual."""
    if argv is not None:
        return _unless_interrupted(command)
    import gc

    # Nearly all that is made while modules are imported and pages are filled stays: to look through it at every 700th
    # object would be a twentieth of the time of a small build. What a cycle holds is found all the same.
    gc.set_threshold(50_000, 20, 20)
    code = _unless_interrupted(command)
    # As Python ends, it would look through everything once more: another tenth.
    gc.freeze()
    return code


def _unless_interrupted(command: Callable[[], int]) -> int:
    try:
        return command()
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted.\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
