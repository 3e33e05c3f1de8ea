"""What a SQL text says: whether it is one SELECT, and what it reads. Of a text alone, so it is found out only once.

DuckDB takes longer to parse the built-in files than to run them on a small project, so what is known of those is kept
between processes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from reportgen.compiled import Notes
from reportgen.quickclass import dataclass
from reportgen.resources import resource_dir
from reportgen.sqlempty import EmptyIf, empty_if
from reportgen.sqltree import read_tree

#: Texts that are remembered in a process; a live preview meets a new one at each change of a file.
_MOST = 2_000


@dataclass(frozen=True, slots=True)
class Facts:
    """`tables`: what it reads, as people know it, its own CTEs left out: `runs`, `raw.events`. `named`: every name of
    the main schema that stands where a table does, CTEs included. None: nested too deeply to be read. `empty_if`: when
    it is sure to have no rows.
    """

    tables: tuple[str, ...]
    named: frozenset[str] | None
    empty_if: EmptyIf = frozenset()


class SqlFacts:
    """What is known of texts, for one version of DuckDB."""

    def __init__(self, version: str) -> None:
        self._facts: dict[str, Facts] = {}
        self._single: set[str] = set()
        here = Path(__file__)
        code = [here.with_name(name).read_bytes() for name in (here.name, "sqltree.py", "sqlempty.py")]
        macros = resource_dir("sql") / "macros.sql"
        # A macro may hold an aggregate: what gives a value for each row depends on them.
        self._notes = Notes(resource_dir("sql") / "facts", "facts", version, *code, macros.read_bytes())

    def of(
        self,
        texts: Sequence[str],
        parse: Callable[[Sequence[str]], Sequence[str]],
        scalars: Callable[[], Set[str]],
    ) -> Mapping[str, Facts]:
        """Return the facts of each text. `parse` gives the parse trees of those that are not known yet, `scalars` the
        names of all functions that give a value for each row.
        """
        wanted = dict.fromkeys(texts)
        if len(self._facts) > _MOST:
            self._facts.clear()
            self._single.clear()
        new = [text for text in wanted if text not in self._facts and not self._is_noted(text)]
        if new:
            known = scalars()
            for text, tree in zip(new, parse(new), strict=True):
                tables = tuple(sorted(read_tree(tree).tables))
                self._facts[text] = Facts(tables, _named(tree), empty_if(tree, known))
        return {text: self._facts[text] for text in wanted}

    def known(self, texts: Iterable[str]) -> Mapping[str, Facts] | None:
        """Return the facts of each text where all are known."""
        wanted = tuple(texts)
        if any(text not in self._facts and not self._is_noted(text) for text in wanted):
            return None
        return {text: self._facts[text] for text in wanted}

    def is_single(self, text: str) -> bool:
        """Say whether the text is known to be exactly one SELECT."""
        return text in self._single or (self._is_noted(text) and text in self._single)

    def note_single(self, text: str) -> None:
        """Remember that it is."""
        self._single.add(text)

    def keep(self, texts: Iterable[str]) -> None:
        """Keep what is known of texts that come with reportgen, for the next process."""
        for text in texts:
            facts = self._facts.get(text)
            if facts is not None and facts.named is not None:
                empty = sorted(sorted(one) for one in facts.empty_if)
                note = [list(facts.tables), sorted(facts.named), empty, text in self._single]
                self._notes.put(text, json.dumps(note))
        self._notes.save()

    def _is_noted(self, text: str) -> bool:
        note = self._notes.get(text)
        if note is None:
            return False
        tables, named, empty, single = json.loads(note)
        self._facts[text] = Facts(tuple(tables), frozenset(named), frozenset(map(frozenset, empty)))
        if single:
            self._single.add(text)
        return True


def _named(tree: str) -> frozenset[str] | None:
    names: set[str] = set()
    try:
        waiting: list[Any] = [json.loads(tree)]
    except RecursionError:
        return None
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if node.get("type") == "BASE_TABLE" and node.get("schema_name") in ("", "main"):
                names.add(str(node["table_name"]))
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
    return frozenset(names)
