# Each goal makes its environment by itself (Python 3.11 or newer, PyPI) and can be repeated.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Solvers and BLAS are fastest here with one thread each; tests run in parallel instead.
export OMP_NUM_THREADS ?= 1

.PHONY: help demo study unit test nightly truth rooms kernels versions docs links pages lint bench clean
help:  ## list the goals
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[all]"
	touch $@

demo: $(VENV)/.ready  ## unfold real data, compare all solvers, write out/demo/report.html
	$(BIN)/sdpdr demo --out out/demo

study: $(VENV)/.ready  ## compare solvers on small problems of every kind, write out/quick.html
	mkdir -p out
	$(BIN)/sdpdr study run quick --out out/quick.jsonl
	$(BIN)/sdpdr study report out/quick.jsonl --out out/quick.html --out out/quick.md

unit: $(VENV)/.ready  ## the unit tests: laws, closed forms, blocks; about a minute
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal -m "not integration and not nightly"

test: $(VENV)/.ready  ## the unit and integration tests, in parallel
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal -m "not nightly" --ignore tests/docs

nightly: $(VENV)/.ready  ## the tests that take long: planted programs, hard instances, fuzzing, docs
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal -m nightly

truth: $(VENV)/.ready  ## the gallery of lies, and 10,000 solves of programs with exactly known optima; takes hours
	$(BIN)/python benchmarks/gallery.py
	$(BIN)/python benchmarks/known_optima.py

rooms: $(VENV)/.ready  ## the numerical tests under two kernels, the oldest and the widest
	$(BIN)/python benchmarks/machines.py kernels Prescott SkylakeX --rooms

kernels: $(VENV)/.ready  ## all tests under five processor settings; rewrites the table of the docs
	$(BIN)/python benchmarks/machines.py kernels --keep

versions: $(VENV)/.ready  ## all tests with the lowest and newest versions, each in an environment
	$(BIN)/python benchmarks/machines.py versions --keep

docs: $(VENV)/.ready  ## the documentation, into docs/_build/html, and the tests of its pages; warnings and broken links are errors
	$(BIN)/python -m pytest -q -m "not nightly" tests/docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

links: docs  ## whether links to other sites lead somewhere; needs the network
	$(BIN)/python -m sphinx -q -b linkcheck docs docs/_build/links

pages: docs  ## the documentation in a browser; needs Chromium, and npm for axe-core
	$(BIN)/python -m pip install --quiet --editable ".[browser]"
	mkdir -p out/axe
	cd out/axe && rm -f axe-core-*.tgz && npm pack --silent axe-core && tar -xzf axe-core-*.tgz
	SDPDR_PAGES=docs/_build/html SDPDR_AXE=out/axe/package/axe.min.js \
	$(BIN)/python -m pytest --timeout 3600 tests/docs/test_pages_in_a_browser.py

lint: $(VENV)/.ready  ## style, types, and which room may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.ready  ## speed beside cvxpy's solvers; rewrites benchmarks/RESULTS.md
	$(BIN)/python benchmarks/mvu_speed.py

clean:  ## remove everything that the goals made
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-newest out docs/_build docs/gallery_output docs/course_output docs/api/generated docs/studies/generated
