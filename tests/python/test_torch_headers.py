"""Extensions that are compiled with kbench's headers do the same as with PyTorch's own: values bit by
bit, shapes, types, and errors. Takes minutes, for PyTorch's own headers."""

import contextlib
import gc
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import needs

try:
    import torch
    from torch.utils import cpp_extension
except ImportError:
    torch = None

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SCRIPTS = os.path.join(TESTS, "..", "harness", "measure", "runner", "torch")
CASES = os.path.join(TESTS, "torch_headers", "cases.cpp")
KERNELS = os.path.join(TESTS, "torch_headers", "kernels.cu")
OURS = [name for name in os.listdir(os.path.join(SCRIPTS, "headers")) if name.endswith(".h")]


def text_of(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def headers(*names):
    return {name: text_of(SCRIPTS, "headers", name) for name in names}


def has(header):
    try:
        folders = cpp_extension.include_paths()
    except OSError:
        return False
    folders = [*folders, cpp_extension.sysconfig.get_path("include"), "/usr/include"]
    return any(os.path.exists(os.path.join(each, header)) for each in folders)


def make_bridge(folder):
    """kbench's library, as a job of its own makes it."""
    os.makedirs(folder)
    answer = os.path.join(folder, "answer")
    with open(answer, "wb") as to:
        script = f"import os; os.dup2({to.fileno()}, 3)\n" + text_of(SCRIPTS, "make_bridge.py")
        subprocess.run([sys.executable, "-c", script], cwd=folder, check=True, text=True,
                       input=json.dumps(headers("kbench_abi.h", "bridge.cc")),
                       pass_fds=[to.fileno()])  # fmt: skip
    os.rename(answer, os.path.join(folder, "libkbench_torch.so"))


class Way:
    """Builds in a folder as a module's process does, with kbench's headers or without."""

    def __init__(self, folder, full):
        self.folder = folder
        with chdir(folder):
            self.names = {"HEADERS": None if full else headers(*OURS), "__name__": "way"}
            for script in ("load_module.py", "quick_build.py"):
                exec(compile(text_of(SCRIPTS, script), script, "exec"), self.names)

    def load(self, name, sources, **named):
        return self.build(cpp_extension.load, name, sources=sources, **named)

    def build(self, function, name, **named):
        kept = {each: getattr(cpp_extension, each)
                for each in ("_write_ninja_file_and_build_library", "_run_ninja_build")}  # fmt: skip
        try:
            self.names["build_extensions_once"]()
            folder = os.path.join(self.folder, name)
            os.makedirs(folder, exist_ok=True)
            return function(name=name, build_directory=folder, **named)
        finally:
            for each, function in kept.items():
                setattr(cpp_extension, each, function)

    def of_text(self, name, text, **named):
        path = os.path.join(self.folder, name + ".cpp")
        with open(path, "w") as file:
            file.write(text)
        return self.load(name, [path], **named)

    def how(self, name):
        return self.names["WAYS"][name]


@contextlib.contextmanager
def chdir(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def calls():
    """Of each function its arguments, with names of some. They are made anew for each way."""
    torch.manual_seed(7)
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    image, square = torch.randn(2, 4, 6, 6), torch.randn(3, 3)
    kernel, four = torch.randn(4, 4, 3, 3), torch.rand(4) + 0.5
    all_types = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float32,
                 torch.float64, torch.float16, torch.bfloat16, torch.bool]  # fmt: skip
    edges = [0.0, -0.0, 1.0, 65504.0, 65520.0, 1e-8, 6e-8, 3.1e-5, -2.0, float("inf"), float("nan"),
             1e38, -1e-39, 0.1, 2049.0, 2051.0]  # fmt: skip
    yield from (("relu", [x]), ("relu", [x.t()]), ("relu", [x.double()]), ("relu", [1]), ("relu", []),
                ("relu", [x, x]), ("relu", [None]), ("scaled", [x, 2, 3, True]),
                ("scaled", [x, 2.5, 3.5, True]), ("scaled", [x, "a", 1, True]),
                ("scaled", [x, 1, True, 1]), ("scaled", [x, 1, 2, None]), ("scaled", [x, 2, 2, "s"]),
                ("dispatched", [x]), ("dispatched", [x.t()]), ("dispatched", [x.int()]),
                ("empty_filled", [2, 3]), ("empty_filled", [-1, 3]), ("with_options", [x]),
                ("many", [4]), ("like", [x]), ("channels_last", [image]), ("from_memory", []),
                ("random", [5]), ("with_tensors", [x, y]), ("with_tensors", [x, square]),
                ("with_numbers", [x]), ("with_numbers", [x.int()]), ("in_place", [x]),
                ("in_place", [x.int()]), ("compared", [x, y]), ("functions", [x]),
                ("division", [x]), ("division", [x.int()]), ("all", [x]), ("largest", [x, 1]),
                ("largest", [x, 5]), ("least", [x]), ("top", [x, 2]), ("sorted", [x]),
                ("item", [x]), ("integer", [x]), ("views", [x]), ("parts", [image]),
                ("numbers", [x]), ("numbers", [image[:, ::2]]), ("accessed", [x]),
                ("accessed", [image]), ("row_written", [x]), ("convolved", [image, kernel, None]),
                ("convolved", [image, kernel, four]), ("strided", [image, kernel]),
                ("transposed", [image, kernel]), ("linear", [x, kernel[0, 0, 0:1, 0:1].expand(5, 4)
                                                             .contiguous(), torch.randn(5)]),
                ("batches", [image[0], image[1]]), ("normed", [x, four, four]),
                ("batch_normed", [image, four, four]), ("pooled", [image[:, :, :4, :4]]),
                ("written_to", [square, square]), ("padded", [x]), ("nothing", [x.clone()]),
                ("several", [x]), ("of_list", [[x, y], [1, 0, 1], [1, 2.5, 3]]),
                ("of_list", [(x, y), (1,), (2,)]), ("of_list", [[x], [0.5], [1.0]]),
                ("of_list", [x, [0], [1.0]]), ("of_list", [[x, 1], [0], [1.0]]),
                ("small", [255]), ("small", [256]), ("small", [-1]), ("small", [1.0]),
                ("without_gradient", [x]), ("checked", [x]), ("checked", [image]),
                ("checked", [image.half()]), ("checked", [torch.empty(0, 2)]), ("of_type", [x]),
                ("of_shape", [x]), ("of_dimension", [x]), ("of_operator", [x]), ("of_index", [x]),
                ("of_value", [x]), ("by_runtime", []), ("by_range", []), ("by_argument", []),
                ("by_other", []), ("caught", [x]), ("caught", [square]), ("wrapped", [image]),
                ("wrapped_argument", []), ("text", ["a"]), ("text", [b"a", 2]), ("text", [1]),
                ("text", ["a"], {"share": 2}), ("text", [], {"count": 1, "name": "b"}),
                ("text", ["a"], {"name": "b"}), ("text", ["a"], {"other": 1}), ("maybe", []),
                ("maybe", [x]), ("maybe", [x], {"by": 3}), ("maybe", [], {"by": 3}),
                ("maybe", [x, None]), ("overloaded", [1]), ("overloaded", [1.5]),
                ("overloaded", ["a"]), ("typed", [x]), ("typed", [x], {"flag": False}),
                ("lambda", [x, 2]), ("lambda", [x, torch.tensor(2)]),
                ("lambda", [x, torch.tensor(2.5)]), ("nothing", [torch.zeros(2).int()]))  # fmt: skip
    for dtype in all_types:
        for name in ("all_types", "switched", "sixteen", "relu"):
            yield name, [(x * 3).to(dtype)]
    for dtype in (torch.float16, torch.bfloat16):
        yield "sixteen", [torch.tensor(edges).to(dtype)]


def outcome(function, arguments, named):
    """What a call comes to, to be compared: bits of tensors, and types and first lines of errors."""
    torch.manual_seed(3)
    try:
        return plain(function(*arguments, **named)), [plain(each) for each in arguments]
    except Exception as error:
        first = str(error).split("\n")[0]
        return type(error).__name__, re.sub(r"/\S*/", "", first)


def outcomes(module):
    """Of all calls, as text, each with its name. They run in a process of their own: one that ends it
    has that as its outcome, and another process goes on behind it."""
    made, every = [], list(calls())
    while len(made) < len(every):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            with os.fdopen(write, "w") as lines:
                for name, arguments, *named in every[len(made) :]:
                    said = outcome(getattr(module, name), arguments, *(named or [{}]))
                    print(repr(said), file=lines, flush=True)
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as lines:
            made += lines
        status = os.waitpid(child, 0)[1]
        if status != 0:
            made.append(f"its process ends with status {status}")
    return [(name, said) for (name, *_), said in zip(every, made)]


def plain(value):
    if isinstance(value, torch.Tensor):
        bits = value.detach().contiguous()
        bits = bits.view(-1).view(torch.uint8) if bits.numel() and bits.dim() else bits.reshape(-1)
        return (str(value.dtype), tuple(value.shape), value.stride(), value.requires_grad,
                repr(bits.tolist()))  # fmt: skip
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [plain(each) for each in value]
    return type(value).__name__, value


class TorchHeaders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        needs.need(torch, "torch (Debian: python3-torch)")
        for header, package in (("ATen/ATen.h", "libtorch-dev"), ("Python.h", "python3-dev"),
                                ("pybind11/pybind11.h", "pybind11-dev")):  # fmt: skip
            needs.need(has(header), f"{header} (Debian: {package})")
        needs.need(shutil.which("ninja"), "ninja (Debian: ninja-build)")
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        make_bridge(os.path.join(cls.folder, "bridge"))
        cls.quick = Way(cls.folder, full=False)

    def test_both_ways_do_the_same(self):
        ours = self.quick.load("ours", [CASES])
        self.assertEqual(self.quick.how("ours"), "with kbench's headers")
        full = Way(tempfile.mkdtemp(dir=self.folder), full=True)
        theirs = full.load("theirs", [CASES])
        self.assertEqual(full.how("theirs"), "with PyTorch's own headers: as asked for")
        with open(theirs.__file__, "rb") as file:
            if b"libstdc++.so" not in file.read():
                self.skipTest("this compiler links libstdc++ into each extension: beside PyTorch's, "
                              "streams write no numbers, or crash")  # fmt: skip
        made = [outcomes(module) for module in (ours, theirs)]
        self.assertGreater(len({name for name, _ in made[0]}), 60)
        for (name, mine), (_, right) in zip(*made):
            with self.subTest(name):
                self.assertEqual(mine, right)

    def test_kernels_compile(self):
        needs.need(shutil.which("nvcc"), "nvcc")
        write_headers = self.quick.names["write_headers"]
        with chdir(self.folder):
            write_headers()
        flags = ["-isystem", os.path.join(self.folder, "headers"), "-isystem",
                 cpp_extension.sysconfig.get_path("include"), "-DKBENCH_HALF", "-DKBENCH_BIND",
                 "-DTORCH_EXTENSION_NAME=kernels", *cpp_extension.COMMON_NVCC_FLAGS]  # fmt: skip
        subprocess.run(["nvcc", "-std=c++17", "-arch=sm_90", *flags, "-c", KERNELS, "-o",
                        os.path.join(self.folder, "kernels.o")], check=True)  # fmt: skip

    def test_kernels_do_the_same_both_ways(self):
        needs.need(torch.version.cuda and cpp_extension.CUDA_HOME, "PyTorch for CUDA, and nvcc")
        ours = self.quick.load("ours_cuda", [KERNELS])
        self.assertEqual(self.quick.how("ours_cuda"), "with kbench's headers")
        theirs = Way(tempfile.mkdtemp(dir=self.folder), full=True).load("theirs_cuda", [KERNELS])
        needs.need(torch.cuda.is_available(), "a GPU")
        x = torch.randn(300, 7, device="cuda")
        for name, arguments in (("relu", [x]), ("relu", [x.double()]), ("relu", [x.half()]),
                                ("relu", [x.cpu()]), ("mixed", [x, 0.3]), ("mixed", [x.half(), 0.3]),
                                ("mixed", [x.bfloat16(), 0.3]), ("transposed", [x]),
                                ("doubled", [x.half()]), ("doubled", [x]), ("refused", [x]),
                                ("multiprocessors", [])):  # fmt: skip
            with self.subTest(name):
                self.assertEqual(outcome(getattr(ours, name), arguments, {}),
                                 outcome(getattr(theirs, name), arguments, {}))  # fmt: skip

    def test_many_calls_keep_nothing(self):
        module = self.quick.of_text("calls", "#include <torch/extension.h>\n"
                                    "at::Tensor twice(at::Tensor x, c10::optional<at::Tensor> y) {\n"
                                    "  return y.has_value() ? x + *y : x * 2; }\n"
                                    "std::vector<at::Tensor> all(std::vector<at::Tensor> x) {\n"
                                    "  TORCH_CHECK(!x.empty(), \"none\"); return x; }\n"
                                    "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n"
                                    "  m.def(\"twice\", &twice, py::arg(\"x\"),\n"
                                    "        py::arg(\"y\") = py::none());\n"
                                    "  m.def(\"all\", &all); }\n")  # fmt: skip
        x = torch.ones(1000)

        def call(times):
            for _ in range(times):
                module.twice(x), module.twice(x, y=x), module.all([x, x])
                for wrong in ((module.all, []), (module.twice, 1)):
                    with contextlib.suppress(RuntimeError, TypeError):
                        wrong[0](wrong[1])

        call(1000)
        counts, before = sys.getrefcount(x), resident()
        call(12000)
        gc.collect()
        self.assertEqual(sys.getrefcount(x), counts)
        self.assertLess(resident() - before, 4 << 20)

    def test_what_is_not_in_our_headers_is_compiled_with_pytorchs(self):
        module = self.quick.of_text("classes", "#include <torch/extension.h>\n"
                                    "struct Counter { int n = 0; int next() { return ++n; } };\n"
                                    "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n"
                                    "  py::class_<Counter>(m, \"Counter\").def(py::init<>())\n"
                                    "      .def(\"next\", &Counter::next); }\n")  # fmt: skip
        self.assertEqual(module.Counter().next(), 1)
        self.assertRegex(self.quick.how("classes"), "with PyTorch's own headers: .*class_")

    def test_what_no_header_mends_is_not_compiled_again(self):
        module = "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}\n"
        own, not_declared = "torch::Tensor f(torch::Tensor x) { return x; }\n", "int unused;\n"
        using = "using namespace at;\n"
        for name, source, again in (("module_twice", own + module, False),
                                    ("none_declared", not_declared, False),
                                    ("perhaps_declared", using + not_declared, True)):  # fmt: skip
            with unittest.mock.patch.object(cpp_extension, "_run_ninja_build",
                                            side_effect=RuntimeError("by PyTorch's")):  # fmt: skip
                said = "by PyTorch's" if again else f"Error building extension '{name}'.*\n.*error:"
                with self.assertRaisesRegex(RuntimeError, f"(?s){said}", msg=name):
                    self.quick.build(cpp_extension.load_inline, name, cpp_sources=[source],
                                     functions=["f"])  # fmt: skip

    def test_two_of_one_name_are_each_their_own(self):
        text = ("#include <torch/extension.h>\nint64_t number() { return %d; }\n"
                "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"number\", &number); }\n")  # fmt: skip
        first = self.quick.of_text("same", text % 1)
        second = self.quick.of_text("same", text % 2, verbose=True)
        self.assertEqual((first.number(), second.number()), (1, 2))

    def test_a_lock_of_a_killed_builder_is_removed(self):
        folder = os.path.join(self.folder, "extensions", "locked")
        os.makedirs(folder)
        lock = os.path.join(folder, "lock")
        with open(lock, "w"):
            os.environ["TORCH_EXTENSIONS_DIR"] = os.path.dirname(folder)
        self.addCleanup(os.environ.pop, "TORCH_EXTENSIONS_DIR")
        self.quick.names["remove_locks"]()
        self.assertFalse(os.path.exists(lock))

    def test_an_operator_that_this_pytorch_has_not_is_not_called(self):
        ours = dict(self.quick.names["HEADERS"])
        self.assertIn("_(abs)", ours["kbench_tensor.h"])
        ours["kbench_tensor.h"] = ours["kbench_tensor.h"].replace("_(abs)", "_(abs) _(abs_of_mine)")
        way = Way(tempfile.mkdtemp(dir=self.folder), full=False)
        os.symlink(os.path.join(self.folder, "bridge"), os.path.join(way.folder, "bridge"))
        way.names["HEADERS"] = ours
        with self.assertRaisesRegex(RuntimeError, "abs_of_mine"):  # PyTorch's own way says so.
            way.of_text("no_such", "#include <torch/extension.h>\n"
                        "at::Tensor f(at::Tensor x) { return x.abs_of_mine(); }\n"
                        "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"f\", &f); }\n")  # fmt: skip


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    unittest.main()
