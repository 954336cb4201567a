"""The server's side of RFC 6455: text messages over a connection that a Handler has accepted."""

from __future__ import annotations

import base64
import hashlib
import struct
from typing import Optional

from ._server import MOST_BYTES, Handler

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUED, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
GOING, PROTOCOL_ERROR, UNSUPPORTED, TOO_BIG = 1000, 1002, 1003, 1009


class WebSocket:
    """receive() and send(), until the peer closes."""

    def __init__(self, handler: Handler) -> None:
        self._in = handler.rfile
        self._out = handler.wfile
        key = handler.headers.get("Sec-WebSocket-Key", "")
        self.open = bool(key) and handler.headers.get("Sec-WebSocket-Version") == "13"
        if not self.open:
            handler.send_response(426 if key else 400)
            handler.send_header("Sec-WebSocket-Version", "13")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        proof = base64.b64encode(hashlib.sha1(key.encode() + GUID).digest()).decode()
        handler.send_response(101)
        handler.send_header("Upgrade", "websocket")
        handler.send_header("Connection", "Upgrade")
        handler.send_header("Sec-WebSocket-Accept", proof)
        handler.end_headers()
        handler.connection.settimeout(None)  # A model may think for long.

    def receive(self) -> Optional[str]:
        """The next message; None once it is closed."""
        message = b""
        begun = False
        while self.open:
            frame = self._frame()
            if frame is None:
                continue
            last, kind, payload = frame
            if kind == PING:
                self._send(PONG, payload)
            elif kind == CLOSE:
                self.close(GOING)
            elif kind == PONG:
                continue
            elif kind == BINARY:
                self.close(UNSUPPORTED)
            elif (kind == TEXT) == begun:  # a message in a message, or a part of none
                self.close(PROTOCOL_ERROR)
            elif len(message) + len(payload) > MOST_BYTES:
                self.close(TOO_BIG)
            else:
                message += payload
                begun = True
                if last:
                    return message.decode(errors="replace")
        return None

    def send(self, text: str) -> None:
        self._send(TEXT, text.encode())

    def close(self, reason: int = GOING) -> None:
        if self.open:
            self._send(CLOSE, struct.pack("!H", reason))
        self.open = False

    def _frame(self) -> Optional[tuple[bool, int, bytes]]:
        """None where that has closed the connection."""
        head = self._read(2)
        if head is None:
            return None
        last, kind, size = bool(head[0] & 0x80), head[0] & 0x0F, head[1] & 0x7F
        if size >= 126:
            more = self._read(2 if size == 126 else 8)
            if more is None:
                return None
            size = int.from_bytes(more, "big")
        known = kind in (CONTINUED, TEXT, BINARY, CLOSE, PING, PONG)
        whole = kind < CLOSE or (last and size < 126)
        if head[0] & 0x70 or not head[1] & 0x80 or not known or not whole:
            self.close(PROTOCOL_ERROR)
            return None
        if size > MOST_BYTES:
            self.close(TOO_BIG)
            return None
        mask = self._read(4)
        payload = self._read(size)
        if mask is None or payload is None:
            return None
        pad = (mask * (size // 4 + 1))[:size]
        plain = int.from_bytes(payload, "big") ^ int.from_bytes(pad, "big")
        return last, kind, plain.to_bytes(size, "big")

    def _read(self, size: int) -> Optional[bytes]:
        try:
            found = self._in.read(size)
        except OSError:
            found = b""
        if len(found) < size:
            self.open = False
            return None
        return found

    def _send(self, kind: int, payload: bytes) -> None:
        size = len(payload)
        if size < 126:
            head = struct.pack("!BB", 0x80 | kind, size)
        elif size < 1 << 16:
            head = struct.pack("!BBH", 0x80 | kind, 126, size)
        else:
            head = struct.pack("!BBQ", 0x80 | kind, 127, size)
        try:
            self._out.write(head + payload)
            self._out.flush()
        except OSError:
            self.open = False
