#!/usr/bin/env bash
# The README's first example equals the demo that is compiled and run, and has about thirty lines.
set -u
example=$(sed -n '/^```cpp$/,/^```$/{p;/^```$/q}' README.md | sed '1d;$d')
source=$(sed -n '/^#include <cstdio>/,$p' demos/linear_regression.cc)
failure=
[ "$example" = "$source" ] || failure="README.md and demos/linear_regression.cc differ"
[ "$(wc -l <<<"$example")" -le 45 ] || failure="the example is too long"
[ -z "$failure" ] || { echo "$failure"; diff <(echo "$example") <(echo "$source"); }
printf '<testsuites><testsuite name="readme"><testcase name="ExampleIsTheDemo" classname="readme">%s</testcase></testsuite></testsuites>\n' \
  "${failure:+<failure message=\"$failure\"/>}" >"$XML_OUTPUT_FILE"
[ -z "$failure" ]
