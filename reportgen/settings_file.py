"""From the text of `reportgen.toml` to the fields of `Settings`, by the table of settings, with every problem in it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

from reportgen import settings_table as table
from reportgen import settings_values as read
from reportgen import tomlfile
from reportgen.names import clean_name, fold, is_missing

TEACH = "`reportgen init` in an empty folder writes a file that names every setting."
#: Tables whose keys are the reader's own.
_OPEN_TABLES = frozenset({"roster", "events.fields", 'prices."my-model"', "detectors.<id>"})
_FIXED_KEYS = tuple(s.key for s in table.SETTINGS if s.table not in _OPEN_TABLES)


class Problem(NamedTuple):
    """One thing wrong with a settings file or a flag."""

    where: str
    what: str
    next_step: str = ""


def read_settings_text(text: str, shown: str, problems: list[Problem]) -> dict[str, Any]:
    """Return the fields of `Settings` that the text sets; add to `problems` what is wrong with the rest.

    Raises ReportgenError with `file:line:column` where the text is not TOML.
    """
    reader = FileReader(shown, text, problems)
    reader.read(tomlfile.parse(text, shown))
    return reader.values


class FileReader:
    """Reads a parsed document by the table of settings, and collects what is wrong."""

    def __init__(self, shown: str, text: str, problems: list[Problem]) -> None:
        self.values: dict[str, Any] = {}
        self._shown = shown
        self._text = text
        self._problems = problems
        self._lines: dict[tuple[str, ...], int] | None = None

    def read(self, document: dict[str, Any]) -> None:
        """Fill `values` from the document."""
        tops = list(dict.fromkeys(name.split(".")[0] for name in table.TABLES))
        for top, content in document.items():
            if top not in tops:
                self._unknown_top(top, content, tops)
            elif not isinstance(content, dict):
                hint = f"[[{top}]] is a list of tables" if isinstance(content, list) else f"found {read.shown(content)}"
                self._problem((top,), f"[{top}] must be a table; {hint}", f"Write [{top}] on a line of its own.")
            elif top == "roster":
                self._roster(content)
            elif top == "detectors":
                self._detectors(content)
            elif top == "events":
                self._events(content)
            elif top == "prices":
                self._prices(content)
            else:
                self._fixed(top, content)

    def _fixed(self, name: str, content: dict[str, Any]) -> None:
        for key, value in content.items():
            setting = table.find(name, key)
            if setting is None:
                self._unknown_key(name, key)
            else:
                self._take(setting, (name, key), value)

    def _take(self, setting: table.Setting, at: tuple[str, ...], value: object) -> None:
        try:
            self.values[setting.field] = setting.reads(value)
        except ValueError as error:
            self._bad(at, error)

    def _roster(self, content: dict[str, Any]) -> None:
        roster: dict[str, tuple[str, ...]] = {}
        known: dict[str, str] = {}
        for pipeline, agents in content.items():
            at = ("roster", pipeline)
            name = clean_name(pipeline)
            if not name or is_missing("pipeline", name):
                self._problem(at, f"'{pipeline}' in [roster] names no pipeline", "Write the pipeline's name in quotes.")
                continue
            if fold(name) in known:
                what = f"'{pipeline}' and '{known[fold(name)]}' in [roster] are the same pipeline"
                self._problem(at, what, "Put their agents into one list.")
                continue
            known[fold(name)] = pipeline
            try:
                roster[pipeline] = read.agents(agents)
            except ValueError as error:
                self._bad(at, error)
        self.values["roster"] = roster

    def _detectors(self, content: dict[str, Any]) -> None:
        parameters: dict[str, dict[str, Decimal | int | str | bool]] = {}
        switched: dict[bool, set[str]] = {True: set(), False: set()}
        for detector, given in content.items():
            if not isinstance(given, dict):
                what = f"'{detector}' in [detectors] must be a table; found {read.shown(given)}"
                self._problem(
                    ("detectors", detector), what, f"Write [detectors.{detector}] and `enabled = false` in it."
                )
                continue
            for key, value in given.items():
                at = ("detectors", detector, key)
                try:
                    if key != "enabled":
                        parameters.setdefault(detector, {})[key] = read.parameter(value)
                    else:
                        switched[read.truth(value)].add(detector)
                except ValueError as error:
                    self._bad(at, error)
        self.values |= {
            "parameters": parameters,
            "disabled": frozenset(switched[False]),
            "enabled": frozenset(switched[True]),
        }

    def _prices(self, content: dict[str, Any]) -> None:
        prices: dict[str, dict[str, Decimal]] = {}
        known: dict[str, str] = {}
        for model, given in content.items():
            if model == "list" and not isinstance(given, dict):
                self._fixed("prices", {model: given})
                continue
            if not isinstance(given, dict):
                what = f"'{model}' in [prices] must be a table; found {read.shown(given)}"
                self._problem(("prices", model), what, f'Write [prices."{model}"] and `input = 3.00` in it.')
                continue
            if fold(model) in known:
                what = f"'{model}' and '{known[fold(model)]}' in [prices] are the same model"
                self._problem(("prices", model), what, "Put their prices into one table.")
                continue
            known[fold(model)] = model
            for key, value in given.items():
                setting = table.find('prices."my-model"', key)
                if setting is None:
                    near = read.near(key, table.keys_of('prices."my-model"'))
                    self._problem(("prices", model, key), f"unknown key '{key}' in [prices.\"{model}\"]{near}", TEACH)
                    continue
                try:
                    prices.setdefault(model, {})[key] = read.dollars(value)
                except ValueError as error:
                    self._bad(("prices", model, key), error)
        self.values["prices"] = prices

    def _events(self, content: dict[str, Any]) -> None:
        for key, given in content.items():
            if key != "fields":
                belongs = (
                    " (paths of event files stand in [inputs])" if key in ("path", "paths", "file", "files") else ""
                )
                what = f"unknown key '{key}' in [events]{read.near(key, ['fields'])}{belongs}"
                self._problem(("events", key), what, "The only table here is [events.fields].")
            elif not isinstance(given, dict):
                self._problem(("events", key), f"[events.fields] must be a table; found {read.shown(given)}", TEACH)
            else:
                self._fields(given)

    def _fields(self, given: dict[str, Any]) -> None:
        fields: dict[str, tuple[str, ...]] = {}
        for name, value in given.items():
            at = ("events", "fields", name)
            if name not in table.EVENT_FIELDS:
                what = f"unknown field '{name}' in [events.fields]{read.near(name, table.EVENT_FIELDS)}"
                self._problem(at, what, f"The fields are {', '.join(table.EVENT_FIELDS)}.")
                continue
            try:
                fields[name] = read.field_names(value)
            except ValueError as error:
                self._bad(at, error)
        self.values["fields"] = fields

    def _unknown_top(self, top: str, content: object, tops: list[str]) -> None:
        if isinstance(content, (dict, list)):
            home = _home_of(top)
            hint = f"; '{top}' is a key of {home}" if home else read.near(top, tops, "[{}]")
            self._problem((top,), f"unknown table [{top}]{hint}", TEACH)
            return
        self._unknown_key("", top)

    def _unknown_key(self, name: str, key: str) -> None:
        place = f"in [{name}]" if name else "outside of any table"
        home = _home_of(key)
        hint = f"; it belongs in {home}" if home else read.near(key, table.keys_of(name) if name else _FIXED_KEYS)
        self._problem((name, key) if name else (key,), f"unknown key '{key}' {place}{hint}", TEACH)

    def _bad(self, at: tuple[str, ...], error: ValueError) -> None:
        self._problem(at, f"'{at[-1]}' in [{'.'.join(at[:-1])}] {error}", TEACH)

    def _problem(self, at: tuple[str, ...], what: str, next_step: str = "") -> None:
        if self._lines is None:
            self._lines = tomlfile.key_lines(self._text)
        line = self._lines.get(at)
        self._problems.append(Problem(f"{self._shown}:{line}" if line else self._shown, what, next_step))


def _home_of(key: str) -> str:
    """Return the table that knows this key, in brackets, where there is just one."""
    homes = [s.table for s in table.SETTINGS if s.key == key and s.table not in _OPEN_TABLES]
    return f"[{homes[0]}]" if len(homes) == 1 else ""
