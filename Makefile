# Makefile - the task list; the build itself is Meson's.
# SPDX-License-Identifier: Apache-2.0

BUILD = build
PREFIX = /usr/local
FUZZ_SECONDS = 60
DESTDIR =

.DEFAULT_GOAL = help
.PHONY: help deps build examples demo test check check-full lint format check-san fuzz bench \
	bench-peers install uninstall deb clean

help: ## this list
	@echo "weir: measures, feeds and checkpoints deep-learning training"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' \
		$(firstword $(MAKEFILE_LIST))

deps: ## install what the build needs (Debian packages)
	@scripts/deps.sh build

build: deps ## build the command and the library: build/weir
	@NINJA_TARGETS=product scripts/build.sh $(BUILD)

examples: deps ## build the programs of examples/, and say how to run one
	@NINJA_TARGETS="product example-programs" scripts/build.sh $(BUILD)
	@examples/run.sh --help

demo: build ## generate a data set and benchmark feeding from it (3 minutes)
	@scripts/demo.sh $(BUILD)

test: ## build and run the tests and lints (8 minutes on two cores)
	@scripts/deps.sh build test
	@scripts/test.sh $(BUILD)

check: ## one test or suite: make check T=test-base-hist (or T=report/older, T=cli)
	@scripts/check.py $(BUILD) "$(T)"

check-full: ## every test, whole: what make test runs a part of, and more
	@scripts/deps.sh build test full
	@scripts/test.sh $(BUILD) --full

lint: ## layers, lengths, globals, headers, layout of the sources
	@scripts/deps.sh build test
	@scripts/build.sh $(BUILD)
	@scripts/lint.sh $(BUILD)

format: ## let clang-format lay out the sources
	@scripts/deps.sh test
	@scripts/lint/format.sh --fix .

check-san: ## the tests under ASan+UBSan, then under TSan
	@scripts/deps.sh build test
	@scripts/check-san.sh

fuzz: ## fuzz each parser for FUZZ_SECONDS=60
	@scripts/deps.sh build fuzz
	@scripts/fuzz.sh $(FUZZ_SECONDS)

bench: build ## measure the project's bars on this machine
	@scripts/deps.sh bench
	@NINJA_TARGETS=bench-programs scripts/build.sh $(BUILD)
	@bench/run.sh $(BUILD)

bench-peers: build ## the same work by other loaders, side by side
	@scripts/deps.sh bench
	@scripts/deps.sh peers || echo "bench-peers: some peers will be left out"
	@NINJA_TARGETS=bench-programs scripts/build.sh $(BUILD)
	@bench/peers/run.sh $(BUILD)
	@scripts/peers.sh $(BUILD)/peers dlio
	@bench/run.sh $(BUILD) --only train,run-dlio # with what is installed above

install: build ## install below PREFIX=/usr/local (DESTDIR is honoured)
	@scripts/install.sh $(BUILD) "$(PREFIX)" "$(DESTDIR)"

uninstall: build ## remove what make install has put there
	@scripts/install.sh --remove $(BUILD) "$(PREFIX)" "$(DESTDIR)"

deb: ## build the Debian packages: build-deb/*.deb
	@scripts/deps.sh build deb
	@scripts/deb.sh build-deb

clean: ## remove what was built
	rm -rf build build-asan build-tsan build-fuzz build-deb demo-data
