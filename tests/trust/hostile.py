"""A project whose every name attacks: the path of a page, the page, the table, the terminal, the spreadsheet."""

from __future__ import annotations

import json
from pathlib import Path

from project import HEADER

#: Names that must stay apart, each with a page of its own.
NAMES = (
    "../../etc/passwd", "..", ".", "/", "a/b", "a\\b", "C:\\x", "CON", "con.html", "NUL", "aux", "index", "index.html", "404",
    "INDEX", "constructor", "__proto__", "undefined", "%2e%2e%2f", "a%00b", "a?b=c", "a#b", "~", "-rf", "--", "🚀", "日本", "дом",
    "é", "e", "ё", "ﬁle", "file", "İ", "i", "ẞx", "a b", "a  b c", "<script>alert(1)</script>", "</script><!--", "<!--",
    "--><img src=x onerror=alert(2)>", "\"onmouseover=alert(3)//", "'+alert(4)+'", "javascript:alert(5)", "[x](javascript:alert(6))",
    "| a | b |", "a|b", "`code`x`", "**bold** *x", "# heading", "- item", "1. one", "> quote", "{{ 7*7 }}", "{% raw %}", "${7*7}",
    "=1+1", "+cmd|' /C calc'!A0", "@SUM(A1)x", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07x", "\x00nul", "bell\x07", "\u202eabc", "\u2066iso\u2069",
    "zero\u200bwidth", "line\u2028sep", "para\u2029sep", "nel\x85x", "vt\x0bx", "\ufeffmark", "half\ud83d", "a" * 300, "a" * 299 + "b",
    "very long " * 20, "\U000e0041tag", "&lt;b&gt;", "&#x3c;b", "a\u0300\u0301\u0302" * 20 + "z", "null\\u0000", "]]>", "*/ -- ;",
)  # fmt: skip
#: Names that are one: by case, white space or normalisation.
SAME = (("Writer", "WRITER", "  writer "), ("caf\u00e9", "cafe\u0301"), ("two  words", "two words"))
#: Names of which nothing is left once they are cleaned.
EMPTY = ("", " ", "**", "``", "@", "\u00a0", "__")
MEGABYTE = "m" * 1_000_000


def write_hostile(folder: Path) -> Path:
    """Write a project in which each name is an agent, and each third a pipeline and a run, and much is found."""
    rows = []
    names = [*NAMES, *(one for group in SAME for one in group), *EMPTY]
    for number, name in enumerate(names):
        pipeline = name if number % 3 == 0 else "docs"
        for run in range(2):
            rows.append({"timestamp": f"2026-11-{1 + number % 9:02d}T09:00:00Z", "agent": name, "pipeline": pipeline,
                         "run_id": f"{name} {run}", "tool_name": name, "model": name, "cost_usd": 9 if run and number % 5 == 0 else 1})  # fmt: skip
    rows += [
        {
            "timestamp": "2026-11-02T09:00:00Z",
            "agent": MEGABYTE,
            "pipeline": MEGABYTE,
            "tool_name": MEGABYTE,
            "cost_usd": 1,
        }
    ]
    (folder / "budget").mkdir(parents=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "budget" / "cost-events.jsonl").write_text(text + '{"agent": "\x1b[31m</script>', encoding="utf-8")
    lines = []
    for number, name in enumerate(names):
        cell = name.replace("|", "\\|").replace("\n", " ").replace("\r", " ").encode("utf-8", "replace").decode()
        cells = ("2026-11-02", "docs", cell, "40/100", cell, cell, f"loop-excess, {cell[:40]}")
        lines += ["| " + " | ".join(cells) + " |"] * (3 if number % 4 == 0 else 1)
    lines.append(f"| 2026-11-02 | docs | writer | 40/100 | {MEGABYTE} | x | y |")
    (folder / "FEEDBACK.md").write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    log = [
        {"timestamp": "2026-11-02T10:00:00Z", "agent": name, "pipeline": "docs", "run_id": "r", "error_type": name or "x",
         "attempt": 1, "action": "escalate", "exit_code": 2, "reason": name, "context": name}
        for name in names
    ]  # fmt: skip
    (folder / "healing-log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in log), encoding="utf-8")
    return folder
