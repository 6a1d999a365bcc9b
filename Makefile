# `make probe` takes a first snapshot of this machine, `make test` tests aorta on it, `make coverage` measures
# what the tests reach, too, and `make standalone` writes aorta as a program of one file.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find aorta collectors -name '*.py')
# What aorta needs on Python 3.10 alone, and so its single file, whichever Python writes that.
ONLY_OLD := exceptiongroup
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: probe test coverage standalone clean

probe: $(VENV)/installed
	$(BIN)/aorta env probe --extended -o env.json --summary

standalone: $(VENV)/installed
	@$(BIN)/python -m pip install -q $(ONLY_OLD)
	$(BIN)/aorta standalone dist/aorta.pyz

test: $(VENV)/installed-test
	@$(BIN)/python tests/parts/system.py
	@$(BIN)/python -m tests.parts.torches
	$(BIN)/python tests/run.py $(if $(filter coverage,$(MAKECMDGOALS)),--coverage)

coverage: test

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 10) else "aorta needs Python 3.10 or newer; this is " + sys.version.split()[0])'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) lacks ensurepip; install it with: apt-get install -y python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# For tests the install is editable; for use it is a plain one, which starts faster.
$(VENV)/installed: $(VENV)/bin/python pyproject.toml $(SOURCES)
	$(BIN)/python -m pip install -q $(if $(wildcard $(VENV)/installed-test),-e) .
	@touch $@

$(VENV)/installed-test: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install -q -e '.[test]'
	@touch $(VENV)/installed $@

clean:
	rm -rf $(VENV) build dist *.egg-info
