"""`kbench serve --http` as its clients meet it: what openapi.json says of every answer holds."""

import http.client
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest

import needs
from server import ASYNC, HANGS, JSON, LINES, PROGRAM, RELU, RELU_IN_ONE, WRONG, Server

try:
    import jsonschema
except ImportError:
    jsonschema = None


class Described:
    """Holds answers to the description, and remembers which of it was seen."""

    def __init__(self, document):
        self.document = document
        self.seen = set()

    def resolved(self, node):
        while "$ref" in node:
            name = node["$ref"].split("/")[1:]
            node = self.document
            for part in name:
                node = node[part]
        return node

    def validator_of(self, schema):
        return jsonschema.Draft202012Validator({**schema, "components": self.document["components"]})

    def path_of(self, path):
        path = re.sub(r"[0-9a-f]{32}", "{experiment}", path.split("?")[0])
        return path, self.document["paths"][path]

    def check(self, method, path, answer):
        name, item = self.path_of(path)
        responses = item[method.lower()]["responses"]
        assert str(answer.status) in responses, (method, path, answer.status, answer.text)
        self.seen.add((method, name, answer.status))
        response = self.resolved(responses[str(answer.status)])
        assert answer.type in response["content"], (method, path, answer.type)
        for header in response.get("headers", {}):
            assert header in answer.headers, (method, path, header)
        schema = response["content"][answer.type]["schema"]
        if answer.type == "application/json":
            self.validator_of(schema).validate(answer.json)
        if answer.type == "application/x-ndjson":
            lines = [{"$ref": f"#/components/schemas/{each}"} for each in ("Experiment", "BadLine")]
            for line in answer.text.splitlines():
                self.validator_of({"oneOf": lines}).validate(json.loads(line))


def experiment(files, **more):
    return {"files": files, **more}


