# SPDX-License-Identifier: Apache-2.0
"""What is kept of compiled OpenCL programs, damaged and used by many at once: every start has the CPU's result.

cache_campaign.py BUILD [--few]

First one bit of an entry is flipped, a thousand times, each time before a start, which must make the entry whole again. Then 16
processes start the tool a hundred times each on one folder that is empty at first, while bits of its entries are flipped. Half of
them see PoCL by another name, so that the entries are ours, and half use what PoCL keeps itself, which nobody flips: it is run as
it is. Ends with '<n> cases, <m> found'.
"""
import concurrent.futures
import itertools
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading

import numpy as np

BUILD = pathlib.Path(sys.argv[1])
FLIPS, PROCESSES, STARTS = (10, 4, 2) if "--few" in sys.argv else (1000, 16, 100)
HEADER = 64  # bytes of an entry, which get half of the flips: magic, key, checksum, length
chosen = random.Random(int(os.environ.get("CAMPAIGN_SEED", "1")))
ENVIRONMENT = {"POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable", **os.environ}
OURS = {**ENVIRONMENT, "TILEWISE_OPENCL_LIBRARY": str(BUILD / "libfake-opencl.so"), "FAKE_OPENCL_PLATFORM": "Another"}


def reduced(folder, case, device="opencl:0", environment=OURS):
    """What is wrong with a start, in words, and its result."""
    name, op = case
    job = subprocess.run([BUILD / "tilewise", "reduce", f"{folder}/{name}.npy", "--op", op, "--device", device], capture_output=True,
                         text=True, env={**environment, "TILEWISE_CACHE": f"{folder}/cache"}, stdin=subprocess.DEVNULL, timeout=120)
    return (f"exit {job.returncode}: {job.stderr}" if job.returncode or job.stderr else ""), job.stdout


def flip_one_bit(entry):
    """Which, and what is there now."""
    bad = bytearray(entry.read_bytes())
    bit = chosen.randrange(8 * (HEADER if chosen.random() < 0.5 else len(bad)))
    bad[bit // 8] ^= 1 << bit % 8
    entry.write_bytes(bad)
    return bit, bad


def flips(folder, expected):
    """Complaints of starts before which a bit was flipped."""
    case = next(iter(expected))
    reduced(folder, case)
    entry, = pathlib.Path(f"{folder}/cache").glob("*.bin")
    for _ in range(FLIPS):
        bit, bad = flip_one_bit(entry)
        why, result = reduced(folder, case)
        if not why and result != expected[case]:
            why = f"it gave {result}"
        if not why and entry.read_bytes() == bad:
            why = "the entry stayed damaged"
        yield f"bit {bit} of {len(bad) * 8} flipped: {why}" if why else ""


def flip_until(over, folder):
    while not over.wait(0.01):
        entries = list(pathlib.Path(f"{folder}/cache").glob("*.bin"))
        if not entries:
            continue
        try:
            with open(chosen.choice(entries), "r+b") as entry:
                at = chosen.randrange(os.fstat(entry.fileno()).st_size)
                entry.seek(at)
                byte = entry.read(1)[0]
                entry.seek(at)
                entry.write(bytes([byte ^ 1 << chosen.randrange(8)]))
        except (OSError, ValueError):  # it was replaced or is empty
            pass


def starts(folder, expected):
    """Complaints of starts by many processes at once."""
    cases = list(expected)

    def one_process(number):
        said = []
        for start in range(STARTS):
            case = cases[(number + start) % len(cases)]
            why, result = reduced(folder, case, environment=OURS if number % 2 == 0 else ENVIRONMENT)
            if not why and result != expected[case]:
                why = f"it gave {result}"
            said.append(f"start {start} of process {number}, {case}: {why}" if why else "")
        return said

    over = threading.Event()
    vandal = threading.Thread(target=flip_until, args=(over, folder))
    vandal.start()
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as some:
        for said in some.map(one_process, range(PROCESSES)):
            yield from said
    over.set()
    vandal.join()
    left = [p.name for p in pathlib.Path(f"{folder}/cache").iterdir() if p.suffix != ".bin" and p.name not in ("pocl", "tidied")]
    yield f"left behind: {left}" if left else ""


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, dtype in ("floats", "f4"), ("integers", "i4"):
            np.save(f"{folder}/{name}.npy", (np.arange(5000) % 97 * 0.37 - 11).astype(dtype))
        cases = list(itertools.product(("floats", "integers"), ("sum", "product", "min", "max")))
        if reduced(folder, cases[0], environment=ENVIRONMENT)[0].startswith("exit 4"):
            return print("skipped: there is no OpenCL device\n0 cases, 0 found")
        expected = {case: reduced(folder, case, "cpu:serial", ENVIRONMENT)[1] for case in cases}
        tried = found = 0
        for part in flips, starts:
            subprocess.run(["rm", "-rf", f"{folder}/cache"], check=True)
            for complaint in part(folder, expected):
                tried += 1
                found += complaint != ""
                if complaint:
                    print(complaint, flush=True)
    print(f"{tried} cases, {found} found")
    return found != 0


sys.exit(main())
