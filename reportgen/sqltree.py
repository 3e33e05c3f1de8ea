"""What a SELECT says, read from DuckDB's own parse tree: tables, functions, its outer columns and their order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from reportgen.quickclass import dataclass

#: Give another value each time they are called: those that DuckDB calls volatile, and one that samples.
VOLATILE = frozenset({
    "random", "uuid", "uuidv4", "uuidv7", "gen_random_uuid", "setseed", "nextval", "currval", "setval", "sleep_ms",
    "write_log", "stats", "vector_type", "current_connection_id", "current_query", "current_query_id",
    "current_transaction_id", "reservoir_quantile",
})  # fmt: skip
CLOCKS = frozenset({
    "now", "today", "get_current_time", "get_current_timestamp", "current_localtime", "current_localtimestamp",
    "transaction_timestamp", "txid_current", "current_date", "current_time", "current_timestamp", "localtime",
    "localtimestamp",
})  # fmt: skip
#: Clocks that are written without brackets, as a column is.
_BARE_CLOCKS = frozenset({"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"})
#: What depends on where the query runs, not on its rows.
SESSION = frozenset({
    "current_database", "current_schema", "current_schemas", "current_setting", "current_user", "session_user",
    "user", "getvariable", "getenv", "version", "in_search_path",
})  # fmt: skip
#: Tables and table functions that tell of the machine, its settings and its paths, not of the rows.
MACHINE = frozenset({
    "duckdb_approx_database_count", "duckdb_connection_count", "duckdb_databases", "duckdb_extensions",
    "duckdb_external_file_cache", "duckdb_log_contexts", "duckdb_logs", "duckdb_memory", "duckdb_prepared_statements",
    "duckdb_secrets", "duckdb_settings", "duckdb_temporary_files", "duckdb_variables", "pragma_database_list",
    "pragma_database_size", "pragma_platform", "pragma_user_agent", "pragma_version", "which_secret",
})  # fmt: skip
_UNSTEADY = VOLATILE | CLOCKS | SESSION | MACHINE
#: Aggregates that give what comes first, or all in the order it comes.
_ORDERED = frozenset({
    "first", "last", "any_value", "arbitrary", "list", "array_agg", "string_agg", "group_concat", "listagg",
})  # fmt: skip
#: Window functions that mean nothing without an order.
_PLACED = frozenset({
    "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value",
    "last_value", "nth_value", "first", "last",
})  # fmt: skip
_NOWHERE = 2**63
#: What to do about a file that holds something else, or more.
ONE_SELECT = "A file is one SELECT, and nothing else."
#: What to do about something unsteady.
STEADY = "Use the rows' own times: now_time in window_bounds is when the report is."


@dataclass(frozen=True, slots=True)
class Found:
    """Something in the statement, and the byte it begins at (None: not known)."""

    what: str
    at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """One statement, read. Where it is no single SELECT, `wrong` says so and nothing else is filled."""

    wrong: Found | None = None
    #: Tables of the main schema that are read, other than its own CTEs; and those of other schemas, `raw.events`.
    tables: Mapping[str, int | None] = field(default_factory=dict)
    #: Functions and clocks that give other values in another run, and what depends on an order that is not asked for.
    unsteady: Sequence[Found] = ()
    orderless: Sequence[Found] = ()
    #: Output columns that the outer SELECT names, with the byte each begins at; `*` is not resolved.
    items: Mapping[str, int | None] = field(default_factory=dict)
    #: Output columns that are the same in every row.
    constants: frozenset[str] = frozenset()
    #: Output columns that the outer ORDER BY sorts by; None: there is no ORDER BY; `*` in it: ORDER BY ALL.
    order: frozenset[str] | None = None
    #: A byte of the outer SELECT, for what concerns it as a whole.
    at: int | None = None


def read_tree(serialized: str) -> Tree:
    """Read what `json_serialize_sql` gives for the text of a file."""
    reader = _Reader()
    # The parser hands over every node as it closes: no walk of our own through a tree of a thousand nodes.
    try:
        told = json.loads(serialized, object_hook=reader.see)
    except RecursionError:
        return Tree(wrong=Found("is nested too deeply to be read", None))
    if told.get("error"):
        place = str(told.get("position", ""))
        kind = str(told.get("error_type", ""))
        what = "must be exactly one SELECT" if kind == "not implemented" else f"Parser Error: {told['error_message']}"
        return Tree(wrong=Found(what, int(place) if place.isdigit() else None))
    statements = told["statements"]
    if len(statements) != 1:
        second = _first_place(statements[1]["node"]) if len(statements) > 1 else None
        holds = f"holds {len(statements)} statements" if statements else "holds no statement"
        return Tree(wrong=Found(f"must be exactly one SELECT, and {holds}", second))
    node = statements[0]["node"]
    outer = _outer(node)
    items = outer.get("select_list") or []
    named: dict[str, int | None] = {}
    for item in items:
        if name := _name(item):
            named.setdefault(name, _item_place(item))
    return Tree(
        tables={name: at for name, at in sorted(reader.tables.items()) if name not in reader.ctes},
        unsteady=sorted(reader.unsteady, key=_by_place),
        orderless=sorted(reader.orderless, key=_by_place),
        items=named,
        constants=frozenset(_name(i) for i in items if i.get("class") == "CONSTANT" and node is outer) - {""},
        order=_order(node, items),
        at=_item_place(items[0]) if items else _first_place(outer),
    )


def ties(tree: Tree) -> str:
    """Return what the outer ORDER BY of a detector lacks to put findings in one order; empty where it lacks nothing."""
    key = "subject_key" if "subject_key" in tree.items else "subject"
    if tree.order is None:
        return "the SELECT has no ORDER BY"
    if "*" in tree.order:
        return ""
    missing = [name for name in ("pipeline", key) if name not in tree.order | tree.constants]
    # A key made of the subject orders as well as the subject itself.
    if not missing or ("subject" in tree.order and missing == ["subject_key"] and "subject" not in tree.items):
        return ""
    return f"ORDER BY does not break ties: it lacks {' and '.join(missing)}"


class _Reader:
    """Collects what matters of each node."""

    def __init__(self) -> None:
        self.tables: dict[str, int | None] = {}
        self.ctes: set[str] = set()
        self.unsteady: list[Found] = []
        self.orderless: list[Found] = []

    def see(self, node: dict[str, Any]) -> dict[str, Any]:
        """Look at a node; its parts were looked at before."""
        kind, group = node.get("type"), node.get("class")
        if group == "FUNCTION":
            self._function(node)
        elif group == "WINDOW":
            if node.get("function_name") in _PLACED and not node.get("orders"):
                self.orderless.append(Found(f"{node['function_name']}() over rows without order by", _place(node)))
        elif kind == "COLUMN_REF":
            name = str(node["column_names"][-1]).lower()
            if name in _BARE_CLOCKS and len(node["column_names"]) == 1:
                self.unsteady.append(Found(name, _place(node)))
        elif kind == "BASE_TABLE":
            schema, name = str(node["schema_name"]), str(node["table_name"])
            self.tables.setdefault(name if schema in ("", "main") else f"{schema}.{name}", _place(node))
            if name.lower() in MACHINE:
                self.unsteady.append(Found(name, _place(node)))
        elif "key" in node and "value" in node:
            self.ctes.add(str(node["key"]))
        if node.get("sample") is not None:
            self.unsteady.append(Found("a sample of rows", _first_place(node)))
        modifiers = [m["type"] for m in node.get("modifiers") or ()]
        if "LIMIT_MODIFIER" in modifiers and "ORDER_MODIFIER" not in modifiers:
            self.orderless.append(Found("limit without order by", _first_place(node)))
        return node

    def _function(self, node: Mapping[str, Any]) -> None:
        name = str(node["function_name"]).lower()
        if name in _UNSTEADY or (name == "age" and len(node["arguments"]) == 1):
            self.unsteady.append(Found(f"{name}()", _place(node)))
        elif name in _ORDERED and not node["order_bys"]["orders"]:
            self.orderless.append(Found(f"{name}() without order by", _place(node)))


def _nodes(root: object) -> Iterator[dict[str, Any]]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting.extend(part for part in node.values() if isinstance(part, dict | list))
        elif isinstance(node, list):
            waiting.extend(node)


def _by_place(found: Found) -> tuple[int, str]:
    return (-1 if found.at is None else found.at, found.what)


def _place(node: Mapping[str, Any]) -> int | None:
    place = node.get("query_location")
    return place if isinstance(place, int) and place < _NOWHERE else None


def _item_place(item: Mapping[str, Any]) -> int | None:
    place = _place(item)
    return _first_place(item) if place is None else place


def _first_place(node: object) -> int | None:
    """Return the first byte known of a part of the statement, its CTEs left out."""
    if isinstance(node, dict) and "cte_map" in node:
        node = {key: value for key, value in node.items() if key != "cte_map"}
    return min((place for one in _nodes(node) if (place := _place(one)) is not None), default=None)


def _outer(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the SELECT that names the output columns: of a union its first."""
    while node.get("type") == "SET_OPERATION_NODE":
        children = node.get("children") or [node.get("left")]
        node = children[0] or {}
    return node


