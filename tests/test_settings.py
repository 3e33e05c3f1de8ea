"""What each setting and flag means, in which order they hold, and where paths start."""

from __future__ import annotations

from dataclasses import fields
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from settings_help import at, make_project, read, refused, write

from reportgen import settings_table as table
from reportgen.inputs.fields import NAMES
from reportgen.settings import Settings, load_settings


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return make_project(tmp_path, monkeypatch)


# --- defaults and the file ------------------------------------------------------------------------------------------


def test_without_a_file_the_defaults_hold(project: Path) -> None:
    settings = load_settings(project)
    assert settings == Settings(project=project, recommendations=project / "RECOMMENDATIONS.md", site=project / "site")
    assert settings.run_gap == timedelta(minutes=30)
    assert settings.score_flag == 60
    assert settings.redact is True
    assert settings.work == project / ".reportgen"


def test_an_empty_file_changes_only_which_file_was_read(project: Path) -> None:
    path = write(project, "")
    assert load_settings(project) == Settings(
        project=project, file=path, recommendations=project / "RECOMMENDATIONS.md", site=project / "site"
    )


def test_every_setting_reaches_its_field(project: Path) -> None:
    settings = read(
        project,
        """
        [inputs]
        events = ["a.jsonl", "logs/*.jsonl.gz", "a.jsonl"]
        feedback = "notes/FEEDBACK.md"
        healing_log = "heal.jsonl"
        budget = "limits.md"
        [outputs]
        recommendations = "out/R.md"
        site = "out/pages"
        [report]
        pipeline = "doc-pipeline"
        [period]
        since = 2026-11-01
        until = "2026-11-30"
        as_of = 2026-12-01T02:00:00+02:00
        [runs]
        gap = "1h"
        [quality]
        score_flag = 62.5
        [privacy]
        redact = false
        [roster]
        "doc-pipeline" = ["@writer", "**Reviewer**", "reviewer"]
        [events.fields]
        agent = "worker"
        cost_usd = ["price.total", "price"]
        [detectors.cost_outlier]
        min_ratio = 2.10
        label = "x"
        [detectors.revision_loops]
        enabled = false
        [detectors.bottleneck_agent]
        enabled = true
        """,
    )
    assert settings == Settings(
        project=project,
        file=project / "reportgen.toml",
        events=("a.jsonl", "logs/*.jsonl.gz"),
        feedback=("notes/FEEDBACK.md",),
        healing_log="heal.jsonl",
        budget="limits.md",
        recommendations=project / "out" / "R.md",
        site=project / "out" / "pages",
        pipeline="doc-pipeline",
        since=at("2026-11-01"),
        until=at("2026-11-30T23:59:59.999999"),
        as_of=at("2026-12-01"),
        run_gap=timedelta(hours=1),
        score_flag=Decimal("62.5"),
        redact=False,
        roster={"doc-pipeline": ("writer", "Reviewer")},
        fields={"agent": ("worker",), "cost_usd": ("price.total", "price")},
        parameters={"cost_outlier": {"min_ratio": Decimal("2.10"), "label": "x"}},
        disabled=frozenset({"revision_loops"}),
        enabled=frozenset({"bottleneck_agent"}),
    )
    # Written through a binary float, 2.10 would come out as 2.1.
    assert str(settings.parameters["cost_outlier"]["min_ratio"]) == "2.10"


def test_every_field_of_settings_is_a_setting_a_flag_or_the_place(project: Path) -> None:
    # `enabled` fills two fields: what is switched on, and what is switched off.
    known = {s.field for s in table.SETTINGS} | set(table.FLAG_ONLY) | {"project", "file", "disabled", "work_elsewhere"}
    assert {f.name for f in fields(Settings)} == known


def test_fields_that_can_be_renamed_are_fields_that_events_have() -> None:
    assert set(table.EVENT_FIELDS) <= set(NAMES)


def test_dots_in_outputs_are_tidied_unless_a_link_gives_them_another_meaning(project: Path) -> None:
    (project.parent / "far" / "away").mkdir(parents=True)
    (project / "link").symlink_to(project.parent / "far" / "away")
    settings = read(project, "[outputs]\nsite = 'a/../pages'\nrecommendations = 'link/../R.md'\n")
    assert settings.site == project / "pages"
    assert settings.recommendations.resolve() == project.parent.resolve() / "far" / "R.md"


