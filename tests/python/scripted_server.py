"""A server that answers as `kbench serve --http` does, judges nothing, and fails where told."""

import json
import socket
import ssl
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Optional

Fault = Callable[[str], Optional[str]]
"""What is to go wrong with a request, by its method: one of FAULTS, or nothing."""

FAULTS = (
    "reset",  # the connection ends before the request is looked at
    "unanswered",  # the request is done, and the connection ends in place of the answer
    "full",  # 429
    "stopping",  # 503
    "page",  # 502, with a page of a proxy's
    "slow",  # the answer takes a while
)


TEXTS = "candidate_hash task task_name preset device driver baseline settings version"
NUMBERS = "candidate_ms baseline_ms setup_ms max_error gbytes_per_s tflops compile_s wall_s"


def result_of(request: dict[str, Any]) -> dict[str, Any]:
    return {
        **dict.fromkeys(TEXTS.split(), ""),
        **dict.fromkeys(NUMBERS.split(), 1.0),
        "set": "",
        "candidate": request.get("name", "candidate.yaml"),
        "variables": {},
        "software_device": True,
        "verdict": "compiles" if request.get("check") else "passed",
        "message": request["files"]["candidate.yaml"],
        "diagnostics": [],
        "samples": 4,
        "speedup": {"low": 1.0, "point": 2.0, "high": 3.0},
    }


class ScriptedServer:
    """At `url`, until it is closed. `evaluated` has the candidates in the order of their ends."""

    def __init__(self, token: str = "", context: Optional[ssl.SSLContext] = None) -> None:
        self.fault: Fault = lambda method: None
        self.token = token
        self.seconds = 0.01  # that an experiment takes
        self.evaluated: list[str] = []
        self.requests: list[tuple[str, str]] = []  # method and path
        self.keys: set[str] = set()
        self._lock = threading.Lock()
        self._by_id: dict[str, dict[str, Any]] = {}
        self._by_key: dict[str, str] = {}
        self._count = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                outer._serve(self)

            do_POST = do_DELETE = do_GET

        class Listener(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_: Any) -> None:
                pass  # A client that went away, or was sent away.

        self._http = Listener(("127.0.0.1", 0), Handler)
        if context is not None:
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
        scheme = "http" if context is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def __enter__(self) -> "ScriptedServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def forget(self) -> None:
        """As one that is started again."""
        with self._lock:
            self._by_id.clear()
            self._by_key.clear()

    def cancel_all(self) -> None:
        """As one that is stopped at once."""
        with self._lock:
            for each in self._by_id.values():
                if each["state"] == "running":
                    each["state"] = "cancelled"

    def count(self, method: str) -> int:
        with self._lock:
            return sum(1 for each, _ in self.requests if each == method)

    def states(self) -> list[str]:
        with self._lock:
            return [each["state"] for each in self._by_id.values()]

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        method, path = handler.command, handler.path
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        with self._lock:
            self.requests.append((method, path))
            fault = self.fault(method)
        if self.token and handler.headers.get("Authorization") != f"Bearer {self.token}":
            return self._say(handler, 401, {"error": "a token is needed"})
        if fault == "reset":
            return self._reset(handler)
        if fault == "full":
            return self._say(handler, 429, {"error": "there are too many"}, "1")
        if fault == "stopping":
            return self._say(handler, 503, {"error": "the service is stopping"}, "1")
        if fault == "page":
            return self._say(handler, 502, None)
        if fault == "slow":
            time.sleep(0.3)
        status, answer = self._answer(handler, method, path, body)
        if fault == "unanswered":
            return self._reset(handler)
        self._say(handler, status, answer)

    def _answer(
        self, handler: BaseHTTPRequestHandler, method: str, path: str, body: bytes
    ) -> tuple[int, dict[str, Any]]:
        if path == "/healthz":
            return 200, {"status": "ok", "devices": 1}
        if path == "/v1/tasks":
            return 200, {"tasks": [{"task": "level1/19", "name": "ReLU"}]}
        if path == "/v1/devices":
            return 200, {"devices": [{"index": 0, "name": "scripted"}]}
        if method == "POST" and path == "/v1/evaluate":
            assert handler.headers["Prefer"] == "respond-async"
            return self._post(json.loads(body), handler.headers["Idempotency-Key"])
        name, _, query = path.rpartition("/")[2].partition("?")
        end = time.monotonic() + float(query.rpartition("=")[2] or 0)
        while True:
            with self._lock:
                found = self._by_id.get(name)
                if found is None:
                    return 404, {"error": f"there is no experiment {name}"}
                if method == "DELETE" and found["state"] == "running":
                    found["state"] = "cancelled"
                self._advance(found)
                if found["state"] != "running" or time.monotonic() > end:
                    return 200, self._view(name, found)
            time.sleep(0.005)

    def _post(self, request: dict[str, Any], key: str) -> tuple[int, dict[str, Any]]:
        with self._lock:
            self.keys.add(key)
            if key not in self._by_key:
                self._count += 1
                name = self._by_key[key] = f"{self._count:032x}"
                ends = time.monotonic() + self.seconds
                self._by_id[name] = {"state": "running", "ends": ends, "request": request}
            name = self._by_key[key]
            found = self._by_id[name]
            self._advance(found)
            status = {"running": 202, "failed": 422}.get(found["state"], 200)
            return status, self._view(name, found)

    def _advance(self, found: dict[str, Any]) -> None:
        if found["state"] != "running" or time.monotonic() < found["ends"]:
            return
        if found["request"].get("device") == "none":
            found["state"], found["error"] = "failed", "there is no device 'none'"
            return
        found["state"], found["result"] = "done", result_of(found["request"])
        self.evaluated.append(found["request"]["files"]["candidate.yaml"])

    def _view(self, name: str, found: dict[str, Any]) -> dict[str, Any]:
        kept = {each: found[each] for each in ("state", "result", "error") if each in found}
        return {"experiment": name, "id": None, **kept}

    def _say(
        self,
        handler: BaseHTTPRequestHandler,
        status: int,
        answer: Optional[dict[str, Any]],
        retry_after: str = "",
    ) -> None:
        text = b"<html>Bad Gateway</html>" if answer is None else json.dumps(answer).encode()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(text)))
        if retry_after:
            handler.send_header("Retry-After", retry_after)
        handler.end_headers()
        handler.wfile.write(text)

    def _reset(self, handler: BaseHTTPRequestHandler) -> None:
        # Closing with SO_LINGER at 0 s resets a connection.
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.close_connection = True
        handler.connection.close()
