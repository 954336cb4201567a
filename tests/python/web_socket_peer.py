"""The client's side of RFC 6455, by hand: also what no well-behaved client sends."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import socket
import struct
from typing import Any, Optional


class Peer:
    def __init__(self, host: str, port: int, path: str = "/ws") -> None:
        self._socket = socket.create_connection((host, port), timeout=60)
        self._file = self._socket.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n".encode()
        )
        self.status = self._file.readline().decode().split()[1]
        self.headers: dict[str, str] = {}
        while line := self._file.readline().decode().strip():
            name, _, value = line.partition(": ")
            self.headers[name.lower()] = value
        guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.proof = base64.b64encode(hashlib.sha1((key + guid).encode()).digest()).decode()

    def frame(self, kind: int, payload: bytes, last: bool = True, masked: bool = True) -> None:
        size = len(payload)
        mark = 0x80 if masked else 0
        head = bytes([(0x80 if last else 0) | kind])
        if size < 126:
            head += bytes([mark | size])
        elif size < 65536:
            head += struct.pack("!BH", mark | 126, size)
        else:
            head += struct.pack("!BQ", mark | 127, size)
        if masked:
            mask = os.urandom(4)
            head += mask
            payload = bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
        self.send(head + payload)

    def send(self, raw: bytes) -> None:
        self._socket.sendall(raw)

    def received(self) -> Optional[tuple[int, bytes]]:
        """The next frame; None where the connection was closed."""
        head = self._file.read(2)
        if len(head) < 2:
            return None
        assert head[0] & 0x80 and not head[0] & 0x70 and not head[1] & 0x80, head
        size = head[1]
        if size == 126:
            size = struct.unpack("!H", self._file.read(2))[0]
        elif size == 127:
            size = struct.unpack("!Q", self._file.read(8))[0]
        return head[0] & 0x0F, self._file.read(size)

    def ask(self, message: Any) -> Any:
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.frame(1, text)
        got = self.received()
        assert got is not None and got[0] == 1, got
        return json.loads(got[1])

    def close(self) -> None:
        self._file.close()
        self._socket.close()
