"""Copies the files of the installed library: lay_out LISTING FOLDER VERSION SOVERSION. A line of
the listing is a kind, a path and a name."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

FOLDERS = {".pc": "lib/pkgconfig", ".cmake": "lib/cmake/sluice"}


def exported(map_path):
    """Patterns of the symbols that programs may use. Protocol messages and templates of
    dependencies are hidden."""
    with open(map_path) as file:
        return re.findall(r"((?:_Z|sluice_)\S+);", file.read())


def one_object(archives, wraps, to):
    """Links all archives into one relocatable object, so that the linker keeps kernels without
    references. `wraps` are options --wrap, which would not find the functions once they are local.

    Groups are resolved. Otherwise a linker drops a group that another object also has (every
    program has std::vector's), together with symbols that are local by then, to which other
    sections still refer.
    """
    subprocess.run(["ld", "-r", "--force-group-allocation", *wraps, "--whole-archive", *archives, "-o", to], check=True)


def localize(path, patterns):
    """Hides symbols that `patterns` do not match, so that they neither clash with another library's
    nor replace them."""
    with tempfile.NamedTemporaryFile("w", suffix=".symbols") as uniques:
        # objcopy makes a process-unique symbol local only if the symbol is weak first.
        symbols = subprocess.run(["nm", "--defined-only", "--format=posix", path],
                                 check=True, stdout=subprocess.PIPE, text=True).stdout
        lines = [line.split(" ") for line in symbols.splitlines()]
        uniques.write("".join(line[0] + "\n" for line in lines if line[1] == "u"))
        uniques.flush()
        subprocess.run(["objcopy", "--weaken-symbols=" + uniques.name, path], check=True)
    subprocess.run(["objcopy", "--wildcard", *("--keep-global-symbol=" + p for p in patterns), path], check=True)


def archive(archives, wraps, patterns, to):
    with tempfile.TemporaryDirectory() as folder:
        whole = os.path.join(folder, "sluice.o")
        one_object(archives, wraps, whole)
        localize(whole, patterns)
        subprocess.run(["ar", "rcsD", to, whole], check=True)


def main():
    listing, folder, version, soversion = sys.argv[1:]
    entries = [line.split(" ") for line in open(listing).read().splitlines()]
    of_kind = lambda kind: [(path, name) for k, path, name in entries if k == kind]
    place = lambda *parts: os.path.join(folder, *parts)
    for path, name in of_kind("header"):
        to = place("include/sluice", name)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copyfile(path, to)
    os.makedirs(place("lib"), exist_ok=True)
    names = lambda kind: [path for path, _ in of_kind(kind)]
    wraps = [flag[len("-Wl,"):] for flag in names("flag") if flag.startswith("-Wl,--wrap=")]
    flags = [flag for flag in names("flag") if not flag.startswith("-Wl,--wrap=")]
    archive(names("archive"), wraps, exported(names("map")[0]), place("lib/libsluice.a"))
    soname = "libsluice.so." + soversion
    shutil.copyfile(of_kind("shared")[0][0], place("lib", soname))
    os.symlink(soname, place("lib/libsluice.so"))
    targets = [re.sub("^absl_", "absl::", name).replace("protobuf", "protobuf::libprotobuf") for name in names("requires")]
    values = {"VERSION": version, "FLAGS": " ".join(flags), "REQUIRES": " ".join(names("requires")),
              "TARGETS": ";".join(targets)}
    for path, name in of_kind("template"):
        name = name[:-len(".in")]
        to = place(FOLDERS[os.path.splitext(name)[1]])
        os.makedirs(to, exist_ok=True)
        with open(path) as template, open(os.path.join(to, name), "w") as file:
            file.write(re.sub("@([A-Z]+)@", lambda match: values[match[1]], template.read()))


if __name__ == "__main__":
    main()
