"""names.py: one way to clean a name, and one registry in which two names never become one."""

from __future__ import annotations

import hashlib
import random
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reportgen.names import Names, Spelling, clean_name, fold, is_missing, squeeze

AWS_ID = "AK" + "IAIOSFODNN7EXAMPLE"


def hashed(address: str) -> str:
    return f"[e-mail {hashlib.sha256(address.casefold().encode()).hexdigest()[:6]}]"


# --- cleaning -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("Writer", "Writer"),
        ("  agent \t\n writer ", "agent writer"),
        ("a\u00a0\u2003b", "a b"),
        ("**Writer**", "Writer"),
        ("__Writer__", "Writer"),
        ("*Writer*", "Writer"),
        ("_my_agent_", "my_agent"),
        ("***Writer***", "Writer"),
        ("~~Writer~~", "Writer"),
        ("`Writer`", "Writer"),
        ("``Writer``", "Writer"),
        ("**`@Writer`** ", "Writer"),
        ("@reviewer", "reviewer"),
        ("@@reviewer", "reviewer"),
        ("[Writer](docs/x.md)", "Writer"),
        ("**a** and **b**", "**a** and **b**"),
        ("my_agent_name", "my_agent_name"),
        ("a*", "a*"),
        ("writer@home", "writer@home"),
        ("***", ""),
        ("* *", ""),
        ("@", ""),
        ("_", ""),
        ("", ""),
        ("e\u0301tude", "\u00e9tude"),
        ("a\x00b", "ab"),
        ("a\ud83d", "a\ufffd"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\udc00x", "\ufffdx"),
        ("日本", "日本"),
    ],
)
def test_clean_name(raw: str, clean: str) -> None:
    assert clean_name(raw) == clean


decorated = st.text("ab_*`~@[]() \t\u00e9e\u0301İßſ-.\x00", max_size=12) | st.text(max_size=12)


@settings(max_examples=400, deadline=None)
@given(decorated)
@example("_*_a_*_")
def test_cleaning_a_clean_name_changes_nothing(raw: str) -> None:
    name = clean_name(raw)
    assert clean_name(name) == name
    assert squeeze(name) == name
    assert fold(fold(name)) == fold(name)
    assert name.encode("utf-8").decode() == name


@settings(max_examples=200, deadline=None)
@given(
    st.text("abé ", min_size=1, max_size=8), st.lists(st.sampled_from(["**", "__", "~~", "*", "`", "@"]), max_size=4)
)
def test_decoration_around_a_name_does_not_change_it(name: str, marks: list[str]) -> None:
    raw = name
    for mark in marks:
        raw = f"@{raw}" if mark == "@" else f"{mark}{raw}{mark}"
    if name.strip():
        assert clean_name(raw) == squeeze(name)


def test_a_hostile_name_takes_no_time() -> None:
    start = time.process_time()
    for raw in ("@" * 1_000_000, "_*" * 250_000 + "x" + "*_" * 250_000, "@ " * 500_000, "[" * 1_000_000):
        clean_name(raw)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("word", ["", "unknown", "Default", "NONE", "null", "N/A"])
def test_words_that_name_nobody(word: str) -> None:
    assert is_missing("agent", word)
    assert is_missing("pipeline", word)
    assert is_missing("run", word)


@pytest.mark.parametrize("word", ["user", "assistant", "System", "tool", "developer"])
def test_chat_roles_are_no_agents_but_may_be_pipelines(word: str) -> None:
    assert is_missing("agent", word)
    assert not is_missing("pipeline", word)
    assert not is_missing("run", word)


# --- the registry ---------------------------------------------------------------------------------------------------


def test_spellings_of_one_name_share_a_key() -> None:
    names = Names()
    a, b, c = names.agent("**Writer**"), names.agent("WRITER"), names.agent("writer-2")
    rows = {row.spelling_no: row for row in names.rows()}
    assert a is not None
    assert b is not None
    assert c is not None
    assert rows[a].spelling == "Writer"
    assert rows[b].spelling == "WRITER"
    assert rows[a].key_no == rows[b].key_no != rows[c].key_no
    assert rows[a].key == rows[b].key == "writer"
    assert rows[a].key_hash == rows[b].key_hash != rows[c].key_hash
    # The tie-break of "the most frequent spelling": "WRITER" is before "Writer" by code point.
    assert rows[b].code_point_rank < rows[a].code_point_rank


