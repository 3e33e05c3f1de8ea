"""What the site of the example weighs. The same inputs give the same bytes, so that a size is a fact, not a measurement.

Plotly's script is left out: it is one file of a third party, loaded once and only by pages with charts.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from reportgen import build

SCRIPT = Path(__file__).parents[1] / "examples" / "make_example.py"
Sizes = dict[str, bytes]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Sizes:
    folder = tmp_path_factory.mktemp("example")
    subprocess.run([sys.executable, str(SCRIPT), str(folder)], check=True, capture_output=True)
    made = build(folder).site
    paths = [path for path in made.rglob("*") if path.is_file() and path.name != "plotly.min.js"]
    return {path.relative_to(made).as_posix(): path.read_bytes() for path in paths}


def test_the_first_page_comes_with_little(site: Sizes) -> None:
    """With its style and every script that it loads but Plotly's; the search index waits until somebody searches."""
    own = [name for name in site if name.startswith("assets/") and name != "assets/search-index.js"]
    assert sum(len(site[name]) for name in ("index.html", *own)) < 100_000


def test_the_whole_site_as_a_host_sends_it(site: Sizes) -> None:
    """Hosts compress text on its way."""
    assert sum(len(gzip.compress(data, 6, mtime=0)) for data in site.values()) < 450_000


@pytest.mark.parametrize(
    ("folder", "suffix", "most"),
    [("recommendations/", ".html", 20_000), ("agents/", ".html", 20_000), ("pipelines/", ".html", 40_000),
     ("detectors/", ".html", 25_000), ("data/", ".csv", 80_000), ("data/", ".json", 150_000)],
)  # fmt: skip
def test_no_single_file_is_heavy(site: Sizes, folder: str, suffix: str, most: int) -> None:
    heavy = {n: len(d) for n, d in site.items() if n.startswith(folder) and n.endswith(suffix) and len(d) >= most}
    assert heavy == {}


def test_nothing_is_there_twice(site: Sizes) -> None:
    """No page repeats a query that stands on another: it links to it."""
    query = b"runs as r"
    shown = [name for name in site if name.endswith(".html") and b"<pre" in site[name] and query in site[name]]
    assert all(name.startswith(("sql/", "detectors/")) for name in shown)
    assert query not in site["data/report.json"]


def test_the_whole_site_is_light(site: Sizes) -> None:
    """As it lies on the disk: hosts that compress nothing send this."""
    assert sum(map(len, site.values())) < 1_500_000
