"""What a settings file must not say, and how that is told: where, what, the near name, all at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from settings_help import make_project, read, refused

from reportgen import tomlfile
from reportgen.errors import ReportgenError
from reportgen.settings import load_settings, locate


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return make_project(tmp_path, monkeypatch)


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("[outputs]\nsit = 'x'\n", "reportgen.toml:2", "unknown key 'sit' in [outputs]; did you mean 'site'?"),
        ("[output]\nsite = 'x'\n", "reportgen.toml:1", "unknown table [output]; did you mean [outputs]?"),
        ("[zzz]\n", "reportgen.toml:1", "unknown table [zzz]"),
        ("\nredact = true\n", "reportgen.toml:2", "unknown key 'redact' outside of any table; it belongs in [privacy]"),
        ("[runs]\nredact = true\n", "reportgen.toml:2", "unknown key 'redact' in [runs]; it belongs in [privacy]"),
        ("runs.gab = '1h'\n", "reportgen.toml:1", "unknown key 'gab' in [runs]; did you mean 'gap'?"),
        ("outputs = 3\n", "reportgen.toml:1", "[outputs] must be a table; found 3"),
        ("[[outputs]]\nsite = 'x'\n", "reportgen.toml:1", "[outputs] must be a table; [[outputs]] is a list of tables"),
        ("[outputs]\nsite = 3\n", "reportgen.toml:2", "'site' in [outputs] must be one path in quotes, not 3"),
        ("[outputs]\nsite = ''\n", "reportgen.toml:2", "'site' in [outputs] must be a path, not an empty text"),
        (
            "[inputs]\nbudget = ['a']\n",
            "reportgen.toml:2",
            "'budget' in [inputs] must be one path in quotes, not a list",
        ),
        (
            "[inputs]\nevents = []\n",
            "reportgen.toml:2",
            "'events' in [inputs] must name at least one path; leave it out for the default places",
        ),
        (
            "[inputs]\nevents = [\n  'a',\n  1,\n]\n",
            "reportgen.toml:2",
            "'events' in [inputs] must be one path in quotes, not 1",
        ),
        (
            "[inputs]\nrunning_totals = true\n",
            "reportgen.toml:2",
            '\'running_totals\' in [inputs] must be "auto", "always" or "never", not true',
        ),
        ("[privacy]\nredact = 'no'\n", "reportgen.toml:2", "'redact' in [privacy] must be true or false, not 'no'"),
        (
            "[quality]\nscore_flag = 101\n",
            "reportgen.toml:2",
            "'score_flag' in [quality] must be a number from 0 to 100, not 101",
        ),
        (
            "[quality]\nscore_flag = nan\n",
            "reportgen.toml:2",
            "'score_flag' in [quality] must be a number from 0 to 100, not NaN",
        ),
        (
            "[quality]\nscore_flag = true\n",
            "reportgen.toml:2",
            "'score_flag' in [quality] must be a number from 0 to 100, not true",
        ),
        (
            "[detectors.x]\nlimit = inf\n",
            "reportgen.toml:2",
            "'limit' in [detectors.x] must be a number, a text, true or false, not Infinity",
        ),
        (
            "[detectors.x]\nenabled = 0\n",
            "reportgen.toml:2",
            "'enabled' in [detectors.x] must be true or false, not 0",
        ),
        ("[detectors]\nx = false\n", "reportgen.toml:2", "'x' in [detectors] must be a table; found false"),
        (
            "[events.fields]\nagents = 'w'\n",
            "reportgen.toml:2",
            "unknown field 'agents' in [events.fields]; did you mean 'agent'?",
        ),
        ("[events]\nfield = 'w'\n", "reportgen.toml:2", "unknown key 'field' in [events]; did you mean 'fields'?"),
        ("[events]\nfields = 'w'\n", "reportgen.toml:2", "[events.fields] must be a table; found 'w'"),
        ("[roster]\nUnknown = ['a']\n", "reportgen.toml:2", "'Unknown' in [roster] names no pipeline"),
        (
            "[roster]\nDocs = ['a']\ndocs = ['b']\n",
            "reportgen.toml:3",
            "'docs' and 'Docs' in [roster] are the same pipeline",
        ),
        (
            "[roster]\ndocs = ['user']\n",
            "reportgen.toml:2",
            "'docs' in [roster] must be a list of agents' names, and 'user' names no agent",
        ),
        (
            "[roster]\ndocs = 'a'\n",
            "reportgen.toml:2",
            "'docs' in [roster] must be a list of agents, [\"writer\", \"reviewer\"], not 'a'",
        ),
        ("[report]\npipeline = ''\n", "reportgen.toml:2", "'pipeline' in [report] must be a pipeline's name, not ''"),
    ],
)
def test_what_is_wrong_is_said_with_its_line_and_the_near_name(project: Path, text: str, where: str, what: str) -> None:
    error = refused(project, text)
    assert (error.where, error.what) == (where, what)
    assert error.next_step


def test_all_problems_are_told_at_once_in_the_order_of_the_file(project: Path) -> None:
    error = refused(project, "[outputs]\nsit = 'x'\n\n[runs]\ngap = 1\nsite = 'y'\n", since="never", fail_on=101)
    assert error.where == "settings"
    assert error.what.splitlines() == [
        "5 problems",
        "  reportgen.toml:2: unknown key 'sit' in [outputs]; did you mean 'site'?",
        '  reportgen.toml:5: \'gap\' in [runs] must be a whole number with a unit, "30s", "30m", "12h" or "30d", not 1',
        "  reportgen.toml:6: unknown key 'site' in [runs]; it belongs in [outputs]",
        "  --since: must be a date or a time such as 2026-11-03 or 2026-11-03T09:00:00Z (UTC without an offset), "
        "not 'never'. `reportgen build --help` shows an example.",
        "  --fail-on: must be a whole number from 0 to 100, not 101. `reportgen build --help` shows an example.",
    ]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[outputs]\nsite = pages\n", "reportgen.toml:2:8"),
        ("[outputs\n", "reportgen.toml:1:9"),
        ("a = 1\na = 2\n", "reportgen.toml:2:6"),
        ("[a]\n[a]\n", "reportgen.toml:2:3"),
        ("x = '''\nnever closed\n", "reportgen.toml:3:1"),
    ],
)
def test_broken_toml_gives_line_and_column(project: Path, text: str, where: str) -> None:
    error = refused(project, text)
    assert error.where == where
    # The rest of the sentence is Python's; the place stands in front, not in it.
    assert error.what.startswith("not TOML: ")
    assert "(at" not in error.what


def test_broken_bytes_and_extremes_are_errors_not_crashes(project: Path) -> None:
    (project / "reportgen.toml").write_bytes(b"[outputs]\nsite = '\xff'\n")
    with pytest.raises(ReportgenError, match=r"^reportgen\.toml:2:9: not UTF-8"):
        load_settings(project)
    assert "not TOML" in refused(project, "x = " + "[" * 100_000).what
    assert "not TOML" in refused(project, "x = " + "1" * 10_000).what


def test_missing_and_odd_places_are_errors(project: Path) -> None:
    with pytest.raises(ReportgenError, match="nowhere: no such directory"):
        load_settings(project / "nowhere")
    (project / "file").write_text("")
    with pytest.raises(ReportgenError, match="is a file, not a project directory"):
        load_settings(project / "file")
    with pytest.raises(ReportgenError, match=r"^other\.toml: no such file"):
        load_settings(project, file=Path("other.toml"))
    (project / "reportgen.toml").mkdir()
    with pytest.raises(ReportgenError, match=r"^reportgen\.toml: is a directory, not a file"):
        load_settings(project)
    (project / "reportgen.toml").rmdir()
    (project / "reportgen.toml").symlink_to("gone.toml")
    with pytest.raises(ReportgenError, match=r"^reportgen\.toml: no such file"):
        load_settings(project)


# --- lines of keys --------------------------------------------------------------------------------------------------


def test_key_lines_of_every_way_to_write_a_key() -> None:
    text = "\n".join(
        [
            "# a comment",  # 1
            "top = 1",  # 2
            "",
            "[a.'b c']  # header",  # 4
            'd."e" = """',  # 5
            "fake = 1",
            '"""',
            "list = [  # [no header]",  # 8
            "  1,",
            "]",
            "in = { x = 1, y = { z = 2 } }",  # 11
            "[[rows]]",  # 12
            "k = 1",  # 13
        ]
    )
    assert tomlfile.key_lines(text) == {
        ("top",): 2,
        ("a",): 4,
        ("a", "b c"): 4,
        ("a", "b c", "d"): 5,
        ("a", "b c", "d", "e"): 5,
        ("a", "b c", "list"): 8,
        ("a", "b c", "in"): 11,
        ("a", "b c", "in", "x"): 11,
        ("a", "b c", "in", "y"): 11,
        ("a", "b c", "in", "y", "z"): 11,
        ("rows",): 12,
        ("rows", "k"): 13,
    }


