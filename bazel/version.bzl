"""The version of Sluice. Programs, packages and the library's files are named after it."""

VERSION = "0.1.0"

# N of libsluice.so.N. A release gets the next number if programs compiled with the last one could
# fail with it: docs/install.md has the rules.
SOVERSION = "0"
