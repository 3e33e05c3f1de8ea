"""Who is who: one way to clean a name, everywhere (SPEC 2, "Names"), and one registry of every spelling seen.

Identity is settled here, on the raw text, before anything is redacted; what leaves this room for a disk is a number
for each spelling and a text that is safe to show.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from reportgen.frozen import frozen
from reportgen.redact import find_secrets, holding_secrets, redact_hashed, replace_secrets

# Said so, not imported: typing would be a tenth of the time in which a hook starts.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Kind = Literal["agent", "pipeline", "run"]
else:
    Kind = str

UNATTRIBUTED = "(unattributed)"
UNASSIGNED = "(unassigned)"
ALL_PIPELINES = "(all pipelines)"
#: Between a project and its pipeline, in a report of several projects.
JOIN = " / "

#: Words that say "nothing here" wherever an agent, a pipeline or a run id is expected.
MISSING_WORDS = frozenset({"", "unknown", "default", "none", "null", "n/a"})
#: Chat roles are not agents: a producer that logs `role` has not named who worked.
CHAT_ROLES = frozenset({"user", "assistant", "system", "tool", "developer"})

_PAIRS = ("**", "__", "~~", "*", "_", "`", "~")
_DECORATION = "*_`~@ "
_LONGEST_DECORATED = 2000
#: A text that stands for a secret, as `rows` gives it: `[e-mail 1]`.
_NUMBERED = re.compile(r"\[[a-z-]+(?: [a-z]+)? \d+\]")
_LINK = re.compile(r"^!?\[([^\]]*)\]\([^)]*\)$")


def squeeze(text: str) -> str:
    """Trim, turn every run of white space into one blank, drop NUL, replace lone surrogates, and compose to NFC."""
    text = text.replace("\x00", "")
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if not text.isascii() else text
    return unicodedata.normalize("NFC", " ".join(text.split()))


@lru_cache(maxsize=65536)
def clean_name(text: str) -> str:
    """Return the name without Markdown decoration, a leading `@` or odd white space: `**@Writer** ` gives `Writer`."""
    name = squeeze(text)
    # Each layer of decoration costs a look at the whole name, so a hostile megabyte of them is left as it is.
    while len(name) <= _LONGEST_DECORATED:
        before = name
        for mark in _PAIRS:
            inner = name[len(mark) : len(name) - len(mark)]
            if not (len(name) > 2 * len(mark) and name.startswith(mark) and name.endswith(mark)):
                continue
            # `**a** and **b**` is not one pair; underscores may stand inside words: `_my_agent_`.
            core = inner.strip(_DECORATION)
            if core and (mark[0] == "_" or mark not in core):
                name = inner.strip()
        if link := _LINK.match(name):
            name = link.group(1).strip()
        name = name.removeprefix("@").strip()
        if name == before:
            break
    return name if name.strip(_DECORATION) else ""


def fold(name: str) -> str:
    """Return the form in which two names are compared: Unicode case folding, composed again."""
    return unicodedata.normalize("NFC", name.casefold())


def is_missing(kind: Kind, name: str) -> bool:
    """Say whether a cleaned name stands for "none given" (SPEC 2): a sentinel word, or a chat role as an agent."""
    folded = fold(name)
    return (
        folded in MISSING_WORDS
        or (kind == "agent" and (folded in CHAT_ROLES or folded == UNATTRIBUTED))
        or (kind == "pipeline" and folded in (UNASSIGNED, ALL_PIPELINES))
    )


def is_unassigned(pipeline: str) -> bool:
    """Say whether a shown name is that of the bucket of events whose pipeline nothing tells, of any project."""
    return pipeline == UNASSIGNED or pipeline.endswith(JOIN + UNASSIGNED)


@frozen
class Spelling:
    """One way a name was written. `spelling` and `key` are safe to show and to store; `key_hash` is of the raw key."""

    spelling_no: int
    key_no: int
    kind: Kind
    spelling: str
    key: str
    key_hash: str
    #: Place of the raw spelling among all, by code point: the tie-break of "the most frequent spelling".
    code_point_rank: int


#: Characters of a name; of a longer one the beginning is shown, and a hash keeps it apart.
NAME_LIMIT = 200


class Names:
    """Every agent, pipeline and run named by any input, numbered as it is met.

    `agent`, `pipeline` and `run` take raw text and return a spelling number, or None where the text names nobody.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[Kind, str], int | None] = {}
        self._spellings: list[tuple[Kind, str, str]] = []
        self._by_spelling: dict[tuple[Kind, str], int] = {}

    def agent(self, raw: str | None) -> int | None:
        """Return the number of this spelling of an agent's name, or None for the bucket `(unattributed)`."""
        return self._number("agent", raw)

    def pipeline(self, raw: str | None) -> int | None:
        """Return the number of this spelling of a pipeline's name, or None where no pipeline is named."""
        return self._number("pipeline", raw)

    def run(self, raw: str | None) -> int | None:
        """Return the number of this run id (compared exactly after white space and NFC), or None for no run."""
        return self._number("run", raw)

    def _number(self, kind: Kind, raw: str | None) -> int | None:
        if raw is None:
            return None
        known = (kind, raw)
        if known in self._numbers:
            return self._numbers[known]
        cleaned = squeeze(raw) if kind == "run" else clean_name(raw)
        number: int | None = None
        if len(cleaned) > NAME_LIMIT:
            cleaned = _shortened(kind, cleaned)
        if not is_missing(kind, cleaned):
            spelled = (kind, cleaned)
            number = self._by_spelling.get(spelled)
            if number is None:
                number = self._by_spelling[spelled] = len(self._spellings)
                self._spellings.append((kind, cleaned, cleaned if kind == "run" else fold(cleaned)))
        self._numbers[known] = number
        return number

    def rows(self, *, redacted: bool = True) -> list[Spelling]:
        """Return every spelling met, in the order of its number, with redaction applied to what is shown.

        A name that holds a secret or an e-mail address becomes `[e-mail 1]`, `[home 2]` …: numbered by its key in
        code point order, so that two such names stay two, whatever the order of the lines. A name that the healing
        log wrote as `[e-mail 3fa2c1]` is the name with that address, where there is one. No two names share a text.
        """
        secret = _secret_spellings(self._spellings)
        import hashlib  # not above: it loads OpenSSL, and `heal` needs no more than clean names

        keys = _joined_keys(self._spellings, secret)
        shown = _shown_keys(keys, secret) if redacted else {}
        numbers: dict[tuple[Kind, str], int] = {}
        ranks = {entry: rank for rank, entry in enumerate(sorted({(k, s) for k, s, _ in self._spellings}))}
        out = []
        for number, (kind, spelling, own_key) in enumerate(self._spellings):
            name = (kind, keys[(kind, own_key)])
            key_no = numbers.setdefault(name, len(numbers))
            digest = hashlib.sha256("\x1f".join(name).encode("utf-8", "replace")).hexdigest()[:12]
            safe = shown.get(name)
            text, key = (spelling, name[1]) if safe is None else (safe, safe if kind == "run" else fold(safe))
            out.append(Spelling(number, key_no, kind, text, key, digest, ranks[(kind, spelling)]))
        return out


