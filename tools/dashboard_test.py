"""`sluice top --web` in a headless Chromium shows a cluster that trains, and then a killed replica.

dashboard_test.py SLUICE CLUSTER [PICTURE]: CLUSTER is the program demos/cluster; the screenshot goes to PICTURE, or to
Bazel's outputs.
"""

import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

from browser import Browser, free_port

DATA = "/usr/share/datasets/fashion-mnist"
WORKERS = 3
TOKEN = "open %2F barley"


def expect(condition, message):
    if not condition:
        sys.exit(f"FAILED: {message}")


def start_tasks(program, folder, addresses):
    spec = json.dumps({"ps": addresses[:1], "worker": addresses[1:]})
    names = ["ps:0"] + [f"worker:{i}" for i in range(WORKERS)]
    options = ["--sync", "--steps=1000000", f"--workers={WORKERS}", f"--replicas_to_aggregate={WORKERS - 1}",
               f"--data={DATA}", f"--summary_dir={folder}/summaries", "--heartbeat_ms=2000"]
    return [subprocess.Popen([program, f"--cluster={spec}", f"--task={name}", *options], stdin=subprocess.PIPE,
                             stdout=subprocess.DEVNULL) for name in names]


def check_token(browser, url):
    """`url` without the token shows nothing of the cluster."""
    state = urllib.request.Request(url + "state")
    try:
        urllib.request.urlopen(state)
        expect(False, "the state is served without the token")
    except urllib.error.HTTPError as error:
        expect(error.code == 401, f"without the token: {error}")
    browser.open(url)
    expect(browser.wait("return document.querySelector('#summary').textContent.includes('#TOKEN')"),
           "the page does not say that it needs a token")
    expect(not browser.run("return document.querySelectorAll('#tasks tr').length > 1"), "tasks are shown without the token")


def check(browser, url, tasks):
    rows = "return [...document.querySelectorAll('#tasks tr')].slice(1).map(r => [r.className, r.innerText])"
    browser.open(url)
    shown = browser.wait(f"const rows = (() => {{ {rows} }})(); "
                         "return rows.length && rows.every(r => r[0] === '' && r[1].includes('/task:')) && rows")
    expect(shown and len(shown) == 1 + WORKERS, f"not all tasks are shown as running: {browser.run(rows)}")
    expect(all("running" in text for _, text in shown), f"tasks without a state: {shown}")
    for curve in ("loss", "accuracy"):
        drawn = browser.wait("const section = [...document.querySelectorAll('section.curve')]"
                             ".find(s => s.querySelector('h2').textContent.startsWith(arguments[0]));"
                             "return section && section.querySelector('polyline').getAttribute('points').split(' ').length > 2",
                             curve)
        expect(drawn, f"no curve of the {curve}")
    applied = "return [...document.querySelectorAll('#replicas tr')].slice(1).map(r => Number(r.cells[1].innerText.replace(/,/g, '')))"
    counts = browser.wait(f"const counts = (() => {{ {applied} }})(); return counts.length === {WORKERS} && counts")
    expect(counts and sum(counts) > 0, f"applied gradients by replica: {browser.run(applied)}")
    expect(browser.run("return document.querySelectorAll('#resources tr').length > 1"), "no queues or accumulators")

    tasks[-1].kill()
    lost = browser.wait("const row = document.querySelector('#tasks tr.lost'); return row && row.innerText")
    expect(lost and f"/task:{WORKERS - 1}" in lost, f"the killed replica is not shown as lost, but: {lost}")
    expect(browser.wait(f"return document.querySelector('#summary').textContent === '{WORKERS} of {WORKERS + 1} tasks running, 1 lost'"),
           "the summary does not count the lost task: " + browser.run("return document.querySelector('#summary').textContent"))
    # The others go on, with as many gradients as an update needs.
    more = browser.wait(f"const counts = (() => {{ {applied} }})(); return counts[0] > arguments[0] + 100", counts[0])
    expect(more, "the other replicas do not go on")
    own = browser.run("return performance.getEntriesByType('resource').every(e => e.name.startsWith(location.origin))")
    expect(own, "the page needs files of other hosts")


def main():
    sluice, cluster = (os.path.abspath(path) for path in sys.argv[1:3])
    picture = sys.argv[3] if len(sys.argv) > 3 else os.path.join(os.environ["TEST_UNDECLARED_OUTPUTS_DIR"], "dashboard.png")
    addresses = [f"127.0.0.1:{free_port()}" for _ in range(1 + WORKERS)]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        tasks = start_tasks(cluster, folder, addresses)
        targets = [f"grpc://{address}" for address in addresses]
        token = os.path.join(folder, "token")
        with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(TOKEN + "\n")
        top = subprocess.Popen([sluice, "top", "--web=0", f"--web_token_file={token}", "--every_ms=500",
                                f"--summaries={folder}/summaries", *targets],
                               stdout=subprocess.PIPE, text=True)
        try:
            url, mark = top.stdout.readline().split()[-1].split("#")
            expect(mark == "TOKEN", f"the address ends with #{mark}")
            with Browser() as browser:
                check_token(browser, url)
                check(browser, f"{url}#{urllib.parse.quote(TOKEN)}", tasks)
                browser.picture(picture)
        finally:
            for process in [*tasks, top]:
                process.kill()
                process.wait()
    print("PASS")


main()
