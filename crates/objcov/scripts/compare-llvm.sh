#!/bin/sh
# Is an LLVM linked from instrumented archives the same optimizer?
# usage: compare-llvm.sh VERSION PROGRAMS FOLDER
# Instruments the archives of llvm-VERSION, links scripts/driver.cpp plain and instrumented, and compares the
# optimized modules of csmith programs 1..PROGRAMS at O1, O2 and O3. Needs csmith, clang and lld.
set -eu
version=$1 programs=$2 work=$3
here=$(cd "$(dirname "$0")" && pwd)
config=llvm-config-$version
cxx=${CXX:-clang++-19}
mkdir -p "$work"
(cd "$here/.." && cargo build --release --example archives)
# shellcheck disable=SC2046
"$here/../target/release/examples/archives" "$work/cov" $($config --link-static --libfiles passes irreader native) | tail -2
# shellcheck disable=SC2046
$cxx -std=c++17 -fno-rtti -fno-exceptions -O1 $($config --cppflags) -c "$here/driver.cpp" -o "$work/driver.o"
libs="$($config --link-static --libs passes irreader native)"
system="$($config --link-static --system-libs)"
# shellcheck disable=SC2086
$cxx -no-pie -fuse-ld=lld "$work/driver.o" -L"$($config --libdir)" $libs $system -o "$work/plain"
# shellcheck disable=SC2086
$cxx -no-pie -fuse-ld=lld "$work/cov/first.o" "$work/driver.o" -L"$work/cov" $libs "$work/cov/last.o" $system -o "$work/instrumented"
same=0 differ=0
for seed in $(seq 1 "$programs"); do
  (cd "$work" && csmith --seed "$seed" --max-funcs 6 > p.c) # It leaves a file where it runs.
  clang=$(command -v "clang-$version" || command -v clang-19)
  "$clang" -w -I/usr/include/csmith -O0 -Xclang -disable-O0-optnone -S -emit-llvm "$work/p.c" -o "$work/p.ll"
  for passes in 'default<O1>' 'default<O2>' 'default<O3>'; do
    a=0 b=0
    "$work/plain" "$work/p.ll" "$passes" > "$work/a" 2>/dev/null || a=$?
    "$work/instrumented" "$work/p.ll" "$passes" > "$work/b" 2>/dev/null || b=$?
    if [ $a = $b ] && cmp -s "$work/a" "$work/b"; then same=$((same + 1)); else differ=$((differ + 1)); echo "differs: seed $seed $passes"; fi
  done
done
echo "LLVM $version: $same pairs equal, $differ differ"
[ $differ = 0 ]
