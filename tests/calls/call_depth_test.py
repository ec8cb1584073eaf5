#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many functions lie between a public function and its kernel, as a debugger's backtrace shows them.

Usage: call_depth_test.py PROGRAM LIBRARY"""
import re
import shutil
import subprocess
import sys
import tempfile

# The most functions from the public one to the kernel, and what the kernels' names have in common.
LIMITS = {"reduce": (9, r"\S+2v\d6blocks\S+7upsweep\S+"), "scan": (8, r"4impl4scan2v\d12_GLOBAL\S+"),
          "matmul": (8, r"4impl6matmul2v\d12_GLOBAL\S+")}
# Wrappers without a decision of their own: the floating-point mode, and the standard library's function objects.
WRAPPERS = re.compile(r"in_default_float_mode|^std::")


def chain(program, library, algorithm):
    """The functions from the kernel to the public function."""
    names = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
    kernels = re.findall(rf" t (_ZN8tilewise{LIMITS[algorithm][1]})$", names, re.M)
    with tempfile.NamedTemporaryFile("w", suffix=".gdb") as script:
        script.write("set pagination off\nset print frame-arguments none\nbreak main\nrun\n")
        script.writelines(f"break {kernel}\n" for kernel in kernels)
        script.write("continue\nbacktrace\n")
        script.flush()
        shown = subprocess.run(["gdb", "-batch", "-nx", "-x", script.name, "--args", program, algorithm],
                               capture_output=True, text=True).stdout
    frames = re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(.*)", shown, re.M)
    frames = [re.sub(r"^(?:decltype\(auto\)|auto|void|bool) ", "", frame) for frame in frames]
    return [frame for frame in frames if not WRAPPERS.search(frame)], shown


def main():
    if shutil.which("gdb") is None:
        print("skipped: there is no gdb")
        return
    failures = []
    for algorithm, (most, _) in LIMITS.items():
        frames, shown = chain(sys.argv[1], sys.argv[2], algorithm)
        if not frames or not frames[-1].startswith("main"):
            failures.append(f"{algorithm}: no kernel was met:\n{shown}")
        elif len(frames) - 1 > most:
            failures.append(f"{algorithm}: {len(frames) - 1} functions, at most {most} are allowed:\n" + "\n".join(frames))
    print("\n".join(failures))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