def test_a_byte_order_mark_and_windows_line_ends_are_no_error(project: Path) -> None:
    (project / "reportgen.toml").write_bytes(b"\xef\xbb\xbf[quality]\r\nscore_flag = 70\r\n")
    assert load_settings(project).score_flag == 70


def test_another_file_takes_the_place_of_the_default_one(project: Path) -> None:
    write(project, "this is not TOML")
    (project.parent / "other.toml").write_text("[outputs]\nsite = 'pages'\n")
    settings = load_settings(project, file=Path("../other.toml"))
    # Its relative paths start at the project all the same.
    assert settings.site == project / "pages"
    assert settings.file is not None
    assert settings.file.samefile(project.parent / "other.toml")


def test_home_is_written_with_a_tilde(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    assert read(project, "[inputs]\nevents = '~/logs/*.jsonl'\n").events == ("/home/someone/logs/*.jsonl",)


# --- times ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "since", "until"),
    [
        ("2026-11-03", "2026-11-03T00:00:00", "2026-11-03T23:59:59.999999"),
        ("'2026-11-03'", "2026-11-03T00:00:00", "2026-11-03T23:59:59.999999"),
        ("'20261103'", "2026-11-03T00:00:00", "2026-11-03T23:59:59.999999"),
        ("2026-11-03T09:30:00", "2026-11-03T09:30:00", "2026-11-03T09:30:00"),
        ("'2026-11-03 09:30'", "2026-11-03T09:30:00", "2026-11-03T09:30:00"),
        ("2026-11-03T09:30:00.25Z", "2026-11-03T09:30:00.250000", "2026-11-03T09:30:00.250000"),
        ("'2026-11-03T00:30:00+02:00'", "2026-11-02T22:30:00", "2026-11-02T22:30:00"),
        ("2026-11-03T23:30:00-05:00", "2026-11-04T04:30:00", "2026-11-04T04:30:00"),
    ],
)
def test_dates_and_times_become_naive_utc(project: Path, written: str, since: str, until: str) -> None:
    assert read(project, f"[period]\nsince = {written}\n").since == at(since)
    assert read(project, f"[period]\nuntil = {written}\n").until == at(until)
    assert read(project, f"[period]\nas_of = {written}\n").as_of == at(until)


@pytest.mark.parametrize("written", ["09:30:00", "'yesterday'", "'2026-13-01'", "20261103", "true", "''", "[]"])
def test_what_is_no_date_is_refused(project: Path, written: str) -> None:
    error = refused(project, f"[period]\nsince = {written}\n")
    assert error.where == "reportgen.toml:2"
    assert "must be a date or a time" in error.what


def test_a_time_that_leaves_the_calendar_when_turned_to_utc_is_refused(project: Path) -> None:
    assert "1 and 9999" in refused(project, "[period]\nsince = '0001-01-01T00:00:00+05:00'\n").what


def test_a_period_that_ends_before_it_starts_is_refused(project: Path) -> None:
    error = refused(project, "[period]\nuntil = 2026-11-01\nsince = 2026-11-02\n")
    assert error.where == "reportgen.toml:3"
    assert "is after until" in error.what
    assert "is after as_of" in refused(project, "", since="2026-11-02", as_of="2026-11-01").what
    # One day is a period.
    assert read(project, "[period]\nuntil = 2026-11-01\nsince = 2026-11-01\n").since == at("2026-11-01")


@pytest.mark.parametrize(
    ("written", "length"),
    [("30s", 30), ("1s", 1), ("45m", 2700), ("12h", 43200), ("30d", 2592000), (" 2 h ", 7200), ("36525d", 3155760000)],
)
def test_lengths_of_time(project: Path, written: str, length: int) -> None:
    assert read(project, f"[runs]\ngap = '{written}'\n").run_gap == timedelta(seconds=length)
    assert load_settings(project, flags={"window": written}).window == timedelta(seconds=length)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("30", "with a unit"),
        ("'30'", "with a unit"),
        ("'-1h'", "with a unit"),
        ("'1.5h'", "with a unit"),
        ("'1w'", "with a unit"),
        ("''", "with a unit"),
        ("true", "with a unit"),
        ("'0m'", "at least 1s"),
        ("'36526d'", "at most"),
        ("'999999999999999d'", "at most"),
    ],
)
def test_lengths_of_time_refused(project: Path, written: str, message: str) -> None:
    assert message in refused(project, f"[runs]\ngap = {written}\n").what


