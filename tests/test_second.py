"""Two that share one list of work: each piece once, in an order that holds, and the first failure is the one told."""

from __future__ import annotations

import random
import signal
import threading
import time
from pathlib import Path
from typing import Any, cast

import pytest
from project import event, write_project

from reportgen import build
from reportgen.beside import Beside
from reportgen.engine import Engine
from reportgen.errors import ReportgenError
from reportgen.second import AskAhead, make_all


@pytest.mark.parametrize("seed", range(8))
def test_everything_is_made_once_and_after_what_it_needs(seed: int) -> None:
    rng = random.Random(seed)
    names = [f"n{number}" for number in range(30)]
    needs = {name: set(rng.sample(names[:place], min(place, rng.randrange(3)))) for place, name in enumerate(names)}
    made: list[str] = []

    def make(name: str) -> None:
        assert needs[name] <= set(made)
        time.sleep(rng.random() / 2000)
        made.append(name)

    make_all(names, needs, [make, make])
    assert sorted(made) == sorted(names)


def test_two_work_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=10)
    make_all(["a", "b"], {}, [lambda _: both.wait(), lambda _: both.wait()])


@pytest.mark.parametrize("seed", range(6))
def test_the_first_failure_of_the_list_is_raised(seed: int) -> None:
    rng = random.Random(seed)
    names = [f"n{number}" for number in range(20)]
    bad = {"n7", "n8", "n12"}
    made: set[str] = set()

    def make(name: str) -> None:
        time.sleep(rng.random() / 2000)
        if name in bad:
            raise ValueError(name)
        made.add(name)

    with pytest.raises(ValueError, match=r"^n7$"):
        make_all(names, {"n8": {"n3"}}, [make, make])
    assert {f"n{number}" for number in range(7)} <= made, "whatever stands before it is made"


def test_what_needs_a_failed_one_is_not_made() -> None:
    made: list[str] = []

    def make(name: str) -> None:
        if name == "a":
            raise ValueError(name)
        made.append(name)

    with pytest.raises(ValueError, match="a"):
        make_all(["a", "b", "c"], {"b": {"a"}, "c": {"b"}}, [make, make])
    assert made == []


class Asked:
    """Answers with the length of the text; `hold` keeps it from answering."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.hold = threading.Event()
        self.hold.set()
        self.interrupted = 0

    def ask(self, text: str) -> int:
        self.texts.append(text)
        assert self.hold.wait(10)
        if text == "bad":
            raise ValueError(text)
        return len(text)

    def interrupt(self) -> None:
        self.interrupted += 1
        self.hold.set()


def test_answers_are_there_before_they_are_asked_for() -> None:
    asked = Asked()
    ahead = AskAhead(asked.ask, asked.interrupt)
    ahead.add(["one", "three"])
    ahead.add(["seventeen"])
    while len(asked.texts) < 3:
        time.sleep(0.001)
    assert [ahead.take(text, 5) for text in ("one", "three", "seventeen")] == [3, 5, 9]
    assert ahead.take("one", 5) is None, "an answer is given once"
    assert ahead.take("never", 5) is None
    ahead.end()


def test_what_has_not_begun_is_left_to_the_caller() -> None:
    asked = Asked()
    asked.hold.clear()
    ahead = AskAhead(asked.ask, asked.interrupt)
    ahead.add(["first", "last"])
    while not asked.texts:
        time.sleep(0.001)
    assert ahead.take("first", 5) is None
    asked.hold.set()
    assert ahead.take("last", 5) == 4
    ahead.end()
    assert asked.texts == ["last"]


def test_what_fails_has_no_answer() -> None:
    asked = Asked()
    ahead = AskAhead(asked.ask, asked.interrupt)
    ahead.add(["bad"])
    while not asked.texts:
        time.sleep(0.001)
    assert ahead.take("bad", 5) is None
    ahead.end()


def test_what_takes_too_long_is_interrupted() -> None:
    asked = Asked()
    asked.hold.clear()
    ahead = AskAhead(asked.ask, asked.interrupt)
    ahead.add(["slow"])
    while not asked.texts:
        time.sleep(0.001)
    assert ahead.take("slow", 0.01) == 4
    assert asked.interrupted == 1
    asked.hold.clear()
    ahead.add(["slower", "slowest"])
    while len(asked.texts) < 2:
        time.sleep(0.001)
    ahead.end()
    assert asked.interrupted == 2
    assert asked.texts == ["slow", "slowest"]


def test_beside_raises_what_it_met_when_it_is_left() -> None:
    def fail() -> None:
        raise ValueError("beside")

    with pytest.raises(ValueError, match="beside"), Beside(fail):
        pass
    with pytest.raises(KeyError), Beside(fail):
        raise KeyError("its own comes first")
    with Beside(lambda: 7) as seven:
        assert seven.result() == 7


def test_beside_is_not_left_before_its_work_has_ended_whatever_comes() -> None:
    done: list[int] = []

    def work() -> None:
        time.sleep(0.05)
        # Ctrl-C, while the other one only waits.
        signal.raise_signal(signal.SIGINT)
        time.sleep(0.1)
        done.append(1)

    with pytest.raises(KeyboardInterrupt), Beside(work):
        pass
    assert done == [1]


def test_a_query_that_ctrl_c_stopped_is_an_interrupt() -> None:
    with Engine() as engine:
        # As DuckDB raises it; whatever else is raised so is a fault.
        for said, wanted in (("Query interrupted", KeyboardInterrupt), ("boom", RuntimeError)):
            error = RuntimeError(said)

            class Con:
                def execute(self, *_: object, error: Exception = error) -> None:
                    raise error

            with pytest.raises(wanted):
                engine._run("", "select 1", con=cast(Any, Con()))


@pytest.mark.parametrize("sign", ["?", "\\"])
def test_a_folder_in_which_duckdb_finds_no_file_is_refused_by_name(sign: str, tmp_path: Path) -> None:
    project = write_project(tmp_path / f"a{sign}b" / "c", [event("2026-11-02T09:00:00Z", "w", "docs", cost_usd=1)])
    with pytest.raises(ReportgenError) as raised:
        build(project)
    assert raised.value.exit_code == 2
    assert raised.value.what.endswith(f"whose name holds {sign}")
    assert not (project / "site").exists()
