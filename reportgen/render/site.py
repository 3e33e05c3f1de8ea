"""From a `Report` to the files of a site: pages, assets, the data of each chart, the Plotly script.

Every link is relative, so that the site works from a file and from any folder of a host. Nothing is written here.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Any

from reportgen import glossary
from reportgen.model import Chart, Recommendation, Report
from reportgen.names import ALL_PIPELINES
from reportgen.quickclass import dataclass
from reportgen.render import BUILD_HASH, runpages, searchindex, views
from reportgen.render.charts import chart_csv
from reportgen.render.chartview import ChartView, chart_view, known_to
from reportgen.render.clipping import clipping
from reportgen.render.format import duration, exact, lasting, show, unit_word
from reportgen.render.highlight import sql_html
from reportgen.render.inputviews import account_total, fates, shown_inputs
from reportgen.render.lean import lean, lean_asset
from reportgen.render.markdown_rows import at_least
from reportgen.render.pages import Environment, Markup, environment, fill, search_path
from reportgen.render.plotlyjs import plotly_js
from reportgen.render.prose import plain, to_html
from reportgen.render.sqlpages import KINDS, known_files, sql_place, sql_views
from reportgen.render.stylesheet import needed

PLOTLY = "assets/plotly.min.js"
_CHARTS = "assets/charts.js"

#: The hash of no text at all: Plotly makes one empty style element and fills it by script, which a policy allows only
#: where the element itself is allowed. It needs nothing else: no `unsafe-inline`, no `unsafe-eval`, no image.
EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
#: The page for missing pages finds the top of the site: above the first folder that a page of it could lie in, at the
#: depth at which it would. For an address that none of its pages has, the ways up stay, one for each depth.
_WAY_BACK = r"""
const parts = location.pathname.split("/").slice(0, -1);
const deep = { agents: 1, data: 1, detectors: 1, pipelines: 2, recommendations: 1, sql: 1 };
const at = parts.findIndex((part, n) => Object.hasOwn(deep, part) && parts.length - n <= deep[part]);
const way = document.getElementById("way");
way.firstChild.href = [...parts.slice(0, Math.max(at, 0)), "index.html"].join("/").replace(/^\/+/, "/");
way.hidden = at < 0;
way.nextElementSibling.hidden = at >= 0;
"""
_ONLY_OWN = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; img-src 'self'; script-src 'self'; style-src 'self'"
)


@dataclass(frozen=True, slots=True)
class Page:
    """One page to make: where it goes, from which template, where it stands in the site, and what only it knows."""

    path: str
    template: str
    title: str
    section: str
    crumbs: list[tuple[str, str]]
    values: dict[str, Any]
    #: Its charts, and how they look once the page is made.
    drawn: list[Chart]
    charts: list[ChartView] = field(default_factory=list)

    @property
    def root(self) -> str:
        """The way from this page to the top of the site."""
        return "../" * self.path.count("/")


def render_site(report: Report, *, template_dirs: Sequence[Path] = ()) -> dict[str, bytes]:
    """Return every file of the site but the whole tables under `data/`: path (posix, relative) to content.

    Templates and assets in `template_dirs` stand in for the built-in ones of the same name; a new page there
    (`costs.html`) becomes a page of the site. Raises ReportgenError where a template is wrong.
    """
    site = {path: make() for path, make in plan_site(report, template_dirs=template_dirs).items()}
    return dict(sorted(site.items()))


def plan_site(report: Report, *, template_dirs: Sequence[Path] = ()) -> dict[str, Callable[[], bytes]]:
    """Return for every path of `render_site` what makes its content, so that one page can be had before the others.

    What is called raises ReportgenError where a template is wrong, each time it is called.
    """
    env = environment(template_dirs)
    env.globals.update(
        show=show, exact=exact, unit_word=unit_word, duration=duration, lasting=lasting,
        why_skipped=glossary.why_skipped, hint_words=glossary.hint_words,
        views=_view_functions(), sql_html=sql_html, pick=_pick,
        sql_place=sql_place, there=_there, clip=clipping, at_least=at_least,
        run_rows=runpages.run_rows,
    )  # fmt: skip
    env.filters["prose"] = lambda text: Markup(to_html(text))
    env.filters["plain"] = plain
    env.filters["first_up"] = lambda text: text[:1].upper() + text[1:]
    assets = dict(_assets(template_dirs))
    out: dict[str, Callable[[], bytes]] = {name: partial(bytes, data) for name, data in assets.items()}
    charts: dict[tuple[str, str], list[Chart]] = {}
    for chart in report.charts:
        out[f"data/{chart.csv}"] = partial(_chart_csv, chart)
        charts.setdefault((chart.page, chart.key), []).append(chart)
    script = plotly_js() if charts else b""
    out[_CHARTS] = partial(_charts_script, assets[_CHARTS], script)
    own_pages = _own_pages(template_dirs)
    shared = _shared(report, script, own_pages)
    pages = list(_pages(report, shared["runs"].pages, charts, own_pages))
    for page in pages:
        out[page.path] = partial(_fill_page, env, shared, page)
    out[searchindex.PATH] = partial(_search_index, shared, pages, out["how-to-read.html"])
    out["404.html"] = partial(_not_found, env, shared, assets["assets/style.css"])
    if script:
        out[PLOTLY] = partial(bytes, script)
    return out


def _fill_page(env: Environment, shared: dict[str, Any], page: Page) -> bytes:
    # Drawing the charts is most of the work, so it waits until their page is made.
    page = replace(page, charts=[chart_view(chart, shared["known"]) for chart in page.drawn])
    values = {**shared, **page.values, "page": page, "root": page.root, "policy": _policy(page)}
    return lean(fill(env, page.template, values)).encode()


def _search_index(shared: dict[str, Any], pages: list[Page], help_page: Callable[[], bytes]) -> bytes:
    report: Report = shared["report"]
    sql = [(sql_place(text.file)[0], text.title) for text in report.sql]
    found = [(page.path, page.title) for page in pages]
    return searchindex.search_index(report, found, help_html=help_page().decode(), sql=sql, runs=shared["runs"].links)


def _chart_csv(chart: Chart) -> bytes:
    return chart_csv(chart).encode()


def _shared(report: Report, script: bytes, own_pages: list[str]) -> dict[str, Any]:
    """Return what every page may use."""
    groups = views.group_views(report)
    csv_files, sql_files = known_files(report)
    runs = runpages.runs_of(report)
    return {
        "csv_files": csv_files,
        "sql_files": sql_files,
        "sql_kinds": KINDS,
        "sql_views": sql_views(report),
        "report": report,
        "known": known_to(report, runs.links),
        "build_hash": BUILD_HASH,
        "plotly": PLOTLY,
        "groups": groups,
        "totals": views.measure_totals(report),
        "headline": views.headline(report, groups),
        "all_pipelines": ALL_PIPELINES,
        "named": views.named(report),
        "looked_at": views.looked_at(report),
        "agent_pages": views.agents_by_slug(report),
        "agent_slugs": {agent.agent: agent.slug for agent in report.agents},
        "pipeline_slugs": {pipeline.pipeline: pipeline.slug for pipeline in report.pipelines},
        "pipelines": {pipeline.pipeline: pipeline for pipeline in report.pipelines},
        "found": {found.id: found for found in report.recommendations},
        "detectors": {detector.detector: detector for detector in report.detectors},
        "outcomes": {status: sum(d.status == status for d in report.detectors) for status in views.STATUSES},
        "score_flag": next((value for name, value, _ in report.build.settings if name == "score_flag"), "60"),
        "places": views.places(groups),
        "see_also": views.see_also(report),
        "runs": runs,
        "glossary": glossary.TABLES,
        "not_measured": views.not_measured_pipelines(report),
        "elsewhere": views.elsewhere(report),
        "own_pages": [[name, _title_of(name), None] for name in own_pages],
    }


def _there(names: list[str], there: frozenset[str]) -> list[str]:
    """Return those of the names that the site has; SQL files may be named with or without their `sql/`."""
    return [name for name in names if name.removeprefix("sql/") in there]


def _pick(mapping: dict[str, Any], names: list[str]) -> list[Any]:
    return [mapping[name] for name in names]


def _view_functions() -> dict[str, Any]:
    names = (
        "agents_by_cost",
        "change",
        "cost_change",
        "dated",
        "first_things",
        "hint_title",
        "score_change",
        "sums",
    )
    accounts = {one.__name__: one for one in (account_total, fates, shown_inputs)}
    return {name: getattr(views, name) for name in names} | accounts


def _pages(
    report: Report,
    run_pages: Mapping[str, list[runpages.RunPage]],
    charts: dict[tuple[str, str], list[Chart]],
    own_pages: list[str],
) -> Iterator[Page]:
    home = (report.build.project or "Overview", "index.html")

    def top(path: str, title: str, section: str, place: str = "") -> Page:
        crumbs = [home] if section != "index" else []
        return Page(path, path, title, section, crumbs, {}, charts.get((place, ""), []))

    yield top("index.html", "Overview", "index", "overview")
    yield top("recommendations.html", "Recommendations", "recommendations", "recommendations")
    yield top("agents.html", "Agents", "agents", "agents")
    yield top("pipelines.html", "Pipelines", "pipelines")
    yield top("healing.html", "Healing", "healing", "healing")
    if report.budget:
        yield top("budget.html", "Budget", "budget", "budget")
    yield top("data-quality.html", "Data quality", "data-quality")
    yield top("detectors.html", "Detectors", "detectors")
    if report.sql:
        yield top("sql.html", "SQL", "sql")
    yield top("how-to-read.html", "How to read this report", "how-to-read")

    def below(folder: str, name: str, title: str, template: str, place: str, values: dict[str, Any]) -> Page:
        crumbs = [home, (folder.capitalize(), f"{folder}.html")]
        return Page(f"{folder}/{name}.html", template, title, folder, crumbs, values, charts.get((place, name), []))

    values: dict[str, Any]
    # One after the other as in the ranked list, where findings that share an action stand together.
    by_id = {found.id: found for found in report.recommendations}
    ranked = [by_id[name] for name in dict.fromkeys([*(n for g in report.groups for n in g.ids), *by_id])]
    for number, found in enumerate(ranked):
        values = {"it": found, **_neighbours(ranked, number)}
        yield below("recommendations", found.id, found.title, "recommendation.html", "recommendation", values)
    for slug, rows in views.agents_by_slug(report).items():
        yield below("agents", slug, rows[0].agent, "agent.html", "agent", {"rows": rows})
    for pipeline in report.pipelines:
        values = {"it": pipeline, "agents": [a for a in report.agents if a.pipeline == pipeline.pipeline]}
        yield below("pipelines", pipeline.slug, pipeline.pipeline, "pipeline.html", "pipeline", values)
        crumbs = [home, ("Pipelines", "pipelines.html"), (pipeline.pipeline, f"pipelines/{pipeline.slug}.html")]
        for some in run_pages[pipeline.slug]:
            path, title = f"pipelines/{pipeline.slug}/{some.name}.html", f"Runs of {pipeline.pipeline}: {some.title}"
            yield Page(path, "runs.html", title, "pipelines", crumbs, {"it": pipeline, "some": some}, [])
    for detector in report.detectors:
        values = {"it": detector, "findings": [r for r in report.recommendations if r.detector == detector.detector]}
        yield below("detectors", detector.detector, detector.title, "detector.html", "detector", values)
    for kind in dict.fromkeys(one.kind for one in report.sql):
        crumbs = [home, ("SQL", "sql.html")]
        yield Page(f"sql/{kind}.html", "sql-kind.html", KINDS[kind][0], "sql", crumbs, {"kind": kind}, [])
    for name in own_pages:
        yield Page(name, name, _title_of(name), name, [home], {}, [])


def _title_of(name: str) -> str:
    return Path(name).stem.replace("-", " ").capitalize()


def _neighbours(items: list[Recommendation], number: int) -> dict[str, Recommendation | None]:
    return {
        "before": items[number - 1] if number else None,
        "after": items[number + 1] if number + 1 < len(items) else None,
    }


def _not_found(env: Environment, shared: dict[str, Any], style_sheet: bytes) -> bytes:
    """Return the page that a host shows at any depth: it can't know where the style sheet is, so it brings it along.

    Of the style what it needs stands in the page, and so does its script; the policy allows exactly these texts, by
    their hashes. No link to an asset.
    """
    bare = fill(env, "404.html", {**shared, "style": "", "policy": "", "script": ""})
    sheet = "\n".join(style_sheet.decode("utf-8", "replace").splitlines())
    style = needed(sheet, bare).replace("</", "<\\/")
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"script-src {_allowed(_WAY_BACK)}; style-src {_allowed(style)}"
    )
    values = {**shared, "style": Markup(style), "script": Markup(_WAY_BACK), "policy": policy}
    return fill(env, "404.html", values).encode()


def _allowed(text: str) -> str:
    """Return what a policy calls a text that stands in the page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _policy(page: Page) -> str:
    # Nothing in it needs an escape where double quotes stand around it.
    return Markup(f"{_ONLY_OWN} {EMPTY_STYLE}" if page.charts else _ONLY_OWN)


