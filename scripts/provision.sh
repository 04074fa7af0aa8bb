#!/bin/sh
# Builds the workers that tests share, all at once and before the first test, so
# that no test waits for what another one builds. Whatever is missing afterwards
# is built by the test that needs it.
#
#   scripts/provision.sh target/ci/optsleuth
set -eu
optsleuth=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/programs"
cp testdata/sum.c "$folder/programs"

# As scripts/setup.sh has it: 14, or what the release has instead.
oldest=$("$optsleuth" doctor --json | grep -o '"major":[0-9]*' | head -n 1 | tr -dc 0-9)
# The newest LLVM is the one that judges base programs, whatever is under test.
(
    "$optsleuth" run testdata/sum.c --passes sroa
    "$optsleuth" cov testdata/sum.c --llvm "$oldest" --passes sroa
) >"$folder/first" 2>&1 || cat "$folder/first" >&2 &
(
    "$optsleuth" cov testdata/sum.c --llvm 19 --passes sroa
    "$optsleuth" hunt variants --strategy orion --programs "$folder/programs" --compilers llvm-19 \
        --levels O2 --variants 1 --tests 1 -o "$folder/campaign"
) >"$folder/second" 2>&1 || cat "$folder/second" >&2
wait
