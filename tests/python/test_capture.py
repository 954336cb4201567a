"""Which modules the driver of a ModelNew captures in a CUDA graph, with a stand-in for CUDA's graphs:
what a module launches on the current stream while one is captured is in it and does not run; what it
launches on the default stream runs, and is not in it."""

import contextlib
import glob
import os
import re
import types
import unittest

import needs

try:
    import torch
except ImportError:
    torch = None

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SCRIPTS = os.path.join(FOLDER, "harness", "measure", "runner", "torch")


def driver_text():
    text = ""
    for name in ("load_module.py", "quick_build.py", "kernel_names.py", "weights.py",
                 "driver.py"):  # fmt: skip
        with open(os.path.join(SCRIPTS, name)) as file:
            text += file.read()
    return text


def driver():
    """driver.py's names, without running it."""
    names = {"torch": torch, "DEVICE": "cpu", "__name__": "driver"}
    exec(compile(driver_text(), "driver.py", "exec"), names)
    return names


class Graph:
    current = None

    def __init__(self):
        self.kernels = []

    def replay(self):
        for kernel in self.kernels:
            kernel()


@contextlib.contextmanager
def captured_in(graph):
    Graph.current = graph
    try:
        yield
    finally:
        Graph.current = None


def launch(kernel):
    if Graph.current is None:
        kernel()
    else:
        Graph.current.kernels.append(kernel)


class Capture(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        needs.need(torch, "torch (Debian: python3-torch)")

    def setUp(self):
        stream = types.SimpleNamespace(wait_stream=lambda other: None)
        stand_ins = {"Stream": lambda: stream, "current_stream": lambda: stream,
                     "stream": lambda _: contextlib.nullcontext(), "CUDAGraph": Graph,
                     "graph": captured_in}  # fmt: skip
        for name, stand_in in stand_ins.items():
            self.addCleanup(setattr, torch.cuda, name, getattr(torch.cuda, name))
            setattr(torch.cuda, name, stand_in)
        torch.set_grad_enabled(False)
        self.addCleanup(torch.set_grad_enabled, True)

    def captured(self, forward, calls=3):
        """Whether a module of that forward() is."""
        return self.graphs_of(forward, calls) == {calls}

    def graphs_of(self, forward, *runs):
        """The runs, by their numbers of calls, that there are graphs of after they were captured in
        turn; all inputs have to be as they were."""
        model = self.model_of(forward, max(runs))
        before = [call[0].clone() for call in model.calls]
        for run in runs:
            model.try_to_capture(run)
        for call, was in zip(model.calls, before):
            self.assertTrue(torch.equal(call[0], was))
        return set(model.graphs)

    @staticmethod
    def model_of(forward, calls):
        names = driver()
        names["is_capturing"] = lambda: Graph.current is not None
        memory = names["DeviceMemory"].__new__(names["DeviceMemory"])
        memory.types = [torch.float32]
        memory.inputs = [[torch.rand(4, 5)] for _ in range(calls)]
        memory.publish = lambda results: {}
        model = names["Model"].__new__(names["Model"])
        model.memory, model.calls, model.shapes = memory, memory.inputs, [[4, 5]]
        model.module = torch.nn.Module()
        model.module.forward = forward
        model.graphs, model.tried = {}, set()
        model.reuses_outputs = model.writes_over = False
        return model

    def test_what_runs_on_the_current_stream_is(self):
        def forward(x):
            y = torch.empty_like(x)
            launch(lambda: y.copy_(2 * x))
            return y

        self.assertTrue(self.captured(forward))
        for calls in (1, 16, 100):
            self.assertTrue(self.captured(forward, calls))

    def test_runs_of_one_call_are_beside_those_of_several(self):
        def forward(x):
            y = torch.empty_like(x)
            launch(lambda: y.copy_(2 * x))
            return y

        self.assertEqual(self.graphs_of(forward, 16, 30, 1), {1, 30})
        self.assertEqual(self.graphs_of(forward, 1, 16, 30), {1, 30})

    def test_what_runs_on_the_default_stream_is_not(self):
        for calls in (1, 16, 100):
            self.assertFalse(self.captured(lambda x: 2 * x, calls))

    def test_nor_is_what_runs_there_in_part(self):
        def forward(x):
            between, y = 2 * x, torch.empty_like(x)
            launch(lambda: y.copy_(between + 1))
            return y

        self.assertFalse(self.captured(forward))

    def test_an_input_that_is_returned_is_left_as_it_is(self):
        self.assertFalse(self.captured(lambda x: x))
        self.assertFalse(self.captured(lambda x: x.view(4, 5)))

    def test_outputs_that_are_written_over_are_copied_but_where_the_opponent_is_timed(self):
        same = torch.empty(4, 5)

        def forward(x):
            y = torch.empty_like(x) if Graph.current else same
            launch(lambda: y.copy_(2 * x))
            return y

        model = self.model_of(forward, 3)
        model.reuses_outputs = model.writes_over = True
        for results in (model.call(range(3)), model.call(range(3))):
            for result, call in zip(results, model.calls):
                self.assertTrue(torch.equal(result[0], 2 * call[0]))
        results = model.call_over(3)
        self.assertEqual([result[0].data_ptr() for result in results], 3 * [same.data_ptr()])
        self.assertTrue(torch.equal(same, 2 * model.calls[2][0]))
        # In a graph of kbench's each call has an output of its own, and none is copied.
        copies = []
        self.addCleanup(setattr, torch.Tensor, "clone", torch.Tensor.clone)
        clone = torch.Tensor.clone
        torch.Tensor.clone = lambda each: copies.append(Graph.current) or clone(each)
        model.try_to_capture(3)
        self.assertEqual(set(model.graphs), {3})
        self.assertTrue(copies)
        self.assertEqual(set(copies), {None})

    def test_what_exploits_replace_in_the_driver_is_there(self):
        names, seen = driver(), 0
        for path in glob.glob(os.path.join(FOLDER, "tests", "exploits", "torch", "*", "*.py")):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for name in re.findall(r'\bco_name == "(\w+)"', text):
                self.assertIn(f"def {name}(", driver_text(), path)
                seen += 1
            if '"__main__"' not in text:
                continue
            for used in re.findall(r'(?:\bdriver|modules\["__main__"\])((?:\.\w+)+)', text):
                of = names
                for name in used.split(".")[1:]:
                    there = of.get(name) if isinstance(of, dict) else getattr(of, name, None)
                    self.assertIsNotNone(there, f"{path}: {used}")
                    of = there
                    seen += 1
        self.assertGreater(seen, 20)


if __name__ == "__main__":
    unittest.main()
