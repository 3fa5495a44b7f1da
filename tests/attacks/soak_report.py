"""What the soak test counts: samples, the verdict and the picture."""

import array
import json
import os
import statistics
import subprocess
import time

from tests.attacks import attack

# Answers to an honest client that the server's limits imply.
IMPLIED = {"RESOURCE_EXHAUSTED"}
# A shorter run ends before there are as many clients as later.
FLAT_MINUTES = 5
# Permitted growth, as in attack.py.
GROWTH = attack.AttackTest.growth
COLUMNS = ["time_s", "memory_mb", "threads", "descriptors", "cpu_s", "honest", "honest_failures", "honest_median_ms", "honest_slowest_ms", "hostile"]


def cpu_s(pid):
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Report:

    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        self.start = time.monotonic()
        self.seen = set()  # names of clients that got an answer
        self.answers = {"honest": {}, "hostile": {}}
        self.clients = {}  # starts and ends by name
        self.latency = array.array("f")  # of honest answers
        self.recent = []
        self.samples = []
        self.before = self.after = None
        self.returned = self.stopped = None
        self.wrong_now = []
        self.late = 0
        self.is_stopping = False
        self.csv = open(os.path.join(folder, "samples.csv"), "w", encoding="utf-8")
        self.events = open(os.path.join(folder, "events.txt"), "w", encoding="utf-8")
        print(",".join(COLUMNS), file=self.csv, flush=True)

    def seconds(self):
        return time.monotonic() - self.start

    def event(self, text):
        print("%.1f %s" % (self.seconds(), text), file=self.events, flush=True)

    def begin(self, usage):
        self.before = usage

    def add(self, name, is_honest, line):
        """A line of a client."""
        answers = self.answers["honest" if is_honest else "hostile"]
        for answer, count in line["answers"].items():
            answers[answer] = answers.get(answer, 0) + count
        if line["answers"].get("OK"):
            self.seen.add(name)
        for error in line["errors"]:
            self.event("%s: %s" % (name, error))
        if is_honest:
            self.latency.extend(line["ms"])
            self.recent.extend(line["ms"])
            late = [ms for ms in line["ms"] if ms > 1000 * attack.HONEST_S]
            self.late += len(late)
            if late:
                self.event("%s: late answers, after %s ms" % (name, late))

    def client_ended(self, name, is_honest, status):
        ends = self.clients.setdefault(name, {})
        ends[str(status)] = ends.get(str(status), 0) + 1
        if is_honest and not (self.is_stopping and status == 0):
            self.wrong_now.append("the client '%s' ended with %s" % (name, status))

    def count(self, who):
        return sum(self.answers[who].values())

    def failures(self):
        return {name: n for name, n in self.answers["honest"].items() if name != "OK" and name not in IMPLIED}

    def sample(self, usage, cpu):
        recent, self.recent = sorted(self.recent), []
        row = [round(self.seconds(), 1), round(usage["memory"] / (1 << 20), 1), usage["threads"], usage["descriptors"], cpu, self.count("honest"),
               sum(self.failures().values()), recent[len(recent) // 2] if recent else "", recent[-1] if recent else "", self.count("hostile")]
        self.samples.append(row)
        print(",".join(map(str, row)), file=self.csv, flush=True)

    def end(self, usage):
        """Usage after the clients have gone. True if it is that of the start."""
        self.after = usage
        self.returned = all(usage[name] <= 1.1 * self.before[name] + GROWTH[name] for name in usage)
        return self.returned

    def server_ended(self, status, was_stopped):
        self.stopped = status
        if not was_stopped:
            self.wrong_now.append("the server ended with status %s after %.0f s" % (status, self.seconds()))
        elif status != 0:
            self.wrong_now.append("the server did not end with status 0 after SIGTERM, but with %s" % status)

    def flat(self):
        """Medians of each figure in the first and the last sixth, without the first twelfth, in which caches and pools fill."""
        n = len(self.samples)
        if n < 12 or self.options.minutes < FLAT_MINUTES:
            return {}
        first, last = self.samples[n // 12:n // 12 + n // 6], self.samples[n - n // 6:]
        return {name: (statistics.median(row[i] for row in first), statistics.median(row[i] for row in last))
                for i, name in ((1, "memory"), (2, "threads"), (3, "descriptors"))}

    def memory_slope(self):
        """MB per hour: the slope of the line through the samples, without the first twelfth. None for a short run."""
        rows = self.samples[len(self.samples) // 12:]
        if len(rows) < 12 or self.options.minutes < FLAT_MINUTES:
            return None
        return round(3600 * statistics.linear_regression([row[0] for row in rows], [row[1] for row in rows]).slope, 2)

    def summary(self):
        """The figures of the run in one line."""
        def course(i):
            values = [row[i] for row in self.samples]
            if not values:
                return "unknown"
            end = self.after[COLUMNS[i].removesuffix("_mb")] if self.after else values[-1]
            end = round(end / (1 << 20), 1) if self.after and i == 1 else end
            return "%g at first, %g at most, %g at the end" % (values[0], max(values), end)
        refused = sum(n for name, n in self.answers["honest"].items() if name in IMPLIED)
        slope = self.memory_slope()
        return ("%.0f minutes; honest: %d requests, %d failures, %d refused by a limit, %d late; hostile: %d requests; memory in MB: %s, %s per hour; "
                "threads: %s; files: %s" % (self.seconds() / 60, self.count("honest"), sum(self.failures().values()), refused, self.late,
                                            self.count("hostile"), course(1), "unknown" if slope is None else "%+.2f" % slope, course(2), course(3)))

    def wrong(self, is_last):
        found = list(self.wrong_now)
        if self.failures():
            found.append("honest clients got %s; see events.txt" % self.failures())
        if self.late:
            found.append("%d honest answers took more than %g s" % (self.late, attack.HONEST_S))
        for name, (first, last) in self.flat().items():
            if last > 1.1 * first + GROWTH[name] / (1 << 20 if name == "memory" else 1):
                found.append("%s grew from %g to %g" % (name, first, last))
        if is_last:
            if self.returned is False:
                found.append("the server does not return what its clients took: before %s, after %s" % (self.before, self.after))
            for who, least in (("honest", self.options.requests), ("hostile", self.options.hostile)):
                if self.count(who) < least:
                    found.append("expected %d %s requests, got %d" % (least, who, self.count(who)))
        return found

    def percentile(self, ordered, share):
        return round(ordered[min(int(share * len(ordered)), len(ordered) - 1)], 2) if ordered else None

    def write(self, is_last=False):
        """Writes the results. Returns what is wrong."""
        wrong = self.wrong(is_last)
        ordered = sorted(self.latency)
        result = {
            "state": "ended" if is_last else "running",
            "summary": self.summary(),
            "minutes": round(self.seconds() / 60, 1),
            "wrong": wrong,
            "honest_requests": self.count("honest"),
            "hostile_requests": self.count("hostile"),
            "honest_failures": self.failures(),
            "memory_mb_per_hour": self.memory_slope(),
            "answers": self.answers,
            "honest_ms": {"median": self.percentile(ordered, 0.5), "p99": self.percentile(ordered, 0.99), "p99.9": self.percentile(ordered, 0.999),
                          "slowest": self.percentile(ordered, 1)},
            "first_and_last_sixth": self.flat(),
            "highest": {name: max((row[i] for row in self.samples), default=None) for i, name in ((1, "memory_mb"), (2, "threads"), (3, "descriptors"))},
            "before": self.before, "after": self.after, "server_status": self.stopped,
            "server_cpu_s": self.samples[-1][4] if self.samples else None,
            "clients_by_exit_status": self.clients,
        }
        path = os.path.join(self.folder, "result")
        with open(path + ".json", "w", encoding="utf-8") as out:
            json.dump(result, out, indent=1)
        with open(path + ".txt", "w", encoding="utf-8") as out:
            for key, value in result.items():
                print("%-24s %s" % (key, value if key == "summary" else json.dumps(value) if key != "wrong" else "; ".join(wrong) or "nothing"), file=out)
        self.draw()
        return wrong

    def draw(self):
        """A picture of samples.csv, if gnuplot is installed."""
        panels = [(2, "memory (MB)"), (3, "threads"), (4, "descriptors"), (8, "honest median (ms)"), (9, "honest slowest (ms)"), (10, "hostile requests")]
        script = ["set terminal svg size 720,%d font 'sans-serif,13' background 'white' noenhanced" % (60 + 200 * len(panels)),
                  "set output 'soak.svg'", "set datafile separator ','", "set grid linecolor '#cccccc' linetype 1 linewidth 0.5",
                  "set border 3", "set tics nomirror out", "set lmargin 10", "set rmargin 3", "set yrange [0:*]", "set xlabel 'minutes'",
                  "set multiplot layout %d,1 title 'sluice server: %d honest and %d hostile requests'"
                  % (len(panels), self.count("honest"), self.count("hostile"))]
        for column, label in panels:
            script += ["set ylabel '%s'" % label, "plot 'samples.csv' every ::1 using ($1/60):%d with lines linecolor '#1f6fb4' notitle" % column]
        with open(os.path.join(self.folder, "soak.gnuplot"), "w", encoding="utf-8") as out:
            out.write("\n".join(script + ["unset multiplot"]) + "\n")
        if len(self.samples) > 1:
            try:
                subprocess.run(["gnuplot", "soak.gnuplot"], cwd=self.folder, stderr=subprocess.DEVNULL, check=False)
            except FileNotFoundError:
                pass
