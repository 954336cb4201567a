"""Builds a wheel of the module, installs it and, in other folders, the source tree and a source
archive; uses each.

    install.py SOURCE WORK VERSION      77, with the reason, where pip is missing
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import needs

USE = (
    "import kbench, pathlib; print(kbench.__version__, len(kbench.tasks()), "
    "(pathlib.Path(kbench.__file__).parent / 'py.typed').exists())"
)


def run(*command: object, **more: object) -> str:
    said = subprocess.run(
        [str(part) for part in command], text=True, stdout=subprocess.PIPE, **more  # type: ignore
    )
    if said.returncode != 0:
        sys.exit(f"{command}: {said.returncode}\n{said.stdout}")
    return said.stdout


def use(place: Path, version: str) -> None:
    said = run(sys.executable, "-c", USE, env={**os.environ, "PYTHONPATH": str(place)}, cwd=place)
    if said.split() != [version, "250", "True"]:
        sys.exit(f"installed in {place} it says {said!r}")


def main() -> int:
    os.environ["PIP_ROOT_USER_ACTION"] = "ignore"
    source, work = Path(sys.argv[1]), Path(sys.argv[2])
    version = sys.argv[3]
    if not needs.has(importlib.util.find_spec("pip"), "pip (Debian: python3-pip)"):
        return 77
    shutil.rmtree(work, ignore_errors=True)
    tree = work / "tree"
    shutil.copytree(source, tree)  # pip may leave files where it builds
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    # In an environment of its own, in which no other package is to be seen, and without.
    for name, more in (("isolated", []), ("from_tree", ["--no-build-isolation"])):
        run(*pip, "install", "--no-index", *more, "--target", work / name, tree)
        use(work / name, version)
    build = "import build_backend, sys; print(build_backend.build_sdist(sys.argv[1]))"
    archive = work / run(sys.executable, "-c", build, work, cwd=tree).strip()
    run(*pip, "install", "--no-index", "--target", work / "from_archive", archive)
    use(work / "from_archive", version)
    run(*pip, "wheel", "--no-index", "--no-deps", "-w", work / "wheels", tree)
    (wheel,) = (work / "wheels").glob("*.whl")
    if wheel.name != f"kbench-{version}-py3-none-any.whl":
        sys.exit(f"the wheel is {wheel.name}")
    run(*pip, "install", "--no-index", "--no-deps", "--target", work / "from_wheel", wheel)
    use(work / "from_wheel", version)
    shutil.rmtree(work)
    return 0


sys.exit(main())
