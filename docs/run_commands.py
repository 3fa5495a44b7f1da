"""Runs the commands of a page, as its reader would: run_commands.py PAGE.md

- The blocks ```sh run in one shell, in an empty folder. A command that fails is a failure.
- Each line of the blocks ```text must be a line of the output. Numbers may differ, and "..." stands for any text.
- A block after `<!-- not run: WHY -->` is not run.

The test differs from the reader in three ways: `bazel` does not build but checks that the programs exist, the ports 7000 to
7009 are replaced by free ones, and the folder /tmp/sluice by a new one.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?P<skip><!-- not run: [^\n]*-->\n)?```(?P<kind>sh|text)\n(?P<text>.*?)```\n", re.S)
START = r"""
set -eu
trap 'echo "FAILED: $BASH_COMMAND" >&2' ERR
bazel() {
  local target
  for target in "${@:2}"; do
    case $target in
      //*:all) [ -d "bazel-bin/$(sed 's,//\(.*\):all,\1,' <<<"$target")" ] || return ;;
      //*) [ -x "bazel-bin/$(tr : / <<<"${target#//}")" ] || return ;;
    esac
  done
}
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [str(s.getsockname()[1]) for s in sockets]
    for s in sockets:
        s.close()
    return ports


def run(script, folder):
    """Returns the exit status and what was printed. Ends all processes that the script started."""
    with open(os.path.join(folder, "output"), "w+", encoding="utf-8", errors="replace") as output:
        shell = subprocess.Popen(["bash", "-c", script], cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
                                 stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = shell.wait()
        finally:
            try:
                os.killpg(shell.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        output.seek(0)
        return status, output.read()


def pattern(line):
    """Matches lines like `line`, with other numbers and other numbers of spaces."""
    parts = re.split(r"(\d[\d.]*(?:e[-+]\d+)?|\.\.\.|\s+)", line.strip())
    return "".join(
        r"[-\d.e]+" if part[:1].isdigit() else ".*" if part == "..." else r"\s+" if part.isspace() else re.escape(part)
        for part in parts)


def main():
    page = sys.argv[1]
    with open(page, encoding="utf-8") as file:
        blocks = [m for m in BLOCK.finditer(file.read()) if not m.group("skip")]
    script = START + "".join(m.group("text") for m in blocks if m.group("kind") == "sh")
    ports = free_ports(10)
    script = re.sub(r"\b700(\d)\b", lambda m: ports[int(m.group(1))], script)
    root = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(root, os.path.join(folder, "bazel-bin"))
        os.symlink(os.path.join(root, "docs"), os.path.join(folder, "docs"))
        status, output = run(script.replace("/tmp/sluice", folder + "/made"), folder)
    print(output)
    if status:
        print("%s: a command failed with %d" % (page, status))
        return 1
    missing = [
        line for m in blocks if m.group("kind") == "text" for line in m.group("text").splitlines()
        if line.strip() and not re.search(r"(?m)^\s*%s\s*$" % pattern(line), output)]
    for line in missing:
        print("%s: no command printed a line like: %s" % (page, line))
    return int(bool(missing))


sys.exit(main())
