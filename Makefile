# Two commands do all the set-up there is: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
export HF_HUB_OFFLINE ?= 1

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow lint bench hf-suite clean

help:
	@echo "make demo      train, evaluate and translate on the embedded corpus (minutes on 2 CPU cores)"
	@echo "make test      run the tests;  make test-slow: the ones that take minutes"
	@echo "make lint      ruff and mypy"
	@echo "make bench     measurements against peers"
	@echo "make hf-suite  transformers' own common model tests, beside MarianMT"

# The environment is complete only when the marker is there; a broken installation is made again.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(READY)
	$(BIN)/python training/demo.py --output_dir runs/demo

test: $(READY)
	$(BIN)/python -m pytest

test-slow: $(READY)
	$(BIN)/python -m pytest -m slow

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

hf-suite: $(READY)
	$(BIN)/python benchmarks/hf_suite.py

bench: hf-suite

clean:
	rm -rf $(VENV) runs .hf_suite
