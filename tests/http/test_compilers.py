"""What one client compiles does not hold up what others ask."""

import os
import unittest

from server import ASYNC, JSON, RELU, Server

TOKENS = {name: f"a-long-secret-of-{name}" for name in ("eve", "bob")}
# Its text says load_inline: the module is loaded once to compile what that would.
MODULE = """# task: level1/19
# load_inline
import torch
{top}
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
"""


class Compilers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(tokens=TOKENS)
        cls.addClassCleanup(cls.server.close)
        said = cls.ask("eve", "POST", "/v1/evaluate", cls.module()).json["result"]
        if said["verdict"] != "unsupported":
            return
        if "KBENCH_REQUIRE_TORCH" in os.environ:
            raise AssertionError(said["message"])
        print("\nneeds python3 with torch (Debian: python3-torch)")
        raise unittest.SkipTest("no torch")

    @classmethod
    def ask(cls, author, method, path, body=None, headers=JSON):
        headers = {**headers, "Authorization": f"Bearer {TOKENS[author]}"}
        return cls.server.ask(method, path, body, headers, timeout=280)

    @staticmethod
    def module(top="", **options):
        return {"files": {"model_new.py": MODULE.format(top=top)}, "manifest": "model_new.py",
                **options}  # fmt: skip

    def test_another_author_is_answered_while_one_compiles(self):
        endless = self.module("while True: pass", compile_seconds=200, total_seconds=250)
        places = [self.ask("eve", "POST", "/v1/evaluate", endless, ASYNC).headers["Location"]
                  for _ in range(2)]  # fmt: skip
        for _ in range(3):
            said = self.ask("bob", "POST", "/v1/evaluate", {"files": RELU}).json["result"]
            self.assertEqual(said["verdict"], "passed", said["message"])
        for place in places:
            self.assertEqual(self.ask("eve", "GET", place).json["state"], "running")
            self.ask("eve", "DELETE", place)
        for place in places:
            said = self.ask("eve", "GET", place + "?wait=60").json
            self.assertEqual(said["state"], "cancelled", said)

    def test_what_was_left_to_its_compiler_has_its_outcome(self):
        slow = self.module("import time\ntime.sleep(4)")
        place = self.ask("eve", "POST", "/v1/evaluate", slow, ASYNC).headers["Location"]
        endless = self.module("while True: pass", compile_seconds=10, total_seconds=8)
        other = self.ask("eve", "POST", "/v1/evaluate", endless, ASYNC).headers["Location"]
        while self.ask("eve", "GET", place).json["state"] != "done":
            said = self.ask("bob", "POST", "/v1/evaluate", {"files": RELU}).json["result"]
            self.assertEqual(said["verdict"], "passed", said["message"])
        said = self.ask("eve", "GET", place).json["result"]
        self.assertEqual(said["verdict"], "passed", said["message"])
        said = self.ask("eve", "GET", other + "?wait=250").json["result"]
        self.assertEqual(said["verdict"], "timeout", said["message"])
        self.assertIn("--total-seconds", said["message"])


if __name__ == "__main__":
    unittest.main()
