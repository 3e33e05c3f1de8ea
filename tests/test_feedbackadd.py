"""feedbackadd.py: a review that is added is read back as it was given, and nothing else changes."""

from __future__ import annotations

import codecs
import fcntl
import gzip
import resource
import subprocess
import sys
import threading
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from feedback_help import HEAD, TEXT, Read
from hypothesis import given, settings
from hypothesis import strategies as st

from reportgen.errors import ReportgenError
from reportgen.feedbackadd import Added, add_row, feedback_file
from reportgen.feedbackrow import NewRow, new_row
from reportgen.names import squeeze
from reportgen.settings import load_settings

TODAY = date(2026, 11, 3)
ROW = "| 2026-11-02 | docs | writer | 60/100 | slow | | timeout |\n"
NEW = "| 2026-11-03 | docs | writer | 45/100 | too long | cut | loop-excess |"
ADD = (
    sys.executable,
    "-B",
    "-m",
    "reportgen",
    "feedback",
    "add",
    "--pipeline",
    "docs",
    "--agent",
    "writer",
    "--score",
    "45",
)


def row(**given: Any) -> NewRow:
    facts: dict[str, Any] = {"pipeline": "docs", "agent": "writer", "score": "45", "day": None, "today": TODAY}
    facts |= {"issue": "too long", "resolution": "cut", "patterns": ["loop-excess"]}
    return new_row(**(facts | given))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "FEEDBACK.md"


def added(file: Path, before: str | bytes, **given: Any) -> tuple[Added, bytes]:
    """Add a row to a file with that content; return what was said, and the bytes that are new at its end."""
    data = before.encode() if isinstance(before, str) else before
    file.write_bytes(data)
    said = add_row(file, row(**given))
    after = file.read_bytes()
    kept = data.rstrip() if after[: len(data)] != data else data
    assert after.startswith(kept)
    return said, after[len(kept) :]


# --- read back -----------------------------------------------------------------------------------------------------

BEFORE = [b"", b"# Notes", HEAD.encode() + ROW.encode(), b"\n\n" + HEAD.encode(), (HEAD + ROW + "\ntext").encode()]
BEFORE += [b"Agent|Score|Pattern|Date|Pipeline|Issue|Resolution\n-|-|-|-|-|-|-\nx|1|y|2026-01-01|p|i|r\n\n\n"]
BEFORE += [(HEAD + ROW).replace("\n", "\r\n").encode("utf-16"), b"| a |\n|---|\n| [x][y] |\n\n[y]: z\n"]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(BEFORE), TEXT, TEXT, TEXT, TEXT, st.lists(TEXT, max_size=2), st.integers(0, 100))
def test_what_is_given_is_read_back_and_all_else_stays(
    before: bytes, agent: str, pipeline: str, issue: str, resolution: str, patterns: list[str], score: int
) -> None:
    import tempfile

    try:
        made = new_row(
            pipeline=f"p {pipeline}", agent=f"a {agent}", score=str(score), day="2026-11-01", today=TODAY,
            issue=issue, resolution=resolution, patterns=patterns,
        )  # fmt: skip
    except ReportgenError:
        return  # the name was one that names nobody
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "FEEDBACK.md"
        path.write_bytes(before)
        said = add_row(path, made)
        after = path.read_bytes()
    old, new = Read(before, redact=False), Read(after, redact=False)
    assert after.startswith(before.rstrip(b"\n") if not before.startswith(codecs.BOM_UTF16_LE) else before)
    assert new.rows[:-1] == old.rows
    assert new.result.rejected == old.result.rejected
    last = new.rows[-1]
    assert last.line == said.line
    assert (last.date, last.score) == (date(2026, 11, 1), Decimal(score))
    assert (last.issue, last.resolution) == (squeeze(issue), squeeze(resolution))
    assert last.tags == made.tags
    named = Read(HEAD + "| | x | y | 1 | | | |\n", redact=False)
    assert new.agents[-1] == named.spelled_as("agent", f"a {agent}")
    assert new.pipelines[-1] == named.spelled_as("pipeline", f"p {pipeline}")


# --- where it goes --------------------------------------------------------------------------------------------------


def test_a_missing_file_is_made_with_heading_and_table(file: Path) -> None:
    said = add_row(file, row())
    assert file.read_text() == (
        "# Feedback\n\n| Date | Pipeline | Agent | Score | Issue | Resolution | Pattern |\n"
        f"|---|---|---|---|---|---|---|\n{NEW}\n"
    )
    assert said == Added(file, 5, NEW, True, True, ())
    add_row(file, row())
    assert file.read_text().endswith(f"\n{NEW}\n{NEW}\n")
    assert Read(file.read_bytes()).fates() == (2, 3, 0, 1)


@pytest.mark.parametrize("before", [HEAD, HEAD + ROW, f"# Reviews\n\n{HEAD}{ROW}", f"{HEAD}{ROW}\ntext\n\n{HEAD}{ROW}"])
def test_a_row_goes_below_the_last_table(file: Path, before: str) -> None:
    said, new = added(file, before)
    assert new.decode() == f"{NEW}\n"
    assert (said.line, said.new_table) == (before.count("\n") + 1, False)


