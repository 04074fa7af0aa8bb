# make demo   set up what is missing, build, run the main job on an example
# make test   the same set-up, then all tests
# make bench  speed, as ratios in one run
# make help   everything else

CARGO ?= cargo
OPTSLEUTH = target/release/optsleuth
# Style and tests take the same packages, features and profile, so that nothing
# is compiled for one of them only.
CHECKED = --workspace --profile ci
TARGET = $${CARGO_TARGET_DIR:-target}

.PHONY: help demo test setup build lint bench plots evaluation identity covered test-all-llvms clean

help: ## Say what can be made
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

setup:
	@scripts/setup.sh

build: setup
	$(CARGO) build --release --quiet

demo: build ## Set up, build, and run an example
	$(OPTSLEUTH) run testdata/sum.c --llvm 19 --passes 'default<O2>' --execute --confirm
	$(OPTSLEUTH) triage testdata/cases/wrong-code/shift.c --llvm 14 --passes structurizecfg,structurizecfg \
		-o target/demo --force --budget 60s

test: ## Set up, check the style, run all tests
	@scripts/setup.sh test
	$(MAKE) lint
	$(CARGO) test $(CHECKED) --no-run
	scripts/provision.sh $(TARGET)/ci/optsleuth
	@if $(CARGO) nextest --version >/dev/null 2>&1; then \
		set -ex; \
		$(CARGO) nextest run --workspace --cargo-profile ci; \
		$(CARGO) test $(CHECKED) --doc --quiet; \
		scripts/slowest.sh target/nextest/default/junit.xml; \
	else \
		set -x; $(CARGO) test $(CHECKED) --no-fail-fast; \
	fi

lint: ## Formatting and clippy
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy $(CHECKED) --all-targets -- -D warnings

bench: build ## Measure speed; raw data, table and plots in docs/benchmarks
	@scripts/setup.sh test
	$(CARGO) xtask bench
	python="$$(scripts/gensim.sh)"; $(CARGO) xtask doc2vec --documents 5000 --rounds 3 \
		$${python:+--gensim "$$python"} -o docs/data/select-doc2vec.json

plots: ## Make the benchmarks' table and plots of the newest raw data
	$(CARGO) xtask plots

evaluation: build ## Measure all methods on real bugs and seeded faults, 2 hours: make evaluation CASES=folder
	@test -n "$(CASES)" || { echo "say where the real bugs are: make evaluation CASES=folder"; exit 1; }
	@scripts/setup.sh all-llvms
	$(OPTSLEUTH) bench plant --llvm 19 --count 51 -o target/evaluation/faults
	$(OPTSLEUTH) bench $(CASES) -o target/evaluation/real-results || test $$? = 6
	$(OPTSLEUTH) bench target/evaluation/faults -o target/evaluation/faults-results || test $$? = 6

identity: build ## Compare workers with opt on hundreds of programs
	@scripts/setup.sh test
	$(CARGO) xtask identity --llvm 19 --programs 28 --sequences 3
	$(CARGO) xtask identity --llvm 14 --programs 8 --sequences 3

covered: build ## Compare workers with and without probes on hundreds of programs
	@scripts/setup.sh all-llvms
	$(CARGO) xtask identity --covered --llvm 19 --programs 64 --sequences 3
	$(CARGO) xtask identity --covered --llvm 14 --programs 26 --sequences 3
	$(CARGO) xtask identity --covered --llvm 22 --programs 26 --sequences 3

test-all-llvms: build ## Build both workers for every LLVM that apt has, compare a sample
	@scripts/setup.sh all-llvms
	$(CARGO) xtask all-llvms

clean: ## Remove what was built here (not the cache of workers)
	$(CARGO) clean
