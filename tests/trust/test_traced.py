"""What a build asks of the system: inputs read-only, writes where outputs are, no socket."""

from __future__ import annotations

from pathlib import Path

import pytest

from trust import traced


@pytest.mark.skipif(bool(traced.why_not()), reason=traced.why_not() or "-")
def test_a_build_writes_where_its_outputs_are_and_opens_no_socket() -> None:
    (count,) = traced.run()
    assert count.losses == []
    assert count.number > 1000


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('openat(AT_FDCWD</p>, "FEEDBACK.md", O_RDWR|O_CLOEXEC) = 3</p/FEEDBACK.md>', "of an input for writing"),
        ('openat(AT_FDCWD</x>, "/etc/hosts", O_WRONLY|O_APPEND) = 3', "outside of the outputs: /etc/hosts"),
        ('rename("/p/site/a", "/elsewhere") = 0', "outside of the outputs: /elsewhere"),
        ('unlinkat(5</p>, "BUDGET.md", 0) = 0', "of an input for writing"),
        ("socket(AF_INET, SOCK_STREAM, IPPROTO_IP) = 5", "a socket"),
        ('mkdir("/tmp/x", 0777 <unfinished ...>', "outside of the outputs: /tmp/x"),
    ],
)
def test_it_would_be_found_out(tmp_path: Path, line: str, says: str) -> None:
    log = tmp_path / "trace"
    log.write_text(f"77 {line}\n", encoding="utf-8")
    assert any(says in problem for problem in traced.problems(Path("/p"), log))


def test_what_is_allowed_is_no_problem(tmp_path: Path) -> None:
    log = tmp_path / "trace"
    inputs = ("budget/cost-events.jsonl", "FEEDBACK.md", "healing-log.jsonl", "BUDGET.md", "reportgen.toml")
    lines = [f'openat(AT_FDCWD</p>, "{name}", O_RDONLY|O_CLOEXEC) = 3' for name in inputs]
    lines += [
        'openat(AT_FDCWD</p>, "site/index.html", O_WRONLY|O_CREAT|O_EXCL, 0666) = 4',
        'rename("/p/site/a", "/p/site/b") = 0',
    ]
    log.write_text("".join(f"77 {line}\n" for line in lines), encoding="utf-8")
    assert list(traced.problems(Path("/p"), log)) == []