def test_an_unterminated_last_line_is_ended_first(file: Path) -> None:
    assert added(file, (HEAD + ROW).rstrip("\n"))[1].decode() == f"\n{NEW}\n"


@pytest.mark.parametrize("blank", ["\n", "\n\n\n", "  \n\t\n", "\n  "])
def test_blank_lines_at_the_end_move_down(file: Path, blank: str) -> None:
    file.write_text(HEAD + ROW + blank)
    add_row(file, row())
    add_row(file, row(score="46"))
    assert file.read_text() == f"{HEAD}{ROW}{NEW}\n{NEW.replace('45', '46')}\n{blank}"
    assert Read(file.read_bytes()).codes == {}


@pytest.mark.parametrize("eol", ["\r\n", "\r", "\n"])
def test_the_files_line_end_is_kept(file: Path, eol: str) -> None:
    assert added(file, (HEAD + ROW).replace("\n", eol))[1].decode() == NEW + eol
    assert added(file, f"Text{eol}")[1].decode().count(eol) == 4


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_the_files_encoding_is_kept(file: Path, mark: bytes, encoding: str) -> None:
    before = mark + (HEAD + ROW).replace("\n", "\r\n").encode(encoding) + "\r\n".encode(encoding)
    file.write_bytes(before)
    add_row(file, row(issue="zu groß"))
    text = (HEAD + ROW + NEW.replace("too long", "zu groß") + "\n\n").replace("\n", "\r\n")
    assert file.read_bytes() == mark + text.encode(encoding)
    assert [one.issue for one in Read(file.read_bytes()).rows] == ["slow", "zu groß"]


def test_bytes_that_are_no_text_stay_what_they_are(file: Path) -> None:
    before = b"caf\xe9 \xff\n\n" + HEAD.encode() + ROW.encode()
    assert added(file, before)[1].decode() == f"{NEW}\n"


@pytest.mark.parametrize("head", ["Agent | Score|  Pattern|date|PIPELINE|Issue|Resolution\n-|-:|---|---|---|-|-\n"])
def test_columns_keep_their_order_and_spelling(file: Path, head: str) -> None:
    new = "| writer | 45/100 | loop-excess | 2026-11-03 | docs | too long | cut |\n"
    assert added(file, head)[1].decode() == new
    said, text = added(file, f"{head}\nSome words.\n")
    assert text.decode() == f"\n{head}{new}"
    assert said.new_table


def test_a_table_with_further_columns_gets_empty_cells_there(file: Path) -> None:
    head = "| Reviewer | Date | Pipeline | Agent | Score | Score | Issue | Resolution | Pattern |\n" + "|-" * 9 + "|\n"
    new = "| | 2026-11-03 | docs | writer | 45/100 | | too long | cut | loop-excess |\n"
    assert added(file, head)[1].decode() == new
    assert added(file, f"{head}\nwords\n")[1].decode() == f"\n{head}{new}"


def test_a_table_without_a_column_for_what_is_given_is_followed_by_one_that_has_it(file: Path) -> None:
    narrow = "| Date | Pipeline | Agent | Score | Pattern |\n|---|---|---|---|---|\n"
    assert added(file, narrow, issue="", resolution="")[1].decode() == (
        "| 2026-11-03 | docs | writer | 45/100 | loop-excess |\n"
    )
    said, new = added(file, narrow)
    assert said.new_table
    assert new.decode() == f"\n{HEAD}{NEW}\n"


@pytest.mark.parametrize(
    "tail",
    [
        "\nSome words.\n",
        "\n## Later\n",
        "\n| What | Sum |\n|---|---|\n| a | 1 |\n",
        "\n```\ncode\n```\n",
        "\n<!-- a comment -->\n",
        "\n- a list\n  - of lists",
        "\n> a quote\n",
        "\n    code\n",
        "\n<div>\n",
        "\nHeading\n---\n",
        "\n| 2026-11-02 | docs | writer | 61/100 | below a blank line | | timeout |\n",
    ],
)
def test_a_table_that_does_not_stand_at_the_end_is_followed_by_a_new_one(file: Path, tail: str) -> None:
    before = HEAD + ROW + tail
    said, new = added(file, before)
    assert said.new_table
    assert new.decode() == ("" if tail.endswith("\n") else "\n") + f"\n{HEAD}{NEW}\n"
    again = add_row(file, row())
    assert not again.new_table
    assert again.line == said.line + 1


@pytest.mark.parametrize("prefix", ["> ", "  ", ">> "])
def test_a_table_in_a_quote_goes_on_in_it(file: Path, prefix: str) -> None:
    before = "".join(f"{prefix}{line}\n" for line in (HEAD + ROW).splitlines())
    assert added(file, before)[1].decode() == f"{prefix}{NEW}\n"


def test_a_table_in_a_list_goes_on_in_it(file: Path) -> None:
    before = "- " + (HEAD + ROW).replace("\n", "\n  ").rstrip(" ")
    assert added(file, before)[1].decode() == f"  {NEW}\n"


