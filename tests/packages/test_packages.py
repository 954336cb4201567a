"""Holds the packages and the wheel that `./dev package` made to what they promise: what is in them,
lintian's rules, and that a bare Debian 12 installs them and judges with them.

KBENCH_PACKAGES is their folder. The bare Debian is made by debootstrap from the mirror that this
machine's apt uses; that takes root, without which the packages are only unpacked here and run.
"""

import functools
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
from pathlib import Path

PACKAGES = Path(os.environ["KBENCH_PACKAGES"]).resolve()
SOURCE = Path(__file__).resolve().parents[2]
NAMES = ("kbench", "libkbench1", "libkbench-dev", "python3-kbench")
RELU = "share/kbench/candidates/simple/level1_019_relu.yaml"
USE_MODULE = f"""
import kbench, sys
with kbench.Evaluator(kbench.Options(device="cpu", preset="smoke")) as evaluator:
    print(kbench.__version__, evaluator.evaluate(sys.argv[1]).verdict)
"""


def run(*command, **more):
    words = [str(word) for word in command]
    ran = subprocess.run(words, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, **more)  # fmt: skip
    if ran.returncode != 0:
        raise AssertionError(f"{words}: {ran.returncode}\n{ran.stdout[-4000:]}")
    return ran.stdout


def package_file(name):
    (file,) = PACKAGES.glob(f"{name}_*.deb")
    return file


def wheel_file():
    (file,) = PACKAGES.glob("kbench-*.whl")
    return file


def scratch(test):
    folder = tempfile.TemporaryDirectory(prefix="kbench-packages-")
    test.addClassCleanup(folder.cleanup)
    return Path(folder.name)


class Timed:
    """Says how long a step took."""

    def __init__(self, what):
        self.what = what

    def __enter__(self):
        self.began = time.monotonic()

    def __exit__(self, *problem):
        print(f"\n  {self.what}: {time.monotonic() - self.began:.1f} s", file=sys.stderr, flush=True)


class Contents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = scratch(cls)
        cls.roots = {name: cls.folder / name for name in NAMES}
        for name, root in cls.roots.items():
            run("dpkg-deb", "-x", package_file(name), root)
        cls.roots["the wheel"] = cls.folder / "wheel"
        with zipfile.ZipFile(wheel_file()) as wheel:
            wheel.extractall(cls.roots["the wheel"])

    def files(self, name):
        return [path for path in self.roots[name].rglob("*") if path.is_file()]

    def test_no_file_is_in_two_packages(self):
        seen = {}
        for name in NAMES:
            for path in self.files(name):
                inside = path.relative_to(self.roots[name])
                self.assertNotIn(inside, seen)
                seen[inside] = name
        for path in ("usr/bin/kbench", f"usr/{RELU}", "usr/include/kbench/c.h",
                     "usr/share/kbench/prompts/default",
                     "usr/lib/python3/dist-packages/kbench/py.typed"):  # fmt: skip
            self.assertTrue(any((root / path).exists() for root in self.roots.values()), path)

    def test_nothing_names_the_machine_that_built_it(self):
        texts = [f"{SOURCE}/", f"{PACKAGES}/", f"{Path.home()}/"]
        if len(socket.gethostname()) > 5:  # shorter ones are in any text
            texts.append(socket.gethostname())
        for name in self.roots:
            self.assertGreater(len(self.files(name)), 3, name)
            for path in self.files(name):
                content = path.read_bytes()
                for text in texts:
                    self.assertFalse(text.encode() in content, f"{path} of {name} names {text}")

    def test_programs_and_libraries_name_no_folder_of_libraries(self):
        """But those of the wheel, which name their own."""
        checked = 0
        for name in self.roots:
            for path in self.files(name):
                with path.open("rb") as file:
                    if file.read(4) != b"\x7fELF" or path.suffix == ".o":
                        continue
                said = run("readelf", "-dW", path)
                rpaths = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", said)
                if name != "the wheel":
                    wanted = []
                else:
                    wanted = ["$ORIGIN/../lib" if path.name == "kbench" else "$ORIGIN"]
                self.assertEqual(rpaths, wanted, path)
                checked += 1
        self.assertGreater(checked, 4)

    def test_lintian_has_nothing_to_say(self):
        said = run("lintian", "--allow-root", "--tag-display-limit", 0, "--no-cfg",
                   "--fail-on", "none", *PACKAGES.glob("*.deb"))  # fmt: skip
        self.assertEqual(said.strip(), "")

    def test_the_wheel_has_a_licence_for_every_library(self):
        root = self.roots["the wheel"]
        libraries = list((root / "kbench/_bundled/lib").iterdir())
        (licences,) = root.glob("*.dist-info/licenses")
        self.assertGreater(len(libraries), 10)
        self.assertGreater(len(list(licences.iterdir())), 10)
        self.assertIn("OpenBLAS", (licences / "kbench.txt").read_text())
        (information,) = root.glob("*.dist-info/WHEEL")
        self.assertRegex(information.read_text(), "Tag: py3-none-manylinux_2_36_x86_64\n")


