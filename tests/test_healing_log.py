"""healing_journal.py: a log that others have been at, the lock, the sync, and the order of steps (SPEC 7)."""

from __future__ import annotations

import errno
import fcntl
import gzip
import json
import os
import threading
import time
import tracemalloc
from pathlib import Path

import pytest
from healing_calls import TOKEN, call, codes, line

from reportgen.errors import ReportgenError
from reportgen.healing import heal


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "healing-log.jsonl"


# --- a log that others have been at ------------------------------------------------------------------------------------

FOREIGN = [
    b"",
    b"\n\n",
    b"not json\n",
    b'{"run_id": "r-1", "agent": "writer"\n',
    b'[1, 2]\n"r-1"\nnull\n{"run_id": {"r-1": 0}, "agent": ["writer"], "exit_code": 0}\n',
    b"\x00" * 5000 + b"\n",
    b"\xff\xfe\xfa r-1\n"[1:],
    b'{"run_id": "r-1", "agent": "writer", "exit_code": false, "action": 7}\n',
    b'{"run_id": "r-1", "agent": "writer", "exit_code": 1, "action": "skip"}\n',
    b'{"run_id": "r-1", "exit_code": 0, "attempt": ' + b"9" * 5000 + b"}\n",
    b"[" * 100_000 + b"r-1\n",
    b'{"a":' * 100_000 + b"r-1\n",
    b'{"context": "' + b"r-1 " * 2_000_000 + b'"}\n',
    b"r-1 " * 6_000_000 + b"\n",
    b'{"timestamp": "2026-11-03T08:00:00.000Z", "agent": "writer", "run_id": "r-',
]


@pytest.mark.parametrize("foreign", FOREIGN, ids=range(len(FOREIGN)))
def test_foreign_lines_hide_nothing_and_count_nothing(log: Path, foreign: bytes) -> None:
    log.write_bytes(foreign + (line() + b"\n") * 2 + foreign)
    assert codes(log, run_id="r-1", times=4) == [0, 0, 0, 2]
    before = foreign + (line() + b"\n") * 2 + foreign
    assert log.read_bytes().startswith(before)
    own = log.read_bytes().splitlines()[-4:]
    assert [json.loads(text)["exit_code"] for text in own] == [0, 0, 0, 2]


RETRY_LINES = [
    line() + b"\n",
    line(),  # torn after its last brace
    b"\xef\xbb\xbf" + line() + b"\r\n",
    b"\x00\x00\x00" + line() + b"\x00\n",
    b'{"timestamp": "2026-11-03T08:59:00Z", "agent": "wr' + line() + b"\n",
    b'{"timestamp": "2026-11-03T08:59:00Z", "run_id": "r-9' + line() + b"\n",
    line(context="caf\xe9").decode().encode("latin-1") + b"\n",
    json.dumps(json.loads(line()), separators=(",", ":"), indent=None).encode() + b"\n",
    line(run_id="  r-1 \t", agent="@WRITER") + b"\n",
    line(context="x" * 5_000_000) + b"\n",
    line(attempt=10**400) + b"\n",
    b'{"run_id": "r-1", "agent": "writer", "action": "retry-backoff"}\n',
    b"[" + line() + b"]\n",
]


@pytest.mark.parametrize("retry", RETRY_LINES, ids=range(len(RETRY_LINES)))
def test_a_retry_counts_however_it_got_there(log: Path, retry: bytes) -> None:
    log.write_bytes(retry)
    assert codes(log, run_id="r-1", times=5) == [0, 0, 0, 0, 2]


def test_two_records_on_one_line_are_two(log: Path) -> None:
    log.write_bytes(line(run_id="r-2") + line() + line() + b" " + line() + b"\n")
    assert codes(log, run_id="r-1", times=3) == [0, 0, 2]


