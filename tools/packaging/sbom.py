"""Writes a CycloneDX bill of materials to stdout: sbom.py VERSION [ARCHIVES]

ARCHIVES is the folder that static_libraries filled. Without it the list has the packages that
Sluice is built from (tools/packages.txt) and whose libraries it loads.
"""

import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Only their headers are compiled into Sluice.
HEADERS = ["libeigen3-dev"]


def packages_of(paths):
    """Names of the Debian packages that own the files."""
    out = subprocess.run(["dpkg-query", "-S", *sorted(paths)], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {line.split(":")[0] for line in out.splitlines()}


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


def main():
    version, *folder = sys.argv[1:]
    json.dump({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "sluice", "version": version,
                                   "licenses": [{"license": {"id": "Apache-2.0"}}]}},
        "components": linked(folder[0]) if folder else listed(),
    }, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
