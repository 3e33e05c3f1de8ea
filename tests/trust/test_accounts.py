"""A broken account stops the build: nothing is written, and the message says which file and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from project import event, write_project

from reportgen import build
from reportgen.errors import ExitCode, ReportgenError
from reportgen.inputs.accounts import Account, settle
from reportgen.inputs.feedback_rows import RowReader
from reportgen.model import InputFile, RejectedLine
from reportgen.warehouse import Warehouse

FILE = Account(lines=10, used=5, superseded=1, duplicates=1, not_cost=1, rejected=1, blank=1, events=6).closed(
    "e.jsonl"
)
LINE = RejectedLine(file="e.jsonl", line=10, reason="not JSON", snippet="x")


@pytest.mark.parametrize(
    ("file", "rejected", "rows", "says"),
    [
        (replace(FILE, used=4), [LINE], 6, "10 lines, but 9 fates"),
        (replace(FILE, used=6), [LINE], 6, "10 lines, but 11 fates"),
        (replace(FILE, used=7, blank=-1), [LINE], 6, "10 lines, but 10 fates"),
        (FILE, [], 6, "1 rejected lines, but 0 are listed"),
        (FILE, [LINE, LINE], 6, "1 rejected lines, but 2 are listed"),
        (replace(FILE, rejected=2, used=4), [LINE, LINE], 6, "line 10 is listed 2 times"),
        (FILE, [replace(LINE, line=11)], 6, "line 11 is listed 1 times"),
        (FILE, [replace(LINE, line=0)], 6, "line 0 is listed 1 times"),
        (FILE, [replace(LINE, file="other")], 6, "listed"),
        (FILE, [LINE], 5, "6 records were read, but 5 were handed on"),
    ],
)
def test_a_broken_account_is_an_error(file: InputFile, rejected: Sequence[RejectedLine], rows: int, says: str) -> None:
    with pytest.raises(ReportgenError) as caught:
        settle([file], rejected, {"events": rows})
    assert says in caught.value.what
    assert caught.value.exit_code == ExitCode.FAULT


def test_a_right_account_is_none() -> None:
    settle([FILE], [LINE], {"events": 6, "feedback": 0})
    # Two files that are shown by one name, as in two home directories.
    settle([FILE, FILE], [LINE, LINE], {"events": 12})


def project(folder: Path) -> Path:
    write_project(folder, [event(cost_usd=1)], [("2026-11-02", "docs", "writer", "50/100", "-")])
    with (folder / "budget" / "cost-events.jsonl").open("a", encoding="utf-8") as log:
        log.write("{torn\n")
    return folder


@pytest.mark.parametrize("broken", ["a line without a fate", "an event on its way", "a feedback row's line"])
def test_the_build_itself_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    if broken == "a line without a fate":
        closed = Account.closed
        monkeypatch.setattr(Account, "closed", lambda self, name: replace(closed(self, name), lines=self.lines + 1))
    elif broken == "an event on its way":
        load_raw = Warehouse.load_raw

        def losing(self: Warehouse, *rest: Any) -> None:
            load_raw(self, *rest)
            self.query("delete from raw.events")

        monkeypatch.setattr(Warehouse, "load_raw", losing)
    else:
        account = RowReader.account
        monkeypatch.setattr(RowReader, "account", lambda self: replace(account(self), used=0))
    with pytest.raises(ReportgenError, match="does not add up") as caught:
        build(project(tmp_path))
    assert caught.value.exit_code == 70
    assert not (tmp_path / "site").exists()
    assert not (tmp_path / "RECOMMENDATIONS.md").exists()


def test_undisturbed_it_is_built(tmp_path: Path) -> None:
    result = build(project(tmp_path))
    assert result.exit_code == 0
    assert [(i.file, i.lines, i.used, i.rejected) for i in result.report.inputs] == [
        ("budget/cost-events.jsonl", 2, 1, 1),
        ("FEEDBACK.md", 5, 1, 0),
    ]