class Unpacked(unittest.TestCase):
    def test_it_runs_from_a_folder(self):
        root = scratch(type(self))
        for name in NAMES:
            run("dpkg-deb", "-x", package_file(name), root)
        (library,) = root.glob("usr/lib/*/libkbench.so.1")
        environment = {**os.environ, "PATH": f"{root}/usr/bin:{os.environ['PATH']}",
                       "PYTHONPATH": f"{root}/usr/lib/python3/dist-packages"}  # fmt: skip
        for name in ("KBENCH_LIBRARY", "KBENCH_PROGRAM"):
            environment.pop(name, None)
        for file in (library, root / "usr/bin/kbench"):
            self.assertNotIn("not found", run("ldd", file))
        self.assertIn("passed", run(root / "usr/bin/kbench", "run", root / "usr" / RELU,
                                    "--preset", "smoke", "--device", "cpu"))  # fmt: skip
        said = run(sys.executable, "-c", USE_MODULE, root / "usr" / RELU, env=environment)
        self.assertRegex(said, r"^[\d.]+ passed\n$")


def mirrors():
    """URI and suite of each archive of Debian 12 that this machine's apt uses, Debian's own first."""
    said = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(SUITE) $(CODENAME)",
               "Created-By: Packages")  # fmt: skip
    found = []
    for uri, _, codename in (line.split() for line in dict.fromkeys(said.splitlines())):
        if re.fullmatch(r"bookworm(-updates|-security)?", codename) and (uri, codename) not in found:
            found.append((uri, codename))
    return sorted(found, key=lambda pair: len(pair[1]))


