#!/usr/bin/env bash
# Each C++ block of the documentation equals the compiled file that it names.
exec /usr/bin/python3 docs/check_samples.py "$@"
