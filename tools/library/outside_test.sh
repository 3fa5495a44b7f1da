#!/bin/sh
# outside_test FOLDER: builds and runs an external program with the installed files.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$TEST_TMPDIR
prefix=$work/prefix
mkdir -p "$prefix"
cp -R --no-preserve=mode "$1"/. "$prefix"/

fail() {
  echo "FAILED: $1"
  exit 1
}

# The program trains, and has all ops and kernels (more than 1000), although it names only a few.
expect() {
  found=$("$2" "$work/model") || fail "$1 ended with $?: $found"
  case $found in
    "w = [2 -3]; Placeholder first; "[1-9][0-9][0-9][0-9]" ops") echo "PASS: $1: $found" ;;
    *) fail "$1 printed '$found', not the trained weights, the graph's first op and all ops" ;;
  esac
}

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
cd "$work"
c++ $(pkg-config --cflags sluice) -c "$here/outside/main.cc" -o main.o &
compiler=$!
{ cmake -S "$here/outside" -B cmake -DCMAKE_PREFIX_PATH="$prefix" && cmake --build cmake -j2; } > log 2>&1 ||
  fail "CMake: $(cat log)"
expect "CMake, shared" cmake/outside_shared
expect "CMake, static" cmake/outside_static

wait $compiler || fail "pkg-config: main.cc does not compile"
c++ main.o cmake/libother.a $(pkg-config --libs sluice) -Wl,-rpath,"$prefix/lib" -o with_shared
c++ main.o cmake/libother.a $(pkg-config --libs sluice-static) -o with_static
expect "pkg-config, shared" ./with_shared
expect "pkg-config, static" ./with_static

# What is not there is an error that names it, unless it is optional.
for request in "0.1 REQUIRED COMPONENTS rust" "99 REQUIRED"; do
  mkdir -p request
  printf 'cmake_minimum_required(VERSION 3.20)\nproject(request C)\nfind_package(sluice %s)\n' "$request" > request/CMakeLists.txt
  cmake -S request -B request/build -DCMAKE_PREFIX_PATH="$prefix" > log 2>&1 && fail "find_package(sluice $request) succeeds"
  grep -Eq "no component 'rust' here|that is compatible" log || fail "find_package(sluice $request): $(cat log)"
done
echo "PASS: CMake rejects other components and versions"

# The library exports only its own symbols, which cannot clash with another copy of a dependency.
own='^sluice_|^_Z(Z|GVZ?|T[VIST]|Thn?[0-9]+_|Tv0_n[0-9]+_)?N([KRO]*6sluice|6google8protobuf5Arena18CreateMaybeMessageIN6sluice)'
for symbols in "nm -D --defined-only libsluice.so" "nm -g --defined-only libsluice.a"; do
  (cd "$prefix/lib" && $symbols) | awk 'NF == 3 { print $3 }' > symbols
  [ "$(wc -l < symbols)" -gt 5000 ] || fail "$symbols gives only $(wc -l < symbols) symbols"
  strange=$(grep -vE "$own" symbols | head -5 | c++filt || true)
  [ -z "$strange" ] || fail "$symbols gives what is not Sluice's own: $strange"
done
echo "PASS: all symbols are Sluice's own"
