"""What is wrong with the files of `sql/formats/`, found without an input: front matter, SQL, columns, tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reportgen.checkrules import STUB_FORMAT
from reportgen.errors import ReportgenError
from reportgen.formatfile import FOLDER, LINES, problems, read_format
from reportgen.formattest import find_format_test
from reportgen.inputs.formats import check_columns
from reportgen.macros import make_macros
from reportgen.resources import resource_dir
from reportgen.sqlfile import SqlFile, find_sql_files
from reportgen.testfile import read_test_file
from reportgen.warehouse import SqlError, Warehouse


def format_problems(project: Path | None) -> Iterator[tuple[ReportgenError, bool]]:
    """Yield what is wrong, and whether it is an error. What a project leaves as it came was checked before."""
    own = project / "sql" if project is not None else None
    files = find_sql_files(FOLDER, resource_dir("sql"), own)
    files = [file for file in files if project is None or file.origin == "project"]
    if not files:
        return
    with Warehouse() as store:
        store.lock()
        try:
            make_macros(store, own)
        except ReportgenError:
            # Who reads all other files tells of it.
            return
        store.query(f"create table lines ({', '.join(f'{name} {kind}' for name, kind in LINES.items())})")
        for file in files:
            for error in _of_file(store, file):
                yield error, True
            if file.broken is None and STUB_FORMAT in str(file.front.get("doc", "")):
                yield file.problem("'doc' still is what `reportgen new format` wrote", STUB_FORMAT, "doc"), False
            if (what := _tests(file, project)) is not None:
                yield what, False


def _of_file(store: Warehouse, file: SqlFile) -> Iterator[ReportgenError]:
    if file.broken is not None:
        yield file.broken
        return
    found = list(problems(file))
    yield from found
    try:
        store.check_one_select(file)
        columns = [name for name, _ in store.describe(file.text)]
        if not found:
            check_columns(read_format(file), columns)
    except SqlError as error:
        where = f"{file.name}:{error.line or 1}:{error.column or 1}"
        yield ReportgenError(where, error.message, error.hint or "Mend the SQL.")
    except ReportgenError as error:
        yield error


def _tests(file: SqlFile, project: Path | None) -> ReportgenError | None:
    path = find_format_test(file, project)
    name = file.name.removesuffix(".sql") + ".test.md"
    if path is None:
        return ReportgenError(file.name, "has no test", f"Write {name}: lines given, events expected.")
    try:
        read_test_file(path, name=name)
    except ReportgenError as error:
        return error
    return None
