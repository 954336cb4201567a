"""A headless Chromium spoken to over a pipe (the DevTools protocol), with the standard library alone."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Browser:
    """One page. `problems` collects what the console complains of, and uncaught errors."""

    def __init__(self, program, width=1280, height=900):
        self.profile = tempfile.mkdtemp(prefix="kbench_browser_")
        to_read, self.to = os.pipe()
        self.out, to_write = os.pipe()

        def descriptors():  # the protocol's: 3 in, 4 out
            read, write = os.dup(to_read), os.dup(to_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
             f"--user-data-dir={self.profile}", f"--window-size={width},{height}", "about:blank"],
            preexec_fn=descriptors, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer = b""
        self.number = 0
        self.problems = []
        self.requests = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def receive(self, until):
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.out], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            chunk = os.read(self.out, 1 << 20)
            if not chunk:
                raise EOFError("the browser has ended")
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(message)
        method, what = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(what["exceptionDetails"].get("exception", {}).get("description", str(what)))
        elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.problems.append(str(what["args"]))
        elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.problems.append(what["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])
        return message

    def call(self, method, seconds=60, **what):
        self.number += 1
        message = {"id": self.number, "method": method, "params": what}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + seconds
        while True:
            answer = self.receive(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, path):
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        until = time.monotonic() + 60
        while self.eval("document.readyState + (document.documentElement?.dataset.ready || '')") != "completeyes":
            if self.problems or time.monotonic() > until:
                raise RuntimeError(f"the page is not ready: {self.problems}")
            time.sleep(0.05)

    def eval(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def key(self, key, code=None, text=None):
        codes = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowRight": 39, "ArrowUp": 38,
                 "ArrowLeft": 37, "Tab": 9, "Home": 36, "End": 35}
        what = {"key": key, "code": code or key, "windowsVirtualKeyCode": codes.get(key, 0)}
        if key == "Enter":
            what["text"] = "\r"
        self.call("Input.dispatchKeyEvent", type="keyDown", **what)
        self.call("Input.dispatchKeyEvent", type="keyUp", **what)

    def media(self, media="", scheme="light"):
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def width(self, pixels):
        """As wide as a telephone, say; None: as the window is."""
        if pixels is None:
            self.call("Emulation.clearDeviceMetricsOverride")
            return
        self.call("Emulation.setDeviceMetricsOverride", width=pixels, height=844, deviceScaleFactor=1, mobile=True)

    def screenshot(self, path, whole=True):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self, path):
        data = self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close", seconds=10)
            self.process.wait(10)
        except Exception:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)
