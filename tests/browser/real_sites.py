"""Sites as a build makes them: of the example, and of the odd projects."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from posixpath import dirname

from report_factory import hostile_report

from reportgen import build
from reportgen.render.singlefile import render_single
from reportgen.render.site import render_site

ROOT = Path(__file__).parents[2]
#: Of what projects there are sites: the bundled example, one without data, one with nothing to find, one whose own
#: detector fails, and one whose every name attacks the page.
PROJECTS = ("example", "empty", "clear", "failed", "hostile")

_BROKEN = """\
/*---
title  = "Broken on purpose"
issue  = "Broken"
action = "Mend it."
---*/
select pipeline, 'x' as subject, cast('many' as integer) as observed from pipelines order by pipeline
"""


def make_site(name: str, folder: Path) -> Path:
    """Build the site of that project in the folder, with the report as one page in it, and return where it is."""
    if name == "hostile":
        report = hostile_report()
        site = render_site(report)
        for path, data in {**site, "one-page.html": render_single(report, site)}.items():
            target = folder / "site" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        return folder / "site"
    if name == "example":
        script = ROOT / "examples" / "make_example.py"
        subprocess.run([sys.executable, str(script), str(folder)], check=True, capture_output=True)
    elif name == "empty":
        (folder / "cost-events.jsonl").write_text("\n", encoding="utf-8")
    else:
        shutil.copytree(
            ROOT / "tests" / "cases" / ("clear" if name == "clear" else "basic"), folder, dirs_exist_ok=True
        )
    if name == "failed":
        (folder / "sql" / "detectors").mkdir(parents=True)
        (folder / "sql" / "detectors" / "broken.sql").write_text(_BROKEN, encoding="utf-8")
    result = build(folder, single_file=str(folder / "site" / "one-page.html"))
    assert (result.exit_code == 1) is (name == "failed")
    return result.site


def first_of_each(paths: list[str], most: int) -> list[str]:
    """Return the pages at the top, and the first few of each folder: those of one folder are of one kind."""
    seen: Counter[str] = Counter()
    kept = []
    for path in paths:
        seen[dirname(path)] += 1
        if "/" not in path or seen[dirname(path)] <= most:
            kept.append(path)
    return kept


def pages_of(site: Path) -> list[str]:
    """Return the paths of all pages of a site but the one with everything in it."""
    found = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    return [path for path in found if path != "one-page.html"]
