"""Sixteen clients at once, most of them rude: no experiment is lost or done twice, none of them
holds up the others, and memory stays flat. KBENCH_EXPERIMENTS is how many polite experiments there
are (40); `ctest -L soak` has ten thousand."""

import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
import uuid

from server import ASYNC, JSON, LINES, RELU, Server

COUNT = int(os.environ.get("KBENCH_EXPERIMENTS", "40"))
TOKEN = "a-token-for-this-test"
AUTHOR = {"Authorization": f"Bearer {TOKEN}"}
PATIENCE = 120  # seconds for a server to be there again


def experiment(number):
    return {"id": number, "files": RELU, "author": "load"}


class Load(unittest.TestCase):
    def setUp(self):
        self.server = Server(environment={"KBENCH_SERVE_TOKEN": TOKEN})
        self.addCleanup(self.server.close)
        self.lock = threading.Lock()
        self.numbers = iter(range(COUNT))
        self.outcomes = {}  # number -> verdicts
        self.accepted = 0
        self.rude = 0
        self.done = threading.Event()

    def ask(self, method, path, body=None, headers=None):
        """Tries again while the server has no room, or is not there."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                answer = self.server.ask(method, path, body, {**AUTHOR, **(headers or {})})
                if answer.status not in (429, 503):
                    return answer
                pause = float(answer.headers["Retry-After"])
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                pause = 0.1
            self.assertLess(time.monotonic(), end, "the server did not come back")
            time.sleep(min(pause, 1))

    def take(self, most):
        with self.lock:
            return [number for _, number in zip(range(most), self.numbers)]

    def keep(self, said):
        with self.lock:
            self.outcomes.setdefault(said["id"], []).append(said["result"]["verdict"])

    # Those whose experiments count. Each has a key, so that what is sent again is not done again.

    def waits(self):
        while number := self.take(1):
            key = {"Idempotency-Key": uuid.uuid4().hex}
            answer = self.ask("POST", "/v1/evaluate", experiment(number[0]), {**JSON, **key})
            self.keep(answer.json)

    def polls(self):
        while number := self.take(1):
            headers = {**ASYNC, "Idempotency-Key": uuid.uuid4().hex}
            said = {"state": "queued"}
            while said["state"] in ("queued", "running"):
                answer = self.ask("POST", "/v1/evaluate", experiment(number[0]), headers)
                said = answer.json
                if said["state"] in ("queued", "running"):
                    place = answer.headers["Location"]
                    said = self.ask("GET", place + "?wait=5").json
                    said.setdefault("state", "queued")  # 404 of a new server: sent again
            self.keep(said)

    def batches(self):
        while numbers := self.take(8):
            body = "\n".join(json.dumps(experiment(each)) for each in numbers)
            key = {"Idempotency-Key": uuid.uuid4().hex}
            lines = []
            while len(lines) < len(numbers):
                lines = self.ask("POST", "/v1/evaluate/batch", body, {**LINES, **key}).text
                lines = [line for line in lines.split("\n") if line.endswith("}")]
            for line in lines:
                self.keep(json.loads(line))

    # The rude.

    def connection(self):
        return socket.create_connection(("127.0.0.1", self.server.port), timeout=120)

    def head(self, length, token=TOKEN):
        return (f"POST /v1/evaluate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                f"Authorization: Bearer {token}\r\nContent-Length: {length}\r\n\r\n").encode()

    def slow(self):
        with self.connection() as sock:
            sock.sendall(self.head(100000))
            for _ in range(20):
                sock.sendall(b" ")
                time.sleep(0.05)

    def half_closed(self):
        body = json.dumps(experiment(-1)).encode()
        with self.connection() as sock:
            sock.sendall(self.head(len(body)) + body[: len(body) // 2])
            sock.shutdown(socket.SHUT_WR)
            while sock.recv(4096):
                pass

    def bad_json(self):
        self.assertEqual(self.ask("POST", "/v1/evaluate", "{" * 5000, JSON).status, 400)

    def oversized(self):
        with self.connection() as sock:
            sock.sendall(self.head(1 << 40) + b" " * (1 << 20))

    def wrong_token(self):
        with self.connection() as sock:
            sock.sendall(self.head(2, token="not-this-one-at-all") + b"{}")
            self.assertIn(b"401", sock.recv(4096))

    def no_http(self):
        with self.connection() as sock:
            sock.sendall(random.randbytes(500) + b"\r\n\r\n")

    def cancelled(self):
        said = self.ask("POST", "/v1/evaluate", experiment(-1), ASYNC).json
        self.ask("DELETE", "/v1/experiments/" + said["experiment"])

    def killed_client(self):
        """Ends in the middle of a batch."""
        body = "\n".join(json.dumps(experiment(-1)) for _ in range(4))
        code = ("import http.client, sys\n"
                "c = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]))\n"
                "c.request('POST', '/v1/evaluate/batch', sys.stdin.read(), "
                "{'Authorization': 'Bearer ' + sys.argv[2], 'Content-Type': "
                "'application/x-ndjson'})\nc.getresponse().read()\n")
        client = subprocess.Popen([sys.executable, "-c", code, str(self.server.port), TOKEN],
                                  stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)  # fmt: skip
        client.stdin.write(body.encode())
        client.stdin.close()
        time.sleep(random.uniform(0.1, 0.4))
        client.kill()
        client.wait()

    def misbehaves(self, kind):
        # In a long run they come more rarely: their own experiments would take most of it.
        rarely = 1 if COUNT < 1000 else 10
        while not self.done.wait(rarely * random.uniform(0.05, 0.3)):
            try:
                kind()
                with self.lock:
                    self.rude += 1
            except (OSError, http.client.HTTPException):  # the server closed, or is started again
                pass

    def run_clients(self, meanwhile):
        kinds = [self.slow, self.half_closed, self.bad_json, self.oversized, self.wrong_token,
                 self.no_http, self.cancelled, self.killed_client]  # fmt: skip
        failures = []

        def guarded(work, *arguments):
            try:
                work(*arguments)
            except Exception as problem:  # pylint: disable=broad-except
                failures.append(repr(problem))

        polite = [threading.Thread(target=guarded, args=(each,))
                  for each in 3 * [self.waits] + 3 * [self.polls] + 2 * [self.batches]]
        rude = [threading.Thread(target=guarded, args=(self.misbehaves, kind)) for kind in kinds]
        for each in polite + rude:
            each.start()
        while any(each.is_alive() for each in polite):
            meanwhile()
            time.sleep(0.2)
        self.done.set()
        for each in polite + rude:
            each.join()
        self.assertEqual(failures, [])
        self.assertEqual(sorted(self.outcomes), list(range(COUNT)))
        self.assertEqual({each for all in self.outcomes.values() for each in all}, {"passed"})
        self.assertTrue(all(len(each) == 1 for each in self.outcomes.values()))

    def test_nothing_is_lost_or_doubled(self):
        memory = []
        killed = [0]

        def meanwhile():
            done = len(self.outcomes)
            if done >= COUNT // 10 and len(memory) * COUNT // 10 < done:
                memory.append(self.server.resident_bytes())
            if done * 5 > COUNT * (killed[0] + 1) and killed[0] < 4:  # four times
                killed[0] += 1
                for judge in self.server.judges():
                    os.kill(judge, signal.SIGKILL)

        self.run_clients(meanwhile)
        metrics = self.server.ask("GET", "/metrics", None, AUTHOR).text
        passed = int(re.search(r'outcome="passed"} (\d+)', metrics)[1])
        restarted = int(re.search(r"judges_restarted_total (\d+)", metrics)[1])
        # Beside the polite there are the rude's that were not cancelled in time.
        self.assertGreaterEqual(passed, COUNT)
        self.assertGreaterEqual(restarted, killed[0])
        grown = (memory[-1] - memory[len(memory) // 2]) / 2**20
        print(f"\n{COUNT} experiments, {self.rude} rude requests, {restarted} judges started again, "
              f"{memory[-1] / 2**20:.0f} MiB at the end, {grown:.1f} more than half-way")
        # Threads fill their memory's arenas in the beginning; later only outcomes that are kept add
        # up, with 2 KiB each.
        self.assertLess(memory[-1], 400 * 2**20)
        if COUNT >= 1000:
            self.assertLess(grown, 20 + COUNT / 2 * 2048 / 2**20)
        self.assertEqual(self.server.stop(), 0)

    def test_a_server_that_is_killed_loses_nothing_for_those_who_ask_again(self):
        killed = []

        def meanwhile():
            if len(self.outcomes) < COUNT // 3 or killed:
                return
            killed.append(True)
            port = self.server.port
            self.server.process.kill()
            self.server.process.wait()
            old, deadline = self.server, time.monotonic() + PATIENCE
            while True:  # until the port is free again
                try:
                    self.server = Server(port, {"KBENCH_SERVE_TOKEN": TOKEN})
                    break
                except AssertionError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.2)
            old.close()
            self.addCleanup(self.server.close)

        self.run_clients(meanwhile)
        self.assertEqual(killed, [True])


if __name__ == "__main__":
    unittest.main()
