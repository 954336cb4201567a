"""benchmarks/plain_check.py on files of a small program, on the CPU. Skipped without PyTorch."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

import needs

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../benchmarks/plain_check.py")
PROGRAM = """import torch
class {name}(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layer = torch.nn.Linear(n, n)
    def forward(self, x):
        y = torch.relu(self.layer(x))
        {then}
def get_inputs():
    return [torch.rand(64, 32)]
def get_init_inputs():
    return [32]
"""
EXTENSION = '''import torch
from torch.utils.cpp_extension import load_inline
extension = load_inline("relu_of_a_test", """
torch::Tensor relu(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 2, "two dimensions");
  auto y = torch::empty_like(x);
  const float* from = x.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) y.data_ptr<float>()[i] = from[i] > 0 ? from[i] : 0;
  return y;
}
""", functions=["relu"])
class ModelNew(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layer = torch.nn.Linear(n, n)
    def forward(self, x):
        return extension.relu(self.layer(x))
'''


class PlainCheck(unittest.TestCase):
    def setUp(self):
        needs.need(importlib.util.find_spec("torch"), "torch (Debian: python3-torch)")
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.write("program.py", PROGRAM.format(name="Model", then="return y"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def checked(self, texts, *arguments):
        """The lines of files, by their names."""
        lines = [{"name": name, "file": self.path(name + ".py"), "program": self.path("program.py"),
                  "tolerance": 1e-4} for name in texts]  # fmt: skip
        for name, text in texts.items():
            self.write(name + ".py", text)
        self.write("files.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        subprocess.run([sys.executable, SCRIPT, self.path("files.jsonl"), "--output",
                        self.path("out.jsonl"), "--device", "cpu", *arguments], check=True)  # fmt: skip
        with open(self.path("out.jsonl")) as out:
            return [json.loads(line) for line in out]

    def test_what_is_said_of_each_file(self):
        then = {"right": "return y", "wrong_values": "return y * 1.001", "wrong_shape": "return y[:3]",
                "wrong_type": "return y.half()", "fails": "return nothing",
                "crashed": "import ctypes; ctypes.string_at(0)"}  # fmt: skip
        texts = {name: PROGRAM.format(name="ModelNew", then=each) for name, each in then.items()}
        said = self.checked(texts, "--at-once", "2")
        self.assertEqual({each["name"]: each["outcome"] for each in said}, dict(zip(then, then)))
        by_name = {each["name"]: each for each in said}
        self.assertIn("nothing", by_name["fails"]["reason"])
        self.assertGreater(by_name["wrong_values"]["worst"], 1)
        self.assertLessEqual(by_name["right"]["worst"], 1)
        again = self.checked({**texts, "late": texts["right"]})
        self.assertEqual(again[:-1], said, "what is done is not done again")
        self.assertEqual((again[-1]["name"], again[-1]["outcome"]), ("late", "right"))

    def test_a_file_that_goes_on_is_ended(self):
        text = PROGRAM.format(name="ModelNew", then="import time; time.sleep(600)")
        (line,) = self.checked({"sleeps": text}, "--file-seconds", "1")
        self.assertEqual(line["outcome"], "timeout")

    def test_an_extension_takes_few_headers(self):
        (line,) = self.checked({"extension": EXTENSION})
        self.assertEqual((line["outcome"], line["built"]), ("right", ["few headers"]), line)


if __name__ == "__main__":
    unittest.main()
