#!/usr/bin/env bash
# The commands of a page work and print what it shows.
exec /usr/bin/python3 docs/run_commands.py "$@"
