#!/bin/sh
# Prints the ten tests that took longest, of what `cargo nextest` wrote down.
#
#   scripts/slowest.sh target/nextest/default/junit.xml
set -eu
[ -f "$1" ] || exit 0
echo "the slowest tests, in seconds:"
sed -n 's/.*<testcase name="\([^"]*\)" classname="\([^"]*\)".* time="\([^"]*\)".*/\3 \2 \1/p' "$1" |
    sort -rn | head -n 10 | while read -r seconds binary name; do
    printf '%8.1f  %s %s\n' "$seconds" "$binary" "$name"
done
