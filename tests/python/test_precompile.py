"""What precompile.py says of extensions that do not compile, with a stand-in for PyTorch."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "harness", "measure",
                       "runner", "torch")  # fmt: skip
BUILDER = """import subprocess, sys
def _write_ninja_file_and_build_library(code, said, **named):
    print("built", file=sys.stderr)
    try:
        if code: raise subprocess.CalledProcessError(code, "ninja")
    except subprocess.CalledProcessError as error:
        raise RuntimeError("Error building extension 'e'" + said) from error
print("No CUDA runtime is found", file=__import__("sys").stderr)
"""
CUDA = """def is_available(): return False
def device_count(): return 0
def current_device(): raise RuntimeError("no device")
def get_device_capability(device=None): raise RuntimeError("no device")
"""
CALL = """cpp_extension._write_ninja_file_and_build_library(
    name='e', build_directory='.', sources=[], code={}, said={!r})"""


class Precompile(unittest.TestCase):
    def said_of(self, source, **environment):
        """Its answer, and what it prints."""
        script = "HEADERS = None\n"
        for name in ("load_module.py", "quick_build.py", "precompile.py"):
            with open(os.path.join(SCRIPTS, name), encoding="utf-8") as file:
                script += file.read() + "\n"
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "torch", "utils"))
            for path, text in (("__init__", "from . import cuda"), ("cuda", CUDA),
                               ("utils/__init__", ""), ("utils/cpp_extension", BUILDER)):  # fmt: skip
                with open(os.path.join(folder, "torch", path + ".py"), "w") as file:
                    file.write(text)
            answer = os.path.join(folder, "answer")
            with open(answer, "wb") as to:
                begin = f"import os; os.dup2({to.fileno()}, 3)\n"
                ran = subprocess.run([sys.executable, "-c", begin + script], cwd=folder, text=True,
                                     input=json.dumps({"source": source}), stderr=subprocess.PIPE,
                                     env={**os.environ, "PYTHONPATH": folder, **environment},
                                     pass_fds=[to.fileno()])  # fmt: skip
            self.assertEqual(ran.returncode, 0, ran.stderr)
            with open(answer, encoding="utf-8") as file:
                return json.load(file), ran.stderr

    def built(self, code, said):
        call = f"cpp_extension._write_ninja_file_and_build_library({code}, {said!r})"
        return self.said_of("from torch.utils import cpp_extension\n" + call)[0]

    def test_an_error_is_the_compilers(self):
        answer = self.built(1, ": main.cpp:1:1: error: expected ';'")
        self.assertIn("main.cpp:1:1: error", answer["error"])
        self.assertNotIn("killed", answer)

    def test_errors_are_at_the_lines_of_the_candidates_file(self):
        with tempfile.TemporaryDirectory() as folder:
            made = os.path.join(folder, "cuda.cu")
            code = ["int a;", "int b = c;", "int d = e;"]
            with open(made, "w") as file:
                file.write("\n".join(["#include <torch/types.h>"] + code))
            log = (f": {made}(3): error: identifier \"c\" is undefined\n  int b = c;\n          ^\n"
                   f"{made}:1:10: fatal error: torch/types.h: none\n"
                   "ld: undefined reference to `f(int)'\n")  # fmt: skip
            call = f"cpp_extension._write_ninja_file_and_build_library(1, {log!r})"
            source = ["from torch.utils import cpp_extension", 'code = """', *code, '"""', call]
            errors = self.said_of("\n".join(source))[0]["errors"]
        self.assertEqual(errors, [
            {"message": 'identifier "c" is undefined', "line": 4, "column": 0, "file": ""},
            {"message": "torch/types.h: none: #include <torch/types.h>", "line": 1, "column": 10,
             "file": "cuda.cu"},
            {"message": "undefined reference to `f(int)'", "line": 0, "column": 0, "file": ""}])  # fmt: skip

    def test_a_build_that_the_module_goes_on_without_is_told(self):
        call = "    " + CALL.format(1, ": main.cpp:1:1: error: no")
        tried = f"try:\n{call}\nexcept RuntimeError as error:\n    said.append(str(error))\n"
        answer, printed = self.said_of(
            f"from torch.utils import cpp_extension\nsaid = []\n{tried}{tried}"
            "assert said[0] == said[1]")  # fmt: skip
        self.assertEqual(answer["error"], "")
        self.assertEqual([each["message"] for each in answer["failed"]["e"]], ["no"])
        self.assertEqual(printed.count("built"), 1, "it was compiled twice in vain")

    def test_what_is_built_only_where_there_is_cuda_is_built(self):
        guarded = ("import torch\nfrom torch.utils import cpp_extension\n"
                   "if torch.cuda.is_available():\n    torch.cuda.get_device_capability()\n    ")
        call = CALL.format(0, "")
        for source in (guarded + call, guarded + "torch.cuda.Stream()\n" + call):
            self.assertIn("e", self.said_of(source, TORCH_CUDA_ARCH_LIST="9.0")[0]["ways"], source)
        self.assertEqual(self.said_of(guarded + call)[0], {"error": ""})

    def test_a_compiler_that_was_killed_is_told_apart(self):
        for code, said in ((-9, ""), (-15, ""),
                           (1, ": c++: fatal error: Killed signal terminated program cc1plus"),
                           (1, ": nvcc error   : 'cicc' died due to signal 9 (Kill signal)"),
                           (1, ": clang: error: unable to execute command: Killed")):  # fmt: skip
            self.assertIs(self.built(code, said).get("killed"), True, said)

    def test_what_compiles_or_fails_otherwise_has_no_error(self):
        for source in ("x = 1", "raise ValueError('none')", "import torch.utils.cpp_extension"):
            self.assertEqual(self.said_of(source)[0], {"error": ""}, source)

    def test_the_missing_device_is_not_spoken_of(self):
        self.assertEqual(self.said_of("from torch.utils import cpp_extension")[1], "")


class Hopeless(unittest.TestCase):
    """Which faults are not tried again with PyTorch's own headers."""

    @classmethod
    def setUpClass(cls):
        names = {}
        with open(os.path.join(SCRIPTS, "quick_build.py"), encoding="utf-8") as file:
            exec(compile(file.read(), "quick_build.py", "exec"), names)
        cls.is_hopeless = staticmethod(names["is_hopeless"])

    def test_what_no_header_mends(self):
        for log in ("main.cpp:9:1: error: redefinition of \u2018PyObject* PyInit_e()\u2019",
                    "ptxas error   : Entry function '_Z1fv' uses too much shared data (0x11040 bytes)",
                    'cuda.cu(3): error: class "uint3" has no member "w"'):  # fmt: skip
            self.assertTrue(self.is_hopeless(log, ""), log)

    def test_what_a_header_may_mend(self):
        for log in ("ptxas fatal   : Unresolved extern function '_Z3absf'",
                    'cuda.cu(3): error: class "at::Tensor" has no member "w"',
                    "main.cpp:9:1: error: redefinition of 'int f()'"):  # fmt: skip
            self.assertFalse(self.is_hopeless(log, ""), log)

    def test_a_function_that_is_bound_and_never_named_else(self):
        log = "main.cpp:4:9: error: \u2018f\u2019 was not declared in this scope; did you mean g?"
        bound = 'm.def("f", torch::wrap_pybind_function(f), "f");\n'
        self.assertTrue(self.is_hopeless(log, "int g();\n" + bound))
        # With PyTorch's headers it may be declared by these.
        for source in ("torch::Other f(torch::Other x);\n", "using namespace at;\n",
                       "using at::g;\n", "MACRO(f)\n"):  # fmt: skip
            self.assertFalse(self.is_hopeless(log, source + bound), source)


if __name__ == "__main__":
    unittest.main()