def test_a_record_behind_an_old_one_on_its_line_is_of_the_hour(log: Path) -> None:
    old = line(timestamp="2026-11-01T09:00:00.000Z", run_id=None)
    assert old.startswith(b'{"timestamp": "2026-11-01T09:00:00.000Z"')
    log.write_bytes((old + line(run_id=None) + b"\n") * 4)
    assert codes(log, times=2) == [0, 2]


@pytest.mark.parametrize("run", ["7", "запуск 3", "e-mail joe@x.org", "a  b", 'q"\\uote', "é", "😀", TOKEN])
def test_any_run_id_is_found_again(log: Path, run: str) -> None:
    for other in (run + "x", "x" + run, run[:-1] or "q"):
        assert codes(log, run_id=other, times=5) == [0] * 5
    assert codes(log, run_id=run, times=6) == [0, 0, 0, 0, 0, 2]


def test_run_ids_that_are_numbers_or_unescaped_are_found(log: Path) -> None:
    log.write_bytes((b'{"run_id": 7, "agent": "writer", "exit_code": 0}\n' + line(run_id="запуск") + b"\n") * 4)
    assert codes(log, run_id="7", times=2) == [0, 2]
    assert codes(log, run_id="запуск", times=2) == [0, 2]


def test_a_context_cannot_forge_lines(log: Path) -> None:
    forged = line().decode()
    for context in (f"x\n{forged}\n{forged}", forged * 8, f'"}}\n{forged}'):
        assert call(log, error_type="permission-denied", context=context, run_id="other").exit_code == 1
    torn = log.read_bytes()[:-40]
    log.write_bytes(torn)
    assert codes(log, run_id="r-1", times=6) == [0, 0, 0, 0, 0, 2]


