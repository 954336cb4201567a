"""The adapters, asked as the frameworks ask them: their requests, and the fields they require."""

from __future__ import annotations

import http.client
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import types
import unittest
from pathlib import Path
from typing import Any, Callable, Optional

import inspect_peer
import kbench
from kbench import rl
from kbench.adapters import inspect_task, nemo_gym, openenv
from kbench.adapters._server import JsonServer
from kbench.adapters._setup import Setup
from scripted import RIGHT, WRONG, ScriptedJudge
from web_socket_peer import Peer

OPTIONS = rl.EpisodeOptions(preset="smoke", attempts=3)


class Served(unittest.TestCase):
    """A server of `self.make()`, in a thread."""

    server: JsonServer

    def serve(self, server: JsonServer) -> None:
        self.server = server
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)

    def ask(
        self, method: str, path: str, body: Any = None, cookies: Optional[dict[str, str]] = None
    ) -> tuple[int, Any]:
        """Takes cookies along and up, as a session of an HTTP client does."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=60)
        headers = {"Content-Type": "application/json"}
        if cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
        text = body if isinstance(body, bytes) else json.dumps(body) if body is not None else None
        connection.request(method, path, text, headers)
        answer = connection.getresponse()
        for line in answer.headers.get_all("Set-Cookie") or []:
            name, _, value = line.split(";")[0].partition("=")
            if cookies is not None:
                cookies[name] = value
        value = json.loads(answer.read())
        connection.close()
        return answer.status, value

    def good(self, method: str, path: str, body: Any = None, cookies: Any = None) -> Any:
        status, value = self.ask(method, path, body, cookies)
        self.assertEqual(status, 200, value)
        return value


def response(text: str, incomplete: Optional[str] = None) -> dict[str, Any]:
    """A NeMoGymResponse as its agents dump it: thoughts, then a message."""
    return {
        "id": "resp_1",
        "created_at": 1.0,
        "error": None,
        "incomplete_details": None if incomplete is None else {"reason": incomplete},
        "instructions": None,
        "model": "policy_model",
        "object": "response",
        "output": [
            {"id": "rs_1", "summary": [], "type": "reasoning", "encrypted_content": None},
            {
                "id": "msg_1",
                "content": [{"annotations": [], "text": text, "type": "output_text"}],
                "role": "assistant",
                "status": "completed",
                "type": "message",
            },
        ],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None,
    }


class NemoGym(Served):
    def setUp(self) -> None:
        self.judge = ScriptedJudge()
        setup = Setup(self.judge, "1/19-20", OPTIONS)
        self.row: dict[str, Any] = nemo_gym.rows(setup, "kbench_agent")[0]
        self.row["_ng_task_index"] = 0
        self.serve(nemo_gym.server(setup, port=0))

    def test_rows_ask_the_first_question(self) -> None:
        self.assertEqual(self.row["verifier_metadata"], {"task": "level1/19"})
        self.assertEqual(
            self.row["responses_create_params"]["input"], kbench.prompt("1/19", "smoke")
        )
        self.assertEqual(set(self.row["agent_ref"]), {"type", "name"})

    def test_simple_agent(self) -> None:
        """seed_session, then verify: BaseVerifyResponse is the request with a reward."""
        for text, reward, verdict in ((WRONG, 0.0, "wrong_values"), (RIGHT, 2.3, "passed")):
            cookies: dict[str, str] = {}
            self.assertEqual(self.good("POST", "/seed_session", self.row, cookies), {})
            request = {**self.row, "response": response(text)}
            verified = self.good("POST", "/verify", request, cookies)
            self.assertIs(type(verified["reward"]), float)
            self.assertEqual((verified["reward"], verified["verdict"]), (reward, verdict))
            self.assertEqual({name: verified[name] for name in request}, request)
            self.assertNotIn("_ng_failure_class", verified)
        cut = self.good(
            "POST", "/verify", {**self.row, "response": response("", "max_output_tokens")}
        )
        self.assertEqual((cut["reward"], cut["outcome"]), (0.0, "truncated"))

    def test_a_failure_of_the_harness_is_put_aside(self) -> None:
        self.judge.first = ["harness_error"]
        request = {**self.row, "response": response(RIGHT)}
        verified = self.good("POST", "/verify", request)
        self.assertEqual(verified["_ng_failure_class"], "judge_failed")
        self.assertIn("harness_error", verified["_ng_failure_judge_error"])
        self.assertEqual((verified["reward"], verified["response"]), (0.0, request["response"]))
        self.judge.raises = kbench.NoAnswerError("out")
        self.assertEqual(self.ask("POST", "/verify", request)[0], 503)

    def test_gymnasium_agent(self) -> None:
        cookies: dict[str, str] = {}
        begun = self.good("POST", "/reset", self.row, cookies)
        self.assertEqual(set(begun), {"observation", "info"})
        self.assertTrue(begun["info"]["supports_explicit_close"])
        fields = {"observation", "reward", "terminated", "truncated", "info"}
        wrong = self.good("POST", "/step", {**self.row, "response": response(WRONG)}, cookies)
        self.assertEqual(set(wrong), fields)
        self.assertEqual((wrong["reward"], wrong["terminated"]), (0.0, False))
        self.assertIn("wrong_values", wrong["observation"])
        right = self.good("POST", "/step", {**self.row, "response": response(RIGHT)}, cookies)
        self.assertEqual((right["reward"], right["terminated"]), (2.3, True))
        self.assertIsNone(right["observation"])
        status, refused = self.ask(
            "POST", "/step", {**self.row, "response": response(RIGHT)}, cookies
        )
        self.assertEqual((status, set(refused)), (409, {"detail"}))
        self.assertEqual(self.good("POST", "/close", {}, cookies), {})

    def test_rewards_of_an_episode_add_up_to_the_best(self) -> None:
        faster = rl.EpisodeOptions(preset="smoke", attempts=3, goal="faster:9")
        self.serve(nemo_gym.server(Setup(self.judge, "1/19", faster), port=0))
        cookies: dict[str, str] = {}
        self.good("POST", "/reset", self.row, cookies)
        total = 0.0
        for attempt, speedup in enumerate((2.0, 1.0, 3.0)):
            self.judge.speedup = speedup
            body = {**self.row, "response": response(RIGHT + " " * attempt)}
            total += self.good("POST", "/step", body, cookies)["reward"]
        self.assertAlmostEqual(total, 3.3)

    def test_what_could_not_be_judged_ends_a_rollout_without_a_reward(self) -> None:
        cookies: dict[str, str] = {}
        self.good("POST", "/reset", self.row, cookies)
        self.judge.first = ["harness_error"]
        body = {**self.row, "response": response(RIGHT)}
        self.assertEqual(self.ask("POST", "/step", body, cookies)[0], 503)
        self.assertEqual(self.good("POST", "/step", body, cookies)["reward"], 2.3)

    def test_aggregate_metrics(self) -> None:
        rows = [
            {"_ng_task_index": task, "_ng_rollout_index": at, "reward": value, "correct": 1.0}
            for at, (task, value) in enumerate(((0, 1.0), (0, 3.0), (1, 0.5)))
        ]
        found = self.good("POST", "/aggregate_metrics", {"verify_responses": rows})
        self.assertEqual(set(found), {"group_level_metrics", "agent_metrics", "key_metrics"})
        self.assertEqual([each["mean/reward"] for each in found["group_level_metrics"]], [2, 0.5])
        self.assertEqual([each["_ng_task_index"] for each in found["group_level_metrics"]], [0, 1])
        self.assertEqual(found["agent_metrics"]["max/reward"], 3.0)
        self.assertEqual(found["key_metrics"], {"mean/reward": 1.5, "mean/correct": 1.0})
        empty = self.good("POST", "/aggregate_metrics", {"verify_responses": []})
        self.assertEqual(empty["agent_metrics"], {})

    def test_is_found_alive(self) -> None:
        self.assertEqual(self.good("GET", "/"), {"status": "ok"})
        self.assertEqual(self.good("GET", "/reverify_mode"), "stateless")

    def test_refuses_with_the_reason(self) -> None:
        for path, body, status, part in (
            ("/verify", b"{", 422, "no JSON"),
            ("/verify", b"[]", 422, "object"),
            ("/verify", b'{"x": NaN}', 422, "NaN"),
            ("/verify", {}, 422, "output"),
            ("/verify", {"response": {"output": [1]}}, 422, "output"),
            ("/verify", {"response": response(RIGHT)}, 422, "verifier_metadata.task"),
            (
                "/verify",
                {"response": response(RIGHT), "verifier_metadata": {"task": "9/9"}},
                422,
                "9/9",
            ),
            ("/reset", {"verifier_metadata": 1}, 422, "verifier_metadata.task"),
            ("/step", {"response": response(RIGHT)}, 409, "reset"),
            ("/aggregate_metrics", {"verify_responses": [1]}, 422, "verify_responses"),
            ("/none", {}, 404, "/none"),
        ):
            got, value = self.ask("POST", path, body)
            self.assertEqual(got, status, value)
            self.assertIn(part, value["detail"])
        self.assertEqual(self.ask("GET", "/verify")[0], 405)
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=60)
        connection.putrequest("POST", "/verify")
        connection.putheader("Content-Length", str(1 << 40))
        connection.endheaders()
        self.assertEqual(connection.getresponse().status, 413)
        connection.close()


class OpenEnv(Served):
    def setUp(self) -> None:
        self.judge = ScriptedJudge()
        self.serve(openenv.server(Setup(self.judge, "1/19-20", OPTIONS), port=0))

    def peer(self) -> Peer:
        peer = Peer("127.0.0.1", self.server.server_port)
        self.addCleanup(peer.close)
        return peer

    def observed(self, answer: Any) -> Any:
        self.assertEqual(set(answer), {"type", "data"})
        self.assertEqual(answer["type"], "observation")
        self.assertEqual(set(answer["data"]), {"observation", "reward", "done"})
        properties = self.good("GET", "/schema")["observation"]["properties"]
        self.assertEqual(set(answer["data"]["observation"]), set(properties))
        return answer["data"]

    def test_an_episode_over_a_web_socket(self) -> None:
        peer = self.peer()
        self.assertEqual((peer.status, peer.headers["sec-websocket-accept"]), ("101", peer.proof))
        self.assertNotIn("sec-websocket-extensions", peer.headers)
        first = self.observed(peer.ask({"type": "reset", "data": {"task": "level1/19"}}))
        self.assertEqual((first["reward"], first["done"]), (None, False))
        self.assertEqual(first["observation"]["messages"], kbench.prompt("1/19", "smoke"))
        wrong = self.observed(peer.ask({"type": "step", "data": {"text": WRONG, "metadata": {}}}))
        self.assertEqual((wrong["reward"], wrong["done"]), (0.0, False))
        self.assertEqual(wrong["observation"]["verdict"], "wrong_values")
        right = self.observed(peer.ask({"type": "step", "data": {"text": RIGHT}}))
        self.assertEqual((right["reward"], right["done"]), (2.3, True))
        state = peer.ask({"type": "state"})
        self.assertEqual((state["type"], state["data"]["step_count"]), ("state", 2))
        self.assertEqual(state["data"]["episode_id"], right["observation"]["episode_id"])
        peer.frame(1, b'{"type": "close"}')
        self.assertEqual(peer.received(), (8, b"\x03\xe8"))
        self.assertIsNone(peer.received())

    def test_each_connection_has_an_episode_of_its_own(self) -> None:
        one, other = self.peer(), self.peer()
        one.ask({"type": "reset", "data": {"task": "level1/19"}})
        refused = other.ask({"type": "step", "data": {"text": RIGHT}})
        self.assertEqual(refused["type"], "error")
        other.ask({"type": "reset", "data": {"task": "level1/20"}})
        self.assertEqual(other.ask({"type": "state"})["data"]["task"], "level1/20")
        self.assertEqual(one.ask({"type": "step", "data": {"text": RIGHT}})["data"]["reward"], 2.3)

    def test_seeds_choose_the_task(self) -> None:
        peer = self.peer()

        def task(data: Any) -> str:
            answer = peer.ask({"type": "reset", "data": data})
            return str(answer["data"]["observation"]["task"])

        self.assertEqual(task({"seed": 7}), task({"seed": 7}))
        self.assertEqual({task({"seed": 0}), task({"seed": 1})}, {"level1/19", "level1/20"})
        self.assertEqual({task({}), task({})}, {"level1/19", "level1/20"})
        answer = peer.ask({"type": "reset", "data": {"episode_id": "mine"}})
        self.assertEqual(answer["data"]["observation"]["episode_id"], "mine")

    def test_a_failure_of_the_harness_has_no_reward(self) -> None:
        peer = self.peer()
        peer.ask({"type": "reset", "data": {"task": "level1/19"}})
        self.judge.first = ["harness_error"]
        lost = self.observed(peer.ask({"type": "step", "data": {"text": RIGHT}}))
        self.assertEqual((lost["reward"], lost["done"]), (None, False))
        self.assertFalse(lost["observation"]["counted"])
        self.judge.raises = kbench.NoAnswerError("out")
        failed = peer.ask({"type": "step", "data": {"text": RIGHT}})
        self.assertEqual(failed["data"]["code"], "EXECUTION_ERROR")
        self.judge.raises = None
        self.assertEqual(peer.ask({"type": "step", "data": {"text": RIGHT}})["data"]["reward"], 2.3)

    def test_errors_have_openenvs_codes(self) -> None:
        peer = self.peer()
        for message, code in (
            (b"{", "INVALID_JSON"),
            (b"[]", "VALIDATION_ERROR"),
            ({"type": "dance"}, "UNKNOWN_TYPE"),
            ({"type": "reset", "data": 1}, "VALIDATION_ERROR"),
            ({"type": "reset", "data": {"task": "level3/1"}}, "VALIDATION_ERROR"),
            ({"type": "reset", "data": {"seed": "x"}}, "VALIDATION_ERROR"),
            ({"type": "step", "data": {"text": RIGHT}}, "VALIDATION_ERROR"),
            ({"type": "step", "data": {}}, "VALIDATION_ERROR"),
            ({"type": "step", "data": {"text": "", "colour": 1}}, "VALIDATION_ERROR"),
            ({"type": "state", "more": 1}, "VALIDATION_ERROR"),
        ):
            answer = peer.ask(message)
            self.assertEqual(set(answer), {"type", "data"})
            self.assertEqual((answer["type"], answer["data"]["code"]), ("error", code), message)
            self.assertTrue(answer["data"]["message"])

    def test_frames_as_the_protocol_allows_them(self) -> None:
        peer = self.peer()
        text = json.dumps({"type": "reset", "data": {"task": "level1/19", "x": "y" * 70000}})
        whole = text.encode()
        peer.frame(1, whole[:10], last=False)
        peer.frame(9, b"still there?")
        self.assertEqual(peer.received(), (10, b"still there?"))
        peer.frame(0, whole[10:40000], last=False)
        peer.frame(10, b"")
        peer.frame(0, whole[40000:])
        got = peer.received()
        assert got is not None
        self.assertEqual(json.loads(got[1])["type"], "observation")

    def test_frames_that_it_does_not_allow_end_it(self) -> None:
        bad: list[tuple[Callable[[Peer], None], int]] = [
            (lambda peer: peer.frame(1, b"{}", masked=False), 1002),
            (lambda peer: peer.frame(0, b"{}"), 1002),
            (lambda peer: peer.frame(3, b"{}"), 1002),
            (lambda peer: peer.frame(9, b"x" * 126), 1002),
            (lambda peer: peer.frame(2, b"{}"), 1003),
            (lambda peer: peer.send(b"\x81\xff" + (1 << 40).to_bytes(8, "big")), 1009),
        ]
        for send, code in bad:
            peer = self.peer()
            send(peer)
            self.assertEqual(peer.received(), (8, code.to_bytes(2, "big")))
            self.assertIsNone(peer.received())
        away = self.peer()
        away.frame(1, b"half", last=False)
        away.close()
        self.assertEqual(self.good("GET", "/health"), {"status": "healthy"})

    def test_over_http(self) -> None:
        begun = self.good("POST", "/reset", {"seed": 0, "episode_id": "episode-001"})
        self.assertEqual(set(begun), {"observation", "reward", "done"})
        where = {"episode_id": begun["observation"]["episode_id"], "timeout_s": 30.0}
        self.assertEqual(where["episode_id"], "episode-001")
        wrong = self.good("POST", "/step", {"action": {"text": WRONG}, **where})
        self.assertEqual((wrong["reward"], wrong["done"]), (0.0, False))
        state = self.good("GET", "/state?episode_id=episode-001")
        self.assertEqual((state["episode_id"], state["step_count"]), ("episode-001", 1))
        right = self.good("POST", "/step", {"action": {"text": RIGHT}, **where})
        self.assertEqual((right["reward"], right["done"]), (2.3, True))
        self.assertEqual(self.ask("POST", "/step", {"action": {"text": RIGHT}, **where})[0], 409)
        self.assertEqual(self.ask("POST", "/step", {"action": {"text": RIGHT}})[0], 422)
        self.assertEqual(self.ask("POST", "/reset", {"task": 5})[0], 422)

    def test_no_page_in_a_browser_may_ask(self) -> None:
        asked: list[tuple[str, str, dict[str, str]]] = [
            ("POST", "/reset", {}),
            ("GET", "/ws", {"Upgrade": "websocket", "Sec-WebSocket-Key": "x"}),
        ]
        for method, path, more in asked:
            connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port)
            connection.request(method, path, headers={"Origin": "http://example.org", **more})
            self.assertEqual(connection.getresponse().status, 403)
            connection.close()

    def test_what_is_told_of_it(self) -> None:
        self.assertEqual(self.good("GET", "/health"), {"status": "healthy"})
        self.assertEqual(self.good("GET", "/state")["step_count"], 0)
        self.assertEqual(set(self.good("GET", "/schema")), {"action", "observation", "state"})
        metadata = self.good("GET", "/metadata")
        self.assertLessEqual({"name", "description"}, set(metadata))
        known = "name description readme_content version author documentation_url"
        self.assertLessEqual(set(metadata), set(known.split()))
        self.assertEqual(self.ask("GET", "/ws")[0], 404)


class Inspect(unittest.TestCase):
    def setUp(self) -> None:
        before = dict(sys.modules)
        inspect_peer.install()

        def restore() -> None:
            for name in set(sys.modules) - set(before):
                del sys.modules[name]
            sys.modules.update(before)

        self.addCleanup(restore)

    def run_it(self, judge: ScriptedJudge, answers: list[Any]) -> Any:
        task = inspect_task.kernels(inspect_task.Setup(judge, "1/19", OPTIONS), epochs=1)
        asked: list[list[Any]] = []

        def model(messages: list[Any]) -> Any:
            asked.append([(each.role, each.content) for each in messages])
            text, stop = answers[len(asked) - 1]
            return types.SimpleNamespace(completion=text, stop_reason=stop)

        ((sample, state, scores),), metrics = inspect_peer.run(task, model)
        return sample, scores, metrics, asked

    def test_first_wrong_then_right(self) -> None:
        sample, (right, reward), metrics, asked = self.run_it(
            ScriptedJudge(), [(WRONG, "stop"), (RIGHT, "stop")]
        )
        self.assertEqual((sample.id, sample.target), ("level1/19", "passed"))
        prompt = [(each["role"], each["content"]) for each in kbench.prompt("1/19", "smoke")]
        self.assertEqual(asked[0], prompt)
        self.assertIn("wrong_values", asked[1][-1][1])
        self.assertEqual((right.value, reward.value), ("C", 2.3))
        self.assertEqual(right.metadata["verdict"], "passed")
        self.assertIn("max(x[i], 0.0)", right.answer)
        self.assertEqual((metrics["accuracy"], metrics["mean"]), (1.0, 2.3))

    def test_never_right(self) -> None:
        cut = (RIGHT[:60], "max_tokens")
        _, (right, reward), metrics, asked = self.run_it(
            ScriptedJudge(), [(WRONG, "stop"), cut, ("No idea.", "stop")]
        )
        self.assertEqual((right.value, reward.value, len(asked)), ("I", 0.0, 3))
        self.assertEqual(metrics["accuracy"], 0.0)

    def test_what_could_not_be_judged_is_no_score(self) -> None:
        judge = ScriptedJudge(first=("harness_error",))
        _, (right, reward), metrics, asked = self.run_it(judge, [(RIGHT, "stop")])
        self.assertTrue(math.isnan(right.value) and math.isnan(reward.value))
        self.assertTrue(math.isnan(metrics["accuracy"]))
        self.assertEqual(len(asked), 1)


class Commands(unittest.TestCase):
    def command(self, module: str, *flags: str) -> list[str]:
        return [sys.executable, "-m", f"kbench.adapters.{module}", "--tasks", "1/19", *flags]

    def test_they_serve_until_they_are_interrupted(self) -> None:
        for module, path in (("nemo_gym", "/"), ("openenv", "/health")):
            with subprocess.Popen(
                self.command(module, "--port", "0"), stdout=subprocess.PIPE, text=True
            ) as process:
                assert process.stdout is not None
                said = process.stdout.readline()
                self.assertIn("1 task", said)
                port = int(said.split("127.0.0.1:")[1].split(",")[0])
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                connection.request("GET", path)
                self.assertEqual(connection.getresponse().status, 200)
                connection.close()
                process.send_signal(signal.SIGINT)
            self.assertEqual(process.returncode, 130)

    def test_rows_are_written(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.jsonl"
            subprocess.run(self.command("nemo_gym", "--rows", str(path)), check=True)
            (row,) = map(json.loads, path.read_text().splitlines())
        self.assertEqual(row["verifier_metadata"], {"task": "level1/19"})

    def test_mistakes_are_named(self) -> None:
        for flags, part in (
            (["--tasks", "9/9"], "9/9"),
            (["--preset", "huge"], "huge"),
            (["--goal", "fast", "--rows", os.devnull], "goal"),
            (["--speed", "cubic"], "cubic"),
            (["--rows", "/nowhere/rows.jsonl"], "/nowhere"),
        ):
            said = subprocess.run(
                self.command("nemo_gym", *flags), capture_output=True, text=True, timeout=60
            )
            self.assertEqual((said.returncode, said.stderr.count("\n")), (2, 1), said.stderr)
            self.assertIn(part, said.stderr)


if __name__ == "__main__":
    unittest.main()
