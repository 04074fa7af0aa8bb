#!/bin/sh
# A picture of the demo's report for the README, by the browser that the tests use.
#
#   scripts/picture.sh target/demo/index.html docs/report.png
set -eu
page=$(realpath "$1")
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
# Tall enough for everything from the failure to the first suspects.
chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$profile" \
    --window-size=900,1240 --screenshot="$2" "file://$page" 2>/dev/null
