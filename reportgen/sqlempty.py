"""When a SELECT is sure to have no rows: worked out from DuckDB's own parse tree, so that it need not be run at all.

A small project has no feedback, no healing log, no findings; planning a query over nothing takes as long as any other.
What is not understood here is never said to be empty.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Set
from typing import Any

#: Alternatives: there are no rows if all tables of one of these sets are empty. None at all: nobody can tell.
EmptyIf = frozenset[frozenset[str]]

_NEVER: EmptyIf = frozenset()
#: Make rows of the rows there are.
_ROWS = frozenset({"unnest", "generate_series", "range"})
#: More alternatives than this help nobody.
_MOST = 24
#: Sides of a join of which one without rows leaves none of the whole.
_EITHER = frozenset({"INNER", "SEMI"})
_LEFT = frozenset({"LEFT", "ANTI", "SINGLE", "MARK"})


def empty_if(serialized: str, scalars: Set[str]) -> EmptyIf:
    """Return when the one SELECT of a parse tree has no rows. `scalars`: functions that give a value for each row.

    Tables are named in small letters: `runs`, `raw.events`.
    """
    try:
        told = json.loads(serialized)
        statements = told.get("statements", ())
        return _Reader(scalars).node(statements[0]["node"], {}) if len(statements) == 1 else _NEVER
    except (RecursionError, KeyError, TypeError, ValueError):
        return _NEVER


def scalar_macros(scalars: Set[str], macros: Mapping[str, str]) -> frozenset[str]:
    """Return the macros (a name to the parse tree of a SELECT of its body) that give a value for each row, too."""
    found = set(scalars)
    while more := [name for name, tree in macros.items() if name not in found and _Reader(found).is_scalar(tree)]:
        found.update(more)
    return frozenset(found - scalars)


class _Reader:
    def __init__(self, scalars: Set[str]) -> None:
        self._scalars = scalars

    def is_scalar(self, serialized: str) -> bool:
        """Say whether a whole parse tree calls nothing but scalar functions."""
        try:
            told = json.loads(serialized)
        except (RecursionError, ValueError):
            return False
        return not told.get("error") and self._are_scalar(told)

    def node(self, node: Mapping[str, Any], known: Mapping[str, EmptyIf]) -> EmptyIf:
        """Return when a query node has no rows; `known`: the CTEs in scope."""
        known = dict(known)
        for entry in node.get("cte_map", {}).get("map", ()):
            known[str(entry["key"]).lower()] = self.node(entry["value"]["query_node"], known)
        if node["type"] == "SELECT_NODE":
            return self.table(node["from_table"], known) if self._keeps_none(node) else _NEVER
        if node["type"] == "SET_OPERATION_NODE":
            parts = [self.node(child, known) for child in node["children"]]
            if node["setop_type"] == "UNION":
                return _both(parts)
            if node["setop_type"] in ("EXCEPT", "INTERSECT"):
                return parts[0]
        return _NEVER

    def _keeps_none(self, node: Mapping[str, Any]) -> bool:
        """Say whether no rows in the FROM give no rows: an aggregate without a group makes one of none."""
        if node.get("sample"):
            return False
        if node.get("aggregate_handling") == "FORCE_AGGREGATES":
            return _has_column(node["select_list"])
        if node.get("aggregate_handling") != "STANDARD_HANDLING":
            return False
        sets = node.get("group_sets") or ()
        if sets:
            return all(sets)
        return not node.get("having") and self._are_scalar([node["select_list"], node.get("qualify")])

    def _are_scalar(self, expressions: object, inner: frozenset[str] = frozenset()) -> bool:
        """Say whether nothing adds rows up but subqueries that add up rows of their own.

        `inner`: what stands in the FROM of the subquery around it. An aggregate of a column of another query belongs to
        that one, wherever it stands.
        """
        waiting = [(expressions, inner)]
        while waiting:
            one, around = waiting.pop()
            if isinstance(one, dict):
                name = str(one.get("function_name")).lower()
                # Rows that are counted are those of the query itself.
                known = name in self._scalars or name in _ROWS or (name == "count_star" and around)
                if one.get("class") == "FUNCTION" and not known and not _names_one_of(one["arguments"], around):
                    return False
                if one.get("class") == "SUBQUERY":
                    around = frozenset(_called(one["subquery"]["node"].get("from_table") or {}))
                waiting += [(value, around) for value in one.values()]
            elif isinstance(one, list):
                waiting += [(value, around) for value in one]
        return True

    def table(self, table: Mapping[str, Any], known: Mapping[str, EmptyIf]) -> EmptyIf:
        """Return when what stands in a FROM has no rows."""
        kind = table["type"]
        if kind == "BASE_TABLE":
            name, schema = str(table["table_name"]).lower(), str(table.get("schema_name") or "main").lower()
            if table.get("catalog_name") or table.get("sample"):
                return _NEVER
            if schema == "main":
                return known[name] if name in known else frozenset({frozenset({name})})
            return frozenset({frozenset({f"{schema}.{name}"})})
        if kind == "SUBQUERY":
            inner = table["subquery"]
            return self.node(inner["node"], known)
        if kind == "JOIN" and table["ref_type"] in ("REGULAR", "NATURAL", "CROSS", "ASOF"):
            left, right = self.table(table["left"], known), self.table(table["right"], known)
            if table["join_type"] in _EITHER:
                return _few(left | right)
            if table["join_type"] in _LEFT:
                return left
            if table["join_type"] == "RIGHT":
                return right
            if table["join_type"] in ("FULL", "OUTER"):
                return _both([left, right])
        return _NEVER


def _has_column(select_list: list[Mapping[str, Any]]) -> bool:
    """Say whether a column stands there as it is: `group by all` then makes groups, and of no rows none."""
    # A bare name may be what another item is called, and that an aggregate.
    called = {str(item.get("alias")).lower() for item in select_list}
    return any(
        item.get("class") == "COLUMN_REF"
        and (len(item["column_names"]) > 1 or str(item["column_names"][0]).lower() not in called)
        for item in select_list
    )


def _called(table: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the tables of a FROM are called there."""
    if table.get("type") == "JOIN":
        yield from (*_called(table["left"]), *_called(table["right"]))
    elif name := table.get("alias") or table.get("table_name"):
        yield str(name).lower()


def _names_one_of(arguments: list[Mapping[str, Any]], tables: Set[str]) -> bool:
    """Say whether one of the arguments is a column of one of these tables, by its full name."""
    given = (one.get("expression") or one for one in arguments)
    names = (one["column_names"] for one in given if one.get("class") == "COLUMN_REF")
    return any(len(name) == 2 and str(name[0]).lower() in tables for name in names)


def _both(parts: list[EmptyIf]) -> EmptyIf:
    """Return when all of the parts are empty."""
    found: EmptyIf = frozenset({frozenset()})
    for part in parts:
        found = _few(frozenset(one | other for one in found for other in part))
    return found


def _few(found: EmptyIf) -> EmptyIf:
    return found if len(found) <= _MOST else frozenset(sorted(found, key=lambda one: (len(one), sorted(one)))[:_MOST])
