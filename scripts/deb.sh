#!/bin/sh
# Makes a package of the program for the release that this runs on:
# target/optsleuth_VERSION_ARCHITECTURE.deb. Called by the Makefile.
#
#   scripts/deb.sh target/release/optsleuth
set -eu
cd "$(dirname "$0")/.."
optsleuth=$1
version=$("$optsleuth" --version | cut -d ' ' -f 2)
architecture=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Where dpkg-shlibdeps expects it.
package=$work/debian/optsleuth

# `llvm-22-dev | llvm-21-dev | ...`: apt installs the first one that its release
# has where none is there.
any_llvm() {
    first=""
    for version_of_llvm in 22 21 20 19 18 17 16 15 14; do
        printf '%s%s%s%s' "$first" "$1" "$version_of_llvm" "$2"
        first=" | "
    done
}

scripts/install.sh "$optsleuth" "$package/usr" >/dev/null
strip --strip-unneeded "$package/usr/bin/optsleuth"
# Debian's zsh looks here for what packages bring.
mv "$package/usr/share/zsh/site-functions" "$package/usr/share/zsh/vendor-completions"
gzip -9n "$package"/usr/share/man/man1/*.1
install -D -m 644 /dev/stdin "$package/usr/share/doc/optsleuth/copyright" <<COPYRIGHT
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Files: *
Copyright: the authors of OptSleuth
License: Apache-2.0
 The text of the license is in /usr/share/common-licenses/Apache-2.0.
COPYRIGHT

# The libraries that the program itself is linked with.
echo 'Source: optsleuth' >"$work/debian/control"
libraries=$(cd "$work" && dpkg-shlibdeps -O "$package/usr/bin/optsleuth" | sed 's/^shlibs:Depends=//')

mkdir "$package/DEBIAN"
cat >"$package/DEBIAN/control" <<CONTROL
Package: optsleuth
Version: $version
Architecture: $architecture
Maintainer: the authors of OptSleuth <optsleuth@localhost>
Installed-Size: $(du -sk "$package/usr" | cut -f 1)
Depends: $libraries, $(any_llvm llvm- -dev), g++ | c++-compiler, libzstd-dev, zlib1g-dev, libxml2-dev, libncurses-dev
Recommends: $(any_llvm clang- ""), $(any_llvm lld- ""), $(any_llvm libclang-rt- -dev), gcc, csmith, libcsmith-dev, cvise, patch, xz-utils
Suggests: $(any_llvm libclang- -dev)
Section: devel
Priority: optional
Description: finds bugs in optimizing compilers and names the code that causes them
 From a failing program or a hunt with generated ones to a reduced case, the
 guilty invocation of a pass, and the suspect functions of LLVM, on the LLVM
 that the distribution ships and without building a compiler.
CONTROL
file=target/optsleuth_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$package" "$file" >/dev/null
echo "$file"
