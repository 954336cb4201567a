"""What load_module() does for modules with extensions, with a stand-in for torch's builder."""

import os
import sys
import tempfile
import types
import unittest
from unittest import mock

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(FOLDER, "harness", "measure", "runner", "torch"))

import load_module  # noqa: E402

load_module.load_bridge = lambda: None  # quick_build.py's
load_module.build_quickly_first = lambda cpp_extension, ways: None


class Extensions(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.built = []
        self.builder = types.ModuleType("torch.utils.cpp_extension")
        self.new_process()
        names = {"torch": types.ModuleType("torch"), "torch.utils": types.ModuleType("torch.utils"),
                 "torch.utils.cpp_extension": self.builder}  # fmt: skip
        names["torch.utils"].cpp_extension = self.builder
        before = {name: sys.modules.get(name) for name in names}
        sys.modules.update(names)

        def restore():
            for name, module in before.items():
                sys.modules.pop(name)
                if module is not None:
                    sys.modules[name] = module

        self.addCleanup(restore)

    def new_process(self):
        def build(*, name, sources, build_directory, extra_cflags, verbose, with_cuda):
            self.built.append(name)
            with open(os.path.join(build_directory, name + ".so"), "w") as file:
                file.write("library")

        self.builder._write_ninja_file_and_build_library = build

    def load(self, text, flags=(), folder="one", verbose=False, with_cuda=False):
        """As load_inline() does in a module of its own process."""
        self.new_process()
        made_in = os.path.join(self.folder.name, folder)
        os.makedirs(made_in, exist_ok=True)
        source = os.path.join(made_in, "main.cpp")
        with open(source, "w") as file:
            file.write(text)
        module = (f"from torch.utils import cpp_extension\n"
                  f"cpp_extension._write_ninja_file_and_build_library(name='e', "
                  f"sources={[source]!r}, build_directory={made_in!r}, "
                  f"extra_cflags={list(flags)!r}, verbose={verbose}, "
                  f"with_cuda={with_cuda})\n")  # fmt: skip
        load_module.load_module(module, os.path.join(self.folder.name, "model_new.py"))

    def test_what_was_built_is_taken(self):
        self.load("a")
        self.load("a")
        self.load("a", verbose=True)
        self.assertEqual(self.built, ["e"])

    def test_it_is_taken_in_a_folder_of_another_name(self):
        self.load("a")
        os.rename(os.path.join(self.folder.name, "one"), os.path.join(self.folder.name, "two"))
        self.load("a", folder="two")
        self.assertEqual(self.built, ["e"])

    def test_other_sources_and_other_flags_are_built(self):
        self.load("a")
        self.load("b")
        self.load("b", flags=["-O3"])
        self.load("b", flags=["-O3"])
        self.assertEqual(self.built, ["e"] * 3)

    def test_a_library_that_is_gone_is_built_again(self):
        self.load("a")
        os.remove(os.path.join(self.folder.name, "one", "e.so"))
        self.load("a")
        self.assertEqual(self.built, ["e"] * 2)

    def test_another_process_builds_where_that_is_asked_for(self):
        asked = []
        with mock.patch.object(load_module, "BUILD_ELSEWHERE", [asked.append]):
            self.load("a")
        self.assertEqual(([each["name"] for each in asked], self.built), (["e"], []))

    def test_cuda_code_takes_a_device_with_cuda(self):
        with mock.patch.dict(os.environ, {"TORCH_CUDA_ARCH_LIST": ""}):
            with self.assertRaises(load_module.NoCuda):
                self.load("a", with_cuda=True)
            self.load("a")
        with mock.patch.dict(os.environ, {"TORCH_CUDA_ARCH_LIST": "9.0"}):
            self.load("b", with_cuda=True)
        self.assertEqual(self.built, ["e"] * 2)

    def test_a_byte_order_mark_is_skipped(self):
        file = os.path.join(self.folder.name, "model_new.py")
        self.assertEqual(load_module.load_module("\ufeffx = 1", file)["x"], 1)

    def test_a_module_without_extensions_loads_no_builder(self):
        before = self.builder._write_ninja_file_and_build_library
        names = load_module.load_module("x = 1", os.path.join(self.folder.name, "model_new.py"))
        self.assertEqual(names["x"], 1)
        self.assertIs(self.builder._write_ninja_file_and_build_library, before)


if __name__ == "__main__":
    unittest.main()
