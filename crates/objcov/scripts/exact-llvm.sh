#!/bin/sh
# Is the coverage of LLVM exact? Runs after compare-llvm.sh, in the same FOLDER.
# usage: exact-llvm.sh VERSION FOLDER FILE.ll PASSES
# Links the plain and the instrumented driver with equal data addresses, puts a breakpoint on every block of the
# plain one, and compares, block for block, with the marks of the instrumented one.
set -eu
version=$1 work=$2 input=$3 passes=$4
here=$(cd "$(dirname "$0")" && pwd)
config=llvm-config-$version
cxx=${CXX:-clang++-19}
libs="$($config --link-static --libs passes irreader native)"
system="$($config --link-static --system-libs)"
link="-no-pie -fuse-ld=lld -Wl,-z,norelro -Wl,-T,$here/fixed-addresses.ld"
# shellcheck disable=SC2086
$cxx $link "$work/cov/first.o" "$work/driver.o" -L"$work/cov" $libs "$work/cov/last.o" $system -o "$work/exact-instrumented"
address() { printf '%d' "0x$(nm "$work/exact-instrumented" | awk -v name="$1" '$3 == name { print $1 }')"; }
# The plain program gets as many unused marks, so that its heap starts at the same address.
cat > "$work/fill.s" <<EOF
.section __objcov,"aw",@nobits
.zero $(($(address __objcov_last) - $(address __objcov_first) - 64))
EOF
$cxx -c "$work/fill.s" -o "$work/fill.o"
# shellcheck disable=SC2086
$cxx $link "$work/cov/first.o" "$work/fill.o" "$work/driver.o" -L"$($config --libdir)" $libs "$work/cov/last.o" $system -o "$work/exact-plain"
${CC:-gcc} -O2 "$here/../tests/programs/observer.c" -o "$work/observer"
python3 "$here/exact.py" "$work" "$input" "$passes"
