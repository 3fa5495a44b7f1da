#!/bin/sh
exec /usr/bin/python3 tools/packaging/packaging_test.py
