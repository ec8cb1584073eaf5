# SPDX-License-Identifier: Apache-2.0
"""The tests of the library under ThreadSanitizer, again and again, with threads that give way at random places.

races_campaign.py BUILD_FOLDER [--threads] [REPETITIONS]   a hundred times; with --threads those that are about threads alone

BUILD_FOLDER is what `cmake --preset tsan && cmake --build build/tsan --target tilewise-tests tilewise-public-tests
tilewise-file-tests fake-yields` makes. The tests are those of .ci/run, a case of each kind, and the threads that write files;
random cases have another seed each time.
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys

WORDS = [word for word in sys.argv[1:] if word != "--threads"]
BUILD, ALL = os.path.abspath(WORDS[0]), "--threads" not in sys.argv
REPETITIONS = int(WORDS[1]) if len(WORDS) > 1 else 100
SEED = int(os.environ.get("CAMPAIGN_SEED", "1"))
LABELS = {"tilewise-tests", "tilewise-public-tests"}
ON_ONE_THREAD = "disk_cache|golden|memory_group|order"
# The executors, the default device, transfers, files, groups, and random cases on the team and on groups.
WITH_THREADS = "(executor|reduce|transfer|npy|group_.*)_test|soak_.*"
SOAK_CASES = 10  # times those of ctest, which are of few variants
YIELDS = f"{BUILD}/libfake-yields.so"
LIMIT_S = 1800  # a hang; a thread that gives way on a busy machine waits for all others


def tests():
    """Of each its name, command and environment, as ctest knows them."""
    told = subprocess.run(["ctest", "--test-dir", BUILD, "--show-only=json-v1"], check=True, capture_output=True, text=True).stdout
    for test in json.loads(told)["tests"]:
        facts = {one["name"]: one["value"] for one in test["properties"]}
        is_of_ci = LABELS & set(facts.get("LABELS", [])) and not re.fullmatch(f"({ON_ONE_THREAD})_test", test["name"])
        if re.fullmatch(WITH_THREADS, test["name"]) or (ALL and is_of_ci):
            yield test["name"], test["command"], dict(one.split("=", 1) for one in facts.get("ENVIRONMENT", []))


def run(name, command, variables, number):
    """What is wrong, or nothing."""
    seed = SEED + number
    words = command
    if "--soak" in command:
        *before, _, first, count = command
        words = [*before, str(seed), first, str(SOAK_CASES * int(count))]
    environment = {**os.environ, "TILEWISE_TEST_COVER": "few", **variables, "FAKE_YIELDS": str(seed),
                   "LD_PRELOAD": YIELDS}
    try:
        job = subprocess.run(words, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=LIMIT_S,
                             env=environment)
    except subprocess.TimeoutExpired:
        return f"{name} with seed {seed}: did not end"
    if job.returncode == 0 and "ThreadSanitizer" not in job.stderr:
        return ""
    return f"{name} with seed {seed}: exit {job.returncode}\n{job.stdout[-2000:]}{job.stderr[:6000]}"


def main():
    all_of = list(tests())
    assert all_of and os.path.exists(YIELDS), f"{BUILD} has no tests, or no {YIELDS}"
    cases = found = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as several:
        runs = [several.submit(run, *test, number) for number in range(REPETITIONS) for test in all_of]
        for job in runs:
            wrong = job.result()
            cases, found = cases + 1, found + bool(wrong)
            if wrong:
                print(wrong, flush=True)
            if cases % len(all_of) == 0:
                print(f"repetition {cases // len(all_of)} of {REPETITIONS}: {cases} cases, {found} found", flush=True)
    print(f"{cases} cases, {found} found")
    return found != 0


if __name__ == "__main__":
    sys.exit(main())
