#!/bin/sh
# Prints a Python that has gensim 4, what doc2vec is compared with: from PyPI,
# in a virtual environment under target/. Prints nothing where that cannot be had.
set -eu
cd "$(dirname "$0")/.."
folder=target/gensim
if [ ! -x "$folder/bin/python" ] || ! "$folder/bin/python" -c 'import gensim' 2>/dev/null; then
  rm -rf "$folder"
  python3 -m venv "$folder" >&2 && "$folder/bin/pip" install --quiet 'gensim>=4,<5' numpy >&2 || exit 0
fi
echo "$folder/bin/python"
