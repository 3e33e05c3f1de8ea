"""SQL that reads lines of known shapes: what the exact reader makes of them, or the word that they need a closer look.

A line is of a shape where the shape's literals, with the line's own values between them, give the line byte for byte.
Then no value holds an escape, and each text and number stands on the line just as SQL has it. What is left to look at
are the values, and whatever the exact reader could take otherwise than SQL makes the row `fine = false`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from reportgen.inputs.amounts import COST_LIMIT, COST_PLACES, DURATION_LIMIT, DURATION_PLACES, TOKEN_LIMIT
from reportgen.inputs.records import SHORTEST_DEEP_LINE
from reportgen.inputs.shapes import Hole, Path, Taken
from reportgen.inputs.times import FIRST_YEAR, LAST_YEAR
from reportgen.names import MISSING_WORDS
from reportgen.quickclass import dataclass
from reportgen.sqltext import quoted

#: Fields that hold a name or a label; their texts are staged as they are, by path.
TEXT_FIELDS = ("agent", "pipeline", "run_id", "session", "tool_name", "model")
_TOKEN_DIGITS = len(str(TOKEN_LIMIT - 1))
_PARTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_COUNTS = (*_PARTS, "total_tokens", "estimated_tokens")
_DAY = "20[0-9][0-9]-(?:0[1-9]|1[0-2])-[0-3][0-9]"
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
_ZONE = "[+-](?:0[0-9]|1[0-4]):[0-5][0-9]"
_TIME = quoted(f"{_DAY}[T ]{_CLOCK}(?:Z|{_ZONE})?")
#: Digits before the point of amounts at their limits.
_COST_DIGITS, _DURATION_DIGITS = (limit.adjusted() + 1 for limit in (COST_LIMIT, DURATION_LIMIT))
#: Room in an array for no more brackets than may be nested.
_LONGEST_ARRAY = SHORTEST_DEEP_LINE - 40
#: As long as amounts are that most producers write.
_SHORT = 13
_MISSING = ", ".join(quoted(word) for word in sorted(MISSING_WORDS))
_LONGEST_MISSING = max(len(word) for word in MISSING_WORDS)
NO_ID = "cast(null as ubigint)"


@dataclass(frozen=True, slots=True)
class Reading:
    """SQL in layers over rows with one column `x<place>` for each of `paths`.

    `rebuilt` and `there` read the columns x…; so do `cells`, each layer those before it, too; `columns` read all of
    them, and `shape`.
    """

    paths: tuple[Path, ...]
    #: Places in `paths` that a typed reader may read as whole numbers.
    whole: frozenset[int]
    #: For each shape, the line that its values would make.
    rebuilt: tuple[str, ...]
    #: For each shape, what holds of the columns where it is the line's.
    there: tuple[str, ...]
    cells: tuple[tuple[tuple[str, str], ...], ...]
    columns: tuple[tuple[str, str], ...]
    #: Field: for each shape (from 1) the staged text columns to look at, in order.
    texts: dict[str, tuple[tuple[str, ...], ...]]


def make_reading(taken: Sequence[Taken], *, typed: bool, few: Mapping[Path, Sequence[str]] | None = None) -> Reading:
    """Work out the SQL for lines of these shapes; `typed`: the columns at `whole` are bigint, all others text.

    `few`: names and labels that are expected at a path; a row with another one is not `fine`.
    """
    return _Writer(taken, typed=typed, few=few or {}).reading()


def enum_of(texts: Sequence[str]) -> str:
    """Return the type whose values are these texts."""
    return f"enum({', '.join(quoted(text) for text in texts)})"


class _Writer:
    def __init__(self, taken: Sequence[Taken], *, typed: bool, few: Mapping[Path, Sequence[str]]) -> None:
        self._taken = taken
        self._few = few
        self._paths = tuple(dict.fromkeys(hole.path for one in taken for hole in one.shape.holes))
        self._places = {path: place for place, path in enumerate(self._paths)}
        self._whole = self._whole_places() if typed else frozenset()
        self._cells: dict[str, tuple[str, int]] = {}

    def _whole_places(self) -> frozenset[int]:
        counts: set[int] = set()
        others: set[int] = set()
        for one in self._taken:
            own = {found[1] for name in _COUNTS if (found := one.number(name))}
            for hole in one.shape.holes:
                (counts if hole in own else others).add(self._places[hole.path])
        return frozenset(counts - others)

    def reading(self) -> Reading:
        texts = {field: tuple(self._text_columns(one, field) for one in self._taken) for field in TEXT_FIELDS}
        staged = sorted({name for shapes in texts.values() for names in shapes for name in names})
        columns = [(name, self._text(name)) for name in staged]
        for name, make in (
            ("fine", self._fine), ("counts", self._counts), ("event_time", self._time), ("undated", self._undated),
            ("id", self._id), *((part, self._part(part)) for part in _PARTS), ("total_tokens", self._total),
            ("tokens_estimated", self._estimated), ("cost_usd", self._cost), ("rounded", self._rounded),
            ("cost_basis", self._basis), ("duration_ms", self._duration),
        ):  # fmt: skip
            columns.append((name, self._by_shape(make)))
        return Reading(
            paths=self._paths,
            whole=self._whole,
            rebuilt=tuple(self._rebuilt(one) for one in self._taken),
            there=tuple(self._there(one) for one in self._taken),
            cells=tuple(
                tuple((name, sql) for sql, (name, layer) in self._cells.items() if layer == number) for number in (0, 1)
            ),
            columns=tuple(columns),
            texts=texts,
        )

    def _text(self, name: str) -> str:
        """A text as it stands; where only few different ones were seen, as one of those."""
        text = f"x{name[1:]}"
        few = self._few.get(self._paths[int(name[1:])])
        return self._cell(f"try_cast({text} as {enum_of(few)})") if few else f"nullif({text}, '')"

    # --- shapes -------------------------------------------------------------------------------------------------------

    def _rebuilt(self, one: Taken) -> str:
        parts = [quoted(one.shape.literals[0])]
        for hole, after in zip(one.shape.holes, one.shape.literals[1:], strict=True):
            parts += [self._at(hole), quoted(after)]
        return f"concat({', '.join(parts)})"

    def _there(self, one: Taken) -> str:
        own = {self._places[hole.path] for hole in one.shape.holes}
        return " and ".join(f"x{n} is {'not ' if n in own else ''}null" for n in range(len(self._paths))) or "true"

    def _at(self, hole: Hole) -> str:
        return f"x{self._places[hole.path]}"

    def _cell(self, sql: str, layer: int = 0) -> str:
        """Have this worked out once for each row; return its name. A layer may read those before it."""
        name, _ = self._cells.setdefault(sql, (f"c{len(self._cells)}", layer))
        return name

    def _by_shape(self, make: Callable[[Taken], str]) -> str:
        made = [make(one) for one in self._taken]
        if len(set(made)) == 1:
            return made[0]
        cases = " ".join(f"when {number} then {text}" for number, text in enumerate(made, 1))
        return f"case shape {cases} end"

    def _text_columns(self, one: Taken, field: str) -> tuple[str, ...]:
        return tuple(f"t{self._places[hole.path]}" for hole in one.texts(field))

    # --- what makes a row one that SQL may take -----------------------------------------------------------------------

    def _fine(self, one: Taken) -> str:
        checks: list[str] = []
        read: set[Hole] = set()
        for name in _COUNTS:
            # What is behind the first number is never looked at by the exact reader either.
            if found := one.number(name):
                read.add(found[1])
                checks.append(f"{self._count(found[1])} is not null")
        for amount in (self._amount(one, "cost_usd"), self._amount(one, "duration_ms")):
            if amount:
                read.add(amount.hole)
                checks.append(amount.fine())
        if times := self._times(one):
            read.add(times)
            text, time = self._at(times), self._time(one)
            checks.append(f"regexp_full_match({text}, {_TIME})" if times.kind == "text" else _epoch_is_fine(text))
            checks.append(f"{time} >= timestamp '{FIRST_YEAR}-01-01' and {time} < timestamp '{LAST_YEAR + 1}-01-01'")
        for name in dict.fromkeys(name for field in TEXT_FIELDS for name in self._text_columns(one, field)):
            if self._paths[int(name[1:])] in self._few:
                checks.append(f"({self._text(name)} is not null or x{name[1:]} = '')")
        for hole in one.texts("event_id"):
            text = self._at(hole)
            checks.append(f"strlen({text}) = length({text}) and not contains({text}, ' ')")
        for hole in one.shape.holes:
            if hole.kind == "number" and hole not in read:
                checks.append(f"isfinite(try_cast({self._at(hole)} as double))")
            elif hole.kind == "array":
                text = self._at(hole)
                checks.append(f"starts_with({text}, '[') and strlen({text}) <= {_LONGEST_ARRAY}")
                checks += [f"not contains({text}, {quoted(odd)})" for odd in ("\\", "NaN", "Infinity")]
        return f"coalesce({' and '.join(dict.fromkeys(checks)) or 'true'}, false)"

    def _counts(self, one: Taken) -> str:
        """Say whether the record is a cost event: one of its keys of weight has a value."""
        present = [found for key in one.plan.presence if isinstance(found := one.flat[key], Hole)]
        if any(hole.kind == "number" for hole in present) or any(_is_flag(one, key) for key in one.plan.presence):
            return "true"
        return " or ".join(f"{self._at(hole)} <> ''" for hole in present) or "false"

    # --- values -------------------------------------------------------------------------------------------------------

    @staticmethod
    def _times(one: Taken) -> Hole | None:
        found = one.texts("event_time")
        return found[0] if found else None

    def _time(self, one: Taken) -> str:
        hole = self._times(one)
        if hole is None:
            return "cast(null as timestamp)"
        text = self._at(hole)
        if hole.kind == "number":
            return self._cell(_epoch(text))
        zoned = f"cast(try_cast({text} as timestamptz) as timestamp)"
        return self._cell(f"case when ends_with({text}, 'Z') then try_cast({text} as timestamp) else {zoned} end")

    def _undated(self, one: Taken) -> str:
        return "false" if self._times(one) else "true"

    def _id(self, one: Taken) -> str:
        holes = one.texts("event_id")
        if not holes:
            return NO_ID
        text = self._at(holes[0])
        known = f"strlen({text}) > {_LONGEST_MISSING} or lower({text}) not in ({_MISSING})"
        return f"case when {known} then hash({text}) end"

    def _count(self, hole: Hole) -> str:
        """A whole number below the limit as it stands on the line; null for anything else."""
        text = self._at(hole)
        if self._places[hole.path] in self._whole:
            return self._cell(f"case when {text} between 0 and {TOKEN_LIMIT - 1} then {text} end")
        whole = f"strlen({text}) <= {_TOKEN_DIGITS} and not contains({text}, '.') and not contains({text}, 'e')"
        return self._cell(f"case when {whole} and not starts_with({text}, '-') then try_cast({text} as bigint) end")

    def _part(self, name: str) -> Callable[[Taken], str]:
        def make(one: Taken) -> str:
            found = one.number(name)
            return self._count(found[1]) if found else "cast(null as bigint)"

        return make

    def _total(self, one: Taken) -> str:
        if given := one.number("total_tokens"):
            return self._count(given[1])
        parts = {name: self._count(found[1]) for name in _PARTS if (found := one.number(name))}
        if parts:
            total = " + ".join(parts.values())
            if "input_tokens" in parts and "cache_read_tokens" in parts and _reads_inside(one):
                inputs, reads = parts["input_tokens"], parts["cache_read_tokens"]
                total = f"({total}) - case when {reads} <= {inputs} then {reads} else 0 end"
            return total
        estimate = one.number("estimated_tokens")
        return self._count(estimate[1]) if estimate else "cast(null as bigint)"

    def _estimated(self, one: Taken) -> str:
        exact = any(one.number(name) for name in (*_PARTS, "total_tokens"))
        flagged = False
        for key in one.plan.estimated_tokens:
            if _is_flag(one, key):
                flagged = bool(getattr(one.flat[key], "value", False))
            elif isinstance(one.flat[key], Hole):
                if not exact:
                    return "true"
                break
        return "true" if flagged and exact else "false"

    def _amount(self, one: Taken, field: str) -> _Amount | None:
        found = one.number(field)
        if not found:
            return None
        key, hole = found
        cost = field == "cost_usd"
        return _Amount(
            self._cell, hole, self._at(hole), one.plan.scales.get(key),
            COST_PLACES if cost else DURATION_PLACES,
            COST_LIMIT if cost else DURATION_LIMIT,
            _COST_DIGITS if cost else _DURATION_DIGITS,
        )  # fmt: skip

    def _cost(self, one: Taken) -> str:
        amount = self._amount(one, "cost_usd")
        return amount.value() if amount else f"cast(null as decimal(38, {COST_PLACES}))"

    def _rounded(self, one: Taken) -> str:
        amount = self._amount(one, "cost_usd")
        return amount.rounded() if amount else "false"

    def _basis(self, one: Taken) -> str:
        found = one.number("cost_usd")
        if not found:
            return "cast(null as varchar)"
        return "'estimated'" if found[0] in one.plan.estimated_costs else "'reported'"

    def _duration(self, one: Taken) -> str:
        amount = self._amount(one, "duration_ms")
        return amount.value() if amount else "cast(null as decimal(18, 3))"


def _is_flag(one: Taken, key: str) -> bool:
    return isinstance(getattr(one.flat[key], "value", None), bool)


def _reads_inside(one: Taken) -> bool:
    """Say whether the producer that used these names counts cache reads as input."""
    used = (one.number("input_tokens"), one.number("cache_read_tokens"))
    return any(found is not None and found[0] in one.plan.cache_inside for found in used)


def _epoch(text: str) -> str:
    """The time of an epoch number: seconds, milliseconds, microseconds or nanoseconds by size; cut, not rounded."""
    exact = f"try_cast({text} as decimal(29, 9))"
    return (
        f"make_timestamp(case when {_epoch_is_fine(text)} then case"
        f" when {exact} < 100000000000 then cast(trunc({exact} * cast(1000000 as decimal(7, 0))) as bigint)"
        f" when {exact} < 100000000000000 then cast(trunc({exact} * cast(1000 as decimal(4, 0))) as bigint)"
        f" when {exact} < 100000000000000000 then cast(trunc({exact}) as bigint)"
        f" else cast(trunc({exact}) as bigint) // 1000 end end)"
    )


def _epoch_is_fine(text: str) -> str:
    """From 1973 on; with no more digits than a decimal keeps."""
    return (
        f"(not contains({text}, 'e') and strlen({text}) <= 19 and not starts_with({text}, '-')"
        f" and (strpos({text}, '.') = 0 or strlen({text}) - strpos({text}, '.') <= 9)"
        f" and try_cast({text} as decimal(29, 9)) >= 100000000)"
    )


@dataclass(frozen=True, slots=True)
class _Amount:
    """An amount at `text`, times `scale`, to so many places, exactly; `digits` before the point at its limit."""

    cell: Callable[..., str]
    hole: Hole
    text: str
    scale: Decimal | None
    places: int
    limit: Decimal
    digits: int

    def _plain(self) -> str:
        """Say that it is short enough, or whole, to have no more than so many places."""
        text = self.text
        short = f"strlen({text}) <= {self.places + 1}"
        if self.places < _SHORT:
            short = f"({short} or (strlen({text}) <= {_SHORT} and not contains({text}, '.')))"
        return self.cell(f"{short} and not contains({text}, 'e')")

    @property
    def _wide_places(self) -> int:
        return 38 - self.digits if self.scale is None else 12 + max(0, -self.scale.adjusted())

    def _wide(self) -> str:
        """The amount with every place that it has."""
        if self.scale is None:
            return f"try_cast({self.text} as decimal(38, {self._wide_places}))"
        exponent = self.scale.adjusted()
        kind = f"decimal({exponent + 1}, 0)" if exponent >= 0 else f"decimal({-exponent}, {-exponent})"
        return f"try_cast({self.text} as decimal(29, 12)) * cast({self.scale:f} as {kind})"

    def value(self) -> str:
        width = 38 if self.places == COST_PLACES else 18
        wide = f"try_cast({self._wide()} as decimal({width}, {self.places}))"
        if self.scale is not None:
            return self.cell(wide, 1)
        plain = f"try_cast({self.text} as decimal({width}, {self.places}))"
        return self.cell(f"case when {self._plain()} then {plain} else {wide} end", 1)

    def _off(self) -> str:
        """What rounding took or gave."""
        return f"abs({self._wide()} - try_cast({self.value()} as decimal(38, {self._wide_places})))"

    def rounded(self) -> str:
        if self.scale is not None:
            return f"{self._off()} <> 0"
        return f"case when {self._plain()} then false else {self._off()} <> 0 end"

    def fine(self) -> str:
        """Exactly known, and no tie: which way a tie goes is for the exact reader."""
        text, half = self.text, Decimal(5).scaleb(-self.places - 1)
        within = f"{self.value()} >= 0 and {self.value()} < {self.limit:f}"
        untied = f"{self._off()} < {half:f}"
        if self.scale is not None:
            few = (
                f"not contains({text}, 'e') and (strpos({text}, '.') = 0 or strlen({text}) - strpos({text}, '.') <= 12)"
            )
            return f"{within} and {few} and {untied}"
        smallest = Decimal(1).scaleb(17 - self._wide_places)
        exact = f"{self._wide()} >= {smallest:f} and strlen({text}) <= {self._wide_places} and {untied}"
        return f"{within} and case when {self._plain()} then true else {exact} end"