def _shortened(kind: Kind, cleaned: str) -> str:
    """Return the beginning of a very long name and its hash, as `heal` logs it: redacted before it is cut."""
    import hashlib

    key = cleaned if kind == "run" else fold(cleaned)
    digest = hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{redact_hashed(cleaned)[: NAME_LIMIT - 14]} #{digest}"


def _secret_spellings(spellings: Sequence[tuple[Kind, str, str]]) -> dict[tuple[Kind, str], str]:
    """Return, for each name that holds a secret, the smallest spelling that shows it: most keys are told by case."""
    found: dict[tuple[Kind, str], str] = {}
    holding = holding_secrets([spelling for _, spelling, _ in spellings])
    for kind, spelling, key in spellings:
        if spelling in holding and spelling < found.get((kind, key), "\U0010ffff"):
            found[(kind, key)] = spelling
    return found


def _joined_keys(
    spellings: Iterable[tuple[Kind, str, str]], secret: dict[tuple[Kind, str], str]
) -> dict[tuple[Kind, str], str]:
    """Return the key that each key stands for: itself, or the address behind `[e-mail 3fa2c1]`.

    Only where exactly one name hashes so, and only e-mail addresses: `[home]/x` may be anybody's.
    """
    behind: dict[tuple[Kind, str], set[str]] = {}
    for (kind, key), spelling in secret.items():
        if all(label == "e-mail" for label, _ in find_secrets(spelling)):
            hashed = redact_hashed(spelling)
            behind.setdefault((kind, hashed if kind == "run" else fold(hashed)), set()).add(key)
    keys: dict[tuple[Kind, str], str] = {}
    for kind, _, key in spellings:
        owners = behind.get((kind, key), set())
        keys[(kind, key)] = min(owners) if len(owners) == 1 else key
    return keys


def _shown_keys(keys: dict[tuple[Kind, str], str], secret: dict[tuple[Kind, str], str]) -> dict[tuple[Kind, str], str]:
    """Give each name with something secret in it a text of its own: `[e-mail 1]`, `ask [e-mail 2]`."""
    plain = sorted({(kind, key) for (kind, _), key in keys.items() if (kind, key) not in secret})
    taken = {(kind, fold(key)) for kind, key in plain}
    #: Numbers that a hostile or copied name already shows, such as an agent that calls itself `[e-mail 1]`.
    written = {label for _, key in plain for label in _NUMBERED.findall(key)}
    counters: dict[str, int] = {}
    numbers: dict[tuple[str, str], str] = {}

    def numbered(label: str) -> str:
        while True:
            counters[label] = counters.get(label, 0) + 1
            text = f"[{label} {counters[label]}]"
            if text not in written:
                return text

    def placeholder(label: str, text: str) -> str:
        # One person is one number, whether named as an agent or in a run id.
        known = (label, text.casefold())
        if known not in numbers:
            numbers[known] = numbered(label)
        return numbers[known]

    shown: dict[tuple[Kind, str], str] = {}
    for (kind, key), spelling in sorted(secret.items()):
        text = replace_secrets(spelling, placeholder)
        while (kind, fold(text)) in taken:
            text = numbered("name")
        taken.add((kind, fold(text)))
        shown[(kind, key)] = text
    return shown
