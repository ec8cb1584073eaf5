# SPDX-License-Identifier: Apache-2.0
"""Mixed commands, and then mixed calls in one process, for a long time: nothing is left behind and nothing becomes slower.

time_campaign.py BUILD_FOLDER [--few | SECONDS]   two hours, with --few some seconds: half of it commands, half calls

No round leaves a file that the first one did not, in the work folder, TMPDIR, /dev/shm or the cache, nor a process. Memory, a GPU's
too, open files and threads of the process, and the time of each call and command, are those of the beginning at the end: see Series.
As root /dev/shm is one of its own, since others use the machine's.
"""

import contextlib
import ctypes
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time

import numpy as np

from growth import Series

BUILD, FEW = os.path.abspath(sys.argv[1]), "--few" in sys.argv
SECONDS = 16 if FEW else float(sys.argv[2]) if len(sys.argv) > 2 else 7200
TOOL, HIDDEN = f"{BUILD}/tilewise", "TILEWISE_TIME_CAMPAIGN_HIDES"
DEVICES = ["cpu:serial", "cpu:threads", "cpu:openmp", "cpu:tbb", "3*cpu:serial", "cpu:threads+cpu:serial", "opencl:0", "cuda:0"]
# Where {i} are inputs, {o} is the folder of outputs, new in each round, and {d} each device.
ON_DEVICES = [
    "reduce {i}/x.npy --device {d}", "scan {i}/x.npy -o {o}/y.npy --device {d}",
    "sort {i}/x.npy --values {i}/v.npy -o {o}/y.npy --values-out {o}/w.npy --device {d}",
    "matmul {i}/m.npy {i}/m.npy -o {o}/y.npy --device {d}", "matvec {i}/m.npy {i}/c.npy -o {o}/y.npy --device {d}",
    "polymul {i}/p.npy {i}/p.npy -o {o}/y.npy --device {d}", "convolve {i}/m.npy {i}/k.npy -o {o}/y.npy --device {d}",
    "diffuse -o {o}/{d} --grid 32x32 --steps 4 --every 2 --device {d}",
    "verify reduce --n 1000 --device {d}"]
ON_NONE = [
    "devices", "list", "doctor", "bench reduce --n 1000 --dtype f32 --variant serial --device cpu:serial --max-time 0.001 -o {o}/r.jsonl",
    "bench scan --n 1000 --dtype f32 --device cpu:threads --max-time 0.001 --mode file_to_file -o {o}/f.jsonl",
    "diffuse -o {o}/cpu:serial --grid 32x32 --steps 8 --every 2 --resume --device cpu:serial",
    "report {i}/r.jsonl -o {o}/r.html --csv {o}/r.csv", "compare {i}/r.jsonl {i}/r.jsonl", "roofline {i}/r.jsonl",
    "tune reduce --device cpu:serial --dry-run", "scan --no-such-option", "reduce {i}/missing.npy"]
WORK = np.random.default_rng(1).random(20000)
EXITS = {"scan --no-such-option": 2, "reduce {i}/missing.npy": 6}


def hide_shared_memory():
    """Begins again with a /dev/shm of its own, if it may."""
    if os.geteuid() == 0 and HIDDEN not in os.environ and shutil.which("unshare"):
        os.environ[HIDDEN] = "1"
        os.execvp("unshare", ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /dev/shm; exec \"$@\"", "sh", sys.executable, *sys.argv])