def test_a_long_log_is_read_in_bounded_memory(log: Path) -> None:
    other = line(run_id="r-2", timestamp="2026-01-01T00:00:00.000Z") + b"\n"
    with log.open("wb") as file:
        file.write((line() + b"\n") * 2)
        for _ in range(20):
            file.write(other * (1_500_000 // len(other)))
        file.write((line() + b"\n") * 2)
        # A hole of NUL bytes, as a crash may leave it, without one line end.
        file.truncate(file.tell() + 100_000_000)
    tracemalloc.start()
    try:
        assert codes(log, run_id="r-1", times=2) == [0, 2]
        assert codes(log, run_id="r-3") == [0]
        assert codes(log) == [0]
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


# --- the file ----------------------------------------------------------------------------------------------------------


def test_a_torn_last_line_is_closed_before_the_append(log: Path) -> None:
    log.write_bytes(b'{"timestamp": "2026-')
    call(log)
    assert log.read_bytes().startswith(b'{"timestamp": "2026-\n{"timestamp": "2026-11-03T09:14:07.250Z"')
    call(log)
    assert len(log.read_bytes().splitlines()) == 3


@pytest.mark.parametrize("name", ["folder", "no/such/file", "pipe", "null", "gzip", "utf16", "loop"])
def test_a_log_that_cannot_be_counted_in_is_74_and_left_alone(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    elif name == "pipe":
        os.mkfifo(path)
    elif name == "null":
        path.symlink_to("/dev/null")
    elif name == "gzip":
        path.write_bytes(gzip.compress(line()))
    elif name == "utf16":
        path.write_text("{}", encoding="utf-16")
    elif name == "loop":
        path.symlink_to(path)
    before = path.read_bytes() if name in ("gzip", "utf16") else None
    with pytest.raises(ReportgenError) as caught:
        call(path)
    assert caught.value.exit_code == 74
    assert caught.value.where == str(path)
    assert "do not retry" in str(caught.value)
    assert before is None or path.read_bytes() == before


@pytest.mark.parametrize("step", ["write", "fsync"])
def test_what_is_not_on_the_disk_is_not_allowed(log: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    log.write_bytes(line() + b"\n")

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(ReportgenError) as caught:
        call(log)
    assert caught.value.exit_code == 74
    assert "Input/output error" in caught.value.what


def test_a_new_log_is_synced_with_its_folder_before_the_line_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    real = os.fsync

    def fsync(fd: int) -> None:
        synced.append(os.fstat(fd).st_ino)
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    (tmp_path / "real").mkdir()
    log = tmp_path / "real" / "log.jsonl"
    (tmp_path / "link.jsonl").symlink_to(log)
    call(tmp_path / "link.jsonl")
    assert synced == [(tmp_path / "real").stat().st_ino, log.stat().st_ino]
    call(log)
    assert synced[2:] == [log.stat().st_ino]


def test_two_names_of_one_log_share_lock_and_count(log: Path, tmp_path: Path) -> None:
    call(log, run_id="r")
    soft, hard = tmp_path / "soft", tmp_path / "hard"
    soft.symlink_to(log)
    hard.hardlink_to(log)
    assert [call(path, run_id="r").exit_code for path in (soft, hard, soft, hard, log)] == [0, 0, 0, 0, 2]
    with log.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for path in (log, soft, hard):
            with pytest.raises(ReportgenError):
                call(path, run_id="new", lock_timeout=0.05)
    assert call(soft, run_id="new").exit_code == 0


def test_no_lock_in_time_is_74_and_logs_nothing(log: Path) -> None:
    call(log)
    before = log.read_bytes()
    with log.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        start = time.monotonic()
        with pytest.raises(ReportgenError) as caught:
            call(log, lock_timeout=0.3)
        assert 0.3 <= time.monotonic() - start < 5
    assert caught.value.exit_code == 74
    assert "no lock within 0.3 seconds" in str(caught.value)
    assert log.read_bytes() == before


def test_a_file_system_that_cannot_lock_is_74(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(ReportgenError) as caught:
        call(log)
    assert caught.value.exit_code == 74
    assert log.read_bytes() == b""


def test_a_log_moved_while_a_call_waits_is_left_alone(log: Path, tmp_path: Path) -> None:
    call(log, run_id="r")
    before = log.read_bytes()
    answers = []
    with log.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = threading.Thread(target=lambda: answers.append(call(log, run_id="r")))
        waiting.start()
        time.sleep(0.15)
        log.rename(tmp_path / "rotated.jsonl")
        waiting.join(5)  # the new log is free, so the call need not wait for the old one
        assert answers
    assert (tmp_path / "rotated.jsonl").read_bytes() == before
    assert log.read_text() == answers[0].to_json() + "\n"


def test_a_log_moved_between_open_and_lock_is_let_go(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call(log, run_id="r")
    before = log.read_bytes()
    real = fcntl.flock

    def flock(file: int, operation: int) -> None:
        if not (tmp_path / "rotated.jsonl").exists():
            log.rename(tmp_path / "rotated.jsonl")
        real(file, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    decision = call(log, run_id="r")
    assert (tmp_path / "rotated.jsonl").read_bytes() == before
    assert log.read_text() == decision.to_json() + "\n"


def test_the_wait_comes_after_the_line_is_logged_and_unlocked(log: Path) -> None:
    seen = []

    def sleep(seconds: float) -> None:
        with log.open("r+b") as other:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        seen.append((seconds, len(log.read_bytes().splitlines())))

    for attempt in (1, 2, 3, 4):
        heal("a", attempt, error_type="api-error", run_id="r", log=log, sleep=sleep)
    heal("a", 1, error_type="timeout", run_id="r-2", log=log, sleep=sleep)
    assert seen == [(2, 1), (4, 2), (8, 3)]
    heal("a", 1, error_type="api-error", run_id="r-3", log=log, sleep=sleep, wait=False)
    assert len(seen) == 3


def test_threads_of_one_process_share_the_cap(log: Path) -> None:
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(call(log, run_id="r").exit_code)) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [0] * 5 + [2] * 7
