"""kbench.Client against a scripted server that fails in between."""

import asyncio
import itertools
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from ssl import PROTOCOL_TLS_SERVER, SSLContext
from typing import Any, Callable, Iterator, Optional
from unittest import mock

import kbench
import needs
from scripted_server import FAULTS, ScriptedServer

TOKEN = "a-token-that-is-secret"


def named(number: int) -> dict[str, str]:
    """A candidate that the scripted server's results can be told by."""
    return {"candidate.yaml": f"candidate {number}"}


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not true():
        if time.monotonic() > end:
            raise AssertionError("it did not come true")
        time.sleep(0.01)


def unused_url() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


class Faults(unittest.TestCase):
    def many(self, client: kbench.Client, count: int) -> None:
        """Every candidate has one result, its own."""
        results = list(client.evaluate_many(named(i) for i in range(count)))
        self.assertEqual(sorted(index for index, _ in results), list(range(count)))
        for index, result in results:
            self.assertEqual(result.message, f"candidate {index}")

    def test_none_is_lost_or_evaluated_twice(self) -> None:
        turns = itertools.count()

        def fault(_: str) -> Optional[str]:
            turn = next(turns)
            return FAULTS[turn // 9 % len(FAULTS)] if turn % 9 == 0 else None

        with ScriptedServer() as server, kbench.Client(server.url, in_flight=8) as client:
            server.fault = fault
            self.many(client, 60)
            self.assertEqual(len(server.evaluated), 60)
            self.assertEqual(len(set(server.evaluated)), 60)
            self.assertGreater(next(turns), 9 * len(FAULTS))

    def test_every_fault_of_every_request_is_survived(self) -> None:
        for fault in FAULTS:
            for method in ("POST", "GET"):
                with self.subTest(fault=fault, method=method), ScriptedServer() as server:
                    left = [fault]
                    server.fault = lambda asked: left.pop() if left and asked == method else None
                    result = kbench.Client(server.url).evaluate(named(1))
                    self.assertEqual(result.message, "candidate 1")
                    self.assertEqual(server.evaluated, ["candidate 1"])
                    self.assertEqual(left, [])

    def test_what_a_restarted_server_has_forgotten_is_sent_again(self) -> None:
        with ScriptedServer() as server, kbench.Client(server.url) as client:
            server.seconds = 60
            pending = [client.submit(named(i)) for i in range(5)]
            wait_until(lambda: len(server.states()) == 5)
            server.seconds = 0.01
            server.forget()
            self.assertEqual(
                [each.result(120).message for each in pending], [f"candidate {i}" for i in range(5)]
            )
            self.assertEqual(len(server.evaluated), 5)

    def test_what_a_server_cancelled_as_it_was_stopped_is_sent_again(self) -> None:
        with ScriptedServer() as server, kbench.Client(server.url) as client:
            server.seconds = 60
            pending = client.submit(named(1))
            wait_until(lambda: server.states() == ["running"])
            server.seconds = 0.01
            server.cancel_all()
            self.assertEqual(pending.result(120).verdict, "passed")
            self.assertEqual(len(server.keys), 2)

    def test_a_server_that_forgets_each_time_is_an_error(self) -> None:
        with ScriptedServer() as server:

            def fault(method: str) -> None:
                if method == "GET":
                    server._by_id.clear()  # as if another one had it
                    server._by_key.clear()

            server.fault, server.seconds = fault, 60
            with self.assertRaisesRegex(kbench.NoAnswerError, "forgotten.*docs/cluster.md"):
                kbench.Client(server.url).evaluate(named(1))

    def test_patience_ends(self) -> None:
        url = unused_url()
        with self.assertRaisesRegex(kbench.NoAnswerError, f"{url}: Connection refused"):
            kbench.Client(url, patience=0.5).evaluate(named(1))
        with ScriptedServer() as server:
            server.fault = lambda _: "full"
            with self.assertRaisesRegex(kbench.NoAnswerError, "HTTP 429: there are too many"):
                kbench.Client(server.url, patience=0.5).evaluate(named(1))

    def test_a_server_that_comes_later_is_waited_for(self) -> None:
        with ScriptedServer() as server:
            later = threading.Event()
            server.fault = lambda _: None if later.is_set() else "stopping"
            pending = kbench.Client(server.url).submit(named(1))
            wait_until(lambda: server.count("POST") > 0)
            self.assertFalse(pending.done())
            later.set()
            self.assertEqual(pending.result(120).verdict, "passed")

    def test_what_one_of_two_servers_had_goes_to_the_other(self) -> None:
        with ScriptedServer() as left, ScriptedServer() as right:
            left.seconds = right.seconds = 0.05
            with mock.patch("kbench.client.MOVE_SECONDS", 0.5):
                with kbench.Client([left.url, right.url], in_flight=4) as client:
                    dead = threading.Event()

                    def fault(_: str) -> Optional[str]:
                        return "reset" if dead.is_set() else None

                    left.fault = fault
                    results: dict[int, str] = {}
                    for index, result in client.evaluate_many(named(i) for i in range(60)):
                        self.assertNotIn(index, results)
                        results[index] = result.message
                        if len(results) == 20:
                            self.assertGreater(len(left.evaluated), 3)
                            self.assertGreater(len(right.evaluated), 3)
                            dead.set()
            self.assertEqual(results, {i: f"candidate {i}" for i in range(60)})
            self.assertGreater(len(right.evaluated), 30)

    def test_an_error_names_the_candidate_and_ends_the_rest(self) -> None:
        with ScriptedServer() as server, kbench.Client(server.url, in_flight=2) as client:
            server.seconds = 60

            def candidates() -> Iterator[dict[str, str]]:
                yield named(0)
                yield {"candidate.yaml": 1}  # type: ignore[dict-item]

            with self.assertRaises(Exception):
                list(client.evaluate_many(candidates()))
            wait_until(lambda: "running" not in server.states())
            server.seconds = 0.01
            none = kbench.Client(server.url, options=kbench.Options(device="none"))
            said = "candidate 0: .*no device 'none'"
            with self.assertRaisesRegex(kbench.InvalidArgumentError, said):
                list(none.evaluate_many([named(0)]))


class Cancelling(unittest.TestCase):
    def setUp(self) -> None:
        self.server = ScriptedServer()
        self.addCleanup(self.server.close)
        self.server.seconds = 60

    def assert_cancelled(self, pending: kbench.Evaluation) -> None:
        with self.assertRaises(kbench.Cancelled):
            pending.result(120)
        wait_until(lambda: self.server.states() == ["cancelled"])

    def test_cancels_at_the_server_too(self) -> None:
        with kbench.Client(self.server.url, in_flight=1) as client:
            first, second = client.submit(named(1)), client.submit(named(2))
            wait_until(lambda: self.server.count("GET") == 1)
            self.assertTrue(second.cancel())  # which is not sent before the first has ended
            with self.assertRaises(kbench.Cancelled):
                second.result(0)
            self.assertFalse(second.cancel())
            self.assertTrue(first.cancel())
            self.assert_cancelled(first)

    def test_a_stop_ends_evaluations_of_other_threads(self) -> None:
        stop = kbench.Stop()
        client = kbench.Client(self.server.url)
        threading.Timer(0.3, stop.request).start()
        with self.assertRaises(kbench.Cancelled):
            client.evaluate(named(1), stop)
        self.assertEqual(self.server.states(), ["cancelled"])
        with self.assertRaises(kbench.Cancelled):
            client.submit(named(2), stop).result(0)

    def test_what_was_sent_and_not_answered_is_cancelled_by_its_key(self) -> None:
        answers = iter(["unanswered"] + ["reset"] * 3)
        self.server.fault = lambda _: next(answers, None)
        pending = kbench.Client(self.server.url).submit(named(1))
        wait_until(lambda: self.server.count("POST") == 4)
        pending.cancel()
        self.assert_cancelled(pending)
        self.assertEqual(len(self.server.keys), 1)

    def test_closing_and_leaving_a_loop_cancel_the_rest(self) -> None:
        with kbench.Client(self.server.url) as client:
            pending = client.submit(named(1))
            wait_until(lambda: self.server.count("GET") == 1)
        self.assert_cancelled(pending)
        with self.assertRaisesRegex(kbench.InvalidArgumentError, "closed"):
            client.submit(named(2))
        self.server.seconds = 0.01
        loop = kbench.Client(self.server.url).evaluate_many(named(i) for i in itertools.count())
        next(loop)
        self.server.seconds = 60
        loop.close()  # type: ignore[attr-defined]
        self.assertNotIn("running", self.server.states())

    def test_an_interrupt_cancels(self) -> None:
        main = threading.main_thread().ident
        assert main is not None
        threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            kbench.Client(self.server.url).evaluate(named(1))
        self.assertEqual(self.server.states(), ["cancelled"])

    def test_asyncio_waits_and_cancels(self) -> None:
        async def use(client: kbench.Client) -> None:
            pending = client.submit(named(1))
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.wrap_future(pending), 0.3)
            await asyncio.to_thread(self.assert_cancelled, pending)
            self.server.seconds = 0.01
            result = await asyncio.wrap_future(client.submit(named(2)))
            self.assertEqual(result.message, "candidate 2")

        asyncio.run(use(kbench.Client(self.server.url)))


