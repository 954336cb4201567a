"""What pip builds the module with: a wheel of plain Python files, for which nothing has to be installed."""

import base64
import hashlib
import io
import runpy
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any, Iterator, Optional

HERE = Path(__file__).parent
PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
VERSION = runpy.run_path(str(HERE / "src/kbench/_version.py"))["__version__"]
NAME = f"{PROJECT['name']}-{VERSION}"


def _metadata() -> bytes:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {PROJECT['name']}",
        f"Version: {VERSION}",
        f"Summary: {PROJECT['description']}",
        f"License: {PROJECT['license']['text']}",
        f"Requires-Python: {PROJECT['requires-python']}",
        *(f"Classifier: {each}" for each in PROJECT["classifiers"]),
        "Description-Content-Type: text/markdown",
        "",
        (HERE / PROJECT["readme"]).read_text(),
    ]
    return "\n".join(lines).encode()


def _module() -> Iterator[tuple[str, bytes]]:
    for path in sorted((HERE / "src").rglob("*")):
        if path.suffix == ".py" or path.name == "py.typed":
            yield path.relative_to(HERE / "src").as_posix(), path.read_bytes()


def _write_wheel(folder: str, files: dict[str, bytes]) -> str:
    tag = "py3-none-any"
    information = f"{NAME}.dist-info"
    head = f"Wheel-Version: 1.0\nGenerator: kbench\nRoot-Is-Purelib: true\nTag: {tag}\n"
    files = {**files, f"{information}/METADATA": _metadata(), f"{information}/WHEEL": head.encode()}
    record = ""
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    files[f"{information}/RECORD"] = f"{record}{information}/RECORD,,\n".encode()
    with zipfile.ZipFile(Path(folder) / f"{NAME}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            wheel.writestr(path, content)
    return f"{NAME}-{tag}.whl"


def build_wheel(
    wheel_directory: str,
    config_settings: Optional[dict[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    return _write_wheel(wheel_directory, dict(_module()))


def build_editable(
    wheel_directory: str,
    config_settings: Optional[dict[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    source = f"{(HERE / 'src').resolve()}\n"
    return _write_wheel(wheel_directory, {"kbench.pth": source.encode()})


def build_sdist(sdist_directory: str, config_settings: Optional[dict[str, Any]] = None) -> str:
    files = {f"src/{path}": content for path, content in _module()}
    for name in ("pyproject.toml", "README.md", "build_backend.py"):
        files[name] = (HERE / name).read_bytes()
    files["PKG-INFO"] = _metadata()
    with tarfile.open(Path(sdist_directory) / f"{NAME}.tar.gz", "w:gz") as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(f"{NAME}/{path}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return f"{NAME}.tar.gz"
