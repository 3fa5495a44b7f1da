"""Tests the makers of packages with a small program in place of `sluice`."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = """#include <iostream>
int main(int argc, char** argv) { std::cout << (argc > 1 && argv[1][0] == 's' ? "listening at grpc://127.0.0.1:1" : "sluice") << std::endl; }
"""


class Packages(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))

    def compiled(self, name, *options):
        program = os.path.join(self.folder, name)
        subprocess.run(["c++", "-x", "c++", "-", "-o", program, *options], input=PROGRAM.encode(), check=True)
        return program

    def wheel(self, program, folder):
        sbom = os.path.join(self.folder, "sbom.json")
        with open(sbom, "w") as file:
            json.dump({}, file)
        os.makedirs(os.path.join(self.folder, folder), exist_ok=True)
        return subprocess.run([sys.executable, os.path.join(HERE, "wheel.py"), program, sbom, "1.2.3",
                               os.path.join(self.folder, folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_EqualProgramsGiveEqualWheels(self):
        program = self.compiled("program", "-static-libstdc++", "-static-libgcc")
        paths = [self.wheel(program, folder).stdout.strip() for folder in ("a", "b")]
        self.assertRegex(paths[0], r"sluice_server-1\.2\.3-py3-none-manylinux_2_\d+_x86_64\.whl$")
        first, second = (open(path, "rb").read() for path in paths)
        self.assertEqual(first, second)

    def test_HelperStartsTheProgramOfTheWheelAndYieldsItsTarget(self):
        program = self.compiled("program", "-static-libstdc++", "-static-libgcc")
        site = os.path.join(self.folder, "site")
        with zipfile.ZipFile(self.wheel(program, "c").stdout.strip()) as archive:
            archive.extractall(site)
        os.chmod(os.path.join(site, "sluice_server/sluice"), 0o755)
        code = "import sluice_server\nwith sluice_server.start() as target: print(target)"
        out = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": site}, check=True, stdout=subprocess.PIPE, text=True)
        self.assertEqual(out.stdout, "grpc://127.0.0.1:1\n")

    def test_ProgramThatNeedsOtherLibrariesIsRejected(self):
        failed = self.wheel(self.compiled("shared"), "d")
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn("expected only glibc", failed.stderr)


if __name__ == "__main__":
    unittest.main()
