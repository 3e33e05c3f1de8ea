"""The rooms of the preview one by one: what changed, what is asked again, what is added to a page."""

from __future__ import annotations

import os
import re
import time
from concurrent.futures import wait
from pathlib import Path
from typing import Any

import pytest
from page_reader import read_page

from reportgen.errors import ReportgenError
from reportgen.live import board as boards
from reportgen.live import pages
from reportgen.live.board import Board, Content, Problem, View
from reportgen.live.kept import KeptWarehouse
from reportgen.live.problems import Teller
from reportgen.live.watching import Places, Tree, Watcher
from reportgen.resources import resource_dir
from reportgen.sqlfile import SqlFile
from reportgen.warehouse import SqlError, Warehouse

# --- watching -------------------------------------------------------------------------------------------------------


def test_what_comes_changes_and_goes_is_seen_once(tmp_path: Path) -> None:
    sql = tmp_path / "sql"
    (sql / "detectors").mkdir(parents=True)
    one = sql / "detectors" / "one.sql"
    one.write_text("a")
    watcher = Watcher(Places(files=(tmp_path / "late.toml",), trees=(Tree(sql, (".sql", ".test.md")),)))
    assert watcher.changes() == []
    one.write_text("ab")
    (sql / "detectors" / "two.test.md").write_text("x")
    (tmp_path / "late.toml").write_text("x")
    for ignored in (".one.sql.swp", "one.sql~", "notes.md"):
        (sql / "detectors" / ignored).write_text("x")
    seen = watcher.changes()
    assert [Path(path).name for path in seen] == ["late.toml", "one.sql", "two.test.md"]
    assert watcher.changes() == []
    one.unlink()
    assert [Path(path).name for path in watcher.changes()] == ["one.sql"]


def test_a_file_replaced_by_one_of_its_size_and_time_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.sql"
    path.write_text("one")
    os.utime(path, ns=(1, 1))
    watcher = Watcher(Places(files=(path,)))
    fresh = tmp_path / "fresh"
    fresh.write_text("two")
    os.utime(fresh, ns=(1, 1))
    fresh.replace(path)
    assert watcher.changes() == [str(path)]


def test_patterns_are_matched_again_from_time_to_time(tmp_path: Path) -> None:
    now = [0.0]
    places = Places(root=tmp_path, globs=("logs/**/*.jsonl",))
    watcher = Watcher(places, glob_seconds=5, clock=lambda: now[0])
    (tmp_path / "logs" / "deep").mkdir(parents=True)
    path = tmp_path / "logs" / "deep" / "a.jsonl"
    path.write_text("x")
    assert watcher.changes() == []
    now[0] = 6
    assert watcher.changes() == [str(path)]
    path.write_text("xy")
    assert watcher.changes() == [str(path)]


