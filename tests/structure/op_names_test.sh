#!/usr/bin/env bash
# Components outside ops/ do not know ops by name.
exec /usr/bin/python3 tests/structure/check_op_names.py
