# Every command of the project. `make` alone lists them.

VENV ?= .venv
BIN  := $(VENV)/bin
ARGS ?=
OLDEST := .venv-oldest
ROUNDS ?= 20
# Two more than there are cores: tests of servers wait for release times, and nobody needs a core meanwhile.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1) + 2)))

.DEFAULT_GOAL := help
.PHONY: help demo serve-demo test chromium suite quick check docs dist notebooks bench soak oldest audit refresh clean

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' Makefile | expand -t 18

demo: $(VENV)/base.stamp ## the whole story, on a synthetic census made in memory, and served to strangers
	@$(BIN)/discreet demo --serve

serve-demo: $(VENV)/base.stamp ## the console, open on a synthetic census, until Ctrl-C
	@$(BIN)/discreet demo --console

# What can be done on another core meanwhile is: a browser is installed, and types are checked.
test: ## everything that must hold before a change is taken
	@$(MAKE) --no-print-directory --silent --jobs=2 $(VENV)/dev.stamp chromium
	@$(MAKE) --no-print-directory --jobs=2 check suite

chromium:
	@.ci/chromium

suite: $(VENV)/compiled.stamp
	@$(BIN)/pytest -q -n $(WORKERS) --dist worksteal $(ARGS)

quick: check ## check, and for 45 seconds the tests that concern what changed since main
	@tests=$$($(BIN)/python .ci/quick); [ -z "$$tests" ] || \
		$(BIN)/pytest -q -n auto --dist worksteal --hypothesis-profile=quick --seconds=45 $$tests $(ARGS)

check: $(VENV)/dev.stamp ## style, types, and who may import whom; seconds
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check . || { echo "run: $(BIN)/ruff format ."; exit 1; }
	@$(BIN)/mypy --no-error-summary
	@out=$$($(BIN)/lint-imports --no-cache 2>&1) || { echo "$$out"; exit 1; }

docs: $(VENV)/dev.stamp ## the documentation, into site/; a broken link, a page twice or a picture without words fails
	@PYTHONPATH=tests $(BIN)/python -m support.site

dist: $(VENV)/dev.stamp ## a wheel and a source distribution, into dist/
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation >/dev/null
	@ls dist/*

refresh: $(VENV)/dev.stamp ## rewrite the generated parts of docs/: help texts, and pictures of the console
	@PYTHONPATH=tests $(BIN)/python -m support.generated
	@PYTHONPATH=tests $(BIN)/python -m support.pictures

notebooks: $(VENV)/dev.stamp ## the textbook as Jupyter notebooks, into build/notebooks/
	@PYTHONPATH=tests $(BIN)/python -m support.book notebooks build/notebooks

bench: $(VENV)/dev.stamp ## speed and memory, against NumPy and plain SQL in the same run
	@for script in bench/*.py; do echo "── $$script"; $(BIN)/python $$script $(ARGS) || exit 1; done

oldest: $(OLDEST)/dev.stamp ## the tests with the oldest versions that pyproject.toml allows
	@$(OLDEST)/bin/pytest -q -n auto --dist worksteal --ignore=tests/project $(ARGS)

audit: ## known vulnerabilities of what users install, and its bill of materials, bill.json
	@.ci/audit

soak: $(VENV)/dev.stamp ## property tests 20 times on new examples, heavy runs, long benchmarks, mutants; hours
	@for round in $$(seq $(ROUNDS)); do echo "── property tests, round $$round of $(ROUNDS)"; \
		$(BIN)/pytest -q -n auto --dist worksteal -m 'hypothesis and not soak' --hypothesis-profile=forgetful $(ARGS) || exit 1; done
	@$(BIN)/pytest -q -n auto --dist worksteal -m soak $(ARGS)
	@for script in bench/*.py; do echo "── $$script"; DISCREET_BENCH=long $(BIN)/python $$script || exit 1; done
	@echo "── mutants"; PYTHONPATH=tests $(BIN)/python -m support.mutate --results .mutants.jsonl

clean: ## remove what the other commands made, the virtual environment too
	@rm -rf $(VENV) $(OLDEST) .venv-audit .venv-tools bill.json site build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .mutants.jsonl

# A stamp says that the environment was made from the present pyproject.toml, so that it isn't made again.
$(VENV)/base.stamp: pyproject.toml
	@.ci/venv $(VENV) '[server,client]'
	@touch $@

$(VENV)/dev.stamp: pyproject.toml
	@.ci/venv $(VENV) '[dev]' --no-compile
	@touch $@ $(VENV)/base.stamp

# Of what is installed, only what tests import is compiled, and once, before each worker does it for itself.
$(VENV)/compiled.stamp: $(VENV)/dev.stamp
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -q --collect-only >/dev/null || true  # what is wrong is said by the suite
	@touch $@

$(OLDEST)/dev.stamp: pyproject.toml .ci/oldest | $(VENV)/base.stamp
	@$(BIN)/python .ci/oldest > $(VENV)/oldest.txt
	@rm -rf $(OLDEST)
	@PIP_CONSTRAINT=$(VENV)/oldest.txt .ci/venv $(OLDEST) '[test]'
	@touch $@
