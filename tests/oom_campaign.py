# SPDX-License-Identifier: Apache-2.0
"""Commands in a control group whose memory is less than they need: they end with exit 5 and a sentence, or the kernel kills them;
either way no output is half written, inputs stay as they are, and the next start removes what is left and writes the right bits.

oom_campaign.py BUILD_FOLDER [--few]   all pairs of a command and a limit; with --few three, of each ending

It makes a group of its own below the one that it runs in, of version 1 or 2, and is skipped where it may not.
"""

import collections
import contextlib
import hashlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import numpy as np

BUILD, FEW = os.path.abspath(sys.argv[1]), "--few" in sys.argv
SANITIZED = os.environ.get("TILEWISE_TEST_COVER") == "few"  # what keeps freed memory for a while
FEW_LIMITS = {"sort {i}/x.npy -o {o}/y.npy --device cpu:threads": [64], "matvec": [256], "polymul": [128]}  # exit 5, done, killed
LIMIT_S = 120  # a hang
LIMITS = [4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384]  # MiB; the least that a command needs is about 5
# Where {i} are inputs of 64 MB and less, and {o} is the folder of outputs.
COMMANDS = [
    "reduce {i}/x.npy --device cpu:threads", "reduce {i}/x.npy --device opencl:0", "scan {i}/x.npy -o {o}/y.npy --device cpu:threads",
    "scan {i}/x.npy -o {o}/y.npy --device opencl:0", "scan {i}/x.npy -o {o}/y.npy --device 3*cpu:serial",
    "sort {i}/x.npy -o {o}/y.npy --device cpu:threads", "sort {i}/x.npy -o {o}/y.npy --indices {o}/i.npy --device cpu:tbb",
    "sort {i}/x.npy -o {o}/y.npy --scratch {o} --device cpu:threads", "matmul {i}/m.npy {i}/m.npy -o {o}/y.npy --device cpu:threads",
    "matvec {i}/m.npy {i}/v.npy -o {o}/y.npy --device cpu:openmp", "polymul {i}/p.npy {i}/p.npy -o {o}/y.npy --device cpu:threads",
    "convolve {i}/m.npy {i}/k.npy -o {o}/y.npy --device cpu:threads",
    "diffuse -o {o}/run --grid 2000x2000 --steps 2 --every 1 --device cpu:threads",
    "verify reduce --n 4000000 --device cpu:threads",
    "bench reduce --n 4000000 --dtype f32 --variant serial --device cpu:serial --max-time 0.001 -q -o {o}/r.jsonl",
    "report {i}/r.jsonl -o {o}/r.html --csv {o}/r.csv"]


class Group:
    """A control group with a limit of memory, and none of what is swapped out."""

    def __init__(self):
        own = dict(line.rstrip("\n").split(":", 2)[1:] for line in open("/proc/self/cgroup"))
        one, two = "/sys/fs/cgroup/memory" + own.get("memory", "/none"), "/sys/fs/cgroup" + own.get("", "/none")
        for parent, self.most, swap, self.kills in ((one, "memory.limit_in_bytes", None, "memory.oom_control"),
                                                    (two, "memory.max", "memory.swap.max", "memory.events")):
            self.path = f"{parent}/tilewise-{os.getpid()}"
            with contextlib.suppress(OSError):
                os.mkdir(self.path)
                try:
                    self.write(self.most, 1 << 30)
                    if swap and os.path.exists(f"{self.path}/{swap}"):
                        self.write(swap, 0)
                    return
                except OSError:
                    os.rmdir(self.path)
        self.path = None

    def write(self, name, value):
        # To an open file at once: a file that is missing shall stay so.
        with open(os.open(f"{self.path}/{name}", os.O_WRONLY), "w") as file:
            file.write(str(value))

    def enter(self):
        self.write("cgroup.procs", os.getpid())

    def killed(self):
        return int(re.search(r"^oom_kill (\d+)", pathlib.Path(f"{self.path}/{self.kills}").read_text(), re.M)[1])

    def remove(self):
        os.rmdir(self.path)


def run(command, folder, group=None):
    words = [f"{BUILD}/tilewise", *command.format(i=INPUTS, o=folder).split()]
    return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMIT_S,
                          preexec_fn=group.enter if group else None)


def kept_memory_is_given_up(group):
    """What is wrong where an array fits beside nothing that is kept for later."""
    group.write(group.most, 616 << 20)
    result = subprocess.run([f"{BUILD}/tilewise-hostile-use", "group", "cpu:serial"], capture_output=True, text=True, timeout=LIMIT_S,
                            preexec_fn=group.enter)
    return [] if (result.returncode, result.stdout) == (0, "done\n") else [f"kept memory: exit {result.returncode}: {result.stdout}"]


