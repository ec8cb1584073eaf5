# SPDX-License-Identifier: Apache-2.0
"""Commands of which one allocation fails: they end with exit 5 and a sentence, and leave no half-written file; or they could do
without it, and have done all that they do.

memory_campaign.py BUILD_FOLDER [--few]   allocations spread over each command, a hundred, and all of its arrays; or with --few
                                          two and its first three arrays, which it reads into
"""

import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

BUILD, FEW = os.path.abspath(sys.argv[1]), "--few" in sys.argv
SEED = int(os.environ.get("CAMPAIGN_SEED", "1"))
FAULTS, ARRAYS = (2, 3) if FEW else (100, 1000)  # of each command
# The words of each command, where {i} are inputs and {o} its outputs.
COMMANDS = [
    "reduce {i}/x.npy --json", "reduce {i}/m.npy --op max", "scan {i}/x.npy -o {o}/y.npy", "scan {i}/x.npy -o {o}/y.npy --exclusive",
    "sort {i}/x.npy -o {o}/y.npy", "sort {i}/x.npy -o {o}/y.npy --indices {o}/i.npy", "matmul {i}/m.npy {i}/m.npy -o {o}/y.npy",
    "matvec {i}/m.npy {i}/v.npy -o {o}/y.npy", "polymul {i}/v.npy {i}/v.npy -o {o}/y.npy",
    "convolve {i}/m.npy {i}/k.npy -o {o}/y.npy", "diffuse -o {o}/run --grid 32x32 --steps 4 --every 2",
    "verify reduce --n 1000", "bench reduce --n 1000 --dtype f32 --variant serial --max-time 0.001 -o {o}/r.jsonl",
    "report {i}/r.jsonl -o {o}/r.html", "report {i}/r.jsonl --csv {o}/r.csv", "compare {i}/r.jsonl {i}/r.jsonl", "list",
    "list --json", "help scan", "doctor", "complete scan --"]
ON_CPU = {"reduce", "scan", "sort", "matmul", "matvec", "polymul", "convolve", "diffuse", "verify", "bench"}
NO_DRIVERS = {"TILEWISE_OPENCL_LIBRARY": "/none"}  # they bring compilers, which end the process where they get no memory


def start(command, folder, **more):
    words = command.format(i=INPUTS, o=folder).split()
    if words[0] in ON_CPU:
        words += ["--device", "cpu:serial"]
    return subprocess.run([f"{BUILD}/tilewise", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600,
                          env={**os.environ, **NO_DRIVERS, "LD_PRELOAD": f"{BUILD}/libfake-memory.so", **more})


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file()}


def count(command, more):
    """The allocations of a run in which none fails, or those of arrays alone, and the files that it writes."""
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as number:
        job = start(command, folder, FAKE_MEMORY_COUNT=number.name, **more)
        assert job.returncode == 0, f"{command}: exit {job.returncode}: {job.stderr}"
        allocations = int(pathlib.Path(number.name).read_text() or 0)
        assert allocations > 0 or more, f"{command}: no allocation was seen"
        return allocations, files(folder)


def is_part(name, written, whole):
    """Whether a file of a failed run may stand there: times differ, so of records and logs only that all lines are whole."""
    return name in whole and (written == whole[name] or not name.endswith((".npy", ".html")) and written[-1:] in (b"", b"\n"))


def complaints(command, which, whole, more):
    with tempfile.TemporaryDirectory() as folder:
        job = start(command, folder, FAKE_MEMORY=str(which), **more)
        wrong, left = [], files(folder)
        if job.returncode not in (0, 5):
            wrong.append(f"exit {job.returncode}: {job.stderr}")
        if job.returncode == 5 and not re.search(r"tilewise: .{20,}|memory", job.stderr + job.stdout):
            wrong.append(f"says {job.stderr!r}")
        if job.returncode == 0 and set(left) != set(whole):
            wrong.append(f"exit 0 with the files {sorted(left)} instead of {sorted(whole)}")
        wrong += [f"{name} is not whole" for name in left if not is_part(name, left[name], whole)]
        return wrong, job.returncode == 0


def cases():
    random.seed(SEED)
    for command in COMMANDS:
        allocations, whole = count(command, {})
        for which in sorted(random.sample(range(allocations), min(FAULTS, allocations))):
            yield command, which, whole, {}
        of_arrays = {"FAKE_MEMORY_ARRAYS": "1"}
        for which in range(min(ARRAYS, count(command, of_arrays)[0])):
            yield command, which, whole, of_arrays


def main():
    global INPUTS
    failed = absorbed = number = 0
    with tempfile.TemporaryDirectory() as INPUTS, concurrent.futures.ThreadPoolExecutor(2) as several:
        rng = np.random.default_rng(1)
        for name, shape in (("x", 50000), ("v", 64), ("m", (64, 64)), ("k", (3, 3))):
            np.save(f"{INPUTS}/{name}.npy", rng.standard_normal(shape).astype("f4"))
        start("bench reduce --n 1000 --dtype f32 --variant serial --max-time 0.001 -o {i}/r.jsonl", "")
        for case, (wrong, was_done) in several.map(lambda one: (one, complaints(*one)), list(cases())):
            number += 1
            failed += bool(wrong)
            absorbed += was_done
            for one in wrong:
                print(f"{case[0]}, {'array' if case[3] else 'allocation'} {case[1]}: {one}", flush=True)
    print(f"{len(COMMANDS)} commands; {absorbed} of the allocations changed nothing")
    print(f"{number} cases, {failed} found")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
