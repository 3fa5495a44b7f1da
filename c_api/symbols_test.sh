#!/bin/sh
# symbols_test FOLDER: the installed libraries in FOLDER export the C functions of symbols.txt, which
# are those that sluice_c.h declares, and no others.
set -eu
list=$(realpath "$(dirname "$0")/symbols.txt")
folder=$(realpath "$1")
cd "$TEST_TMPDIR"

compare() {
  sort -u > found
  diff "$list" found || { echo "FAILED: $1 and c_api/symbols.txt differ; removals break programs"; exit 1; }
  echo "PASS: $1"
}

tr '\n' ' ' < "$folder/include/sluice/sluice_c.h" | grep -oE '\bsluice_[a-z_]+\([^;]*\) SLUICE_NOEXCEPT;' |
  sed 's/(.*//' | compare sluice_c.h
nm -D --defined-only "$folder/lib/libsluice.so" | awk '$3 !~ /^_Z/ { print $3 }' | compare libsluice.so
nm -g --defined-only "$folder/lib/libsluice.a" | awk 'NF == 3 && $3 !~ /^_Z/ { print $3 }' | compare libsluice.a
