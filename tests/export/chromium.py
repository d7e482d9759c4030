"""A headless Chromium that a test drives, over a pair of pipes (the DevTools protocol)."""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
SECONDS = 60
OPTIONS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--no-first-run",
    "--remote-debugging-pipe",
]
# The browser reads file descriptor 3 and writes 4.
LAUNCH = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One page in a browser of its own."""

    def __init__(self):
        program = next((path for name in NAMES if (path := shutil.which(name))), None)
        if program is None or os.name == "nt":
            pytest.skip("needs Chromium")
        self._profile = tempfile.mkdtemp()
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(to_browser), str(from_browser), program, *OPTIONS,
             f"--user-data-dir={self._profile}"],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self._buffer, self._number, self._session, self.errors = b"", 0, None, []
        # A browser that hangs must not hang the tests.
        self._watch = threading.Timer(10 * SECONDS, self._process.kill)
        self._watch.daemon = True
        self._watch.start()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        found = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = found["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Accessibility"):
            self.call(f"{domain}.enable")
        self.call("Network.emulateNetworkConditions", offline=True, latency=0,
                  downloadThroughput=0, uploadThroughput=0)  # fmt: skip

    def call(self, method, **parameters):
        """Call a method of the protocol, and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self):
        """The next message; what is no answer is looked at for errors of the page."""
        while b"\0" not in self._buffer:
            part = os.read(self._read, 1 << 20)
            assert part, "the browser has ended"
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(text)
        if message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(message["params"]["exceptionDetails"])
        if message.get("method") == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            if not url.startswith(("file:", "data:", "about:")):
                self.errors.append(f"a request of {url}")
        return message

    def open(self, path):
        """Open a file and wait until it is loaded."""
        self.call("Page.navigate", url=Path(path).as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def run(self, script):
        """The value of a JavaScript expression."""
        found = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def click(self, selector):
        """Click with the mouse in the middle of an element."""
        place = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + Math.min(r.height, 30) / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1],
                      button="left", clickCount=1)  # fmt: skip

    def press(self, key):
        """Press a key."""
        for kind in ("keyDown", "keyUp"):
            text = {"Enter": "\r", " ": " "}.get(key, "") if kind == "keyDown" else ""
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=text)

    def type(self, selector, text):
        """Replace the text of a field by typing."""
        self.run(f"document.querySelector({json.dumps(selector)}).select()")
        self.run(f"document.querySelector({json.dumps(selector)}).focus()")
        if text:
            self.call("Input.insertText", text=text)
        else:
            for kind in ("keyDown", "keyUp"):
                self.call("Input.dispatchKeyEvent", type=kind, key="Delete",
                          windowsVirtualKeyCode=46)  # fmt: skip

    def resize(self, width, height, dark=False):
        """Give the window a size, and a light or dark theme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)  # fmt: skip
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[feature])
        # The page has seen it when two frames have been drawn.
        self.run("new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)))")

    def screenshot(self, path):
        """A picture of the whole page."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(found["data"]))

    @contextmanager
    def frame(self):
        """Run scripts in the only frame of the page, which has a process of its own."""
        page, deadline = self._session, time.monotonic() + SECONDS
        while True:
            targets = self.call("Target.getTargets")["targetInfos"]
            frames = [target["targetId"] for target in targets if target["type"] == "iframe"]
            if frames or time.monotonic() > deadline:
                break
        (frame,) = frames
        found = self.call("Target.attachToTarget", targetId=frame, flatten=True)
        self._session = found["sessionId"]
        while self.run("document.readyState") != "complete":
            assert time.monotonic() < deadline
        yield
        self._session = page

    def close(self):
        """End the browser."""
        self._watch.cancel()
        self._process.kill()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)
        shutil.rmtree(self._profile, ignore_errors=True)
