# One command per activity. `make lab` needs only Python and make; the rest installs what it needs.
#   make lab [BROWSER=] [PORT=8899]   open JupyterLab on lesson 00 (BROWSER= serves without opening a browser)
#   make test | test-fast | lint      everything | without lessons and browser | style
#   make notebooks                    run all lessons anew and save them clean
#   make student                      copies of the lessons without solutions and outputs, in student/
#   make slides                       each lesson as slides that need no kernel and no network, in slides/
#   make site                         the lessons as pages that need no kernel and no network, in site/
#   make model                        train the shipped model again
#   make bench [ONLY="greedy beam"]   how fast, beside other libraries; all of it writes benchmarks/results.md
#   make classroom [N=10]             N students at once on one server: failures, seconds, memory

PYTHON ?= python3
PORT ?= 8888
BROWSER ?= yes
N ?= 10
# On Linux the torch of the default index is gigabytes of CUDA, so PyTorch's own index of CPU builds is asked first.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu

VENV := .venv
RUN := $(VENV)/bin/python
PIP := $(RUN) -m pip
PYTEST := $(RUN) -m pytest
# Two workers on two cores, each on one thread.
UNIT := OMP_NUM_THREADS=1 $(PYTEST) -n 2 --dist loadscope --no-loadscope-reorder --ignore tests/browser

.PHONY: lab test test-fast test-unit test-lessons test-browser lint notebooks student slides site model bench classroom
.NOTPARALLEL:

lab: $(VENV)/.lab
	$(RUN) scripts/lab.py --port=$(PORT) $(if $(BROWSER),,--no-browser)

test: test-unit test-lessons test-browser

test-unit: $(VENV)/.test
	$(UNIT)

test-lessons: $(VENV)/.test
	$(PYTEST) --nbval --nbval-current-env notebooks

test-browser: $(VENV)/.test $(VENV)/.reveal
	$(RUN) tests/browser/chromium.py
	$(PYTEST) tests/browser

test-fast: $(VENV)/.test
	$(UNIT) -m "not lesson"

lint: $(VENV)/.test
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

notebooks: $(VENV)/.test
	$(RUN) scripts/run_notebooks.py

student: $(VENV)/.lab
	$(RUN) scripts/make_student.py student

slides: $(VENV)/.site $(VENV)/.reveal
	$(RUN) scripts/make_slides.py slides

site: $(VENV)/.site
	$(RUN) scripts/make_site.py site

model: $(VENV)/.lab
	$(RUN) scripts/make_small_world_model.py

bench: $(VENV)/.bench
	$(RUN) -m benchmarks $(ONLY)

classroom: $(VENV)/.lab
	$(RUN) scripts/classroom.py --students=$(N)

# The stamps are newer than the files that say what to install, so a second call starts at once.
$(VENV)/.lab: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	@$(cpu_torch)
	$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.lab
	$(PIP) install --constraint constraints.txt --editable ".[test,site]"
	@touch $@

$(VENV)/.site: $(VENV)/.lab
	$(PIP) install --constraint constraints.txt --editable ".[site]"
	@touch $@

# A package for Python that carries reveal.js, apart from what is imported; of it three files are copied.
$(VENV)/.reveal: $(VENV)/.lab
	$(PIP) install --constraint constraints.txt --no-deps --upgrade --target $(VENV)/reveal sphinx-revealjs
	@touch $@

$(VENV)/.bench: $(VENV)/.test
	$(PIP) install --constraint constraints.txt --editable ".[bench]"
	@touch $@

# One short try: where that index does not answer, seconds are lost and pip takes what it finds.
define cpu_torch
if [ "$$(uname -s)" = Linux ] && [ -n "$(TORCH_INDEX)" ] && \
   timeout 6 $(PIP) index versions torch --index-url "$(TORCH_INDEX)" --timeout 3 --retries 0 >/dev/null 2>&1; then \
  $(PIP) install --constraint constraints.txt --no-deps --index-url "$(TORCH_INDEX)" --timeout 15 --retries 0 torch || true; \
fi
endef