class Root:
    """A Debian in a folder. What runs there sees that folder, and this machine's devices."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, *command, **environment):
        inside = ('mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && '
                  'mount -t tmpfs tmpfs "$0/tmp" && exec chroot "$0" "$@"')  # fmt: skip
        clean = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
                 "DEBIAN_FRONTEND": "noninteractive"}  # fmt: skip
        proxies = {name: value for name, value in os.environ.items() if name.endswith("_proxy")}
        return run("unshare", "--mount", "sh", "-c", inside, self.folder, *command,
                   env={**clean, **proxies, **environment})  # fmt: skip

    def install(self, *packages):
        self.run("apt-get", "-qq", "install", "-y", "--no-install-recommends", *packages)

    def put(self, source, target):
        path = self.folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(Path(source).read_bytes())


@functools.lru_cache(maxsize=None)
def bare_root():
    """Made once, and copied by each test."""
    folder = tempfile.TemporaryDirectory(prefix="kbench-bare-")
    unittest.addModuleCleanup(folder.cleanup)
    root = Root(Path(folder.name) / "root")
    archives = mirrors()
    with Timed("a bare Debian 12, by debootstrap"):
        run("debootstrap", "--variant=minbase", "bookworm", root.folder, archives[0][0])
    (root.folder / "etc/apt/sources.list").write_text(
        "".join(f"deb {uri} {suite} main\n" for uri, suite in archives)
    )
    root.run("apt-get", "-qq", "update")
    return root


@unittest.skipUnless(os.geteuid() == 0, "needs root, for debootstrap and chroot")
class BareDebian(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kbench-root-")
        self.addCleanup(folder.cleanup)
        self.root = Root(Path(folder.name) / "root")
        run("cp", "-a", bare_root().folder, self.root.folder)

    def test_packages(self):
        for file in PACKAGES.glob("*.deb"):
            self.root.put(file, f"srv/{file.name}")

        def given(name):
            return f"/srv/{package_file(name).name}"

        with Timed("apt-get install kbench, with lavapipe"):
            self.root.install(given("kbench"), "mesa-vulkan-drivers")
        version = self.root.run("kbench", "--version")
        self.assertRegex(version, r"\d+\.\d+\.\d+")
        self.assertIn("llvmpipe", self.root.run("kbench", "devices"))
        said = self.root.run("kbench", "run", f"/usr/{RELU}", "--preset", "smoke")
        self.assertRegex(said, r"verdict +passed")
        said = self.root.run("kbench", "--fast-p", "1.0", "--task", "1/19", "--preset", "smoke")
        self.assertRegex(said, r"simple +1/1 ")

        with Timed("apt-get install python3-kbench"):
            self.root.install(given("libkbench1"), given("python3-kbench"))
        said = self.root.run("python3", "-c", USE_MODULE, f"/usr/{RELU}")
        self.assertRegex(said, r"^[\d.]+ passed\n$")

        with Timed("apt-get install libkbench-dev, with gcc"):
            self.root.install(given("libkbench-dev"), "gcc", "libc6-dev")
        page = (self.root.folder / "usr/share/doc/kbench/docs/embedding.md").read_text()
        program = re.search(r"```c\n(.*?)```", page, re.DOTALL)[1]
        (self.root.folder / "srv/judge.c").write_text(program)
        build = "cc /srv/judge.c $(pkg-config --cflags --libs kbench-c) -o /srv/judge"
        self.root.run("sh", "-c", build)
        self.assertIn('"verdict":"passed"', self.root.run("/srv/judge", f"/usr/{RELU}"))

        self.root.run("apt-get", "-qq", "purge", "-y", *NAMES)
        for place in ("usr/bin/kbench", "usr/share/kbench", "usr/lib/python3/dist-packages/kbench"):
            self.assertFalse((self.root.folder / place).exists(), place)

    def test_wheel(self):
        wheel = wheel_file().name
        self.root.put(wheel_file(), f"srv/{wheel}")
        with Timed("apt-get install python3-venv, with lavapipe"):
            self.root.install("python3-venv", "mesa-vulkan-drivers", "libvulkan1")
        with Timed("a venv, and pip install of the wheel"):
            self.root.run("python3", "-m", "venv", "/srv/venv")
            self.root.run("/srv/venv/bin/pip", "install", "--no-index", f"/srv/{wheel}")
        with Timed("the shipped evaluations"):
            said = self.root.run("/srv/venv/bin/kbench", "--fast-p", "1.0", "--preset", "smoke")
        self.assertRegex(said, r"simple +24/24 ")
        self.assertRegex(said, r"fused +24/24 ")
        # Of the set that has Python files, which pip compiles where they lie.
        said = self.root.run("/srv/venv/bin/kbench", "--candidates", "triton", "--task", "1/19",
                             "--preset", "smoke", "--fast-p", "1.0")  # fmt: skip
        self.assertRegex(said, r"triton +[01]/1 ")
        (relu,) = self.root.folder.glob(f"srv/venv/lib/*/site-packages/kbench/_bundled/{RELU}")
        inside = "/" + str(relu.relative_to(self.root.folder))
        said = self.root.run("/srv/venv/bin/python", "-c", USE_MODULE, inside)
        self.assertRegex(said, r"^[\d.]+ passed\n$")


if __name__ == "__main__":
    unittest.main()