def test_watching_other_places_is_no_change(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").write_text("x")
    watcher = Watcher(Places(files=(tmp_path / "a",)))
    (tmp_path / "a").write_text("xy")
    watcher.watch(Places(files=(tmp_path / "a", tmp_path / "b")))
    assert watcher.changes() == [str(tmp_path / "a")]


def test_a_folder_that_links_to_itself_ends(tmp_path: Path) -> None:
    (tmp_path / "t" / "d").mkdir(parents=True)
    (tmp_path / "t" / "d" / "loop").symlink_to(tmp_path / "t")
    (tmp_path / "t" / "up").symlink_to(tmp_path / "t")
    (tmp_path / "t" / "d" / "x").write_text("x")
    found = Watcher(Places(trees=(Tree(tmp_path / "t"),))).stamps
    assert sorted(Path(path).name for path in found) == ["x", "x"]


# --- what is asked again --------------------------------------------------------------------------------------------


class Counting(KeptWarehouse):
    """Counts the statements that reach DuckDB."""

    ran: list[str]

    def _run(self, lead: str, text: str, *args: Any, **options: Any) -> Any:
        if "json_serialize_sql" not in text and "duckdb_functions" not in text:
            self.ran = [*getattr(self, "ran", []), (lead + text).strip()]
        return super()._run(lead, text, *args, **options)

    def since(self) -> list[str]:
        ran, self.ran = getattr(self, "ran", []), []
        return ran


def sql(name: str, text: str) -> SqlFile:
    return SqlFile(name, Path(f"{name}.sql"), f"sql/marts/{name}.sql", "project", {}, text)


@pytest.fixture
def store(tmp_path: Path) -> Any:
    warehouse = Counting(tmp_path / "w.duckdb")
    with warehouse:
        warehouse.load_raw({"feedback": []}, None)
        warehouse.lock()
        warehouse.begin(["a", "b"], [])
        warehouse.since()
        yield warehouse


def test_an_answer_is_asked_for_once_until_what_it_reads_changes(store: Counting) -> None:
    store.fill("findings", "n integer", [(1,), (2,)])
    query = "with f as (select * from findings) select sum(n) as s from f"
    assert store.query(query).rows == [(3,)]
    assert store.query(query) is store.query(query)
    assert store.since() == [query]
    store.fill("findings", "n integer", [(1,), (2,)])
    assert store.query(query).rows == [(3,)]
    assert store.since() == []
    store.fill("findings", "n integer", [(5,)])
    assert store.query(query).rows == [(5,)]
    assert store.since() == [query]


def test_a_name_of_a_cte_may_be_the_table_too(store: Counting) -> None:
    store.fill("runs", "n integer", [(1,)])
    query = "with runs as (select n from runs) select sum(n) from runs"
    assert store.query(query).rows == [(1,)]
    store.fill("runs", "n integer", [(2,)])
    assert store.query(query).rows == [(2,)]


def test_equal_values_of_another_type_are_another_value(store: Counting) -> None:
    store.create_view("params", "d", {"x": 1})
    assert store.query("select typeof(x) from params.d").rows == [("INTEGER",)]
    store.create_view("params", "d", {"x": True})
    assert store.query("select typeof(x) from params.d").rows == [("BOOLEAN",)]


@pytest.mark.parametrize(
    "query",
    [
        "select now() is null",
        "select random() < 2",
        "select count(*) from duckdb_tables()",
        "select count(*) from information_schema.tables",
        "select * from (show tables)",
        "select * from query_table('t')",
    ],
)
def test_what_may_give_another_answer_is_asked_each_time(store: Counting, query: str) -> None:
    store.fill("t", "n integer", [(1,)])
    store.since()
    store.query(query)
    store.query(query)
    assert store.since() == [query, query]


def test_a_macro_with_a_subquery_hides_what_it_reads(store: Counting) -> None:
    store.fill("t", "n integer", [(1,)])
    store.run_script("create macro total() as (select sum(n) from t)")
    assert store.query("select total()").rows == [(1,)]
    store.fill("t", "n integer", [(2,)])
    assert store.query("select total()").rows == [(2,)]


def test_the_built_in_macros_read_no_table() -> None:
    assert "select" not in (resource_dir("sql") / "macros.sql").read_text("utf-8").lower()


def test_only_tables_that_read_what_changed_are_made_anew(store: Counting) -> None:
    a, b, other = sql("a", "select 1 as n"), sql("b", "select n + 1 as m from a"), sql("other", "select 7 as k")
    store.begin(["a", "b", "other"], [])
    store.create_tables([b, a, other])
    assert store.query("select m, k from b, other").rows == [(2, 7)]
    store.since()
    store.begin(["a", "b", "other"], [])
    store.create_tables([b, a, other])
    assert store.since() == []
    store.create_tables([b, sql("a", "select 5 as n"), other])
    assert [text.split(" as ")[0] for text in store.since()] == ["create table a", "create table b"]
    assert store.query("select m, k from b, other").rows == [(6, 7)]


def test_a_table_whose_file_is_gone_is_gone(store: Counting) -> None:
    store.begin(["a", "b"], ["d"])
    store.create_tables([sql("a", "select 1 as n"), sql("b", "select 2 as n")])
    store.create_view("params", "d", {"x": 1})
    assert store.query("select a.n + b.n + d.x from a, b, params.d").rows == [(4,)]
    store.begin(["a"], [])
    store.create_tables([sql("a", "select 1 as n")])
    for query in ("select a.n + b.n + d.x from a, b, params.d", "select n from b", "select x from params.d"):
        with pytest.raises(SqlError):
            store.query(query)


def test_a_table_that_failed_is_made_when_it_is_mended(store: Counting) -> None:
    good, bad = sql("a", "select 1 as n"), sql("a", "select missing from nowhere")
    reader = sql("b", "select n from a")
    store.create_tables([good, reader])
    with pytest.raises(ReportgenError):
        store.create_tables([bad, reader])
    store.create_tables([good, reader])
    assert store.query("select n from b").rows == [(1,)]


def test_what_was_made_of_a_result_is_kept_with_it(store: Counting) -> None:
    store.fill("t", "n integer", [(1,)])
    made: list[int] = []
    for value in (1, 1, 2):
        store.fill("t", "n integer", [(value,)])
        result = store.query("select n from t")
        assert store.derived(result, "key", lambda result=result: made.append(1) or result.rows[0][0]) == value  # type: ignore[misc, func-returns-value]
    assert len(made) == 2


def test_what_is_asked_ahead_is_what_would_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    queries = [
        "select cast(timestamptz '2026-01-01 00:00:00+00' as varchar), n from findings",
        "select n / (n - 2) as share from findings",
        "select 10 // cast(nullif(n, 3) as integer), error(case when n = 3 then 'three' end) from findings",
        "select f.n + s.k from findings as f, scored as s",
    ]
    scored = sql("scored", "select n * 10 as k from findings")
    warehouse = Counting(tmp_path / "w.duckdb")
    with warehouse:
        warehouse.load_raw({}, None)
        warehouse.lock()
        for n in (1, 2, 3, 4):
            warehouse.begin(["scored"], [])
            warehouse.fill("findings", "n integer", [(n,)])
            warehouse.create_tables([scored])
            with Warehouse() as plain:
                plain.fill("findings", "n integer", [(n,)])
                plain.create_tables([scored])
                for query in queries:
                    try:
                        wanted: object = plain.query(query)
                    except SqlError as error:
                        with pytest.raises(SqlError, match=re.escape(str(error))):
                            warehouse.query(query)
                    else:
                        assert warehouse.query(query) == wanted
        warehouse.since()
        # The last round asked three of them on the side, and the one that reads `scored` itself.
        warehouse.begin(["scored"], [])
        warehouse.fill("findings", "n integer", [(5,)])
        warehouse.create_tables([scored])
        warehouse.since()
        # What has not had its turn yet would be asked here instead.
        wait([future for _, future in warehouse._beside._asked.values()])
        for query in queries:
            warehouse.query(query)
        assert warehouse.since() == [queries[3]]
    monkeypatch.undo()
    time.tzset()


def test_a_copy_is_a_whole_warehouse(store: Counting, tmp_path: Path) -> None:
    store.create_tables([sql("a", "select 1 as n")])
    target = tmp_path / "warehouse.duckdb"
    store.save(target)
    store.fill("late", "n integer", [(1,)])
    with Warehouse(target, read_only=True) as copy:
        assert copy.query("select n from a").rows == [(1,)]
        with pytest.raises(SqlError):
            copy.query("select * from late")
    store.save(target)
    assert store.query("select n from a").rows == [(1,)]
    assert [path.name for path in tmp_path.glob("*.new*")] == ["w.duckdb.new"]


# --- the board ------------------------------------------------------------------------------------------------------


def test_a_page_that_can_not_be_made_is_the_last_that_could() -> None:
    def fail() -> bytes:
        raise ReportgenError("templates/a.html:1", "wrong")

    first = Content(1, {"a.html": lambda: b"one", "old.html": lambda: b"old"})
    assert first.last_good() is None
    first.finish({"a.html": b"one, stamped", "old.html": b"old"})
    assert first.last_good() is first
    second = Content(2, {"a.html": fail, "b.html": lambda: b"two"}, first.last_good())
    assert second.get("a.html") == b"one, stamped"
    assert second.get("b.html") == b"two"
    assert second.get("old.html") is None
    assert second.last_good() is first
    with pytest.raises(ReportgenError):
        second.make("a.html")
    with pytest.raises(ReportgenError):
        Content(3, {"a.html": fail}).get("a.html")


def test_a_file_is_made_once() -> None:
    made: list[str] = []
    content = Content(1, {"a": lambda: (made.append("a"), b"x")[1]})  # type: ignore[func-returns-value]
    assert [content.get("a"), content.make("a"), made] == [b"x", b"x", ["a"]]


def test_the_board_counts_changes_only() -> None:
    board = Board()
    board.show(busy="reading")
    number = board.view.number
    board.show(busy="reading")
    assert board.view.number == number
    assert board.wait(number, 0.01).number == number
    board.show(busy="")
    assert board.wait(number, 0.01).number == number + 1
    with board.listening("b.html", 2) as first, board.listening("a.html", 2), board.listening("c.html", 2) as third:
        assert (first, third, board.pages()) == (True, False, ["a.html", "b.html"])
    assert board.pages() == []


# --- what is added to a page ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "wanted"),
    [
        (
            "default-src 'none'; script-src 'self'",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
        ),
        (
            "default-src 'self' data:; style-src 'sha256-x'",
            "default-src 'self' data:; style-src 'sha256-x' 'self'; script-src 'self' data:; connect-src 'self' data:",
        ),
        ("connect-src 'none'; connect-src https:", "connect-src 'self'"),
        ("img-src 'none'", "img-src 'none'"),
        ("", ""),
        (
            "DEFAULT-SRC 'none';;",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
        ),
    ],
)
def test_a_policy_is_widened_by_what_the_script_needs_and_nothing_else(policy: str, wanted: str) -> None:
    assert pages.widened(policy) == wanted
    assert pages.widened(wanted) == wanted