def _charts_script(data: bytes, script: bytes) -> bytes:
    """Return the script that draws charts; it makes the elements that keep Plotly from bringing styles of its own."""
    made = [
        f'document.head.append(Object.assign(document.createElement("template"),{{id:"{name}"}}));\n'
        for name in _style_ids(script)
    ]
    return data + "".join(made).encode()


def _style_ids(script: bytes) -> list[str]:
    """Return the ids of style elements that Plotly brings for its maps, which no chart here is.

    It leaves out a style whose id is taken: a page with an empty element of that id needs no policy that allows it.
    """
    found = re.findall(rb'getElementById\("([0-9a-f]{64})"\)', script)
    return sorted({name.decode() for name in found})


def _assets(template_dirs: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    """Yield the assets; those of a project stand in for the built-in ones, or add to them."""
    seen: set[str] = set()
    ours = search_path()[-1]
    for folder in search_path(template_dirs):
        assets = folder / "assets"
        for path in sorted(assets.rglob("*")) if assets.is_dir() else ():
            name = f"assets/{path.relative_to(assets).as_posix()}"
            if path.is_file() and name not in seen and not any(part.startswith(".") for part in path.parts[-1:]):
                seen.add(name)
                data = path.read_bytes()
                # Ours are text, whatever line ends git has written them with.
                yield name, lean_asset(name, data.replace(b"\r\n", b"\n")) if folder == ours else data


def _own_pages(template_dirs: Sequence[Path]) -> list[str]:
    """Return the pages that only the project has: those that stand in for a built-in template are made elsewhere."""
    built_in = {path.name for path in search_path()[-1].glob("*.html")}
    own = {path.name for folder in template_dirs if folder.is_dir() for path in folder.glob("*.html")}
    return sorted(name for name in own - built_in if not name.startswith(("_", ".")))