def digests(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()}


def is_whole(name, path, digest, whole):
    """Times and records differ from run to run, but their lines are whole."""
    return name in whole and (digest == whole[name] or not name.endswith((".npy", ".png")) and path.read_bytes()[-1:] in (b"", b"\n"))


def strays(found, folder, whole):
    return [f"{name} is not whole" for name, digest in found.items() if not is_whole(name, pathlib.Path(folder, name), digest, whole)]


def complaints(command, mib, group, whole, inputs):
    """What is wrong, and how it ended."""
    with tempfile.TemporaryDirectory(dir=PLACE) as folder:
        group.write(group.most, mib << 20)
        before = group.killed()
        result = run(command, folder, group)
        was_killed, wrong, found = group.killed() > before, [], digests(folder)
        allowed = {0, 5} | ({-signal.SIGKILL} if was_killed else set())
        if "opencl" in command:  # its driver's compiler is killed, or gets no memory, while the driver is tried in a child
            allowed |= {4, 8}
        if result.returncode not in allowed:
            wrong.append(f"exit {result.returncode}: {result.stderr[-300:]}")
        if result.returncode > 0 and not re.search("tilewise: .{20,}", result.stderr):
            wrong.append(f"says {result.stderr!r}")
        left = {name: digest for name, digest in found.items() if os.path.basename(name).startswith(".tilewise-")}
        if left and result.returncode != -signal.SIGKILL:
            wrong.append(f"left {sorted(left)}")
        wrong += strays({name: digest for name, digest in found.items() if name not in left}, folder, whole)
        if result.returncode == 0 and set(found) != set(whole):
            wrong.append(f"wrote {sorted(found)} instead of {sorted(whole)}")
        if result.returncode == -signal.SIGKILL:
            again = run(command.replace("-o {o}/run", "-o {o}/run --resume") if os.path.exists(f"{folder}/run/checkpoint.json") else command,
                        folder)
            if again.returncode != 0 or set(digests(folder)) != set(whole) or strays(digests(folder), folder, whole):
                wrong.append(f"the next run: exit {again.returncode}, {sorted(digests(folder))}: {again.stderr}")
        if digests(INPUTS) != inputs:
            wrong.append("an input was changed")
        return wrong, {0: "done", 5: "exit 5", -9: "killed"}.get(result.returncode, f"exit {result.returncode}")


def make_inputs():
    rng = np.random.default_rng(1)
    for name, shape in (("x", 1 << 24), ("v", 2000), ("m", (2000, 2000)), ("k", (3, 3))):
        np.save(f"{INPUTS}/{name}.npy", rng.standard_normal(shape).astype("f4"))
    np.save(f"{INPUTS}/p.npy", rng.integers(0, 100, 1 << 22, dtype="i4"))
    subprocess.run([f"{BUILD}/tilewise", *COMMANDS[-2].format(o=INPUTS).split()], check=True, stdout=subprocess.DEVNULL)
    with open(f"{INPUTS}/r.jsonl", "r+b") as file:
        file.write(file.read() * 3000)


def main(group):
    global INPUTS, PLACE
    number = found = 0
    with tempfile.TemporaryDirectory(dir="/var/tmp") as PLACE:  # on a disk: files in memory count as the writer's
        INPUTS = f"{PLACE}/in"
        os.mkdir(INPUTS)
        make_inputs()
        inputs = digests(INPUTS)
        for command in COMMANDS:
            limits = next((few for begin, few in FEW_LIMITS.items() if command.startswith(begin)), []) if FEW else LIMITS
            with tempfile.TemporaryDirectory(dir=PLACE) as folder:
                usual = run(command, folder) if limits else None
                whole = digests(folder)
            if not limits or ("opencl" in command and usual.returncode == 4):
                continue
            assert usual.returncode == 0, f"{command}: {usual}"
            ends = collections.Counter()
            for mib in limits:
                wrong, end = complaints(command, mib, group, whole, inputs)
                number, found = number + 1, found + bool(wrong)
                ends[end] += 1
                for one in wrong:
                    print(f"{command}, {mib} MiB: {one}", flush=True)
            print(f"{command}: {', '.join(f'{count} {end}' for end, count in sorted(ends.items()))}", flush=True)
    for one in [] if SANITIZED else kept_memory_is_given_up(group):
        print(one, flush=True)
        found += 1
    print(f"{number + (not SANITIZED)} cases, {found} found")
    return found != 0


if __name__ == "__main__":
    own_group = Group()
    if own_group.path is None:
        print("skipped: no control group with a limit of memory may be made here\n0 cases, 0 found")
        sys.exit(0)
    try:
        sys.exit(main(own_group))
    finally:
        own_group.remove()
