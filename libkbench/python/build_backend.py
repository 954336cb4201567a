"""What pip builds the module with; nothing has to be installed for it.

The wheel is one of plain Python files, for a kbench that is installed otherwise. With the setting
`prefix` (or KBENCH_PREFIX in the environment), the folder of an installed kbench, it is one of this
platform, with the program, the library and what these need inside: see platform_files.py.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import runpy
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple

HERE = Path(__file__).parent
VERSION = runpy.run_path(str(HERE / "src/kbench/_version.py"))["__version__"]
NAME = f"kbench-{VERSION}"
INFORMATION = f"{NAME}.dist-info"
ANY = "py3-none-any"
# Here and not in pyproject.toml, which Python before 3.11 cannot read by itself.
METADATA = f"""\
Metadata-Version: 2.1
Name: kbench
Version: {VERSION}
Summary: Judges GPU kernels written by machines: tasks, candidates, verdicts, speedups
License: MIT
Requires-Python: >=3.9
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

"""

# Path in the wheel -> content, and whether it is a program.
Files = Dict[str, Tuple[bytes, bool]]


def _metadata() -> bytes:
    return (METADATA + (HERE / "README.md").read_text()).encode()


def _module() -> Iterator[tuple[str, bytes]]:
    for path in sorted((HERE / "src").rglob("*")):
        if path.suffix == ".py" or path.name == "py.typed":
            yield path.relative_to(HERE / "src").as_posix(), path.read_bytes()


def _information(tag: str) -> dict[str, bytes]:
    pure = str(tag == ANY).lower()
    head = f"Wheel-Version: 1.0\nGenerator: kbench\nRoot-Is-Purelib: {pure}\nTag: {tag}\n"
    return {f"{INFORMATION}/METADATA": _metadata(), f"{INFORMATION}/WHEEL": head.encode()}


def _date() -> tuple[int, int, int, int, int, int]:
    """What the files of an archive bear, so that the same files make the same bytes."""
    date = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))  # from 1980 on
    return date[:6]


def _write_wheel(folder: str, files: Files, tag: str) -> str:
    files = {**files, **{path: (text, False) for path, text in _information(tag).items()}}
    record = ""
    for path, (content, _) in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    files[f"{INFORMATION}/RECORD"] = (f"{record}{INFORMATION}/RECORD,,\n".encode(), False)
    with zipfile.ZipFile(Path(folder) / f"{NAME}-{tag}.whl", "w") as wheel:
        for path, (content, program) in sorted(files.items()):
            entry = zipfile.ZipInfo(path, _date())
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, whose modes follow
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            wheel.writestr(entry, content)
    return f"{NAME}-{tag}.whl"


def build_wheel(
    wheel_directory: str,
    config_settings: Optional[Mapping[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    files = {path: (content, False) for path, content in _module()}
    prefix = (config_settings or {}).get("prefix") or os.environ.get("KBENCH_PREFIX")
    if not prefix:
        return _write_wheel(wheel_directory, files, ANY)
    import platform_files

    entry = b"[console_scripts]\nkbench = kbench.__main__:main\n"
    files[f"{INFORMATION}/entry_points.txt"] = (entry, False)
    files.update(platform_files.bundled(Path(prefix), "kbench/_bundled"))
    files.update(platform_files.licences(Path(prefix), f"{INFORMATION}/licenses"))
    return _write_wheel(wheel_directory, files, f"py3-none-{platform_files.PLATFORM}")


def build_editable(
    wheel_directory: str,
    config_settings: Optional[Mapping[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    source = f"{(HERE / 'src').resolve()}\n"
    return _write_wheel(wheel_directory, {"kbench.pth": (source.encode(), False)}, ANY)


def write_information(folder: str) -> None:
    """The .dist-info of a module that a package of the system's brings."""
    for path, content in _information(ANY).items():
        (Path(folder) / path).parent.mkdir(exist_ok=True)
        (Path(folder) / path).write_bytes(content)


def build_sdist(sdist_directory: str, config_settings: Optional[Mapping[str, Any]] = None) -> str:
    files = {f"src/{path}": content for path, content in _module()}
    for name in ("pyproject.toml", "README.md", "build_backend.py", "platform_files.py"):
        files[name] = (HERE / name).read_bytes()
    files["PKG-INFO"] = _metadata()
    with tarfile.open(Path(sdist_directory) / f"{NAME}.tar.gz", "w:gz") as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(f"{NAME}/{path}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return f"{NAME}.tar.gz"