def test_the_script_goes_into_the_head_of_any_page() -> None:
    script = b'<script src="/.reportgen/live.js" data-content="x-1" defer></script>'
    assert (
        pages.with_script(b"<head><title>a</title></HEAD ><body>", "x-1")
        == b"<head><title>a</title>" + script + b"</HEAD ><body>"
    )
    assert pages.with_script(b"<p>no head", "x-1") == b"<p>no head" + script
    tag = b"<meta content=\"default-src 'none'\" http-equiv=content-security-policy>"
    made = pages.with_script(tag + b'<meta name="a" content="default-src">', "x-1")
    assert b"connect-src &#x27;self&#x27;" in made
    assert b'<meta name="a" content="default-src">' in made
    assert b'data-content="&quot;&gt;"' in pages.with_script(b"", '">')


HOSTILE = '<img src=x onerror=alert(1)>"\u202e\x00\x1b[31m\n</script>'


def test_everything_on_a_waiting_page_is_escaped() -> None:
    problem = Problem(where=HOSTILE, what=HOSTILE, next_step=HOSTILE, line=1, excerpt=((1, HOSTILE),))
    for view in (View(problems=(problem,)), View(busy=HOSTILE)):
        text = pages.waiting_page(view).decode()
        assert read_page(text).faults == []
        assert "<img" not in text
        assert text.count("</script>") == 1
        assert not set("\u202e\x00\x1b") & set(text)


