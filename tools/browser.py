"""A headless Chromium, controlled through Debian's chromium-driver."""

import base64
import json
import socket
import subprocess
import time
import urllib.request


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(url, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(url) as answer:
                return answer.read()
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"nothing answers at {url}")


class Browser:
    """A session of the WebDriver protocol. It ends with the `with` statement."""

    def __init__(self):
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(f"{self.base}/status")
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000", "--use-gl=angle",
                            "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]}
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options}}})
        self.base += f"/session/{answer['sessionId']}"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def open(self, url):
        self.call("POST", "/url", {"url": "about:blank"})
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """Runs JavaScript in the page, and returns what it returns."""
        return self.call("POST", "/execute/sync", {"script": script, "args": arguments})

    def wait(self, script, *arguments, seconds=60):
        """Runs JavaScript until it returns a true value, and returns that, or the last after `seconds`."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(script, *arguments)
            if value or time.monotonic() > end:
                return value
            time.sleep(0.2)

    def picture(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("GET", "/screenshot")))
