"""The task's weights in modules that read them in __init__, by weights.py and driver.py's Model."""

import os
import sys
import tempfile
import textwrap
import types
import unittest

import needs

try:
    import torch
except ImportError:
    torch = None

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SCRIPTS = os.path.join(FOLDER, "harness", "measure", "runner", "torch")


def driver():
    """driver.py with what stands in front of it, without its loop."""
    text = "".join(open(os.path.join(SCRIPTS, name + ".py")).read() + "\n"
                   for name in ("load_module", "kernel_names", "weights", "driver"))  # fmt: skip
    module = types.ModuleType("driver")
    exec(compile(text, "driver.py", "exec"), module.__dict__)
    module.torch = torch
    module.DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
    module.DTYPES = {"f32": torch.float32, "f16": torch.float16}
    torch.set_grad_enabled(False)
    return module


DRIVER = driver() if torch else None
REGISTER = torch.nn.Module.register_parameter if torch else None
TOP = """
import torch
from torch import nn
import torch.nn.functional as F

made = 0
"""


def setUpModule():
    needs.need(torch, "torch (Debian: python3-torch)")


class Weights(unittest.TestCase):
    """A layer of 3 to 4 values with a bias, and a normalization."""

    SHAPES = {"fc.weight": (4, 3), "fc.bias": (4,), "bn.weight": (4,), "bn.bias": (4,)}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        torch.manual_seed(1)

    def module(self, text, shapes=None, dtype="f32", init="[]"):
        shapes = self.SHAPES if shapes is None else shapes
        shapes = {each: shapes[each] for each in shapes}
        self.weights = {name: torch.randn(shape, device=DRIVER.DEVICE).to(DRIVER.DTYPES[dtype])
                        for name, shape in shapes.items()}  # fmt: skip
        job = {"source": TOP + textwrap.dedent(text), "init_inputs": init, "dtype": dtype,
               "variables": {}, "scalars": [], "parameters": [{"name": name} for name in shapes],
               "calls": [{"outputs": [], "inputs": []}]}  # fmt: skip
        x = torch.zeros(2, 3, device=DRIVER.DEVICE, dtype=DRIVER.DTYPES[dtype])
        memory = types.SimpleNamespace(parameters=list(self.weights.values()), inputs=[[x]])
        self.constructions = 0
        construct = DRIVER.Model.construct

        def counted(*arguments):
            self.constructions += 1
            return construct(*arguments)

        DRIVER.Model.construct = counted
        try:
            return DRIVER.Model(job, memory).module
        finally:
            DRIVER.Model.construct = construct
            self.assertIs(torch.overrides._get_current_function_mode(), None)
            self.assertNotIn("Construction", torch.nn.Module.register_parameter.__qualname__)

    def refusal(self, *arguments, **named):
        with self.assertRaises(DRIVER.Refusal) as raised:
            self.module(*arguments, **named)
        self.assertEqual(raised.exception.kind, "parameters")
        return str(raised.exception)

    def same(self, mine, value):
        self.assertEqual(list(mine.shape), list(value.shape))
        self.assertTrue(torch.allclose(mine.to(value.device).double(), value.double(), 1e-5, 1e-6),
                        f"{mine} is not {value}")  # fmt: skip

    def folded(self):
        w = self.weights
        scale = w["bn.weight"]
        return w["fc.weight"] * scale[:, None], w["fc.bias"] * scale + w["bn.bias"]

    def all_as_the_tasks(self, module):
        for name, parameter in module.named_parameters():
            self.same(parameter, self.weights[name])

    @staticmethod
    def layers(text):
        """With both layers, then `text` in its __init__."""
        return """
class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.bn = nn.BatchNorm1d(4)
""" + textwrap.indent(textwrap.dedent(text), 8 * " ")

    def with_layers(self, text, **named):
        return self.module(self.layers(text), **named)

    def test_that_are_read_in_no_init(self):
        self.all_as_the_tasks(self.with_layers("pass"))
        self.assertEqual(self.constructions, 2)

    def test_in_buffers_attributes_and_closures(self):
        module = self.with_layers("""
            self.register_buffer("t", self.fc.weight.t().contiguous())
            self.kept = [self.fc.weight.detach().clone(), {"bias": self.fc.bias.data * 2}]
            packed = torch.cat([self.fc.weight, self.fc.bias[:, None]], dim=1)
            self.packed = lambda: packed
            """)
        self.all_as_the_tasks(module)
        self.same(module.t, self.weights["fc.weight"].t())
        self.same(module.kept[0], self.weights["fc.weight"])
        self.same(module.kept[1]["bias"], self.weights["fc.bias"] * 2)
        self.same(module.packed()[:, :3], self.weights["fc.weight"])

    def test_under_other_names_in_order_of_creation(self):
        module = self.module("""
            class ModelNew(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.gemm = nn.Linear(3, 4)
                    self.gain = nn.Parameter(torch.ones(4))
                    self.shift = nn.Parameter(torch.zeros(4))
                    self.product = self.gemm.weight * self.gain[:, None]
            """)
        self.same(module.product, self.folded()[0])
        self.same(module.shift, self.weights["bn.bias"])

    def test_initialised_afterwards(self):
        """Initialisers of all kinds leave the task's values, also those of torch.nn.init."""
        module = self.with_layers("""
            nn.init.kaiming_normal_(self.fc.weight, nonlinearity="relu")
            nn.init.trunc_normal_(self.fc.bias, std=0.02)
            self.a = self.fc.bias.clone()
            nn.init.orthogonal_(self.fc.weight)
            nn.init.eye_(self.fc.weight)
            self.c = self.fc.weight.t().contiguous()
            self.fc.weight.data.normal_(0, 0.1).mul_(0.5).clamp_(-1, 1)
            self.fc.weight.data[0] = 0
            self.fc.weight.data *= 3
            self.fc.weight.data = torch.randn(4, 3)
            self.bn.weight.data.fill_(0.5)
            self.bn.bias.data.copy_(torch.full((4,), 0.25))
            self.b = self.fc.weight + 0
            """)
        self.all_as_the_tasks(module)
        self.same(module.a, self.weights["fc.bias"])
        self.same(module.b, self.weights["fc.weight"])
        self.same(module.c, self.weights["fc.weight"].t())

    def test_folded_in_place(self):
        """What is made of other weights stays; an initialiser after it does not."""
        module = self.with_layers("""
            self.fc.weight.data.mul_(self.bn.weight[:, None])
            self.fc.bias.data.copy_(self.fc.bias * self.bn.weight + self.bn.bias)
            self.fc.weight.requires_grad = False
            self.bn.weight.data = self.bn.weight.data * 2
            self.bn.weight.data.fill_(1)
            """)
        self.same(module.fc.weight, self.folded()[0])
        self.same(module.fc.bias, self.folded()[1])
        self.same(module.bn.weight, self.weights["bn.weight"])

    def test_folded_with_constants(self):
        """What a layer of PyTorch's has initialised, and what was drawn, is scaled to some end."""
        module = self.with_layers("""
            self.fc.weight.data.div_(2)
            with torch.no_grad():
                self.fc.bias *= 0.5
                self.bn.weight[1:3] = 0
            self.t = self.fc.weight.t().contiguous()
            """)
        self.same(module.fc.weight, self.weights["fc.weight"] / 2)
        self.same(module.fc.bias, self.weights["fc.bias"] / 2)
        self.same(module.t, self.weights["fc.weight"].t() / 2)
        self.same(module.bn.weight[1:3], torch.zeros(2))
        module = self.module("""
            class ModelNew(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.fc = nn.Linear(64, 64)
                    self.fc.weight.data[1, 1] = 7  # One element of many.
            """, {"fc.weight": (64, 64), "fc.bias": (64,)})
        self.assertEqual(float(module.fc.weight[1, 1]), 7)
        self.same(module.fc.weight[2], self.weights["fc.weight"][2])
        module = self.module("""
            class ModelNew(nn.Module):
                def __init__(self):
                    super().__init__()
                    w = torch.randn(4, 3)
                    w *= 0.1
                    self.weight = nn.Parameter(w)
                    self.bias = nn.Parameter(torch.empty(4))
                    nn.init.uniform_(self.bias, -1, 1)
                    self.bias.data.mul_(3)
            """, {"weight": (4, 3), "bias": (4,)})
        self.same(module.weight, self.weights["weight"])
        self.same(module.bias, self.weights["bias"] * 3)

    def test_of_modules_that_are_thrown_away(self):
        module = self.module("""
            class ModelNew(nn.Module):
                def __init__(self):
                    super().__init__()
                    fc, bn = nn.Linear(3, 4), nn.BatchNorm1d(4)
                    self.weight = nn.Parameter(fc.weight * bn.weight[:, None])
                    self.bias = nn.Parameter(fc.bias * bn.weight + bn.bias)
            """)
        self.same(module.weight, self.folded()[0])
        self.same(module.bias, self.folded()[1])

    def test_copied_from_modules_that_are_thrown_away(self):
        for copied in ("self.load_state_dict(other.state_dict())",
                       "self.fc.weight.data = other.fc.weight.data\n"
                       "for name in ('fc.bias', 'bn.weight', 'bn.bias'):\n"
                       "    self.get_parameter(name).data.copy_(other.get_parameter(name))"):
            text = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.bn = nn.Linear(3, 4), nn.BatchNorm1d(4)
