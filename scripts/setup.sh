#!/bin/sh
# Installs what is missing on Debian or Ubuntu, by package name, and nothing
# that is there already. Called by the Makefile; does nothing on the second run.
#
#   scripts/setup.sh            what `make demo` needs
#   scripts/setup.sh test       what `make test` needs on top
#   scripts/setup.sh all-llvms  every LLVM that the worker speaks and apt has
set -eu

# The LLVM to use where nothing is said, and an older one with bugs to show.
main_llvm=19
old_llvm=14
# What `rust-version` in Cargo.toml says.
min_rust_minor=89

have_package() {
    dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

known_package() {
    apt-cache show "$1" >/dev/null 2>&1
}

llvm_packages() {
    echo "llvm-$1-dev llvm-$1 clang-$1"
}

good_cargo() {
    command -v cargo >/dev/null 2>&1 || return 1
    minor=$(cargo --version | sed -n 's/^cargo 1\.\([0-9]*\)\..*/\1/p')
    [ -n "$minor" ] && [ "$minor" -ge "$min_rust_minor" ]
}

if ! command -v apt-get >/dev/null 2>&1; then
    echo "This is no Debian or Ubuntu; install what 'optsleuth doctor' names." >&2
    exit 0
fi

wanted="build-essential libzstd-dev zlib1g-dev libxml2-dev libtinfo-dev lld-$main_llvm libclang1-$main_llvm libclang-rt-$main_llvm-dev $(llvm_packages $main_llvm) $(llvm_packages $old_llvm)"
case "${1:-}" in
test) wanted="$wanted libclang-$main_llvm-dev libclang1-$old_llvm csmith libcsmith-dev cvise chromium chromium-driver" ;;
all-llvms)
    wanted="$wanted csmith libcsmith-dev"
    for version in 14 15 16 17 18 20 21 22; do
        wanted="$wanted $(llvm_packages $version)"
    done
    ;;
esac

missing=""
for package in $wanted; do
    have_package "$package" || missing="$missing $package"
done
good_cargo || missing="$missing rust"
[ -n "$missing" ] || exit 0

sudo=""
[ "$(id -u)" -eq 0 ] || sudo="sudo"
$sudo apt-get update -q

install=""
for package in $missing; do
    case "$package" in
    rust)
        # Debian 12's plain rustc is too old; its browsers' one is not.
        for candidate in cargo-web cargo-1.89 cargo-1.90 cargo; do
            if known_package "$candidate"; then
                install="$install $candidate"
                break
            fi
        done
        ;;
    *)
        # An LLVM that this release does not have is no reason to stop.
        if known_package "$package"; then
            install="$install $package"
        else
            echo "not packaged here: $package" >&2
        fi
        ;;
    esac
done
[ -z "$install" ] || DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -q --no-install-recommends $install

if ! good_cargo; then
    echo "error: no cargo of version 1.$min_rust_minor or newer" >&2
    echo "help: install one from https://rustup.rs and run this again" >&2
    exit 1
fi
