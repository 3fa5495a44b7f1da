#!/bin/sh
# install FOLDER PREFIX: copies the laid out library below PREFIX (/usr/local).
set -eu
to=${2:-/usr/local}
mkdir -p "$to"
cp -R --no-preserve=mode "$1"/. "$to"/
echo "Sluice is installed below $to: pkg-config sluice, or find_package(sluice) in CMake"