def test_full_case_folding() -> None:
    names = Names()
    names.agent("Straße")
    names.agent("STRASSE")
    assert len({row.key_no for row in names.rows()}) == 1


def test_kinds_are_apart_and_the_same_text_gets_the_same_number() -> None:
    names = Names()
    assert names.agent("docs") != names.pipeline("docs")
    assert names.agent("docs") == names.agent(" `docs` ")
    assert len(names.rows()) == 2
    assert len({row.key_hash for row in names.rows()}) == 2


def test_nobody_has_no_number() -> None:
    names = Names()
    for raw in (None, "", " ", "unknown", "**None**", "@user", "(unattributed)"):
        assert names.agent(raw) is None
    for raw in (None, "n/a", "`default`", "(unassigned)", "(all pipelines)"):
        assert names.pipeline(raw) is None
    assert names.run("NULL") is None
    assert names.rows() == []


def test_run_ids_are_exact() -> None:
    names = Names()
    assert names.run("Run-1") != names.run("run-1")
    assert names.run(" *r* ") == names.run("*r*")
    assert len({row.key_no for row in names.rows()}) == 3
    assert {row.key for row in names.rows()} == {"Run-1", "run-1", "*r*"}


# --- what is shown --------------------------------------------------------------------------------------------------


def by_raw(names: Names) -> dict[int, Spelling]:
    return {row.spelling_no: row for row in names.rows()}


def test_two_addresses_stay_two_whatever_the_order() -> None:
    shown = []
    for order in (["Zoe@x.com", "amy@x.com", "bob"], ["bob", "amy@x.com", "Zoe@x.com"]):
        names = Names()
        numbers = {raw: names.agent(raw) for raw in order}
        rows = by_raw(names)
        shown.append({raw: rows[number].spelling for raw, number in numbers.items() if number is not None})
    assert shown[0] == shown[1] == {"amy@x.com": "[e-mail 1]", "Zoe@x.com": "[e-mail 2]", "bob": "bob"}


def test_one_person_is_one_number_in_every_kind() -> None:
    names = Names()
    names.agent("amy@x.com")
    names.agent("zoe@x.com")
    names.run("run of ZOE@x.com")
    assert [row.spelling for row in names.rows()] == ["[e-mail 1]", "[e-mail 2]", "run of [e-mail 2]"]


def test_spellings_of_one_address_are_shown_alike() -> None:
    names = Names()
    names.agent("Amy@X.com")
    names.agent("amy@x.COM")
    assert {(row.spelling, row.key) for row in names.rows()} == {("[e-mail 1]", "[e-mail 1]")}
    assert {row.spelling for row in names.rows(redacted=False)} == {"Amy@X.com", "amy@x.COM"}


def test_a_key_told_by_its_case_is_hidden_in_every_spelling() -> None:
    names = Names()
    names.agent(f"bot {AWS_ID}")
    names.agent(f"bot {AWS_ID.lower()}")
    for row in names.rows():
        assert AWS_ID.lower() not in (row.spelling + row.key).lower()
    assert len({row.key_no for row in names.rows()}) == 1


def test_several_secrets_in_one_name() -> None:
    names = Names()
    names.agent("amy@x.com for bob@x.com")
    names.agent("bob@x.com for amy@x.com")
    assert [row.spelling for row in names.rows()] == ["[e-mail 1] for [e-mail 2]", "[e-mail 2] for [e-mail 1]"]


def test_a_name_that_looks_like_a_placeholder_stays_apart() -> None:
    names = Names()
    names.agent("[e-mail 1]")
    names.agent("amy@x.com")
    assert [row.spelling for row in names.rows()] == ["[e-mail 1]", "[e-mail 2]"]


