"""Tests the makers of packages with a small program in place of `sluice`."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = r"""#include <iostream>
#include <string>
int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "server") std::cout << "listening at grpc://127.0.0.1:1" << std::endl;
  else if (command == "completion") std::cout << "completes in " << argv[2] << std::endl;
  else if (command == "--version") std::cout << "sluice 1.2.3\nsse4" << std::endl;
  else if (argc == 2) std::cout << R"(sluice runs graphs.

Usage: sluice COMMAND [--OPTION=VALUE …]

See it work:
  run         runs steps
                $ sluice run --x=1
  top         shows it's well

Help:
  help        describes a command

Exit codes: 0 success.
)";
  else std::cout << "Usage: sluice " << argv[2] << R"( MODEL

Runs the steps.

.With a dot.

Example:
  $ sluice run --x=1

Options:
  --x=               how - often (default 1)
)";
}
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

    def test_CompletionIsInstalledBelowThePrefix(self):
        program = self.compiled("program", "-static-libstdc++", "-static-libgcc")
        with zipfile.ZipFile(self.wheel(program, "e").stdout.strip()) as archive:
            for shell, place in (("bash", "bash-completion/completions/sluice"), ("zsh", "zsh/site-functions/_sluice")):
                script = archive.read("sluice_server-1.2.3.data/data/share/" + place)
                self.assertEqual(script.decode(), "completes in %s\n" % shell)

    def test_EachCommandHasAManualPage(self):
        folder = os.path.join(self.folder, "man")
        subprocess.run([sys.executable, os.path.join(HERE, "man_page.py"), self.compiled("program"), folder], check=True)
        self.assertEqual(sorted(os.listdir(folder)), ["sluice-run.1", "sluice-top.1", "sluice.1"])
        with open(os.path.join(folder, "sluice.1")) as file:
            page = file.read()
        self.assertIn('.TH SLUICE 1 "" "sluice 1.2.3" "User Commands"\n.SH NAME\nsluice \\- runs graphs\n', page)
        self.assertIn(".BR sluice\\-run (1),\n.BR sluice\\-top (1)\n", page)
        with open(os.path.join(folder, "sluice-run.1")) as file:
            page = file.read()
        self.assertIn("sluice\\-run \\- runs steps\n", page)
        self.assertIn("Runs the steps.\n.PP\n\\&.With a dot.\n", page)
        self.assertIn(".TP\n.B \\-\\-x=\nhow \\- often (default 1)\n", page)

    def test_BillOfMaterialsNamesEachLoadedLibrary(self):
        command = [sys.executable, os.path.join(HERE, "sbom.py"), "1.2.3", "--programs", self.compiled("program", "-Wl,--no-as-needed", "-lz")]
        bill = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        self.assertEqual((bill["bomFormat"], bill["specVersion"], bill["metadata"]["component"]["version"]), ("CycloneDX", "1.5", "1.2.3"))
        names = [part["name"] for part in bill["components"]]
        self.assertEqual(len(names), len(set(names)))
        for name in ("libc6", "libstdc++6", "zlib1g", "libprotobuf-dev"):
            self.assertIn(name, names)
        for part in bill["components"]:
            self.assertEqual(part["purl"], "pkg:deb/debian/%s@%s?arch=amd64&distro=debian-12" % (part["name"], part["version"]))

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
