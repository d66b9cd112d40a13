# One command to see it work, one to test it. Needs Python 3.11 or newer and make.
PYTHON ?= python3
BIN := .venv/bin
COUNT ?= 5000
SEED ?= 1
GPU := $(if $(shell command -v nvidia-smi),yes)
TESTS := $(BIN)/python -m pytest -n auto --dist worksteal
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Tests start hundreds of processes: each would compile all modules again where this is set, as in many containers.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: heat test thorough long faults lowest package site lint clean

heat: .venv/installed ## simulate a cooling plate and draw it
	$(BIN)/simsuite run scenarios/heat.toml
	$(BIN)/simsuite plot runs/heat -o heat.png

test: .venv/tested lint ## minutes: what the project promises, on every backend that works here
	$(TESTS) --part quick
	NUMBA_ENABLE_CUDASIM=1 $(TESTS) --part quick

thorough: .venv/tested ## half an hour: the other tests, with more cases and longer runs
	$(TESTS) --part rest
	NUMBA_ENABLE_CUDASIM=1 $(TESTS) --part rest

long: .venv/tested ## hours: automatic time steps on hundreds of random plates
	$(BIN)/python -m pytest -m long

faults: .venv/tested ## hours: kills, power cuts, errors of the disk, damage, signals and files of strangers, COUNT of each
	cd tests && PYTHONPATH=cli:runs:parallel ../$(BIN)/python -m faults $(CAMPAIGNS) --count $(COUNT) --seed $(SEED)

lowest: ## the tests with the oldest dependencies that pyproject.toml allows
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest --resolution lowest-direct -e ".[test]"
	.venv-lowest/bin/python -m pytest -n auto --dist worksteal

package: ## the distributions, in dist, and what a wheel in an empty environment says of published answers
	$(PYTHON) -m venv --clear .venv-package
	.venv-package/bin/python -m pip install --quiet --disable-pip-version-check build twine
	rm -rf dist
	.venv-package/bin/python -m build --outdir dist
	.venv-package/bin/twine check --strict dist/*
	$(PYTHON) -m venv --clear .venv-package
	.venv-package/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls dist/*.whl)[verify]"
	cd .venv-package && bin/simsuite verify --quick

site: .venv/documented ## the documents as a site, in build/site, which needs no network: minutes, as it runs all scenarios
	cd docs && ../$(BIN)/python -m website ../build/pages
	$(BIN)/python -m sphinx -q -W --keep-going -n -E -a -c docs build/pages build/site

lint: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

.venv/python:
	$(PYTHON) -m venv .venv
	@touch $@

.venv/installed: .venv/python pyproject.toml
	$(PIP) -e ".$(if $(GPU),[cuda13])"
	@touch $@

.venv/tested: .venv/installed
	$(PIP) -e ".[test]" $(if $(GPU),-e ".[cuda13]")
	@touch $@

.venv/documented: .venv/installed
	$(PIP) -e ".[docs]"
	@touch $@

clean:
	rm -rf .venv .venv-lowest .venv-package build dist *.egg-info runs
