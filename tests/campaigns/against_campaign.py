# SPDX-License-Identifier: Apache-2.0
"""against_campaign.py BUILD_FOLDER [PAIRS]: `bench --against` on one build and itself, and on a tool whose times are 5 % longer;
PAIRS of both, by default 100. Prints how many of the first were called different, and of the second found. It measures: leave the machine
alone meanwhile. Exits 1 if more than 5 % were called different; load on the machine may hide a difference, so that is only told.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TOOL = os.path.abspath(sys.argv[1]) + "/tilewise"
PAIRS = int(sys.argv[2]) if len(sys.argv) > 2 else 100
ROWS = ("reduce/cpu --n 1048576 --op sum --device cpu:threads", "scan/cpu --n 4097 --device cpu:serial",
        "matmul/cpu:packed --shape 256x256x256 --device cpu:threads", "sort/cpu:radix --n 65536 --device cpu:threads",
        "scan/cpu --n 1048576 --device cpu:threads")
# A turn prints nothing but its time (src/tool/bench/part.hpp).
SLOWER = f"""#!/bin/sh
case "$*" in *"--part turn"*) "{TOOL}" "$@" | awk '{{ print $1 * 1.05 }}' ;; *) exec "{TOOL}" "$@" ;; esac
"""


def verdict(row, other):
    job = subprocess.run([TOOL, "bench", *row.split(), "--dtype", "f32", "--against", other], capture_output=True, text=True)
    told = re.search(r"This tool against the other: 1 (\w+)", job.stdout)
    assert told, f"{row}: exit {job.returncode}: {job.stdout}{job.stderr}"
    print(re.search(r"cpu.* @cpu.*", job.stdout)[0], flush=True)
    return told[1]


with tempfile.TemporaryDirectory() as folder:
    slower = pathlib.Path(folder, "slower")
    slower.write_text(SLOWER)
    slower.chmod(0o755)
    same, planted = collections.Counter(), collections.Counter()
    for pair in range(PAIRS):
        same[verdict(ROWS[pair % len(ROWS)], TOOL)] += 1
        planted[verdict(ROWS[pair % len(ROWS)], slower)] += 1
different = same["faster"] + same["slower"]
print(f"A build and itself: {different} of {PAIRS} called different, {same['unclear']} unclear. "
      f"5 % planted: {planted['faster']} of {PAIRS} found, {planted['unclear']} unclear, {planted['same'] + planted['slower']} wrong")
sys.exit(different > PAIRS * 0.05)