def scripted_model(answer):
    """A server of a language model that answers every request so."""

    class Model(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps({"choices": [{"index": 0, "finish_reason": "stop", "message": {
                "role": "assistant", "content": answer}}]}).encode()  # fmt: skip
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Service(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        needs.need(jsonschema, "jsonschema (Debian: python3-jsonschema)")
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)
        cls.described = Described(cls.server.ask("GET", "/openapi.json").json)

    def ask(self, method, path, body=None, headers=None):
        answer = self.server.ask(method, path, body, headers)
        self.described.check(method, path, answer)
        return answer

    def test_answers_are_as_described(self):
        ask = self.ask
        for path in ("/healthz", "/metrics", "/openapi.json", "/v1/tasks", "/v1/devices"):
            self.assertEqual(ask("GET", path).status, 200)
        request = experiment(RELU, id="a")
        self.described.validator_of({"$ref": "#/components/schemas/Request"}).validate(request)
        passed = ask("POST", "/v1/evaluate", request, {**JSON, "Idempotency-Key": "1"})
        self.assertEqual((passed.status, passed.json["state"]), (200, "done"))
        self.assertEqual(passed.json["result"]["verdict"], "passed")
        wrong = ask("POST", "/v1/evaluate", experiment(WRONG), JSON)
        self.assertEqual(wrong.json["result"]["verdict"], "wrong_values")
        lines = "\n".join(json.dumps(each) for each in (experiment(RELU, id=1), {"id": 2}))
        batch = ask("POST", "/v1/evaluate/batch", lines, LINES)
        self.assertEqual(len(batch.text.splitlines()), 2)

        other = ask("POST", "/v1/evaluate", experiment(WRONG), {**JSON, "Idempotency-Key": "1"})
        self.assertEqual(other.status, 422)
        failed = ask("POST", "/v1/evaluate", experiment(RELU, set={"nothing": 3}), JSON)
        self.assertEqual((failed.status, failed.json["state"]), (422, "failed"))
        self.assertEqual(ask("POST", "/v1/evaluate", {"preset": 3}, JSON).status, 400)
        self.assertEqual(ask("POST", "/v1/evaluate", request, {"Content-Type": "x/y"}).status, 415)
        self.assertEqual(ask("GET", "/v1/tasks", None, {"Host": "elsewhere"}).status, 403)
        self.assertEqual(ask("GET", "/v1/experiments/" + 32 * "0").status, 404)
        self.assertEqual(ask("DELETE", "/v1/experiments/" + 32 * "0").status, 404)

        slow = ask("POST", "/v1/evaluate", experiment(HANGS), ASYNC)
        self.assertEqual(slow.status, 202)
        place = slow.headers["Location"]
        self.assertIn(ask("GET", place).json["state"], ("queued", "running"))
        ask("DELETE", place)
        self.assertEqual(ask("GET", place + "?wait=30").json["state"], "cancelled")

    def test_the_description_has_all_fields_of_a_result(self):
        said = self.ask("POST", "/v1/evaluate", experiment(RELU), JSON).json["result"]
        listed = self.described.document["components"]["schemas"]["Result"]["properties"]
        self.assertEqual([name for name in said if name not in listed], [])

    def test_the_description_passes_a_public_validator(self):
        modules = os.environ.get("KBENCH_NODE_MODULES", "")
        package = os.path.join(modules, "@seriousme/openapi-schema-validator")
        needs.need(shutil.which("node") and os.path.isdir(package),
                   "a validator (npm: @seriousme/openapi-schema-validator)")  # fmt: skip
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(self.described.document, file)
            file.flush()
            script = (f"import {{ Validator }} from '{package}/index.js';\n"
                      f"const said = await new Validator().validate('{file.name}');\n"
                      "console.log(JSON.stringify(said)); process.exit(said.valid ? 0 : 1);")
            ran = subprocess.run(["node", "--input-type=module", "-e", script],
                                 stdout=subprocess.PIPE, text=True)  # fmt: skip
        self.assertEqual(ran.returncode, 0, ran.stdout)

    def test_a_task_file_counts_for_its_own_experiment(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mlp.yaml")
            with open(path, "w", encoding="utf-8") as file:
                subprocess.run([PROGRAM, "task", "new", "my/mlp"], check=True, stdout=file)
            candidate = subprocess.run([PROGRAM, "show", path, "--preset", "smoke", "--candidate"],
                                       stdout=subprocess.PIPE, text=True, check=True).stdout
            with open(path, encoding="utf-8") as file:
                task = file.read()
            with open(os.path.join(folder, "candidate.yaml"), "w", encoding="utf-8") as file:
                file.write(candidate)
            ran = subprocess.run(
                [PROGRAM, "run", file.name, "--tasks", path, "--server", self.server.url,
                 "--preset", "smoke", "--measure-seconds", "0.02", "--other-sizes", "none"],
                stdout=subprocess.PIPE, text=True)  # fmt: skip
            self.assertEqual(ran.returncode, 0, ran.stdout)
        files = {"candidate.yaml": candidate}
        said = self.ask("POST", "/v1/evaluate", experiment(files, task_file=task), JSON)
        self.assertEqual(said.json["result"]["verdict"], "passed", said.text)
        self.assertTrue(said.json["result"]["task"].startswith("my/"))
        # No other finds it, whether or not its judge has seen it.
        said = self.ask("POST", "/v1/evaluate", experiment(files), JSON)
        self.assertEqual(said.json["result"]["verdict"], "invalid_candidate", said.text)

    def test_a_killed_judge_is_replaced(self):
        self.ask("POST", "/v1/evaluate", experiment(RELU), JSON)
        for judge in self.server.judges():
            os.kill(judge, signal.SIGKILL)
        after = self.ask("POST", "/v1/evaluate", experiment(RELU), JSON)
        self.assertEqual(after.json["result"]["verdict"], "passed", after.text)
        counted = re.search(r"kbench_judges_restarted_total (\d+)", self.ask("GET", "/metrics").text)
        self.assertGreaterEqual(int(counted[1]), 1)

    def test_other_commands_judge_there(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in RELU.items():
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            # Nothing of the server's is here: no device, no library of Vulkan.
            ran = subprocess.run(
                [PROGRAM, "run", folder, "--server", self.server.url, "--preset", "smoke", "--json",
                 "--measure-seconds", "0.02", "--precision", "0.9", "--other-sizes", "none"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env=dict(os.environ, VK_DRIVER_FILES="/none", VK_ICD_FILENAMES="/none"))  # fmt: skip
            self.assertEqual(ran.returncode, 0, ran.stderr)
            said = json.loads(ran.stdout)
            self.assertEqual((said["verdict"], said["task"]), ("passed", "level1/19"))
            refused = subprocess.run([PROGRAM, "run", folder, "--server", "http://127.0.0.1:1"],
                                     stderr=subprocess.PIPE, text=True)  # fmt: skip
            self.assertEqual(refused.returncode, 2)
            self.assertIn("cannot reach http://127.0.0.1:1", refused.stderr)

    def test_what_models_write_is_judged_there(self):
        model = scripted_model(f"```yaml\n{RELU_IN_ONE}```\n")
        self.addCleanup(model.server_close)
        self.addCleanup(model.shutdown)
        at = ["--server", self.server.url, "--measure-seconds", "0.02"]
        with tempfile.TemporaryDirectory() as folder:
            models, run = os.path.join(folder, "models.yaml"), os.path.join(folder, "run")
            with open(models, "w", encoding="utf-8") as file:
                file.write(f"models:\n  - {{url: 'http://127.0.0.1:{model.server_port}/v1', "
                           "model: m}\n")  # fmt: skip
            for command in (["generate", run, "--models", models, "--task", "1/19", "--samples",
                             "3", "--preset", "smoke"], ["run", run, "--confirm"]):  # fmt: skip
                said = subprocess.run([PROGRAM, *command, *at, "--json"], stdout=subprocess.PIPE,
                                      text=True, check=True).stdout  # fmt: skip
                self.assertIn('"passed": ', said)
            with open(os.path.join(run, "confirmed.jsonl"), encoding="utf-8") as file:
                self.assertEqual([json.loads(line)["verdict"] for line in file], ["passed"])


class Ending(unittest.TestCase):
    def test_sigterm_lets_experiments_end(self):
        server = Server()
        self.addCleanup(server.close)
        places = [server.ask("POST", "/v1/evaluate", experiment(RELU), ASYNC).headers["Location"]
                  for _ in range(4)]  # fmt: skip
        server.process.send_signal(signal.SIGTERM)
        for place in places:
            self.assertEqual(server.ask("GET", place + "?wait=60").json["state"], "done")
        self.assertEqual(server.process.wait(200), 0)

    def test_sigterm_right_after_its_first_word_ends_it(self):
        for _ in range(3):
            server = Server()
            self.addCleanup(server.close)
            self.assertEqual(server.stop(), 0)

    def test_a_second_sigterm_answers_that_the_rest_is_cancelled(self):
        server = Server()
        self.addCleanup(server.close)
        place = server.ask("POST", "/v1/evaluate", experiment(HANGS), ASYNC).headers["Location"]
        waits = http.client.HTTPConnection("127.0.0.1", server.port, timeout=200)
        self.addCleanup(waits.close)
        waits.request("GET", place + "?wait=60")
        server.process.send_signal(signal.SIGTERM)
        while server.ask("GET", "/healthz").status != 503:
            pass
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(json.load(waits.getresponse())["state"], "cancelled")
        self.assertEqual(server.process.wait(200), 0)

    def test_tokens_are_needed_beyond_this_machine_and_not_printed(self):
        ran = subprocess.run([PROGRAM, "serve", "--http", "0.0.0.0:0", "--device", "cpu"],
                             stderr=subprocess.PIPE, text=True, timeout=200)  # fmt: skip
        self.assertEqual(ran.returncode, 2)
        self.assertIn("--tokens", ran.stderr)
        token = "a-long-secret-token"
        server = Server(environment={"KBENCH_SERVE_TOKEN": token})
        self.addCleanup(server.close)
        self.assertEqual(server.ask("GET", "/v1/tasks").status, 401)
        self.assertEqual(
            server.ask("GET", "/v1/tasks", None, {"Authorization": f"Bearer {token}"}).status, 200
        )
        server.stop()
        self.assertNotIn(token, server.process.stderr.read())


if __name__ == "__main__":
    unittest.main()
