# SPDX-License-Identifier: Apache-2.0
"""Every CUDA variant at many small shapes under each tool of NVIDIA's compute-sanitizer.

sanitizer_campaign.py BUILD [--few]

Faults planted in kernels on purpose must be reported first, or silence would mean nothing. Ends with '<n> cases, <m> found'.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

BUILD = sys.argv[1]
CASES = f"{BUILD}/tilewise-kernel-cases"
SANITIZER = shutil.which("compute-sanitizer", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
SHAPES = 3 if "--few" in sys.argv else 60  # of each variant
SECONDS = 600
# Warps of lookback meet, and then one lane arrives for all at a barrier of the pipeline, from which Racecheck orders only what this
# lane itself did before. It reports the others: so many pairs of accesses for each of 31 lanes, or of 7 of 8.
ARRIVES_FOR_OTHERS = "lookback<"
# Sorts of 64-bit keys look at bits of each other's keys that stay as they are while others move: see settle_runs.
LOOKS_AT_WHAT_STAYS = "cluster_sort<unsigned long,"
# Warps of the short scan meet from two places, which hardware tells by the barrier's number and Synccheck takes for threads that
# are lost, after which nothing is computed. It is tried without that scan.
WITHOUT = {("synccheck", "scan/cuda:lookback"): ["tile=64KiB"]}
# By tool. Racecheck sees shared memory alone, and calls what two lanes write alike a warning.
FAULTS = {"memcheck": ["reads_beyond", "writes_beyond", "local_beyond", "misaligned"], "racecheck": ["no_barrier", "two_writers"],
          "initcheck": ["unset"], "synccheck": ["divergent", "absent_lanes"]}
# Without room between them, what is read beyond one array lies in the next.
MORE = {"memcheck": ["--padding", "256"]}


def watched(tool, *words):
    """The log, and whether the program came to its end without a finding of its own."""
    command = [SANITIZER, "--tool", tool, *MORE.get(tool, []), "--print-limit", "10000", CASES, *words]
    try:
        job = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired as e:
        return (e.stdout or b"").decode(errors="replace") + f"no end after {SECONDS} s\n", False
    return job.stdout, job.returncode == 0


def is_known(where, hazards):
    return LOOKS_AT_WHAT_STAYS in where or ARRIVES_FOR_OTHERS in where and (hazards % 31 == 0 or hazards % 7 == 0)


def findings(log):
    """How many, by the tool's own count; none if it did not come so far."""
    if errors := re.search(r"^=+ ERROR SUMMARY: (\d+) error", log, re.MULTILINE):
        return int(errors[1])
    races = re.search(r"^=+ RACECHECK SUMMARY: (\d+) hazard", log, re.MULTILINE)
    pairs = re.findall(r"^=+ +and (?:Read|Write) access at (.*) \[(\d+) hazards?\]$", log, re.MULTILINE)
    if races is None or not pairs:
        return races and int(races[1])
    return sum(not is_known(where, int(n)) for where, n in pairs)


def tried(tool, variant):
    log, ended = watched(tool, variant, str(SHAPES), *WITHOUT.get((tool, variant), []))
    of_program = re.search(r"^(\d+) cases, (\d+) found$", log, re.MULTILINE)
    cases, wrong = (int(of_program[1]), int(of_program[2])) if of_program else (0, 0)
    found = findings(log)
    if not ended or not of_program or cases == 0 or found is None:
        found = max(found or 0, wrong, 1)
    return tool, variant, cases, found, log


def main():
    if SANITIZER is None:
        return print("skipped: there is no compute-sanitizer\n0 cases, 0 found")
    variants = subprocess.run([CASES, "--list"], check=True, capture_output=True, text=True).stdout.split()
    if not variants:
        return print("skipped: there is no CUDA device\n0 cases, 0 found")
    cases = found = 0
    for tool, names in FAULTS.items():
        for name in names:
            log, _ = watched(tool, "--fault", name)
            cases += 1
            if not findings(log) or name not in log:
                found += 1
                print(f"{tool} did not report the fault planted in {name}:\n{log}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(min(os.cpu_count(), 12)) as some:  # they share the GPU
        jobs = [some.submit(tried, tool, variant) for variant in variants for tool in FAULTS]
        for job in concurrent.futures.as_completed(jobs):
            tool, variant, n, m, log = job.result()
            print(f"{tool} {variant}: {n} cases, {m} found" + (f"\n{log}" if m else ""), flush=True)
            cases, found = cases + n, found + m
    print(f"{cases} cases, {found} found")
    return found != 0


sys.exit(main())
