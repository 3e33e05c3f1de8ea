"""The parts of the trust run that have no test file of their own, in small: killed builds, mishaps, healing, fuzzing."""

from __future__ import annotations

import pytest

from trust import fuzzing, healers, mishaps
from trust.__main__ import PARTS, main
from trust.tally import Amounts, Count

SMALL = Amounts()


def losses(counts: list[Count]) -> list[list[str]]:
    return [one.losses for one in counts]


def test_killed_builds_and_mishaps_lose_nothing() -> None:
    killed, others = mishaps.run(SMALL.build_kills, every=False)
    assert losses([killed, others]) == [[], []]
    assert killed.number == SMALL.build_kills
    assert others.number >= 6


@pytest.mark.parametrize("size", [0, 1_000_000])
def test_parallel_healing_loses_nothing_and_the_cap_holds(size: int) -> None:
    (count,) = healers.run(SMALL.heal_processes, SMALL.heal_calls, size=size)
    assert count.losses == []


def test_a_short_fuzz_finds_nothing() -> None:
    found = fuzzing.run(SMALL.fuzz_seconds)
    assert losses(found) == [[], []]
    assert min(one.number for one in found) > 5


def test_the_command_counts_and_says_what_was_lost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["healing-log"]) == 0
    assert "mutated healing logs                                60       0" in capsys.readouterr().out
    monkeypatch.setitem(PARTS, "escapes", lambda much: [Count("escapes", 3, ["one got out"])])
    assert main(["escapes"]) == 1
    output, errors = capsys.readouterr()
    assert "escapes                                              3       1" in output
    assert "one got out" in errors