@pytest.mark.parametrize(
    ("tail", "says"),
    [
        ("\n```\nnever closed\n| a | b |\n", "FEEDBACK.md:5: the code fence opened here is never closed"),
        ("\n<!-- never closed | x\n", "FEEDBACK.md:5: the HTML comment opened here is never closed"),
        ("\n<script>\n", "would not be read as it was given"),
    ],
)
def test_a_file_in_which_no_row_would_be_read_is_left_alone(file: Path, tail: str, says: str) -> None:
    before = HEAD + ROW + tail
    file.write_text(before)
    with pytest.raises(ReportgenError) as caught:
        add_row(file, row())
    assert says in str(caught.value)
    assert "Nothing was written" in str(caught.value)
    assert caught.value.exit_code == 2
    assert file.read_text() == before


def test_utf_16_without_a_mark_is_left_alone(file: Path) -> None:
    before = (HEAD + ROW).encode("utf-16-le")
    assert len(Read(before).rows) == 1
    file.write_bytes(before)
    with pytest.raises(ReportgenError, match="would not be read"):
        add_row(file, row())
    assert file.read_bytes() == before


# --- recurring tags -------------------------------------------------------------------------------------------------


def test_a_tag_that_has_recurred_three_times_in_its_pipeline_is_said(file: Path) -> None:
    for name, tags in (("docs", "loop-excess"), ("other", "loop-excess"), ("**DOCS**", "timeout, Loop_Excess")):
        assert add_row(file, row(pipeline=name, patterns=[tags])).recurring == ()
    found = add_row(file, row(patterns=["loop-excess", "timeout"])).recurring
    assert [(one.tag, one.pipeline, one.rows) for one in found] == [("loop-excess", "docs", 3)]
    assert [one.rows for one in add_row(file, row(agent="another")).recurring] == [4]


# --- the file -------------------------------------------------------------------------------------------------------


def test_parallel_calls_lose_no_row(file: Path) -> None:
    def reviewer(number: int) -> None:
        for turn in range(5):
            add_row(file, row(issue=f"{number}-{turn}"))

    threads = [threading.Thread(target=reviewer, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    read = Read(file.read_bytes())
    assert {one.issue for one in read.rows} == {f"{number}-{turn}" for number in range(6) for turn in range(5)}
    assert read.fates() == (30, 3, 0, 1)


def test_a_locked_file_is_74_and_stays_as_it_is(file: Path) -> None:
    file.write_text(HEAD)
    with file.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(ReportgenError, match="held by another process") as caught:
            add_row(file, row(), lock_timeout=0.05)
    assert caught.value.exit_code == 74
    assert file.read_text() == HEAD


@pytest.mark.parametrize("blank", ["", "\n\n"])
def test_a_full_disk_is_74_and_the_file_is_as_it_was(tmp_path: Path, file: Path, blank: str) -> None:
    file.write_text(HEAD + blank)
    size = file.stat().st_size
    done = subprocess.run(
        [*ADD, "--issue", "x" * 200],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"TMPDIR": "/dev/shm", "PATH": "/usr/bin:/bin"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (max(size + 60, 100), 4096)),
    )
    assert file.read_text() == HEAD + blank
    assert (done.returncode, done.stdout) == (74, ""), done.stderr


def test_two_names_of_one_file_and_its_mode_stay(tmp_path: Path, file: Path) -> None:
    file.write_text(HEAD)
    file.chmod(0o640)
    (tmp_path / "soft.md").symlink_to(file)
    (tmp_path / "hard.md").hardlink_to(file)
    add_row(tmp_path / "soft.md", row())
    add_row(tmp_path / "hard.md", row())
    assert file.read_text() == f"{HEAD}{NEW}\n{NEW}\n"
    assert (tmp_path / "soft.md").is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.write_bytes(gzip.compress(b"x"))])
def test_what_is_no_text_file_is_74(file: Path, make: Any) -> None:
    make(file)
    with pytest.raises(ReportgenError, match="can't be opened") as caught:
        add_row(file, row())
    assert caught.value.exit_code == 74


def test_which_file(tmp_path: Path) -> None:
    def chosen(toml: str = "") -> str:
        (tmp_path / "reportgen.toml").write_text(toml)
        return feedback_file(load_settings(tmp_path)).relative_to(tmp_path).as_posix()

    assert chosen() == "FEEDBACK.md"
    (tmp_path / "feedback").mkdir()
    (tmp_path / "feedback" / "FEEDBACK.md").touch()
    assert chosen() == "feedback/FEEDBACK.md"
    (tmp_path / "FEEDBACK.md").touch()
    assert chosen() == "FEEDBACK.md"
    assert chosen('[inputs]\nfeedback = ["reviews.md"]\n') == "reviews.md"
    for several in ('["a.md", "b.md"]', '["reviews/*.md"]'):
        with pytest.raises(ReportgenError, match="--file"):
            chosen(f"[inputs]\nfeedback = {several}\n")
    (tmp_path / "FEEDBACK.md").rename(tmp_path / "FEEDBACK.md.gz")
    with pytest.raises(ReportgenError, match="is compressed"):
        chosen()