def test_the_state_is_one_line_of_ascii() -> None:
    problem = Problem(where=HOSTILE, what=HOSTILE, excerpt=((1, HOSTILE),))
    tests = boards.Tests(detectors=(HOSTILE,), passed=1, failed=(problem,), missing=(HOSTILE,))
    text = pages.state(View(problems=(problem,), busy=HOSTILE, tests=tests), "x-1")
    assert text.isascii()
    assert "\n" not in text
    assert "\\u202e" not in text
    assert "\\u001b" not in text


# --- what is told of an error ---------------------------------------------------------------------------------------


def test_lines_are_quoted_of_watched_files_only(tmp_path: Path) -> None:
    detector = tmp_path / "sql" / "detectors" / "d.sql"
    detector.parent.mkdir(parents=True)
    detector.write_text("\n".join(f"line {n}" for n in range(1, 21)))
    secret = tmp_path / "budget" / "cost-events.jsonl"
    secret.parent.mkdir()
    secret.write_text("secret\n")
    teller = Teller(tmp_path)
    built_in = resource_dir("sql") / "detectors" / "cost_outlier.sql"
    teller.sources = {str(detector), str(built_in)}
    told = teller.at("sql/detectors/d.sql:12:3", "wrong")
    assert (told.where, told.line, told.column) == ("sql/detectors/d.sql:12:3", 12, 3)
    assert told.excerpt == tuple((n, f"line {n}") for n in range(8, 17))
    assert teller.at("sql/detectors/d.sql:99", "wrong").excerpt == ()
    assert teller.at(f"{detector}:1", "wrong").where == "sql/detectors/d.sql:1"
    assert teller.at("sql/detectors/cost_outlier.sql:1", "wrong").excerpt[0] == (1, "/*---")
    for where in ("budget/cost-events.jsonl:1", f"{secret}:1", "../x:1", "/etc/passwd:1", "--since", ""):
        told = teller.at(where, "wrong")
        assert (told.where, told.excerpt, told.line) == (where, (), None)


def test_a_fault_tells_no_secret(tmp_path: Path) -> None:
    told = Teller(tmp_path).fault(ValueError("joe@example.com"))
    assert "joe" not in told.what
    assert "ValueError" in told.what