"""
            for before in (True, False):
                other = "other = Model()\n"
                module = self.module(text + (self.layers(other + copied) if not before else
                                             self.layers(copied).replace(
                                                 "self.fc =", other + "        self.fc =")))
                self.all_as_the_tasks(module)

    def test_beside_layers_that_are_tried_and_thrown_away(self):
        module = self.module("""
            class ModelNew(nn.Module):
                def __init__(self):
                    super().__init__()
                    nn.Linear(3, 4)(torch.ones(1, 3))
                    self.fc = nn.Linear(3, 4)
                    self.bn = nn.BatchNorm1d(4)
                    self.t = self.fc.weight.t().contiguous()
            """)
        self.all_as_the_tasks(module)
        self.same(module.t, self.weights["fc.weight"].t())

    def test_replaced_by_others(self):
        module = self.with_layers("""
            self.fc.weight = nn.Parameter(self.fc.weight * self.bn.weight[:, None])
            self.turned = nn.Parameter(self.fc.weight.data.t().contiguous())
            """)
        self.same(module.fc.weight, self.folded()[0])
        self.same(module.turned, self.folded()[0].t())

    def test_beside_parameters_made_of_them(self):
        module = self.with_layers("self.turned = nn.Parameter(self.fc.weight.data.t())")
        self.same(module.fc.weight, self.weights["fc.weight"])
        self.same(module.turned, self.weights["fc.weight"].t())

    def test_read_before_they_are_registered(self):
        for made in ("torch.randn(4, 3)", "torch.randn(4, 3) * 0.02",
                     "torch.empty(4, 3).normal_()"):  # fmt: skip
            module = self.module(f"""
                class ModelNew(nn.Module):
                    def __init__(self):
                        super().__init__()
                        w = {made}
                        self.register_buffer("t", w.t().contiguous())
                        self.plain = w
                        self.weight = nn.Parameter(w)
                """, {"weight": (4, 3)})
            self.same(module.weight, self.weights["weight"])
            self.same(module.plain, self.weights["weight"])
            self.same(module.t, self.weights["weight"].t())

    def test_that_are_views_of_other_strides(self):
        module = self.module("""
            class ModelNew(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.weight = nn.Parameter(torch.randn(3, 4).t())
                    self.t = self.weight.t().contiguous()
            """, {"weight": (4, 3)})
        self.all_as_the_tasks(module)
        self.same(module.t, self.weights["weight"].t())

    def test_of_halves(self):
        module = self.with_layers("""
            self.half()
            self.t = self.fc.weight.t().contiguous()
            """)
        self.same(module.t, self.weights["fc.weight"].half().t())
        module = self.with_layers("self.t = self.fc.weight.t().contiguous()", dtype="f16")
        self.same(module.t, self.weights["fc.weight"].t())
        self.all_as_the_tasks(module)

    def test_made_in_inference_mode(self):
        module = self.module("""
            class ModelNew(nn.Module):
                def __init__(self):
                    super().__init__()
                    with torch.inference_mode():
                        self.fc = nn.Linear(3, 4)
                        self.bn = nn.BatchNorm1d(4)
                        self.t = self.fc.weight.t().contiguous()
            """)
        self.all_as_the_tasks(module)
        self.same(module.t, self.weights["fc.weight"].t())

    def test_in_lists_and_sequences(self):
        module = self.module("""
            class ModelNew(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layers = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
                    self.norms = nn.ModuleList([nn.BatchNorm1d(4) for _ in range(1)])
                    self.t = [each.weight.clone() for each in [self.layers[0], self.norms[0]]]
            """)
        self.same(module.t[0], self.weights["fc.weight"])
        self.same(module.t[1], self.weights["bn.weight"])

    def test_of_recurrent_layers(self):
        shapes = {name: list(each.shape) for name, each in torch.nn.LSTM(3, 4).named_parameters()}
        module = self.module("""
            class ModelNew(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.rnn = nn.LSTM(3, 4)
                    self.t = self.rnn.weight_hh_l0.t().contiguous()
            """, {"rnn." + name: shape for name, shape in shapes.items()})
        self.all_as_the_tasks(module)
        self.same(module.t, self.weights["rnn.weight_hh_l0"].t())

    def test_of_copies_of_modules(self):
        module = self.module("""
            import copy
            class ModelNew(nn.Module):
                def __init__(self):
                    super().__init__()
                    fc = nn.Linear(3, 4)
                    self.layers = nn.ModuleList([fc, copy.deepcopy(fc)])
                    self.t = fc.weight.t().contiguous()
            """, {"layers.0.weight": (4, 3), "layers.0.bias": (4,), "layers.1.weight": (4, 3),
                  "layers.1.bias": (4,)})  # fmt: skip
        self.all_as_the_tasks(module)
        self.same(module.t, self.weights["layers.0.weight"].t())

    def test_that_are_tied(self):
        module = self.module("""
            class ModelNew(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.a = nn.Linear(3, 4, bias=False)
                    self.b = nn.Linear(3, 4, bias=False)
                    self.b.weight = self.a.weight
                    self.t = self.b.weight.t().contiguous()
            """, {"a.weight": (4, 3)})
        self.assertIs(module.a.weight, module.b.weight)
        self.same(module.t, self.weights["a.weight"].t())

    def test_of_an_embedding_with_padding(self):
        module = self.module("""
            class ModelNew(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.e = nn.Embedding(5, 3, padding_idx=0)
                    self.t = self.e.weight.t().contiguous()
            """, {"e.weight": (5, 3)})
        self.all_as_the_tasks(module)
        self.same(module.t, self.weights["e.weight"].t())

    def test_that_are_lazy_are_written_afterwards(self):
        module = self.module("""
            class ModelNew(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.fc = nn.LazyLinear(4)
                def forward(self, x):
                    return self.fc(x)
            """, {"fc.weight": (4, 3), "fc.bias": (4,)})
        self.all_as_the_tasks(module)

    def test_other_draws_are_as_after_one_construction(self):
        """What a fill leaves out does not change the numbers that are drawn after it."""
        module = self.with_layers("self.noise = torch.randn(5)")
        torch.manual_seed(42)
        torch.nn.Linear(3, 4)
        self.assertTrue(torch.equal(module.noise, torch.randn(5)))

    def test_module_that_fails_or_differs_when_it_is_made_again(self):
        for differs in ("raise ValueError()", "self.more = nn.Linear(2, 2)", "raise SystemExit()"):
            module = self.with_layers(f"""
                global made
                made += 1
                if made > 1: {differs}
                """)
            self.all_as_the_tasks(module)
            self.assertFalse(hasattr(module, "more"))

    def test_module_that_cannot_be_watched(self):
        module = self.with_layers("assert torch.overrides._get_current_function_mode() is None")
        self.all_as_the_tasks(module)

    def test_that_are_drawn_by_others(self):
        """By numpy, by Python, by a generator without a seed, in whatever order."""
        module = self.with_layers("""
            import numpy, random
            self.fc.weight.data.copy_(torch.from_numpy(numpy.random.randn(4, 3)))
            self.fc.bias.data.fill_(random.random())
            self.bn.weight.data.copy_(torch.from_numpy(numpy.random.default_rng().random(4)))
            """)
        self.all_as_the_tasks(module)

    def test_module_that_does_less_once_it_was_made(self):
        module = self.with_layers("""
            global made
            made = torch.arange(12).reshape(4, 3).float().cos() if type(made) is int else made
            self.fc.weight.data.normal_()
            self.t = self.fc.weight.t().contiguous()
            """)
        self.all_as_the_tasks(module)
        self.same(module.t, self.weights["fc.weight"].t())

    def test_what_is_no_module_is_refused(self):
        with self.assertRaises(DRIVER.Refusal) as raised:
            self.module("""
                class ModelNew:
                    pass
                """)
        self.assertEqual(raised.exception.kind, "init")

    def test_what_is_drawn_stays_no_weight(self):
        """Values of the first time are not the task's."""
        module = self.with_layers("""
            global made
            made = made or [self.fc.weight.clone()]
            self.kept = made[0]
            """)
        self.assertFalse(torch.allclose(module.kept.to(DRIVER.DEVICE), self.weights["fc.weight"]))

    def test_module_that_replaces_what_registers_them(self):
        module = self.with_layers("""
            def register_parameter(self, name, value):
                self._parameters[name] = value
            nn.Module.register_parameter = register_parameter
            self.late = nn.Linear(4, 2)
            """, shapes=dict(self.SHAPES, **{"late.weight": (2, 4), "late.bias": (2,)}))
        self.addCleanup(setattr, torch.nn.Module, "register_parameter", REGISTER)
        self.all_as_the_tasks(module)

    def test_names_what_the_module_leaves_out(self):
        said = self.refusal("""
            class ModelNew(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.fc = nn.Linear(3, 4)
                    self.bn = nn.BatchNorm1d(4, affine=False)
            """)
        self.assertEqual(said, "unmatched parameters: ModelNew leaves out the task's bn.weight [4] "
                         "and bn.bias [4]; bn.weight and bn.bias of a normalization are ones and "
                         "zeros in KernelBench, and are not here: all weights have values drawn by "
                         "kbench")  # fmt: skip

    def test_names_a_few_of_many(self):
        said = self.refusal("""
            class ModelNew(nn.Module):
                pass
            """, {f"layer{i}.bias": (4,) for i in range(30)})
        self.assertIn("layer3.bias [4], layer4.bias [4] and 25 more: all weights", said)

    def test_names_what_the_module_has_alone(self):
        said = self.refusal("""
            class ModelNew(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.slope = nn.Parameter(torch.zeros(1))
            """, {})
        self.assertIn("ModelNew has slope [1], which the task does not have", said)
        said = self.refusal(self.layers("self.slope = nn.Parameter(torch.ones(1))"))
        self.assertIn("slope [1]", said)

    def test_names_both(self):
        said = self.refusal("""
            class ModelNew(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.w = nn.Parameter(torch.zeros(7, 2))
            """, {"fc.weight": (4, 3)})
        self.assertIn("the task's fc.weight [4, 3] has no partner of its shape", said)
        self.assertIn("ModelNew's w [7, 2]", said)

    def test_fills_are_left_out_the_second_time(self):
        states = []
        plain = DRIVER.set_random_state
        self.addCleanup(setattr, DRIVER, "set_random_state", plain)
        DRIVER.set_random_state = lambda state: (states.append(state), plain(state))
        self.with_layers("self.fc.weight.data.normal_()")
        self.assertEqual(len(states), 3)  # Linear's own weight and bias, and normal_().


class Launches(unittest.TestCase):
    """What CUDA says of a launch that it refused."""

    def setUp(self):
        plain = DRIVER.DEVICE, DRIVER.ctypes.CDLL
        self.addCleanup(lambda: (setattr(DRIVER, "DEVICE", plain[0]),
                                 setattr(DRIVER.ctypes, "CDLL", plain[1])))  # fmt: skip

    def test_is_asked_for_once(self):
        errors = [9, 0, 600]  # The last is no launch's: an event was not ready.

        class Runtime:
            def __init__(self, name):
                if name is None:
                    raise OSError("PyTorch's is not in the global names")
                self.cudaGetErrorString = lambda code: b"invalid configuration argument"

            def cudaGetLastError(self):
                return errors.pop(0)

        DRIVER.DEVICE, DRIVER.ctypes.CDLL = "cuda", Runtime
        self.assertEqual(DRIVER.runtime_error(), "invalid configuration argument")
        self.assertEqual(DRIVER.runtime_error(), "")
        self.assertEqual(DRIVER.runtime_error(), "")

    def test_is_nothing_where_there_is_no_runtime(self):
        DRIVER.DEVICE = "cuda"
        DRIVER.ctypes.CDLL = lambda name: object()
        self.assertEqual(DRIVER.runtime_error(), "")

    def test_that_nobody_has_looked_at_ends_the_first_run(self):
        said = ["", "invalid argument", "", "", "an error of a later run"]
        plain = DRIVER.runtime_error
        self.addCleanup(setattr, DRIVER, "runtime_error", plain)
        DRIVER.runtime_error = lambda: said.pop(0)
        model = DRIVER.Model.__new__(DRIVER.Model)
        model.graphs, model.has_run, model.writes_over = {}, False, False
        model.call = lambda calls: []
        model.memory = types.SimpleNamespace(publish=lambda results: {}, written=lambda: None)
        with self.assertRaises(DRIVER.Refusal) as raised:
            model.run(1, False, False)
        self.assertEqual(raised.exception.kind, "launch")
        self.assertIn("CUDA says invalid argument", str(raised.exception))
        for _ in range(2):
            self.assertFalse(model.run(1, False, False)["captured"])
        self.assertEqual(said, ["an error of a later run"])

    def test_is_told_by_an_operator_behind_it(self):
        error = RuntimeError("CUDA error: invalid configuration argument\nCUDA kernel errors might "
                             "be asynchronously reported at some other API call")  # fmt: skip
        self.assertEqual(DRIVER.said_by(error, ""),
                         "RuntimeError: CUDA error: invalid configuration argument (perhaps of a "
                         "launch before it: a kernel with more threads or shared memory than it "
                         "may have is not launched)")  # fmt: skip


if __name__ == "__main__":
    unittest.main()
