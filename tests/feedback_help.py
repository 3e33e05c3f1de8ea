"""What the tests of feedback share: a file from text, read as the build reads it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Literal

from hypothesis import strategies as st

from reportgen.inputs.feedback import FeedbackRead, read_feedback
from reportgen.inputs.sources import Source
from reportgen.model import InputFile
from reportgen.names import Names

HEAD = "| Date | Pipeline | Agent | Score | Issue | Resolution | Pattern |\n|---|---|---|---|---|---|---|\n"


#: Texts in which everything may be taken for markup.
NASTY = st.text(
    st.one_of(
        st.sampled_from("|\\`*_~[]<>&#{}()!-:./\"' \n\r\t\x0b\x85\u2028\u00a0\x00\ufeff"),
        st.sampled_from(list("abZ19éß日\u202e\x1b\ud83d")),
    ),
    max_size=40,
)
MARKUP = r"""`a|b` \| \\| \ | <br> <!-- --> <b> &amp; &#124; {{X}} {{{ ![a](b) [x]:y [x][y] **b** __init__ a_b ~~s~~ ~ *
http://x.y/z_1* <http://x.y> - `` ``` $x$ :---: --- |---| N/A 45/100 a@b.cd # > 1. + _"""
PIECES = st.lists(st.sampled_from([*MARKUP.split(), " ", "\n", "\u200b"]), max_size=8).map("".join)
TEXT = st.one_of(NASTY, PIECES)


class Read:
    """One reading, with names resolved to their spelling."""

    def __init__(self, *files: str | bytes, redact: bool = True) -> None:
        self.names = Names()
        with tempfile.TemporaryDirectory() as folder:
            sources = []
            for number, content in enumerate(files):
                path = Path(folder) / f"{number}.md"
                path.write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)
                sources.append(Source(path=path, name=f"{number}.md", kind="feedback"))
            self.result: FeedbackRead = read_feedback(sources, self.names, redact=redact)
        self.rows = self.result.rows
        self.spelled = {row.spelling_no: row.spelling for row in self.names.rows(redacted=redact)}

    @property
    def file(self) -> InputFile:
        (only,) = self.result.files
        return only

    @property
    def agents(self) -> list[str | None]:
        return [None if row.agent_no is None else self.spelled[row.agent_no] for row in self.rows]

    @property
    def pipelines(self) -> list[str | None]:
        return [None if row.pipeline_no is None else self.spelled[row.pipeline_no] for row in self.rows]

    def spelled_as(self, kind: Literal["agent", "pipeline"], raw: str) -> str | None:
        """How a name is spelled once it is cleaned."""
        number = self.names.agent(raw) if kind == "agent" else self.names.pipeline(raw)
        return next((row.spelling for row in self.names.rows(redacted=False) if row.spelling_no == number), None)

    @property
    def lines(self) -> list[int]:
        return [row.line for row in self.rows]

    @property
    def codes(self) -> dict[str, int]:
        """How many things each kind of notice is about."""
        out: dict[str, int] = {}
        for notice in self.result.notices:
            out[notice.code] = out.get(notice.code, 0) + notice.count
        return out

    def said(self, code: str) -> list[tuple[int | None, str]]:
        return [(notice.line, notice.message) for notice in self.result.notices if notice.code == code]

    def fates(self) -> tuple[int, int, int, int]:
        """Used, not_cost, rejected, blank; checked to add up, and the listed lines to be those counted."""
        for file in self.result.files:
            assert file.used + file.not_cost + file.rejected + file.blank == file.lines
            assert file.superseded == file.duplicates == file.broken_parts == 0
            assert file.rejected == len([line for line in self.result.rejected if line.file == file.file])
        file = self.result.files[0]
        return file.used, file.not_cost, file.rejected, file.blank