class Requests(unittest.TestCase):
    def test_the_token_is_sent_and_never_shown(self) -> None:
        with ScriptedServer(TOKEN) as server:
            client = kbench.Client(server.url, TOKEN)
            self.assertEqual(client.evaluate(named(1)).verdict, "passed")
            self.assertEqual(repr(client), f"Client('{server.url}')")
            with mock.patch.dict(os.environ, KBENCH_TOKEN=TOKEN + "\n"):
                self.assertEqual(kbench.Client(server.url).evaluate(named(1)).verdict, "passed")
            wrong = kbench.Client(server.url, "another-secret")
            calls: dict[Callable[..., object], tuple[Any, ...]] = {
                wrong.tasks: (),
                wrong.devices: (),
                wrong.evaluate: (named(1),),
            }
            for call, arguments in calls.items():
                with self.assertRaisesRegex(kbench.InvalidArgumentError, "HTTP 401") as caught:
                    call(*arguments)
                self.assertNotIn("another-secret", str(caught.exception))
        with self.assertRaises(kbench.InvalidArgumentError) as caught:
            kbench.Client(server.url, "two\nlines")
        self.assertNotIn("two", str(caught.exception))

    def test_addresses(self) -> None:
        for url in ("", "localhost:1", "ftp://a", "http://", "http://a:b", "http://me:secret@a"):
            with self.assertRaisesRegex(kbench.InvalidArgumentError, "http://HOST:PORT") as caught:
                kbench.Client(url)
            self.assertNotIn("secret", str(caught.exception))
        with self.assertRaises(kbench.InvalidArgumentError):
            kbench.Client([])
        with self.assertRaisesRegex(kbench.NotFoundError, "http://no-such-host.invalid"):
            kbench.Client("http://no-such-host.invalid").evaluate(named(1))

    def test_options_are_members_of_the_request(self) -> None:
        plan = kbench.Plan(max_seconds=0.1, max_samples=9, seed=7)
        limits = kbench.Limits(total_seconds=60)
        options = kbench.Options(
            preset="smoke", overrides={"dim": 65}, device="auto", plan=plan, limits=limits
        )
        with ScriptedServer() as server:
            with mock.patch.object(server, "_post", wraps=server._post) as post:
                client = kbench.Client(server.url, options=options)
                client.evaluate(kbench.Candidate(named(1), name="mine/a.yaml", author="me"))
                result = client.check({**named(2), "k.spv": b"\0\xff"}, task_file="kbench_task: 1")
        self.assertEqual(result.verdict, "compiles")
        first, second = (call.args[0] for call in post.call_args_list)
        asked: dict[str, Any] = {
            "preset": "smoke",
            "overrides": {"dim": 65},
            "plan": {"max_seconds": 0.1, "max_samples": 9, "seed": 7},
            "limits": {"total_seconds": 60},
            "manifest": "candidate.yaml",
        }
        self.assertEqual(first, dict(asked, files=named(1), name="mine/a.yaml", author="me"))
        files: dict[str, Any] = {**named(2), "k.spv": {"base64": "AP8="}}
        self.assertEqual(second, dict(asked, files=files, task_file="kbench_task: 1", check=True))
        for wrong in (
            kbench.Options(recorded={"file": "t.json"}),
            kbench.Options(rule=kbench.Rule(validate=True)),
            kbench.Options(program="/usr/bin/kbench"),
        ):
            with self.assertRaises(kbench.UnsupportedError):
                kbench.Client(server.url, options=wrong)
        with self.assertRaises(ValueError):
            kbench.Client(server.url, options=kbench.Options(plan=kbench.Plan(precision=math.nan)))

    def test_what_servers_say_of_themselves(self) -> None:
        gone = unused_url()
        with ScriptedServer() as server:
            self.assertEqual(kbench.Client(server.url).tasks()[0]["task"], "level1/19")
            (device,) = kbench.Client(server.url).devices()
            self.assertEqual((device["server"], device["name"]), (server.url, "scripted"))
            both = kbench.Client([gone, server.url])
            self.assertEqual(both.tasks()[0]["name"], "ReLU")
            first, second = both.health()
            self.assertIn("Connection refused", first.status)
            self.assertEqual(second, kbench.Health(server.url, "ok", 1))
            with self.assertRaises(kbench.NoAnswerError):
                both.devices()

    def test_a_server_of_another_kind_is_an_error(self) -> None:
        with ScriptedServer() as server:
            with self.assertRaisesRegex(kbench.NotFoundError, "is it kbench serve"):
                kbench.Client(server.url + "/elsewhere").evaluate(named(1))
            with mock.patch.object(server, "_say", lambda handler, *_: _page(handler)):
                said = "does not answer as kbench"
                with self.assertRaisesRegex(kbench.InvalidArgumentError, said):
                    kbench.Client(server.url).evaluate(named(1))

    def test_a_body_that_is_refused_while_it_is_sent(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0))

        def refuse() -> None:
            connection, _ = listener.accept()
            connection.recv(1000)
            text = b'{"error": "a body has at most 9 bytes"}'
            head = f"HTTP/1.1 413 Too Large\r\nContent-Length: {len(text)}\r\n\r\n".encode()
            connection.sendall(head + text)
            connection.shutdown(socket.SHUT_RD)
            time.sleep(0.3)
            connection.close()

        threading.Thread(target=refuse, daemon=True).start()
        client = kbench.Client(f"http://127.0.0.1:{listener.getsockname()[1]}", patience=0)
        with self.assertRaisesRegex(kbench.Error, "at most 9 bytes|reset"):
            client.evaluate({"candidate.yaml": "x" * 20_000_000})
        listener.close()

    def test_https_with_a_certificate_of_ones_own(self) -> None:
        openssl = shutil.which("openssl")
        needs.need(openssl, "openssl (Debian: openssl)")
        assert openssl is not None
        with tempfile.TemporaryDirectory() as folder:
            key, certificate = f"{folder}/key.pem", f"{folder}/certificate.pem"
            subprocess.run(
                [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt",
                 "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", certificate,
                 "-subj", "/CN=here", "-addext", "subjectAltName=IP:127.0.0.1"],
                check=True, capture_output=True,
            )  # fmt: skip
            context = SSLContext(PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            with ScriptedServer(TOKEN, context) as server:
                server.seconds = 0.3
                client = kbench.Client(server.url, TOKEN, ca_file=certificate)
                self.assertEqual(client.evaluate(named(1)).verdict, "passed")
                server.seconds = 60
                pending = client.submit(named(2))
                wait_until(lambda: server.count("GET") == 2)
                pending.cancel()
                with self.assertRaises(kbench.Cancelled):
                    pending.result(120)
                count = len(server.requests)
                with self.assertRaisesRegex(kbench.InvalidArgumentError, "certificate is refused"):
                    kbench.Client(server.url, TOKEN).evaluate(named(1))
                self.assertEqual(len(server.requests), count)
            with self.assertRaisesRegex(kbench.InvalidArgumentError, "nowhere.pem"):
                kbench.Client(server.url, ca_file=f"{folder}/nowhere.pem")


class WithoutTheLibrary(unittest.TestCase):
    def test_candidates_in_memory_need_none(self) -> None:
        script = """
import kbench, sys
client = kbench.Client(sys.argv[1])
print(client.evaluate({"candidate.yaml": "candidate 1"}).message)
try:
    client.evaluate("relu.yaml")
except kbench.NotFoundError as error:
    print(error)
"""
        environment = {**os.environ, "KBENCH_LIBRARY": "/nowhere/libkbench.so"}
        with ScriptedServer() as server:
            said = subprocess.run(
                [sys.executable, "-W", "error", "-c", script, server.url],
                env=environment, capture_output=True, text=True,
            )  # fmt: skip
        self.assertEqual(said.stderr, "")
        first, second = said.stdout.splitlines()
        self.assertEqual(first, "candidate 1")
        self.assertIn("hand over its files", second)


def _page(handler: Any) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "4")
    handler.end_headers()
    handler.wfile.write(b"<ok>")


if __name__ == "__main__":
    unittest.main()
