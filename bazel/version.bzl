"""The version of Sluice. Programs, packages and the library's files are named after it."""

VERSION = "0.1.0"
