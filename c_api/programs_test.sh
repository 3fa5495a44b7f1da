#!/bin/sh
# programs_test FOLDER TRAIN: the programs in C, Python, Rust and Go, built with the installed library
# in FOLDER, print what the C++ program TRAIN prints, and write the same checkpoint.
set -eu
installed=$(realpath "$1")
train=$(realpath "$2")
sources=$(realpath "$(dirname "$0")/programs")
cd "$TEST_TMPDIR"
export PKG_CONFIG_PATH="$installed/lib/pkgconfig" LD_LIBRARY_PATH="$installed/lib"

fail() {
  echo "FAILED: $1"
  exit 1
}

"$train" model.meta cc > cc.out || fail "the C++ program ended with $?"
grep -q weights cc.out || fail "the C++ program prints no weights"

# same NAME COMMAND...: runs it on the model, and compares what it prints and its checkpoint.
same() {
  name=$1
  shift
  "$@" model.meta "$name" > "$name.out" || fail "$name ended with $?"
  cmp cc.out "$name.out" || fail "$name trains to other bits: $(cat "$name.out")"
  for part in index data-00000-of-00001; do
    cmp "cc-200.$part" "$name-200.$part" || fail "$name writes another checkpoint"
  done
  echo "PASS: $name"
}

for tool in cc cmake python3 rustc go; do
  command -v $tool > /dev/null || fail "$tool is missing: tools/install installs it"
done
cc -std=c99 -pedantic -Wall -Wextra -Werror "$sources/train.c" -o with_pkg_config $(pkg-config --cflags --libs sluice_c)
same c ./with_pkg_config
{ cmake -S "$sources" -B cmake -DCMAKE_PREFIX_PATH="$installed" && cmake --build cmake; } > log 2>&1 || fail "CMake: $(cat log)"
same c_with_cmake cmake/train
same python python3 "$sources/train.py"
rustc -O "$sources/train.rs" -o with_rust $(pkg-config --libs-only-L sluice_c)
same rust ./with_rust
cp "$sources/train.go" .
HOME=$PWD GO111MODULE=off GOCACHE=$PWD/go go build -o with_go train.go
same go ./with_go
