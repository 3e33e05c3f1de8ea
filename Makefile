# Two commands: `make demo` builds the bundled example, `make test` runs every check and test.
# Each sets up what it needs in .venv; nothing is installed outside this folder, but Debian's chromium for the browser
# tests where it is missing and the user may install it.

PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	if $$p -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then echo $$p; break; fi; done)
BIN := .venv/bin

.PHONY: demo test lint unit trust screenshots clean

demo: .venv/ready
	@test -f examples/demo/reportgen.toml || $(BIN)/python examples/make_example.py examples/demo
	$(BIN)/reportgen build examples/demo

test: lint unit

lint: .venv/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/sqlfluff lint -q sql

unit: .venv/ready-dev
	@sh tests/browser/need_chromium.sh
	@sh tests/need_ccusage.sh .venv
	@# Many tests start the command itself: without bytecode each start would compile all of it, for three seconds.
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n auto --dist loadfile

# The figures of SECURITY.md, counted: a minute, or with FULL=1 an hour.
trust: .venv/ready-dev
	cd tests && ../$(BIN)/python -m trust $(if $(FULL),--full)

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "reportgen needs Python 3.11 or newer with its venv module; none is on the PATH." \
		"On Debian or Ubuntu: apt-get install python3 python3-venv"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/ready: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@touch $@

.venv/ready-dev: .venv/ready
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@

# Pictures of the example's main pages in screenshots/, to be looked at.
screenshots: .venv/ready-dev demo
	@sh tests/browser/need_chromium.sh
	$(BIN)/python tests/browser/screenshots.py examples/demo/site screenshots

clean:
	rm -rf .venv examples/demo screenshots .pytest_cache .mypy_cache .ruff_cache .hypothesis
