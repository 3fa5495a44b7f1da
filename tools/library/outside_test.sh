#!/bin/sh
# outside_test FOLDER: a program of somebody else's, with what is installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=$TEST_TMPDIR/prefix
mkdir -p "$prefix"
cp -R --no-preserve=mode "$1"/. "$prefix"/

expect() {
  found=$("$2" "$TEST_TMPDIR/checkpoint")
  [ "$found" = "w = [2 -3]" ] && return
  echo "FAILED: $1 printed '$found', not the trained weights"
  exit 1
}

cmake -S "$here/outside" -B "$TEST_TMPDIR/cmake" -DCMAKE_PREFIX_PATH="$prefix" > "$TEST_TMPDIR/log" 2>&1 &&
  cmake --build "$TEST_TMPDIR/cmake" -j2 >> "$TEST_TMPDIR/log" 2>&1 || { cat "$TEST_TMPDIR/log"; exit 1; }
expect "CMake, shared" "$TEST_TMPDIR/cmake/outside_shared"
expect "CMake, static" "$TEST_TMPDIR/cmake/outside_static"

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
c++ "$here/outside/main.cc" $(pkg-config --cflags --libs sluice) -Wl,-rpath,"$prefix/lib" -o "$TEST_TMPDIR/outside"
expect "pkg-config" "$TEST_TMPDIR/outside"

# Symbols of its own only: nothing that another copy of a library in the same process could meet.
strange=$(nm -D --defined-only "$prefix/lib/libsluice.so" | cut -d' ' -f3 |
  grep -vE '^_Z(Z|GVZ?|T[VIST]|Thn?[0-9]+_|Tv0_n[0-9]+_)?N([KRO]*6sluice|6google8protobuf5Arena18CreateMaybeMessageIN6sluice)' | head -5 || true)
[ -z "$strange" ] || { echo "FAILED: libsluice.so has symbols that are not its own: $strange"; exit 1; }
echo "PASS: CMake (shared, static) and pkg-config build and run a program outside"