# --- flags ----------------------------------------------------------------------------------------------------------


def test_flags_win_over_the_file(project: Path) -> None:
    text = """
        [inputs]
        events = "a.jsonl"
        feedback = "f.md"
        [outputs]
        site = "pages"
        [report]
        pipeline = "one"
        [period]
        since = 2026-11-01
        until = 2026-11-30
        """
    settings = read(
        project,
        text,
        events=("b.jsonl", "c/*.jsonl"),
        site="elsewhere",
        pipeline="two",
        since="2026-11-05",
        redact=False,
        strict=True,
        adopt=True,
        fail_on=0,
    )
    assert settings.events == ("b.jsonl", "c/*.jsonl")
    assert settings.feedback == ("f.md",)
    assert settings.site == project / "elsewhere"
    assert settings.pipeline == "two"
    assert settings.since == at("2026-11-05")
    assert settings.until == at("2026-11-30T23:59:59.999999")
    assert (settings.redact, settings.strict, settings.adopt, settings.fail_on) == (False, True, True, 0)


def test_flags_not_given_change_nothing(project: Path) -> None:
    write(project, "[inputs]\nevents = 'a.jsonl'\n")
    nothing: dict[str, object] = {
        "events": (),
        "feedback": [],
        "site": None,
        "since": None,
        "redact": None,
        "fail_on": None,
    }
    assert load_settings(project, flags=nothing) == load_settings(project)


def test_since_and_window_exclude_each_other_but_a_flag_replaces_the_setting(project: Path) -> None:
    assert "both say" in refused(project, "[period]\nsince = 2026-11-01\nwindow = '30d'\n").what
    assert refused(project, "", since="2026-11-01", window="30d").where == "--window"
    settings = read(project, "[period]\nsince = 2026-11-01\n", window="7d")
    assert (settings.since, settings.window) == (None, timedelta(days=7))
    settings = read(project, "[period]\nwindow = '7d'\n", since="2026-11-01")
    assert (settings.since, settings.window) == (at("2026-11-01"), None)


def test_python_callers_may_give_python_values(project: Path) -> None:
    settings = load_settings(
        project,
        flags={
            "events": [Path("a.jsonl")],
            "site": Path("pages"),
            "since": date(2026, 11, 1),
            "until": at("2026-11-02T03:00:00"),
            "as_of": date(2026, 11, 9),
        },
    )
    assert settings.events == ("a.jsonl",)
    assert settings.site == project / "pages"
    assert settings.since == at("2026-11-01")
    assert settings.until == at("2026-11-02T03:00:00")
    assert settings.as_of == at("2026-11-09T23:59:59.999999")
    assert load_settings(project, flags={"window": timedelta(days=2)}).window == timedelta(days=2)
    assert load_settings(project, flags={"events": "one.jsonl"}).events == ("one.jsonl",)


def test_an_unknown_option_is_a_mistake_of_the_program_that_calls(project: Path) -> None:
    with pytest.raises(TypeError, match="unknown option 'sinc'; did you mean 'since'"):
        load_settings(project, flags={"sinc": "2026-11-01"})


def test_paths_in_flags_start_where_the_caller_stands(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = project.parent / "here [x]"
    here.mkdir()
    monkeypatch.chdir(here)
    settings = load_settings(
        Path("../project"),
        flags={"events": ("a.jsonl", "*.jsonl", str(project / "b.jsonl")), "site": "pages", "budget": "../B.md"},
    )
    # As the project sees them, so that the same layout gives the same names on every machine.
    assert settings.events == ("../here [x]/a.jsonl", "../here [[]x]/*.jsonl", str(project / "b.jsonl"))
    assert settings.site == here.resolve() / "pages"
    assert settings.budget == "../here [x]/../B.md"
    assert (settings.project / settings.budget).resolve() == project.parent / "B.md"
