# make demo   set up what is missing, build, run the main job on an example
# make test   the same set-up, then all tests
# make bench  speed, as ratios in one run
# make help   everything else

CARGO ?= scripts/cargo.sh
OPTSLEUTH = target/release/optsleuth
PREFIX ?= /usr/local
# Style and tests take the same packages, features and profile, so that nothing
# is compiled for one of them only.
CHECKED = --workspace --profile ci
TARGET = $${CARGO_TARGET_DIR:-target}

.PHONY: help demo picture test setup build lint install deb bench plots evaluation identity covered test-all-llvms test-debian13 test-gcc clean

help: ## Say what can be made
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

setup:
	@scripts/setup.sh

build: setup
	$(CARGO) build --release --quiet

demo: build ## Set up, build, and run an example
	@scripts/demo.sh $(OPTSLEUTH)

picture: demo ## Take the README's picture of the demo's report
	scripts/picture.sh target/demo/index.html docs/report.png

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
	@if $(CARGO) clippy --version >/dev/null 2>&1; then \
		set -x; $(CARGO) clippy $(CHECKED) --all-targets -- -D warnings; \
	else \
		echo "skipped: clippy is not installed, and Debian packages none for cargo-web" >&2; \
	fi

install: $(OPTSLEUTH) ## Install program, manual pages, completions: make install PREFIX=/usr/local
	scripts/install.sh $(OPTSLEUTH) $(DESTDIR)$(PREFIX)

deb: build ## Make a Debian package of this release: target/optsleuth_*.deb
	scripts/deb.sh $(OPTSLEUTH)

# For `sudo make install`, which does not build again what is there.
$(OPTSLEUTH):
	$(MAKE) build

bench: build ## Measure speed; raw data, table and plots in docs/benchmarks
	@scripts/setup.sh test
	$(CARGO) xtask bench
	python="$$(scripts/gensim.sh)"; $(CARGO) xtask doc2vec --documents 5000 --rounds 3 \
		$${python:+--gensim "$$python"} -o docs/data/select-doc2vec.json

plots: ## Make the benchmarks' table and plots of the newest raw data
	$(CARGO) xtask plots

evaluation: build ## Measure all methods on real bugs and planted faults, 2 hours: make evaluation CASES=folder
	@test -n "$(CASES)" || { echo "say where the real bugs are: make evaluation CASES=folder"; exit 1; }
	@scripts/setup.sh all-llvms
	$(OPTSLEUTH) bench plant --llvm 19 --count 51 -o target/evaluation/faults
	$(OPTSLEUTH) bench $(CASES) -o target/evaluation/real-results || test $$? = 6
	$(OPTSLEUTH) bench target/evaluation/faults -o target/evaluation/faults-results || test $$? = 6

identity: build ## Compare workers with opt on hundreds of programs
	@scripts/setup.sh test
	$(CARGO) xtask identity --llvm 19 --programs 28 --sequences 3
	$(CARGO) xtask identity --llvm 14 --programs 8 --sequences 3
	$(CARGO) xtask identity --clang --llvm 19 --programs 100

covered: build ## Compare workers with and without probes on hundreds of programs
	@scripts/setup.sh all-llvms
	$(CARGO) xtask identity --covered --llvm 19 --programs 64 --sequences 3
	$(CARGO) xtask identity --covered --llvm 14 --programs 26 --sequences 3
	$(CARGO) xtask identity --covered --llvm 22 --programs 26 --sequences 3

test-gcc: build ## Make a gcc 12 with probes, once, and run the tests that need it
	$(OPTSLEUTH) provision gcc 12
	$(CARGO) nextest run --workspace --cargo-profile ci --run-ignored only -E 'test(gcc_with_probes)'
	$(CARGO) xtask identity --gcc 12 --programs 20

test-all-llvms: build ## Build both workers for every LLVM that apt has, compare a sample
	@scripts/setup.sh all-llvms
	$(CARGO) xtask all-llvms

test-debian13: ## make demo and make test in a Debian 13 of its own; as root
	@scripts/test-debian13.sh

clean: ## Remove what was built here (not the cache of workers)
	$(CARGO) clean
