"""An HTTP server of JSON for the adapters, by the standard library alone."""

from __future__ import annotations

import http.cookies
import json
import sys
import urllib.parse
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Mapping

from ..errors import Error, InvalidArgumentError, NotFoundError, ParseError

MOST_BYTES = 16 * 1024 * 1024
IDLE_SECONDS = 300


class Refused(Exception):
    """An answer other than 200."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Call:
    """One request."""

    body: dict[str, Any]
    query: dict[str, str]
    cookies: dict[str, str]
    set_cookies: dict[str, str] = field(default_factory=dict)
    """What its answer sets."""

    def text(self, name: str) -> str:
        value = self.body.get(name)
        if not isinstance(value, str) or not value:
            raise Refused(422, f"the request lacks the text '{name}'")
        return value


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    server: "JsonServer"

    def do_GET(self) -> None:
        upgrade = self.server.upgrades.get(urllib.parse.urlsplit(self.path).path)
        wanted = "websocket" in self.headers.get("Upgrade", "").lower()
        if upgrade is not None and wanted and "Origin" not in self.headers:
            self.close_connection = True
            upgrade(self)
        else:
            self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        call = Call({}, {}, {})
        try:
            status, text = 200, json.dumps(self._called(call), allow_nan=False)
        except Refused as refused:
            status, text = refused.status, json.dumps({"detail": str(refused)})
        except (InvalidArgumentError, ParseError, NotFoundError) as error:
            status, text = 422, json.dumps({"detail": str(error)})
        except Error as error:  # The machine's fault: nobody's answer was bad.
            status, text = 503, json.dumps({"detail": str(error)})
        except OSError:
            raise  # There is nobody to answer.
        except Exception as error:
            status, text = 500, json.dumps({"detail": f"{type(error).__name__}: {error}"})
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        for name, cookie in call.set_cookies.items():
            self.send_header("Set-Cookie", f"{name}={cookie}; Path=/; HttpOnly; SameSite=Lax")
        self.end_headers()
        self.wfile.write(text.encode())

    def _called(self, call: Call) -> Any:
        try:
            length = int(self.headers.get("Content-Length", "0"))
        except ValueError:
            length = -1
        if "Transfer-Encoding" in self.headers or not 0 <= length <= MOST_BYTES:
            self.close_connection = True  # What follows is not read.
            raise Refused(413, f"a body needs a Content-Length of at most {MOST_BYTES} bytes")
        text = self.rfile.read(length)
        if "Origin" in self.headers:
            raise Refused(403, "a page in a browser may not ask: any page could")
        url = urllib.parse.urlsplit(self.path)
        route = self.server.routes.get((self.command, url.path))
        if route is None:
            known = any(path == url.path for _, path in self.server.routes)
            raise Refused(405 if known else 404, f"there is no {self.command} {url.path}")
        call.query = dict(urllib.parse.parse_qsl(url.query))
        cookies: http.cookies.SimpleCookie[str] = http.cookies.SimpleCookie()
        try:
            cookies.load(self.headers.get("Cookie", ""))
        except http.cookies.CookieError:
            pass
        call.cookies = {name: cookie.value for name, cookie in cookies.items()}
        if text:
            call.body = parsed(text)
        return route(call)

    def log_message(self, format: str, *args: Any) -> None:
        pass


Route = Callable[[Call], Any]


class JsonServer(ThreadingHTTPServer):
    """Answers in a thread for each connection. `routes`: ("POST", "/verify") -> what answers."""

    daemon_threads = True

    def __init__(
        self,
        host: str,
        port: int,
        routes: Mapping[tuple[str, str], Route],
        upgrades: Mapping[str, Callable[[Handler], None]] = {},
    ) -> None:
        self.routes = dict(routes)
        self.upgrades = dict(upgrades)
        super().__init__((host, port), Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):  # A peer that went away is none.
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        return f"http://{self.server_address[0]!s}:{self.server_port}"


def parsed(text: bytes) -> dict[str, Any]:
    """Raises Refused where it is no JSON object."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is no number of JSON")

    try:
        value = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise Refused(422, f"the body is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise Refused(422, "the body is no JSON object")
    return value
