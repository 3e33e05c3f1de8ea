"""No planted secret in anything that is written or printed; ordinary text is left alone."""

from __future__ import annotations

import pytest

from reportgen.redact import redact, redact_hashed
from trust.planting import PLACES, run, some_plantings
from trust.secrets import Planted, corpus
from trust.tally import Count


@pytest.fixture(scope="module")
def counts() -> list[Count]:
    return run(everywhere=False)


def test_every_form_and_every_field_is_tried() -> None:
    assert len({one.secret for one in corpus()}) == len(corpus()) >= 100
    assert {place for place, _ in some_plantings()} == set(PLACES)


def test_no_planted_secret_is_written(counts: list[Count]) -> None:
    assert counts[0].number >= 100
    assert counts[0].losses == []


def test_no_secret_is_printed(counts: list[Count]) -> None:
    assert counts[1].number >= 60
    assert counts[1].losses == []


def test_ordinary_text_is_left_alone(counts: list[Count]) -> None:
    assert counts[2].number > 50_000
    assert counts[2].losses == []


@pytest.mark.parametrize("one", corpus(), ids=lambda one: one.kind)
def test_a_form_is_known_wherever_it_stands(one: Planted) -> None:
    for text in (one.text, f"failed with {one.text}, again", f"({one.text})", f'"{one.text}"', f"x={one.text}."):
        assert one.secret not in redact(text)
        assert one.secret not in redact_hashed(text)


@pytest.mark.parametrize(
    "text",
    ["sk-learn", "a task-based desk", "SKU 1234567890", "csk- and fw_", "re_run_the_build", "path.to.module", "cioppino",
     "patience is 14.5", "https://example.org/a?sig=short", "12:AAA", "/webhooks/ are documented", "NRAK-", "MANY.words.here",
     "hvs.md and dp.pt.", "key-value pairs", "dapi", "10.0.0.1:8080/x@y", "file:/etc/x:y"],
)  # fmt: skip
def test_words_like_the_beginning_of_a_key_are_left_alone(text: str) -> None:
    assert redact(text) == text
