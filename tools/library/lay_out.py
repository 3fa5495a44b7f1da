"""Lays out what is installed: lay_out LISTING FOLDER VERSION. A line of the listing is a kind, a path and a name."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

FOLDERS = {"sluice.pc": "lib/pkgconfig", "SluiceConfig.cmake": "lib/cmake/Sluice"}


def exported(map_path):
    """Patterns of the symbols that programs may use; protocol messages and libraries' templates stay inside."""
    with open(map_path) as file:
        return re.findall(r"(_Z\S+);", file.read())


def archive(paths, symbols, to):
    """One relocatable object of all: kernels that nobody names must not be left out by the linker."""
    with tempfile.TemporaryDirectory() as folder:
        whole = os.path.join(folder, "sluice.o")
        subprocess.run(["ld", "-r", "--whole-archive", *paths, "-o", whole], check=True)
        subprocess.run(["objcopy", "--wildcard", *("--keep-global-symbol=" + s for s in symbols), whole], check=True)
        subprocess.run(["ar", "rcsD", to, whole], check=True)


def main():
    listing, folder, version = sys.argv[1:]
    entries = [line.split(" ") for line in open(listing).read().splitlines()]
    of_kind = lambda kind: [(path, name) for k, path, name in entries if k == kind]
    place = lambda *parts: os.path.join(folder, *parts)
    for path, name in of_kind("header"):
        to = place("include/sluice", name)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copyfile(path, to)
    os.makedirs(place("lib"), exist_ok=True)
    archive([path for path, _ in of_kind("archive")], exported(of_kind("map")[0][0]), place("lib/libsluice.a"))
    major = "libsluice.so." + version.split(".")[0]
    shutil.copyfile(of_kind("shared")[0][0], place("lib", major))
    os.symlink(major, place("lib/libsluice.so"))
    flags = [path for path, _ in of_kind("flag")]
    for path, name in of_kind("template"):
        name = name[:-len(".in")]
        os.makedirs(place(FOLDERS[name]), exist_ok=True)
        text = open(path).read().replace("@VERSION@", version).replace("@FLAGS@", " ".join(flags))
        with open(place(FOLDERS[name], name), "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
