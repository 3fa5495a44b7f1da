"""Writes a CycloneDX bill of materials to stdout.

sbom.py VERSION --archives FOLDER     of a static program: FOLDER is what static_libraries filled
sbom.py VERSION --programs PROGRAM…   of programs that load libraries: the packages with headers and
                                      archives that Sluice is built from (tools/packages.txt), and the
                                      packages whose libraries the programs load
"""

import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Only their headers are compiled into Sluice.
HEADERS = ["libeigen3-dev"]


def packages_of(paths):
    """Names of the Debian packages that own the files. Some are registered below /lib instead of /usr/lib."""
    names = [name for path in sorted(paths) for name in (path, path.removeprefix("/usr"))]
    out = subprocess.run(["dpkg-query", "-S", *names], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    owners = {path: owner.split(":")[0] for owner, path in (line.split(": ") for line in out.splitlines())}
    missing = [path for path in paths if not {path, path.removeprefix("/usr")} & owners.keys()]
    if missing:
        sys.exit("sbom.py: no package owns %s" % ", ".join(sorted(missing)))
    return set(owners.values())


def debian(package):
    version, source = subprocess.run(["dpkg-query", "-W", "-f", "${Version} ${source:Package}\n", package], check=True,
                                     stdout=subprocess.PIPE, text=True).stdout.splitlines()[0].split(" ")
    return {"type": "library", "name": package, "version": version,
            "purl": "pkg:deb/debian/%s@%s?arch=amd64&distro=debian-12" % (package, version),
            "properties": [{"name": "debian:source", "value": source}]}


def from_source(line):
    name, version, sha256 = line.split(" ")
    return {"type": "library", "name": name, "version": version, "purl": "pkg:generic/%s@%s" % (name, version),
            "hashes": [{"alg": "SHA-256", "content": sha256}]}


def linked(folder):
    """What a static program contains."""
    links = [os.path.join(folder, name) for name in os.listdir(folder)]
    owned = packages_of({os.path.realpath(path) for path in links if os.path.islink(path)})
    owned.add("libicu-dev")  # libicudata.a is a part of its archive
    sources = open(os.path.join(folder, "sources.txt")).read().splitlines()
    return [debian(name) for name in sorted(owned | set(HEADERS))] + [from_source(line) for line in sources]


def listed():
    """The libraries among the packages of tools/packages.txt."""
    lines = open(os.path.join(HERE, "../packages.txt")).read().splitlines()
    unlinked = ("libgtest", "libgmock", "libbenchmark")
    return [debian(name) for name in lines
            if (name.startswith("lib") or name.startswith("zlib")) and not name.startswith(unlinked)]


def loaded(programs):
    """The packages of the libraries that the programs name, such as libprotobuf32."""
    paths = set()
    for program in programs:
        lines = subprocess.run(["ldd", program], check=True, stdout=subprocess.PIPE, text=True).stdout
        found = dict(re.findall(r"(\S+) => (/\S+)", lines))
        dynamic = subprocess.run(["readelf", "-d", program], check=True, stdout=subprocess.PIPE, text=True).stdout
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
            if name in found:
                paths.add(os.path.realpath(found[name]))
    return [debian(name) for name in sorted(packages_of(paths))] if paths else []


def main():
    version, kind, *paths = sys.argv[1:]
    if kind not in ("--archives", "--programs"):
        sys.exit("sbom.py: expected --archives or --programs, got '%s'" % kind)
    json.dump({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "sluice", "version": version,
                                   "licenses": [{"license": {"id": "Apache-2.0"}}]}},
        "components": linked(paths[0]) if kind == "--archives" else listed() + loaded(paths),
    }, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