def adopt_orphans():
    """What a command leaves running becomes a child of this process."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def is_one_left_running():
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
        return True
    except ChildProcessError:
        return False


def files_of(folder):
    """Of this user, without those that PoCL leaves empty in its part of the cache, which tidying removes an hour later."""
    found = set()
    for path in pathlib.Path(folder).rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # somebody else's
            if path.lstat().st_uid == os.geteuid() and not path.match("pocl/tempfile_*"):
                found.add(str(path))
    return found


class Remains:
    """Files that the first round left may stay; any other is told once."""

    def __init__(self):
        self.known, self.found = None, 0

    def look(self, after):
        files = files_of(PLACE) | files_of("/dev/shm")
        fresh = files - self.known if self.known is not None else set()
        if fresh:
            self.found += 1
            print(f"left after {after}: {', '.join(sorted(fresh)[:5])}", flush=True)
        self.known = files | (self.known or set())


def make_inputs():
    rng = np.random.default_rng(1)
    for name, shape in (("x", 50000), ("m", (64, 64)), ("c", 64), ("k", (3, 3))):
        np.save(f"{INPUTS}/{name}.npy", rng.standard_normal(shape).astype("f4"))
    np.save(f"{INPUTS}/v.npy", np.arange(50000, dtype="u4"))
    np.save(f"{INPUTS}/p.npy", rng.integers(0, 100, 1000, dtype="i4"))
    assert run(next(words for words in ON_NONE if words.startswith("bench")).replace("{o}", "{i}"))[0] == 0


def run(words):
    return run_line([TOOL, *(word.format(i=INPUTS, o=f"{PLACE}/o") for word in words.split())])


def run_line(line):
    """Exit code, seconds of processors and of the clock, and the most memory of a command."""
    start = time.monotonic()
    with open(os.devnull, "r+") as nothing:
        pid = os.posix_spawn(line[0], line, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, nothing.fileno(), to) for to in (0, 1, 2)])
    _, status, used = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, time.monotonic() - start, used.ru_maxrss * 1024


def commands():
    """Of all devices that are here; with --few each on one of them."""
    devices = [d for d in DEVICES if run(f"reduce {{i}}/x.npy --device {d}")[0] == 0]
    print("commands on", *devices, flush=True)
    everywhere = [(words, d) for n, words in enumerate(ON_DEVICES) for d in (devices[n % len(devices):][:1] if FEW else devices)]
    first = [words.replace("{d}", d) for words, d in everywhere]
    return first + [words for words in ON_NONE if not FEW or "--resume" not in words]


def note(series, name, cpu, clock, *resident):
    for what, value in zip(("cpu", "clock", "resident"), (cpu, clock, *resident)):
        series.note(what, name, value)


def round_of_commands(all_of, series):
    """In any order, but what goes on after another comes after it. How many did not end as they should."""
    shutil.rmtree(f"{PLACE}/o", ignore_errors=True)
    os.mkdir(f"{PLACE}/o")
    found = 0
    for words in sorted(all_of, key=lambda words: ("--resume" in words, random.random())):
        code, *figures = run(words)
        note(series, words, *figures)
        if code != EXITS.get(words, 0):
            found += 1
            print(f"{words}: exit {code}", flush=True)
    note(series, "control", *run_line([sys.executable, "-c", "sum(range(500000))"])[1:])
    if is_one_left_running():
        found += 1
        print("a process was left running", flush=True)
    return found


def round_of_calls(all_of, series):
    for name, call in random.sample([*all_of, ("control", lambda: np.sort(WORK))], len(all_of) + 1):
        start, used = time.monotonic(), time.process_time()
        call()
        note(series, name, time.process_time() - used, time.monotonic() - start)
    series.note_process()
    return 0


def soak(one_round, all_of, seconds):
    """Cases, and what was found. Files and times are held against those after the first round, which compiles and opens."""
    remains, cases, found = Remains(), len(all_of), one_round(all_of, Series(seconds))
    remains.look("the first round")
    series = Series(seconds)
    while series.goes_on():
        found += one_round(all_of, series)
        cases += len(all_of)
        remains.look(f"{cases} cases")
    return cases, found + remains.found + series.growing()


def calls():
    sys.path[:0] = [f"{BUILD}/python", os.path.join(os.path.dirname(os.path.abspath(__file__)), "python")]
    import mixed_calls  # loads the library
    return mixed_calls.all_of(DEVICES, FEW)


def main():
    global PLACE, INPUTS
    random.seed(int(os.environ.get("CAMPAIGN_SEED", "1")))
    adopt_orphans()
    with tempfile.TemporaryDirectory() as PLACE:
        INPUTS = f"{PLACE}/in"
        for name in "in", "o", "tmp", "work", "cache":
            os.mkdir(f"{PLACE}/{name}")
        os.chdir(f"{PLACE}/work")
        os.environ |= {"TMPDIR": f"{PLACE}/tmp", "XDG_CACHE_HOME": f"{PLACE}/cache"}
        make_inputs()
        results = [soak(round_of_commands, commands(), SECONDS / 2), soak(round_of_calls, calls(), SECONDS / 2)]
        os.chdir("/")
    print(f"- {results[0][0]} commands and {results[1][0]} calls in {SECONDS:g} s")
    print(f"{sum(cases for cases, _ in results)} cases, {sum(found for _, found in results)} found")
    return any(found for _, found in results)


if __name__ == "__main__":
    hide_shared_memory()
    sys.exit(main())
