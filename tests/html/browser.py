# SPDX-License-Identifier: MIT
"""A headless Chromium, driven through the pipe of its DevTools protocol
(https://chromedevtools.github.io/devtools-protocol/)."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
         "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync",
         "--hide-scrollbars", "--remote-debugging-pipe")
LIMIT_S = 120  # for hangs


def find():
    """The browser's path, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="portprof-browser.")
        to_child, self.write_end = os.pipe()
        self.read_end, from_child = os.pipe()

        def arrange():
            # the protocol is spoken on descriptors 3 and 4
            a, b = os.dup(to_child), os.dup(from_child)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [find(), *FLAGS, "--user-data-dir=" + self.folder, "about:blank"],
            preexec_fn=arrange, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.count, self.rest = 0, b""
        self.complaints, self.requests = [], []
        self.session = None
        pages = self.call("Target.getTargets")["targetInfos"]
        page = next(p for p in pages if p["type"] == "page")
        self.session = self.call("Target.attachToTarget",
                                 targetId=page["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def receive(self):
        while b"\0" not in self.rest:
            if not select.select([self.read_end], [], [], LIMIT_S)[0]:
                raise TimeoutError("the browser is silent")
            piece = os.read(self.read_end, 1 << 20)
            if not piece:
                raise EOFError("the browser has gone")
            self.rest += piece
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        method, words = message.get("method"), message.get("params")
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(words["exceptionDetails"])[:400])
        elif method == "Log.entryAdded" and words["entry"]["level"] == "error":
            self.complaints.append(words["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(words["request"]["url"])
        return message

    def call(self, method, **words):
        self.count += 1
        message = {"id": self.count, "method": method, "params": words}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(method + ": " + str(answer["error"]))
                return answer["result"]

    def run(self, text):
        """The value of an expression in the page; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=text,
                           returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(text + ": " +
                               json.dumps(answer["exceptionDetails"])[:600])
        return answer["result"].get("value")

    def wait(self, text):
        """Until an expression is true."""
        end = time.monotonic() + LIMIT_S
        while not self.run(text):
            if time.monotonic() > end:
                raise TimeoutError(text)
            time.sleep(0.02)

    def size(self, width, height, scale=1, is_phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=scale, mobile=is_phone)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": name},
            {"name": "prefers-reduced-motion", "value": "reduce"}])

    def open(self, path, words=""):
        """A file, with a fragment such as "#view=inverted"."""
        # another fragment alone would leave the page as it is
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url="file://" + os.path.abspath(path) +
                  words)
        self.wait("document.readyState === 'complete' && "
                  "(window.portprofPage || {page: {}}).page.isReady === true")
        self.settle()

    def settle(self):
        """Until what was asked for is painted."""
        self.run("new Promise((done) => requestAnimationFrame(() => "
                 "requestAnimationFrame(() => setTimeout(done, 0))))")

    def press(self, key, text=None):
        codes = {"Enter": 13, "Escape": 27, "Backspace": 8, "ArrowLeft": 37,
                 "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9,
                 "End": 35, "Home": 36}
        words = {"key": key, "windowsVirtualKeyCode": codes.get(key, 0)}
        if len(key) == 1:
            text = text or key
        if key == "Enter":
            text = "\r"
        self.call("Input.dispatchKeyEvent", type="keyDown",
                  **({"text": text} if text else {}), **words)
        self.call("Input.dispatchKeyEvent", type="keyUp", **words)
        self.settle()

    def type(self, text):
        for letter in text:
            self.press(letter)

    def click(self, x, y, count=1):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                      button="left", clickCount=count)
        self.settle()

    def move(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.settle()

    def tap(self, x, y):
        self.call("Input.dispatchTouchEvent", type="touchStart",
                  touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.settle()

    def click_on(self, selector):
        box = self.run("(() => { const e = document.querySelector(%s); "
                       "e.scrollIntoView({block: 'center'}); "
                       "const b = e.getBoundingClientRect(); "
                       "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
                       % json.dumps(selector))
        self.settle()
        self.click(*box)

    def shot(self, path, is_whole=False):
        data = self.call("Page.captureScreenshot", format="png",
                         captureBeyondViewport=is_whole)["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (EOFError, OSError, RuntimeError, TimeoutError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.folder, ignore_errors=True)
