#!/usr/bin/env bash
# The examples for systemd and containers work.
exec /usr/bin/python3 tools/service/service_test.py tools/sluice tools/service
