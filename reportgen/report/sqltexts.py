"""The text of every SQL file that took part, what it is, and which tables it reads."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast, get_args

from reportgen import macros
from reportgen.model import Detector, Report, SqlKind, SqlText
from reportgen.resources import resource_dir
from reportgen.sqlfile import SqlFile, find_sql_files
from reportgen.warehouse import Warehouse

_KINDS: tuple[str, ...] = get_args(SqlKind)
#: In the place of a text that a finished report does not bring along.
ELSEWHERE = "-- Not the built-in file of this reportgen: its text stands in the project's own report.\n"


def sql_texts(store: Warehouse, files: Sequence[SqlFile]) -> list[SqlText]:
    """Return the files by kind, as they are built, and name. Files of no kind (detectors) are left out."""
    kept = [file for file in files if kind_of(file) in _KINDS]
    kept.sort(key=lambda file: (_KINDS.index(kind_of(file)), file.id, file.origin))
    reads = _reads(store, [file.text for file in kept])
    return [
        SqlText(
            file=file.name,
            kind=cast(SqlKind, kind_of(file)),
            name=file.id,
            title=_word(file, "title") or file.id,
            doc=_word(file, "doc"),
            origin=file.origin,
            sql=file.text,
            reads=list(reads[file.text]),
            digest=digest(file.text),
        )
        for file in kept
    ]


def with_reads(store: Warehouse, detectors: Sequence[Detector]) -> list[Detector]:
    """Return the detectors with the tables that their SQL reads, and the digest of its text."""
    reads = _reads(store, [one.sql for one in detectors])
    return [replace(one, reads=list(reads[one.sql]), digest=digest(one.sql)) for one in detectors]


def digest(text: str) -> str:
    """Return what tells one text of a file from another."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def with_texts(report: Report) -> Report:
    """Return a report that was read from report.json with the texts of those SQL files that are as ours are."""
    folders = (*(kind for kind in _KINDS if kind != "macros"), "detectors")
    ours = {file.name: file for name in folders for file in find_sql_files(name, resource_dir("sql"), None)}
    ours |= {file.name: file for file in macros.files(None)}

    def text(name: str, known: str) -> str:
        return ours[name].text if name in ours and digest(ours[name].text) == known else ELSEWHERE

    return replace(
        report,
        sql=[
            replace(one, sql=text(one.file, one.digest), title=one.title or _told(ours, one, "title") or one.name,
                    doc=one.doc or _told(ours, one, "doc"))
            for one in report.sql
        ],
        detectors=[replace(one, sql=text(one.file, one.digest)) for one in report.detectors],
    )  # fmt: skip


def _told(files: Mapping[str, SqlFile], one: SqlText, key: str) -> str:
    file = files.get(one.file)
    return _word(file, key) if file is not None and digest(file.text) == one.digest else ""


def kind_of(file: SqlFile) -> str:
    """Return the folder that a file stands in, `marts`; of `sql/macros.sql` its own name."""
    return file.name.split("/")[1].removesuffix(".sql")


def _word(file: SqlFile, key: str) -> str:
    value = file.front.get(key)
    return " ".join(value.split()) if isinstance(value, str) else ""


def _reads(store: Warehouse, texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    # What is no single SELECT (macros, a broken file) reads nothing that can be told.
    return {text: facts.tables for text, facts in store.facts(texts).items()}
