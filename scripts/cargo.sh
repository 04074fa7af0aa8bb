#!/bin/sh
# Runs a cargo that is as new as Cargo.toml wants: the one on PATH, else the newest
# of Ubuntu's, which lie beside each other in /usr/lib/rust-1.NN. The Makefile
# calls cargo through this.
#
#   scripts/cargo.sh build --release
set -eu
wanted=$(sed -n 's/^rust-version = "1\.\([0-9]*\).*/\1/p' "$(dirname "$0")/../Cargo.toml")

is_new_enough() {
    minor=$("$1" --version 2>/dev/null | sed -n 's/^cargo 1\.\([0-9]*\)\..*/\1/p')
    [ -n "$minor" ] && [ "$minor" -ge "$wanted" ]
}

if is_new_enough cargo; then
    exec cargo "$@"
fi
for folder in $(ls -d /usr/lib/rust-1.*/bin 2>/dev/null | sort -rV); do
    if is_new_enough "$folder/cargo"; then
        PATH="$folder:$PATH" exec "$folder/cargo" "$@"
    fi
done
echo "error: no cargo of version 1.$wanted or newer" >&2
echo "help: run \`make setup\`, or install one from https://rustup.rs" >&2
exit 1
