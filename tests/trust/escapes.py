"""Attempts to get out of a locked warehouse: to read or write a file, load, attach, change a setting, or call home.

Whoever can edit SQL is trusted with what it shows; nobody is trusted with the machine.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from reportgen.engine import Limits
from reportgen.errors import ReportgenError
from reportgen.macros import make_macros
from reportgen.sqlfile import SqlFile
from reportgen.warehouse import SqlError, Warehouse
from trust.tally import Count

#: What the file says that no attempt may read.
HIDDEN = "the hidden words"

#: `{f}`: a file with words in it; `{out}`: a file that must not come to be; `{dir}`: their folder.
READING = (
    "select * from read_csv('{f}')", "select * from read_csv_auto('{f}')", "select * from read_text('{f}')",
    "select * from read_blob('{f}')", "select * from read_text(['{f}'])", "select * from read_text('{dir}/*')",
    "select * from glob('{dir}/*')", "select * from glob('/etc/*')", "select * from '{f}'", "from '{f}'",
    "table '{f}'", "select * from \"{f}\"", "select * from sniff_csv('{f}')", "select * from read_json('{f}')",
    "select * from read_json_auto('{f}')", "select * from read_json_objects('{f}')",
    "select * from read_ndjson('{f}')", "select * from read_ndjson_objects('{f}')", "select * from read_parquet('{f}')",
    "select * from parquet_scan('{f}')", "select * from parquet_metadata('{f}')", "select * from parquet_schema('{f}')",
    "select * from parquet_file_metadata('{f}')", "select * from parquet_kv_metadata('{f}')",
    "select * from parquet_bloom_probe('{f}', 'a', 1)", "select * from read_duckdb('{f}')",
    "select * from read_text('file://{f}')", "select * from read_csv('/dev/stdin')", "select * from '/etc/passwd'",
    "select * from read_text('/proc/self/environ')", "select * from read_csv('{f}', delim = '|', header = false)",
    "select * from st_read('{f}')", "select * from read_xlsx('{f}')", "select * from sqlite_scan('{f}', 'x')",
    "select * from postgres_scan('host=localhost', 'public', 't')", "select * from iceberg_scan('{dir}')",
    "select * from delta_scan('{dir}')", "select * from arrow_scan(1, 2, 3)", "select * from pandas_scan(1)",
)  # fmt: skip
NESTED = (
    "with x as (select * from read_text('{f}')) select * from x",
    "with x as materialized (select * from read_text('{f}')) select * from x",
    "select (select content from read_text('{f}'))", "select 1 where exists (select 1 from read_text('{f}'))",
    "select * from runs, lateral (select * from read_text('{f}'))", "select * from runs join read_text('{f}') on true",
    "select n from runs union all select 1 from read_text('{f}')",
    "select n in (select length(content) from read_text('{f}')) from runs",
    "with recursive r as (select 1 as n union all select n + 1 from r, read_text('{f}') where n < 2) select * from r",
    "select * from (values (1)) as t (a) order by (select content from read_text('{f}'))",
    "select * from query('select * from read_text(''{f}'')')", "select * from query_table('{f}')",
    "select * from query_table(['{f}'])", "select * from query('from ''{f}''')",
    "select * from json_execute_serialized_sql(json_serialize_sql('select * from read_text(''{f}'')'))",
    "from json_execute_serialized_sql(json_serialize_sql('from ''{f}'''))",
    "select * from (pivot (from read_text('{f}')) on size)", "select * from (describe select * from read_text('{f}'))",
    "select * from (summarize select * from read_text('{f}'))",
    "select list_transform([1], x -> (select content from read_text('{f}')))",
)  # fmt: skip
CALLING = (
    "select * from 'https://example.org/x.csv'", "select * from read_csv('https://example.org/x.csv')",
    "select * from read_parquet('s3://bucket/x.parquet')", "select * from 'hf://datasets/x/y.csv'",
    "select * from read_text('http://127.0.0.1:1/')", "install httpfs", "load httpfs", "install spatial from community",
    "install '{dir}/x.duckdb_extension'", "load '{dir}/x.duckdb_extension'", "force install httpfs", "update extensions",
    "select * from http_get('https://example.org')",
)  # fmt: skip
WRITING = (
    "copy runs to '{out}'", "copy (select 1) to '{out}'", "copy (select 1) to '{out}' (format parquet)",
    "copy (select 1) to '{out}' (format json)", "copy runs to '/dev/stdout'", "copy runs from '{f}'",
    "export database '{out}'", "import database '{dir}'", "attach '{out}' as other", "attach '{f}' as other",
    "attach ':memory:' as other", "detach w", "use memory", "select 1; copy runs to '{out}'",
    "/* select */ copy runs to '{out}'", "explain analyze copy runs to '{out}'", "create table t as select 1",
    "create temp table t as select 1", "create view v as select * from read_text('{f}')",
    "create macro m() as table select * from read_text('{f}')", "create secret s (type s3, key_id 'x', secret 'y')",
    "create persistent secret s (type s3, key_id 'x', secret 'y')", "create sequence s", "create schema other",
    "create type t as enum (select content from read_text('{f}'))", "drop table runs", "insert into runs values (2)",
    "update runs set n = 2", "delete from runs", "truncate runs", "alter table runs add column x integer",
    "merge into runs using (select 1 as n) as s on runs.n = s.n when matched then delete", "comment on table runs is 'x'",
    "prepare p as select * from read_text('{f}')", "execute p", "checkpoint", "vacuum", "begin", "rollback",
)  # fmt: skip
SETTING = (
    "set enable_external_access = true", "set lock_configuration = false", "set memory_limit = '900GB'",
    "set threads = 64", "set global memory_limit = '900GB'", "set session threads = 64", "reset memory_limit",
    "reset enable_external_access", "set allowed_directories = ['/']", "set allowed_paths = ['{f}']",
    "set temp_directory = '{dir}'", "set home_directory = '{dir}'", "set extension_directory = '{dir}'",
    "set secret_directory = '{dir}'", "set log_query_path = '{out}'", "set profiling_output = '{out}'",
    "set file_search_path = '{dir}'", "set variable x = 1", "pragma enable_profiling", "pragma memory_limit = '900GB'",
    "pragma database_list", "pragma version", "call pragma_version()", "call enable_logging()",
    "select * from enable_logging()", "select * from enable_profiling()", "call duckdb_settings()",
)  # fmt: skip
ASKING = (
    "select getenv('HOME')", "select * from duckdb_secrets()", "select * from which_secret('s3://x', 's3')",
    "select current_setting('temp_directory')", "select * from duckdb_settings()", "from duckdb_settings",
    "select * from duckdb_databases()", "from duckdb_databases", "select * from pragma_database_list",
    "select * from pragma_database_list()", "select * from duckdb_extensions()", "select * from pragma_platform()",
    "select * from duckdb_temporary_files()", "select * from duckdb_logs", "select * from pragma_database_size()",
    "select * from read_text(getvariable('x'))", "select current_query()", "select write_log('{f}')",
    "select * from (select path from duckdb_databases())", "select (select value from duckdb_settings() limit 1)",
)  # fmt: skip
ATTEMPTS = (*READING, *NESTED, *CALLING, *WRITING, *SETTING, *ASKING)
#: In `sql/macros.sql`, where statements stand.
MACROS = (
    "create macro leak() as table select * from read_text('{f}');", "create macro leak() as (select getenv('HOME'));",
    "create macro leak(x) as (select content from read_text(x));\ncopy runs to '{out}';", "attach '{out}' as other;",
    "create table t as select 1;", "create view v as select 1;", "create macro leak() as (from duckdb_settings());",
    "create macro ok() as 1; set threads = 3;", "create function leak() as table from '{f}';",
)  # fmt: skip
#: Macros that take what they read from who calls them are refused when they are called.
CALLED = (
    ("create macro reader(place) as table select * from read_text(place);", "select * from reader('{f}')"),
    ("create macro runner(text) as table select * from query(text);", "select * from runner('from ''{f}''')"),
    ("create macro asker(place) as table select * from query_table(place);", "select * from asker('{f}')"),
)


class Place:
    """A locked warehouse with a table in it, beside a file with hidden words."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "hidden.csv"
        self.out = folder / "out"
        self.file.write_text(f"a,b\n{HIDDEN},1\n", encoding="utf-8")
        self.store = Warehouse(folder / "w.duckdb", limits=Limits(10, "200MB"))
        self.store.query("create table runs as select 7 as n")
        self.store.lock()
        self.there = sorted(folder.iterdir())

    def sql(self, attempt: str) -> str:
        return attempt.format(f=self.file, out=self.out, dir=self.folder)

    def run(self, attempt: str) -> list[tuple[object, ...]]:
        """Run an attempt as the SQL of a project is run. Raises SqlError or ReportgenError where it is refused."""
        text = self.sql(attempt)
        self.store.check_one_select(
            SqlFile("leak", self.folder / "leak.sql", "sql/detectors/leak.sql", "project", {}, text)
        )
        return self.store.query(text, bounded=True, most=1000).rows

    def run_macros(self, attempt: str) -> None:
        """Make macros as a project's `sql/macros.sql` is made. Raises as `run`."""
        own = self.folder / "sql"
        own.mkdir(exist_ok=True)
        (own / "macros.sql").write_text(self.sql(attempt), encoding="utf-8")
        try:
            make_macros(self.store, own)
        finally:
            (own / "macros.sql").unlink()
            own.rmdir()

    def is_as_before(self) -> bool:
        """Say whether nothing was written and nothing was changed."""
        there = [path for path in sorted(self.folder.iterdir()) if not path.name.startswith("w.duckdb")]
        return (
            there == [self.file]
            and self.store.query("from runs").rows == [(7,)]
            and self.store.columns("runs") == ["n"]
            and self.store.query(
                "select current_setting('enable_external_access'), current_setting('lock_configuration')"
            ).rows == [(False, True)]
        )  # fmt: skip


def escaped(place: Place, attempt: str) -> str | None:
    """Try; return how it went wrong, or None where it was refused and left nothing."""
    try:
        rows = place.run(attempt)
    except (SqlError, ReportgenError) as error:
        if HIDDEN in str(error):
            return f"{attempt}: the refusal tells the words"
    else:
        return f"{attempt}: gave {str(rows)[:80]}"
    return None if place.is_as_before() else f"{attempt}: was refused, and left something"


def run() -> list[Count]:
    """Try everything on one locked connection."""
    count = Count("escape attempts from SQL", len(ATTEMPTS))
    with TemporaryDirectory(prefix="reportgen-trust-") as folder:
        place = Place(Path(folder))
        with place.store:
            count.losses += [loss for attempt in ATTEMPTS if (loss := escaped(place, attempt))]
            for macro in MACROS:
                count.number += 1
                try:
                    place.run_macros(macro)
                    count.losses.append(f"macros.sql: {macro}")
                except (SqlError, ReportgenError):
                    pass
            for macro, call in CALLED:
                count.number += 1
                place.store.run_script(macro)
                if loss := escaped(place, call):
                    count.losses.append(f"{macro} {loss}")
    return [count]
