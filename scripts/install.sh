#!/bin/sh
# Puts the program, its manual pages and what shells complete with below a prefix.
# Called by the Makefile, and by scripts/deb.sh with a folder to pack.
#
#   scripts/install.sh target/release/optsleuth /usr/local
set -eu
optsleuth=$1
prefix=$2
share=$prefix/share

install -D -m 755 "$optsleuth" "$prefix/bin/optsleuth"
"$optsleuth" man "$share/man/man1"
chmod 644 "$share"/man/man1/optsleuth*.1
complete() {
    mkdir -p "$(dirname "$2")"
    "$optsleuth" completions "$1" >"$2"
    chmod 644 "$2"
}
complete bash "$share/bash-completion/completions/optsleuth"
complete zsh "$share/zsh/site-functions/_optsleuth"
complete fish "$share/fish/vendor_completions.d/optsleuth.fish"
echo "installed: $prefix/bin/optsleuth"
