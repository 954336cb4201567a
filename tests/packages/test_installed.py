"""What `cmake --install` puts into each package, and the wheel that is made of it.

KBENCH_BUILD is the build folder.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

import needs

BUILD = os.environ["KBENCH_BUILD"]
SOURCE = Path(__file__).resolve().parents[2]
MODULE = SOURCE / "libkbench/python"
COMPONENTS = ("kbench", "libkbench1", "libkbench-dev", "python3-kbench")


def run(*command, **more):
    words = [str(word) for word in command]
    ran = subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if ran.returncode != 0:
        raise AssertionError(f"{words}: {ran.returncode}\n{ran.stdout[-4000:]}")
    return ran.stdout


def install(folder, *more):
    run(os.environ["KBENCH_CMAKE"], "--install", BUILD, "--prefix", folder, *more)


def below(folder):
    return {path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir()}


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = Path(scratch.name)
        for component in COMPONENTS:
            install(cls.folder / component, "--component", component)
        cls.files = {name: below(cls.folder / name) for name in COMPONENTS}

    def test_every_file_is_in_one_package(self):
        install(self.folder / "all")
        packaged = sorted(path for files in self.files.values() for path in files)
        module = self.files["python3-kbench"]  # which pip installs elsewhere
        self.assertEqual(packaged, sorted(below(self.folder / "all") | module))

    def test_packages_have_what_their_names_say(self):
        def package_of(ending):
            found = {name for name, files in self.files.items()
                     if any(str(path).endswith(ending) for path in files)}  # fmt: skip
            self.assertEqual(len(found), 1, ending)
            return found.pop()

        for ending in ("bin/kbench", "candidates/simple/level1_019_relu.yaml", "docs/serve.md",
                       "share/kbench/prompts/default/shaders.yaml"):  # fmt: skip
            self.assertEqual(package_of(ending), "kbench")
        self.assertEqual(package_of("/libkbench.so.1"), "libkbench1")
        for ending in ("/libkbench.so", "/libkbench-models.a", "kbenchConfig.cmake", "/c.h", ".pc"):
            self.assertEqual(package_of(ending), "libkbench-dev")
        self.assertEqual(package_of("kbench/py.typed"), "python3-kbench")

    def test_no_text_names_the_build_folder(self):
        seen = 0
        for name, files in self.files.items():
            for path in files:
                if (self.folder / name / path).is_symlink():
                    continue
                content = (self.folder / name / path).read_bytes()
                if b"\0" in content:
                    continue  # compiled: the packages' own build has no folder in it
                self.assertNotIn(BUILD.encode(), content, path)
                self.assertNotIn(f"{SOURCE}/".encode(), content, path)
                seen += 1
        self.assertGreater(seen, 200)

    def test_wheel_of_this_platform(self):
        """It brings what it needs, and is used where nothing else of kbench is to be found."""
        needs.need(shutil.which("patchelf"), "patchelf (Debian: patchelf)")
        needs.need(importlib.util.find_spec("pip"), "pip (Debian: python3-pip)")
        prefix = self.folder / "prefix"
        install(prefix, "--strip")
        shutil.copy(SOURCE / "LICENSE", prefix / "share/doc/kbench/copyright")
        tree = self.folder / "tree"
        shutil.copytree(MODULE, tree)
        pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
        environment = {**os.environ, "PIP_ROOT_USER_ACTION": "ignore", "KBENCH_PREFIX": str(prefix)}
        run(*pip, "wheel", "--no-index", "--no-deps", "-w", self.folder, tree, env=environment)
        shutil.rmtree(prefix)
        (wheel,) = self.folder.glob("*.whl")
        self.assertRegex(wheel.name, r"^kbench-[\d.]+-py3-none-manylinux_2_36_\w+\.whl$")
        place = self.folder / "installed"
        run(*pip, "install", "--no-index", "--no-deps", "--no-compile", "--target", place, wheel,
            env=environment)  # fmt: skip

        bare = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(place)}
        version = wheel.name.split("-")[1]
        self.assertEqual(run(place / "bin/kbench", "--version", env=bare), f"kbench {version}\n")
        said = run(sys.executable, "-c", "import kbench; from kbench._library import library\n"
                   "print(len(kbench.tasks()), library().program())", env=bare)  # fmt: skip
        self.assertEqual(said, f"250 {place}/kbench/_bundled/bin/kbench\n")
        sets = place / "kbench/_bundled/share/kbench/candidates"
        self.assertEqual(below(sets), below(SOURCE / "harness/candidates"))
        for line in run("ldd", place / "kbench/_bundled/bin/kbench", env=bare).splitlines():
            if "yaml-cpp" in line or "libcrypto" in line or "libcurl" in line:
                self.assertIn(f"=> {place}/", line)
        (licences,) = place.glob("*.dist-info/licenses")
        self.assertTrue((licences / "libcurl4.txt").read_text().strip())

        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            self.assertEqual(names, sorted(names))
            self.assertEqual({entry.date_time for entry in archive.infolist()},
                             {(1980, 1, 1, 0, 0, 0)})  # fmt: skip

    def test_no_kbench_no_wheel(self):
        said = subprocess.run([sys.executable, "-c", "import platform_files, pathlib\n"
                               "platform_files.bundled(pathlib.Path('/nowhere'), 'x')"],
                              cwd=MODULE, text=True, stderr=subprocess.PIPE)  # fmt: skip
        self.assertIn("/nowhere/bin/kbench is not there: no installed kbench", said.stderr)


if __name__ == "__main__":
    unittest.main()