def test_the_hashed_address_of_the_healing_log_is_the_same_person() -> None:
    names = Names()
    raw, logged = names.agent("Amy@X.com"), names.agent(hashed("amy@x.com"))
    other = names.agent(hashed("zoe@x.com"))
    for redacted in (True, False):
        rows = {row.spelling_no: row for row in names.rows(redacted=redacted)}
        assert raw is not None
        assert logged is not None
        assert other is not None
        assert rows[raw].key_no == rows[logged].key_no != rows[other].key_no
        assert rows[raw].key == rows[logged].key
        assert rows[raw].key_hash == rows[logged].key_hash
        assert rows[other].spelling == hashed("zoe@x.com")
    assert {row.spelling for row in names.rows()} == {"[e-mail 1]", hashed("zoe@x.com")}


def test_the_hashed_address_inside_a_longer_name_and_in_run_ids() -> None:
    names = Names()
    names.agent(f"Bot of {hashed('amy@x.com')}")
    names.agent("bot of amy@x.com")
    names.run(f"R-{hashed('amy@x.com')}")
    names.run("R-amy@x.com")
    assert len({row.key_no for row in names.rows()}) == 3
    # `R-amy@x.com` is one address as a whole, so its hash is another one.
    names = Names()
    names.run(f"Run {hashed('amy@x.com')}")
    names.run("Run amy@x.com")
    assert len({row.key_no for row in names.rows()}) == 1


def test_a_hash_that_two_addresses_share_joins_nobody() -> None:
    seen: dict[str, str] = {}
    pair = None
    for number in range(100_000):
        address = f"a{number}@x.com"
        other = seen.setdefault(hashed(address), address)
        if other != address:
            pair = (other, address)
            break
    assert pair, "the birthday bound of 24 bits is near 5,000"
    names = Names()
    for raw in (*pair, hashed(pair[0])):
        names.agent(raw)
    assert len({row.key_no for row in names.rows()}) == 3


raw_names = st.lists(
    st.sampled_from(
        [
            "amy@x.com",
            "AMY@x.com",
            "zoe@x.com",
            "ask amy@x.com",
            "[e-mail 1]",
            "[e-mail 2]",
            "[E-mail 1]",
            "[name 1]",
            "[e-mail]",
            "[e-mail] amy@x.com",
            "amy@x.com amy@x.com",
            "[home 1]/x",
            "[home]/x",
            "/home/joe/x",
            "/home/ann/x",
            "/HOME/joe/x",
            "password=hunter2",
            "password=Hunter2",
            "ghp_" + "a1B2" * 9,
            "ghp_" + "A1b2" * 9,
            AWS_ID,
            AWS_ID.lower(),
            hashed("amy@x.com"),
            hashed("zoe@x.com"),
            "https://u:pw1@h/x",
            "https://u:pw2@h/x",
            "writer",
            "Writer",
        ]
    )
    | st.text("ab@. []-1e", max_size=8),
    max_size=14,
)


@settings(max_examples=300, deadline=None)
@given(raw_names, st.randoms(use_true_random=False))
def test_two_names_never_share_a_text_and_order_does_not_matter(raws: list[str], rng: random.Random) -> None:
    def shown(order: list[str]) -> dict[tuple[str, str], tuple[str, str, str]]:
        names = Names()
        met = {}
        for raw in order:
            for kind, number in (
                ("agent", names.agent(raw)),
                ("pipeline", names.pipeline(raw)),
                ("run", names.run(raw)),
            ):
                if number is not None:
                    met[(kind, raw)] = number
        rows = by_raw(names)
        texts: dict[tuple[str, str], set[int]] = {}
        for row in rows.values():
            texts.setdefault((row.kind, row.spelling), set()).add(row.key_no)
            texts.setdefault((row.kind, "key: " + row.key), set()).add(row.key_no)
        assert all(len(keys) == 1 for keys in texts.values())
        assert len({row.key_no for row in rows.values()}) == len({row.key_hash for row in rows.values()})
        return {k: (rows[n].spelling, rows[n].key, rows[n].key_hash) for k, n in met.items()}

    shuffled = list(raws)
    rng.shuffle(shuffled)
    assert shown(raws) == shown(shuffled)
