#!/bin/sh
# Installs what is missing on Debian or Ubuntu, by package name, and nothing
# that is there already. Called by the Makefile; does nothing on the second run.
# A package that this release does not have is named and left out.
#
#   scripts/setup.sh            what `make demo` needs
#   scripts/setup.sh test       what `make test` needs on top
#   scripts/setup.sh all-llvms  every LLVM that the worker speaks and apt has
set -eu
cd "$(dirname "$0")/.."

# The LLVM that most tests are about.
test_llvm=19
# The LLVMs that the worker speaks, oldest first; the tests compare the oldest
# and the newest one.
all_llvms="14 15 16 17 18 19 20 21 22"

have_package() {
    dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

# Of a name that only other packages provide, apt-cache shows nothing.
known_package() {
    apt-cache show "$1" 2>/dev/null | grep -q '^Package:'
}

good_cargo() {
    scripts/cargo.sh --version >/dev/null 2>&1
}

has_subcommand() {
    scripts/cargo.sh "$1" --version >/dev/null 2>&1
}

llvm_packages() {
    echo "llvm-$1-dev llvm-$1 clang-$1"
}

# What a worker of this LLVM is linked with quickly, and programs are checked with.
comfort_packages() {
    echo "lld-$1 libclang-rt-$1-dev"
}

# The first of these LLVMs that is installed or packaged.
first_llvm() {
    for version in "$@"; do
        if have_package "llvm-$version-dev" || known_package "llvm-$version-dev"; then
            echo "$version"
            return
        fi
    done
}

# The first installed one that the demo can run on, else the first packaged one.
demo_llvm() {
    for version in $(scripts/demo.sh --llvms); do
        if have_package "llvm-$version-dev"; then
            echo "$version"
            return
        fi
    done
    first_llvm $(scripts/demo.sh --llvms)
}

# The newest packaged cargo: Debian's and Ubuntu's plain one may be too old,
# Debian's one for browsers and Ubuntu's numbered ones are not.
newest_cargo() {
    if known_package cargo-web; then
        echo cargo-web
    else
        apt-cache pkgnames cargo-1. | grep -x 'cargo-1\.[0-9]*' | sort -rV | head -n 1 | grep . || echo cargo
    fi
}

if ! command -v apt-get >/dev/null 2>&1; then
    echo "This is no Debian or Ubuntu; install what 'optsleuth doctor' names." >&2
    exit 0
fi

newest_first=$(echo "$all_llvms" | tr ' ' '\n' | sort -rn)
# What is wanted depends on what is packaged, which apt may not know yet.
wanted() {
    echo "build-essential ca-certificates libzstd-dev zlib1g-dev libxml2-dev libncurses-dev"
    version=$(demo_llvm)
    echo "$(llvm_packages "$version") $(comfort_packages "$version")"
    case "$1" in
    test)
        echo "$(llvm_packages $test_llvm) $(comfort_packages $test_llvm) libclang-$test_llvm-dev"
        version=$(first_llvm $all_llvms)
        llvm_packages "$version"
        llvm_packages "$(first_llvm $newest_first)"
        echo "gcc-12 g++-12 gcc-12-plugin-dev csmith libcsmith-dev cvise chromium chromium-driver"
        ;;
    all-llvms)
        echo "csmith libcsmith-dev"
        for version in $all_llvms; do
            llvm_packages "$version"
        done
        ;;
    esac
}

missing() {
    for package in $(wanted "$1"); do
        have_package "$package" || echo "$package"
    done
    good_cargo || newest_cargo
    if [ "$1" = test ]; then
        has_subcommand fmt || newest_cargo | sed 's/^cargo/rustfmt/'
        # Debian has no clippy for its cargo-web.
        has_subcommand clippy || newest_cargo | sed -n 's/^cargo-1/rust-1/; s/^rust-.*/&-clippy/p'
    fi
}

installable() {
    for package in $(missing "$1"); do
        ! known_package "$package" || echo "$package"
    done
}

missing=$(missing "${1:-}")
[ -n "$missing" ] || exit 0
# What apt does not know it will not know tomorrow, unless it knows nothing yet.
if ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1 && [ -z "$(installable "${1:-}")" ]; then
    echo "not packaged here:" $missing >&2
    scripts/cargo.sh --version >/dev/null
    exit 0
fi

sudo=""
[ "$(id -u)" -eq 0 ] || sudo="sudo"
$sudo apt-get update -q

for package in $(missing "${1:-}"); do
    known_package "$package" || echo "not packaged here: $package" >&2
done
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -q --no-install-recommends $(installable "${1:-}")
# Says what is wrong, if anything is.
scripts/cargo.sh --version >/dev/null
