"""The machine's view: a `Report` to and from `report.json`, and its JSON Schema. The only room that knows msgspec."""

from __future__ import annotations

from typing import Any

import msgspec

from reportgen.errors import ReportgenError
from reportgen.model import SCHEMA_VERSION, Report

#: How a chart draws its rows. It stands once for each chart file, under `drawings`, and in a chart only where it
#: differs from that.
_DRAWING: dict[str, Any] = {
    "kind": "rows",
    "x": "",
    "y": "",
    **dict.fromkeys(("series", "mark", "label", "size", "end", "level", "link", "link_to", "line_label")),
    "columns": [],
    "colours": {},
    "note": "",
}
#: What of a chart need not be in the file, and how it is read back: its CSV has the rows.
_LEFT_OUT: dict[str, Any] = {**_DRAWING, "rows": [], "measure": None, "line_at": None}
#: What of the healing is only in its CSV files.
_LOG = ("entries", "incident_list")
#: What of a SQL file stands on its page, and in its header.
_TOLD = ("title", "doc")


def report_bytes(report: Report) -> bytes:
    """Return `report.json`: UTF-8, keys in the order of the model, LF at the end; each item of a list is one line.

    So a difference between two builds is a difference of whole recommendations, agents or files. The rows of a chart
    are left out, and so are the runs and the healing log: their CSV files have them; and the texts of SQL files: their
    pages have them. How charts draw their rows stands once for each chart file.
    """
    parts = msgspec.to_builtins(report)
    drawings: dict[str, dict[str, Any]] = {}
    for chart in parts["charts"]:
        del chart["rows"]
        drawing = {name: chart.pop(name) for name in _DRAWING}
        usual = drawings.setdefault(chart["file"], drawing)
        chart.update((name, value) for name, value in drawing.items() if value != usual[name])
        for name in ("measure", "line_at"):
            if chart[name] is None:
                del chart[name]
    for file in (*parts["sql"], *parts["detectors"]):
        del file["sql"]
    for file in parts["sql"]:
        for name in _TOLD:
            del file[name]
    for name in _LOG:
        del parts["healing"][name]
    del parts["runs"]
    parts["drawings"] = {
        file: {name: value for name, value in usual.items() if value != _DRAWING[name]}
        for file, usual in drawings.items()
    }
    lines = [f"{msgspec.json.encode(key).decode()}:{_lines(value)}" for key, value in parts.items()]
    return ("{" + ",\n".join(lines) + "}\n").encode()


def _lines(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    items = [msgspec.json.encode(item).decode() for item in value] if isinstance(value, list) else []
    return "[\n" + ",\n".join(items) + "\n]" if items else msgspec.json.encode(value).decode()


def read_report(data: bytes, name: str = "report.json") -> Report:
    """Return the report that the bytes hold: all but the rows of charts, the runs, and the texts of SQL files.

    Raises ReportgenError where the bytes are of another shape or version.
    """
    try:
        parts = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ReportgenError(name, f"is not JSON ({error})", "Build the report again.") from error
    found = parts.get("schema_version") if isinstance(parts, dict) else None
    if found != SCHEMA_VERSION:
        raise ReportgenError(
            name, f"has schema version {found!r}, and this reportgen reads {SCHEMA_VERSION}", "Build the report again."
        )
    try:
        drawings = parts.get("drawings", {})
        charts = [{**_LEFT_OUT, **drawings.get(chart.get("file"), {}), **chart} for chart in parts.get("charts", [])]
        healing = {**dict.fromkeys(_LOG, ()), **parts["healing"]} if "healing" in parts else {}
        sql = [{**dict.fromkeys(_TOLD, ""), **file} for file in parts.get("sql", [])]
        return msgspec.convert({**parts, "charts": charts, "healing": healing, "sql": sql}, type=Report)
    except (msgspec.ValidationError, TypeError, AttributeError, RecursionError) as error:
        raise ReportgenError(name, f"is not a report ({error})", "Build the report again.") from error


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of `report.json`, made from the model."""
    made = msgspec.json.schema(Report)
    chart = made["$defs"]["Chart"]
    del chart["properties"]["rows"]
    chart["required"] = [name for name in chart["required"] if name not in _LEFT_OUT]
    made["$defs"]["Drawing"] = {
        "title": "Drawing",
        "description": "How the charts of one file draw their rows; what a chart says itself goes before it.",
        "type": "object",
        "properties": {name: chart["properties"][name] for name in _DRAWING},
    }
    made["$defs"]["Report"]["properties"]["drawings"] = {
        "description": "By chart file.",
        "type": "object",
        "additionalProperties": {"$ref": "#/$defs/Drawing"},
    }
    for kind, names in (("Healing", _LOG), ("SqlText", _TOLD)):
        for name in names:
            del made["$defs"][kind]["properties"][name]
        made["$defs"][kind]["required"] = [one for one in made["$defs"][kind]["required"] if one not in names]
    for name in ("HealingAttempt", "Incident"):
        del made["$defs"][name]
    for name in ("SqlText", "Detector"):
        del made["$defs"][name]["properties"]["sql"]
    del made["$defs"]["Report"]["properties"]["runs"]
    del made["$defs"]["Run"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"reportgen report.json, schema version {SCHEMA_VERSION}",
        **made,
    }


def schema_bytes() -> bytes:
    """Return the schema as the file `report.schema.json` beside this module holds it."""
    return msgspec.json.format(msgspec.json.encode(schema(), order="sorted"), indent=1) + b"\n"


if __name__ == "__main__":
    import sys

    sys.stdout.buffer.write(schema_bytes())
