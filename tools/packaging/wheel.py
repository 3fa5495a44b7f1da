"""Writes a wheel with the program `sluice`: wheel.py PROGRAM SBOM VERSION FOLDER

PROGRAM needs no library but glibc. The tag names the glibc whose symbols it needs. Equal inputs
give equal bytes.
"""

import base64
import hashlib
import os
import re
import subprocess
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")

METADATA = """Metadata-Version: 2.1
Name: sluice-server
Version: {version}
Summary: Server for TensorFlow 1's graphs, and tools for graphs and checkpoints
License: Apache-2.0
Requires-Python: >=3.8
Description-Content-Type: text/markdown

Installs the program `sluice`. In Python:

    import sluice_server
    import tensorflow as tf

    with sluice_server.start() as target:
        with tf.compat.v1.Session(target) as session:
            ...
"""

WHEEL = """Wheel-Version: 1.0
Generator: sluice
Root-Is-Purelib: false
Tag: {tag}
"""

ENTRY_POINTS = """[console_scripts]
sluice = sluice_server:main
"""


def libraries(program):
    text = subprocess.run(["readelf", "-d", program], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text)


def newest_glibc(program):
    """The minor version of glibc that has all symbols the program needs."""
    text = subprocess.run(["objdump", "-T", program], check=True, stdout=subprocess.PIPE, text=True).stdout
    return max(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", text))


def completions(program, version):
    """Scripts for shells, below the prefix of the installation: share/bash-completion and so on."""
    places = {"bash": "bash-completion/completions/sluice", "zsh": "zsh/site-functions/_sluice"}
    script = lambda shell: subprocess.run([program, "completion", shell], check=True, stdout=subprocess.PIPE).stdout
    return [("sluice_server-%s.data/data/share/%s" % (version, place), script(shell), False)
            for shell, place in places.items()]


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def write_zip(path, files):
    """`files` are (name, bytes, whether it is a program)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data, is_program in files:
            info = zipfile.ZipInfo(name)  # of 1980
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100755 if is_program else 0o100644) << 16
            archive.writestr(info, data)


def main():
    program, sbom, version, folder = sys.argv[1:]
    foreign = [name for name in libraries(program)
               if not re.fullmatch(r"lib(c|m|mvec)\.so\.\d|ld-linux-.*", name)]
    if foreign:
        sys.exit("wheel.py: '%s' needs %s; expected only glibc" % (program, ", ".join(foreign)))
    tag = "py3-none-manylinux_2_%d_x86_64" % newest_glibc(program)
    info = "sluice_server-%s.dist-info" % version
    read = lambda path: open(path, "rb").read()
    files = [
        ("sluice_server/__init__.py", read(os.path.join(HERE, "sluice_server/__init__.py")), False),
        ("sluice_server/sluice", read(program), True),
        *completions(program, version),
        (info + "/METADATA", METADATA.format(version=version).encode(), False),
        (info + "/WHEEL", WHEEL.format(tag=tag).encode(), False),
        (info + "/entry_points.txt", ENTRY_POINTS.encode(), False),
        (info + "/licenses/LICENSE", read(os.path.join(ROOT, "LICENSE")), False),
        (info + "/sboms/sluice.cdx.json", read(sbom), False),
    ]
    record = ["%s,%s,%d" % (name, digest(data), len(data)) for name, data, _ in files]
    record.append(info + "/RECORD,,")
    files.append((info + "/RECORD", "\n".join(record + [""]).encode(), False))
    path = os.path.join(folder, "sluice_server-%s-%s.whl" % (version, tag))
    write_zip(path, files)
    print(path)


if __name__ == "__main__":
    main()
