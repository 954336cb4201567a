"""One request to one server at a time, over HTTP, which another thread can interrupt."""

from __future__ import annotations

import http.client
import json
import random
import socket
import ssl
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional
from urllib.parse import urlsplit

from .errors import Error, InvalidArgumentError, NotFoundError

CONNECT_SECONDS = 10.0
LONGEST_PAUSE = 10.0
"""Seconds between two tries to reach a server."""


@dataclass
class Answer:
    """What a server said, or why it said nothing."""

    url: str
    status: int = 0
    """0: there is no answer."""
    body: dict[str, Any] = field(default_factory=dict)
    trouble: str = ""
    retry_after: float = 0.0
    sent: bool = True
    """False: there was no connection."""
    final: Optional[type[Error]] = None
    """What it is, where there is no answer and trying again would not help."""

    @property
    def good(self) -> bool:
        return self.status in (200, 202)

    @property
    def passing(self) -> bool:
        """Another try may be answered otherwise."""
        return self.final is None and (self.status in (0, 408, 429) or self.status >= 500)

    def __str__(self) -> str:
        if self.trouble:
            return f"{self.url}: {self.trouble}"
        said = self.body.get("error", "")
        if self.status == 200:
            return f"{self.url}: {said}"
        return f"{self.url}: HTTP {self.status}" + (f": {said}" if said else "")


class Line:
    """What one thread waits on, a request's answer or a pause, and another can end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._interrupted = threading.Event()
        self._socket: Optional[socket.socket] = None

    @property
    def interrupted(self) -> bool:
        return self._interrupted.is_set()

    def interrupt(self) -> None:
        with self._lock:
            self._interrupted.set()
            if self._socket is not None:
                _shut(self._socket)

    def hold(self, connection: Optional[socket.socket]) -> None:
        """From now on it waits on this socket."""
        with self._lock:
            self._socket = connection
            if connection is not None and self._interrupted.is_set():
                _shut(connection)

    def sleep(self, seconds: float) -> None:
        self._interrupted.wait(seconds)


def _shut(connection: socket.socket) -> None:
    try:
        # Not that of an SSLSocket, which may not be called while another thread reads.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
    except OSError:
        pass


class Server:
    """Where a server is, and what is known of how it does. Thread-safe but for `waiting`."""

    def __init__(self, url: str, token: str, context: Optional[ssl.SSLContext]) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
            (parts.hostname or "").encode("idna")
        except ValueError:
            parts, port = urlsplit(""), None
        good = parts.scheme in ("http", "https") and parts.hostname
        # What stands before an '@' may be a secret, so that the message does not have it.
        if not good or "@" in parts.netloc or parts.query or parts.fragment:
            raise InvalidArgumentError("a server is written http://HOST:PORT or https://HOST")
        assert parts.hostname is not None
        self.url = url.rstrip("/")
        self._host, self._port, self._base = parts.hostname, port, parts.path.rstrip("/")
        self._context = context if parts.scheme == "https" else None
        self._headers = {"Accept": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self.waiting = 0
        """Experiments that this client has there, or is about to send."""
        self._lock = threading.Lock()
        self._reached = False
        self._failures = 0
        self._down_until = self._full_until = 0.0

    @property
    def failing(self) -> bool:
        """It did not answer when it was asked last."""
        return self._failures > 0

    def pause(self, sending: bool) -> float:
        """Seconds for which it should be left alone, where an experiment is to be sent, or else
        asked for."""
        until = max(self._down_until, self._full_until) if sending else self._down_until
        return max(0.0, until - time.monotonic())

    def ask(
        self,
        method: str,
        path: str,
        line: Line,
        headers: Mapping[str, str] = {},
        body: Optional[bytes] = None,
        timeout: float = 30.0,
    ) -> Answer:
        answer = self._ask(method, path, line, {**self._headers, **headers}, body, timeout)
        if not line.interrupted:
            self._note(answer, sending=method == "POST")
        return answer

    def _note(self, answer: Answer, sending: bool) -> None:
        with self._lock:
            now = time.monotonic()
            if sending and answer.status in (429, 503):  # It takes no more, but answers.
                self._full_until = now + max(answer.retry_after, 1.0) * random.uniform(1, 1.2)
            elif answer.passing:
                if now >= self._down_until:  # else others have found out already
                    self._failures += 1
                    least = min(0.1 * 2**self._failures, LONGEST_PAUSE)
                    pause = max(least, answer.retry_after) * random.uniform(1, 1.2)
                    self._down_until = now + pause
                return
            self._reached = True
            self._failures, self._down_until = 0, 0.0

    def _ask(
        self,
        method: str,
        path: str,
        line: Line,
        headers: Mapping[str, str],
        body: Optional[bytes],
        timeout: float,
    ) -> Answer:
        connection = self._connection(min(timeout, CONNECT_SECONDS))
        answer = Answer(self.url, sent=False)
        try:
            connection.connect()
            connection.sock.settimeout(timeout)
            line.hold(connection.sock)
            answer.sent = True
            try:
                connection.request(method, self._base + path, body, dict(headers))
            except (BrokenPipeError, ConnectionResetError):
                pass  # A server may refuse a body before it has all of it, and says why.
            response = connection.getresponse()
            text = response.read()
            answer.status = response.status
            answer.retry_after = _seconds(response.getheader("Retry-After"))
            answer.body = _object(text)
            # What is in the way, a proxy, may answer with a page of its own.
            if answer.good and not answer.body:
                answer.trouble = "does not answer as kbench serve --http does"
                answer.final = InvalidArgumentError
        except ssl.SSLCertVerificationError as problem:
            answer.trouble = f"its certificate is refused: {problem.verify_message}"
            answer.final = InvalidArgumentError
        except socket.gaierror as problem:
            answer.trouble = problem.strerror or "the name is not known"
            if problem.errno == socket.EAI_NONAME and not self._reached:
                answer.final = NotFoundError
        except (OSError, http.client.HTTPException) as problem:
            answer.trouble = _said(problem)
        finally:
            line.hold(None)
            connection.close()
        if answer.trouble:
            answer.status = 0
        return answer

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        if self._context is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=timeout)
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=timeout, context=self._context
        )


def _seconds(text: Optional[str]) -> float:
    """Of a Retry-After header; one that gives a date, which no server of kbench's does, is 0."""
    try:
        return min(max(float(text or 0), 0.0), 60.0)
    except ValueError:
        return 0.0


def _object(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _said(problem: Exception) -> str:
    if isinstance(problem, http.client.RemoteDisconnected):
        return "the connection ended without an answer"
    if isinstance(problem, (TimeoutError, socket.timeout)):
        return "there is no answer in time"
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    return str(problem) or type(problem).__name__
