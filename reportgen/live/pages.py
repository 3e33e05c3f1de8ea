"""What a preview adds to pages, and its own page for when there is nothing to show. Everything is escaped here."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from html import escape, unescape
from typing import Any

from reportgen.live.board import Problem, Tests, View
from reportgen.render import BUILD_HASH
from reportgen.render.prose import visible

#: Under this path lie the preview's own files; no file of a site has a name like that.
OWN = "/.reportgen/"
SCRIPT = f"{OWN}live.js"
STYLE = f"{OWN}live.css"
POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
    "script-src 'self'; style-src 'self'; connect-src 'self'"
)
#: What the preview's script needs: itself, its style sheet, and a connection to where both came from.
_NEEDED = ("script-src", "style-src", "connect-src")

_META = re.compile(rb"<meta\b[^>]*>", re.IGNORECASE)
_IS_POLICY = re.compile(rb"""http-equiv\s*=\s*["']?content-security-policy["'\s>/]""", re.IGNORECASE)
_VALUE = re.compile(rb"""(\bcontent\s*=\s*)("[^"]*"|'[^']*')""", re.IGNORECASE)
_HEAD_END = re.compile(rb"</head\s*>", re.IGNORECASE)


def with_script(html: bytes, mark: str) -> bytes:
    """Return a page of the site with the script that reloads it; `mark` tells which content it shows.

    The page's policy is widened by what the script needs, in these bytes only: what is published stays as it is.
    """
    html = _META.sub(_widened, html.replace(BUILD_HASH.encode(), b"preview"))
    tag = f'<script src="{SCRIPT}" data-content="{escape(mark)}" defer></script>'.encode()
    end = _HEAD_END.search(html)
    return html + tag if end is None else html[: end.start()] + tag + html[end.start() :]


def _widened(meta: re.Match[bytes]) -> bytes:
    tag = meta.group()
    if not _IS_POLICY.search(tag):
        return tag

    def widen(value: re.Match[bytes]) -> bytes:
        policy = unescape(value.group(2)[1:-1].decode("utf-8", "replace"))
        return value.group(1) + f'"{escape(widened(policy))}"'.encode()

    return _VALUE.sub(widen, tag, count=1)


def widened(policy: str) -> str:
    """Return a Content-Security-Policy that also allows scripts, styles and connections of the page's own origin."""
    directives = [part.split() for part in policy.split(";") if part.strip()]
    first: dict[str, list[str]] = {}
    for name, *values in directives:
        # Of directives named twice a browser takes the first.
        first.setdefault(name.lower(), values)
    default = first.get("default-src")
    for name in _NEEDED:
        if name not in first and default is None:
            continue
        values = [one for one in first.get(name, default or []) if one.lower() != "'none'"]
        first[name] = values if "'self'" in values else [*values, "'self'"]
    return "; ".join(" ".join([name, *values]) for name, values in first.items())


def state(view: View, mark: str) -> str:
    """Return what the script shows, as JSON on one line, in ASCII."""
    return json.dumps({
        "content": mark if view.content is not None else "",
        "held": view.held,
        "busy": visible(view.busy),
        "problems": [_plain(one) for one in view.problems],
        "problemMark": problem_mark(view.problems),
        "tests": None if view.tests is None else _plain_tests(view.tests),
    })  # fmt: skip


def problem_mark(problems: Iterable[Problem]) -> str:
    """Return a short text that is another one for other problems."""
    return hashlib.sha256(repr(tuple(problems)).encode("utf-8", "replace")).hexdigest()[:12]


def _plain(problem: Problem) -> dict[str, Any]:
    return {
        "where": visible(problem.where),
        "what": visible(problem.what),
        "next": visible(problem.next_step),
        "line": problem.line,
        "column": problem.column,
        "excerpt": [[number, visible(text)] for number, text in problem.excerpt],
    }


def _plain_tests(tests: Tests) -> dict[str, Any]:
    return {
        "detectors": [visible(name) for name in tests.detectors],
        "passed": tests.passed,
        "run": tests.run,
        "failed": [_plain(one) for one in tests.failed],
        "missing": [visible(name) for name in tests.missing],
    }


def waiting_page(view: View, problems: Iterable[Problem] | None = None) -> bytes:
    """Return the page for when there is nothing to show: what is wrong and what to do, or that it is being built.

    `problems`: those to tell of instead of the view's. The page reloads itself once there is a report.
    """
    told = tuple(view.problems if problems is None else problems)
    title = "There is no report yet" if told else "The report is being built"
    body = "".join(_section(one) for one in told)
    if not told:
        body = f'<p id="busy">{_text(view.busy or "starting")}</p>'
    mark = problem_mark(told)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">
<title>{title} · reportgen</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{STYLE}">
<script src="{SCRIPT}" data-content="" data-problems="{mark}" defer></script>
</head>
<body class="waiting">
<main>
<h1>{title}</h1>
{body}
<p class="hint">This page reloads by itself as soon as that has changed.</p>
</main>
</body>
</html>
""".encode("utf-8", "replace")


def _section(problem: Problem) -> str:
    lines = "".join(
        f'<span class="{"line marked" if number == problem.line else "line"}"><b>{number}</b>{_text(text)}\n</span>'
        for number, text in problem.excerpt
    )
    code = f"<pre>{lines}</pre>" if lines else ""
    step = f'<p class="next">{_text(problem.next_step)}</p>' if problem.next_step else ""
    return (
        f'<section class="problem"><h2>{_text(problem.where)}</h2>'
        f'<p class="what">{_text(problem.what)}</p>{code}{step}</section>'
    )


def _text(text: str) -> str:
    return escape(visible(text))
