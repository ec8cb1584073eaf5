# SPDX-License-Identifier: Apache-2.0
"""How `pip install .` builds: a backend by PEP 517 that runs CMake and packs what it installs, the library inside the package.

It needs what the CMake build needs, pybind11 and Python's headers among it, and keeps its build folder, build/wheel.
"""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import sysconfig
import zipfile

ROOT = pathlib.Path(__file__).parents[1]
VERSION = re.search(r"VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text().split("project(tilewise", 1)[1])[1]
METADATA = f"Metadata-Version: 2.1\nName: tilewise\nVersion: {VERSION}\nRequires-Python: >=3.10\nRequires-Dist: numpy\n"


def files_to_pack():
    """Name in the wheel and contents. The library goes by the one name that the loader asks for."""
    build, prefix = ROOT / "build/wheel", ROOT / "build/wheel/prefix"
    options = {"CMAKE_BUILD_TYPE": "Release", "CMAKE_UNITY_BUILD": "ON", "TILEWISE_TOOL": "OFF", "TILEWISE_PYTHON": "ON",
               "Python3_EXECUTABLE": sys.executable, "TILEWISE_PYTHON_DIR": ".", "CMAKE_INSTALL_LIBDIR": "tilewise/lib"}
    settings = [f"-D{name}={value}" for name, value in options.items()]
    for command in (["-S", ROOT, "-B", build, "-G", "Ninja", *settings], ["--build", build],
                    ["--install", build, "--prefix", prefix]):
        subprocess.run(["cmake", *command], check=True)
    for path in sorted((prefix / "tilewise").rglob("*")):
        if path.is_file() and not path.is_symlink() and not {"cmake", "pkgconfig"} & set(path.parts):
            name = re.sub(r"(\.so\.\d+\.\d+)\.\d+$", r"\1", str(path.relative_to(prefix)))
            yield name, path.read_bytes()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    tag = f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    info, file, record = f"tilewise-{VERSION}.dist-info", f"tilewise-{VERSION}-{tag}.whl", []
    about = f"Wheel-Version: 1.0\nGenerator: tilewise\nRoot-Is-Purelib: false\nTag: {tag}\n"
    texts = [(f"{info}/METADATA", METADATA.encode()), (f"{info}/WHEEL", about.encode())]
    with zipfile.ZipFile(pathlib.Path(wheel_directory, file), "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, contents in [*files_to_pack(), *texts]:
            wheel.writestr(name, contents)
            digest = base64.urlsafe_b64encode(hashlib.sha256(contents).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(contents)}\n")
        wheel.writestr(f"{info}/RECORD", "".join(record) + f"{info}/RECORD,,\n")
    return file
