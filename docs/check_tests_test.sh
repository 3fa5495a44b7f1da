#!/usr/bin/env bash
# The tests that tables of the documentation name exist.
exec /usr/bin/python3 docs/check_tests.py "$@"
