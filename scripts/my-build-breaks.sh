#!/bin/sh
# Does what docs/my-build-breaks.md says: all of its blocks of commands that name no
# language, with /tmp replaced by a folder that must be empty. A test runs it.
#
#   scripts/my-build-breaks.sh target/release/optsleuth FOLDER
set -eu
optsleuth=$(realpath "$1")
place=$(realpath "$2")
cd "$(dirname "$0")/.."
mkdir "$place/bin"
ln -s "$optsleuth" "$place/bin/optsleuth"
PATH="$place/bin:$PATH"
# Blocks that name a language are about other projects.
awk '/^```/ { is_open = !is_open; is_ours = is_open && $0 == "```"; next } is_ours' \
    docs/my-build-breaks.md | sed "s|/tmp/|$place/|g" >"$place/commands"
. "$place/commands"