def _name(item: Mapping[str, Any]) -> str:
    """Return the name of an output column; empty where only DuckDB knows it."""
    named = item["column_names"][-1] if item.get("type") == "COLUMN_REF" else ""
    return str(item.get("alias") or named)


def _order(node: Mapping[str, Any], items: Sequence[Mapping[str, Any]]) -> frozenset[str] | None:
    """Return the output columns that the outer ORDER BY sorts by: named, numbered, or written out once more."""
    found = [m for m in node.get("modifiers") or () if m["type"] == "ORDER_MODIFIER"]
    if not found:
        return None
    names: set[str] = set()
    for entry in found[0]["orders"]:
        expression = entry["expression"]
        if expression.get("class") == "STAR":
            names.add("*")
        elif expression.get("class") == "CONSTANT":
            number = str((expression.get("literal") or {}).get("text"))
            if number.isdigit() and 0 < int(number) <= len(items):
                names.add(_name(items[int(number) - 1]))
        elif expression.get("type") == "COLUMN_REF":
            names.add(str(expression["column_names"][-1]))
            same = [i for i in items if i.get("column_names") == expression["column_names"]]
            names.update(_name(item) for item in same)
        else:
            names.update(_name(item) for item in items if _bare(item) == _bare(expression))
    return frozenset(names - {""})


def _bare(expression: object) -> str:
    """Return an expression as text without its alias and its places, so that two can be compared."""

    def strip(part: object) -> object:
        if isinstance(part, dict):
            return {k: strip(v) for k, v in part.items() if k != "alias" and not k.startswith("query_location")}
        return [strip(one) for one in part] if isinstance(part, list) else part

    return json.dumps(strip(expression), sort_keys=True)
