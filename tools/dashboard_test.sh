#!/bin/sh
exec python3 "$(dirname "$0")/dashboard_test.py" "$@"
