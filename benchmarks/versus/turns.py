"""Runs programs of several frameworks at the same time, which take turns at each case.

A program started with --turns announces each case ({"next": CASE}), waits for a line, measures,
prints its line, prepares the next case and announces that. So compared measurements are within
seconds of each other, and preparations do not disturb them.
"""

import json
import os
import subprocess
import sys
import tempfile


class Program:
    def __init__(self, command, environment):
        self._name = " ".join(os.path.basename(word) for word in command[:5])
        self._errors = tempfile.TemporaryFile(mode="w+")
        self._process = subprocess.Popen(command + ["--turns"], env={**os.environ, **environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=self._errors, text=True)
        self.case = None  # the announced case; None if none is left
        if self._await_announcement():
            raise ValueError(f"{self._name}: measured before its turn")

    def _await_announcement(self):
        lines = []
        for text in self._process.stdout:
            line = json.loads(text) if text.startswith("{") else {}
            if "next" in line:
                self.case = line["next"]
                return lines
            if line:
                lines.append(line)
        self.case = None
        self._process.wait()
        self._errors.seek(0)
        for text in self._errors:
            if "FAILED" in text:
                print(f"{self._name}: {text[:200].rstrip()}", file=sys.stderr)
        if self._process.returncode != 0:
            print(f"{self._name}: ended with {self._process.returncode}", file=sys.stderr)
        return lines

    def measure(self):
        """Lines of the announced case."""
        try:
            self._process.stdin.write("\n")
            self._process.stdin.flush()
        except BrokenPipeError:  # it has ended, which is reported below
            pass
        return self._await_announcement()


def take_turns(commands, cases, before_case):
    """Runs (command, environment) pairs together over `cases`, in that order, and yields their
    lines. before_case(case) is called before each case."""
    programs = [Program(command, environment) for command, environment in commands]
    for at, case in enumerate(cases):
        if any(program.case == case for program in programs):
            before_case(case)
        later = set(cases[at + 1:])
        for program in programs:
            # A program's own cases, which no other program has, come before its next common case.
            while program.case is not None and program.case not in later:
                if program.case in cases[:at]:
                    print(f"{program.case}: out of order, and so not beside its peers", file=sys.stderr)
                yield from program.measure()
    for program in programs:
        while program.case is not None:
            yield from program.measure()