def test_later_checks_can_say_where_a_key_stands(project: Path) -> None:
    settings = read(project, "[runs]\ngap = '1h'\n\n[detectors.cost_outlier]\nmin_ratio = 4\n")
    assert locate(settings, "detectors", "cost_outlier", "min_ratio") == "reportgen.toml:5"
    assert locate(settings, "detectors", "cost_outlier") == "reportgen.toml:4"
    assert locate(settings, "detectors", "other") == "reportgen.toml"
    (project / "reportgen.toml").unlink()
    assert locate(load_settings(project), "detectors", "x") == "detectors.x"


_WORDS = st.text(st.characters(codec="utf-8", exclude_characters="'\r\n"), max_size=8)


@given(st.lists(st.tuples(_WORDS, _WORDS), max_size=5))
def test_no_text_of_a_settings_file_is_worse_than_an_error_with_a_place(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]
) -> None:
    home = tmp_path_factory.mktemp("p")
    text = "\n".join(f"['{table_name}']\n'{key}' = 1" for table_name, key in pairs)
    (home / "reportgen.toml").write_text(text, encoding="utf-8")
    if not pairs:
        load_settings(home)
        return
    with pytest.raises(ReportgenError) as caught:
        load_settings(home)
    assert caught.value.exit_code == 2
    assert caught.value.where.startswith("reportgen.toml")
