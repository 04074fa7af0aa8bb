#!/bin/sh
# The demo: one run and one triage, on an installed LLVM that a bug in testdata/demo
# breaks. Called by the Makefile. Of several, the one whose source most releases
# have comes first, because the report then shows a line of it; then the newest.
#
#   scripts/demo.sh target/release/optsleuth   runs it; the case is kept in target/demo
#   scripts/demo.sh --llvms                    the LLVMs that it can run on, the first choice first
set -eu
cd "$(dirname "$0")/.."

# What a line `key = "value"` of a bug's case.toml says.
value() {
    sed -n "s/^$2 = \"\(.*\)\"\$/\1/p" "$1/case.toml"
}

# The numbers in `fails_in = ["18", "19"]`, a line each.
fails_in() {
    sed -n 's/^fails_in = \[\(.*\)\]$/\1/p' "$1/case.toml" | tr -d '" ' | tr ',' '\n'
}

with_source=19

llvms() {
    for bug in testdata/demo/*; do
        fails_in "$bug"
    done | sort -rnu | sed "/^$with_source\$/d; 1i $with_source"
}

if [ "$1" = --llvms ]; then
    llvms
    exit 0
fi

optsleuth=$1
for llvm in $(llvms); do
    [ -x "/usr/lib/llvm-$llvm/bin/llvm-config" ] || command -v "llvm-config-$llvm" >/dev/null || continue
    for bug in testdata/demo/*; do
        fails_in "$bug" | grep -qx "$llvm" || continue
        input=$bug/$(value "$bug" input)
        passes=$(value "$bug" passes)
        set -x
        "$optsleuth" run testdata/sum.c --llvm "$llvm" --passes 'default<O2>' --execute --confirm
        "$optsleuth" triage "$input" --llvm "$llvm" --passes "$passes" \
            -o target/demo --force --budget 2m
        exit
    done
done
echo "error: no LLVM with a bundled bug is installed" >&2
echo "help: install one of these: $(llvms | tr '\n' ' ')" >&2
exit 1
