#!/usr/bin/env bash
# Components outside ops/ contain no names of ops.
exec /usr/bin/python3 tests/structure/check_op_names.py
