"""Options of the test run."""

from __future__ import annotations

import gc
import signal

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--random-projects", type=int, default=12, help="random projects to build and to solve")
    parser.addoption("--first-seed", type=int, default=1, help="seed of the first random project")
    parser.addoption(
        "--every-page",
        action="store_true",
        help="visit every page and let axe look at it, not the first few of each kind",
    )
    parser.addoption(
        "--accept-goldens", action="store_true", help="write the golden files anew, to be read in the diff"
    )


def pytest_configure() -> None:
    # Whoever starts the tests in the background hands down that Ctrl-C is not heard; the commands under test must.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # As `reportgen` itself does it: most of what thousands of small builds make is gone without being looked for.
    gc.set_threshold(50_000, 20, 20)


def pytest_collection_finish() -> None:
    # Tests and what they import stay to the end, and need not be looked through for garbage.
    gc.freeze()
