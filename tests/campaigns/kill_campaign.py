# SPDX-License-Identifier: Apache-2.0
"""Commands that are killed at random moments, and right after each file got its name: no output is half written, the
records before stay, and the next run goes on.

kill_campaign.py BUILD_FOLDER [--few]   500 kills at random, or with --few two of each command
"""

import hashlib
import itertools
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

BUILD, FEW = os.path.abspath(sys.argv[1]), "--few" in sys.argv
TOOL = f"{BUILD}/tilewise"
KILLS = 2 if FEW else 125  # of each command, at random
SANITIZED = os.environ.get("TILEWISE_TEST_COVER") == "few"  # what comes before any library that is preloaded


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


def left_behind(folder):
    return [str(path.relative_to(folder)) for path in folder.rglob(".tilewise-*")]


class Command:
    """One command, with what must hold of its folder after a kill and after the run that follows."""

    def __init__(self, inputs, words, outputs, addresses=None):
        self.inputs, self.words, self.outputs = inputs, words.split(), outputs
        self.hold = addresses and (lambda: resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses)))

    def run(self, folder, more=(), env=None):
        words = [word.format(i=self.inputs, o=folder) for word in (*self.words, *more)]
        return subprocess.Popen([TOOL, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                preexec_fn=self.hold, env=env)

    def finish(self, folder, more=()):
        job = self.run(folder, more)
        says = job.communicate()[1].decode()
        assert job.returncode == 0, f"{self.words[0]}: exit {job.returncode}: {says}"

    def measure(self, folder):
        """A whole run: how long it takes, and what it writes."""
        start = time.monotonic()
        self.finish(folder)
        self.seconds, self.whole = time.monotonic() - start, {name: digest(folder / name) for name in self.outputs}

    def after_kill(self, folder):
        """What is wrong with the folder of a killed run, which may still have what an older run wrote."""
        return [f"{name} is half written" for name in self.outputs
                if digest(folder / name) not in (None, self.whole[name])]

    def to_go_on(self, folder):
        """The options of the run that follows."""
        return []

    def next_run(self, folder):
        self.finish(folder, self.to_go_on(folder))
        return [f"{name} is another one" for name in self.outputs if digest(folder / name) != self.whole[name]]


class Diffusion(Command):
    """Its next run continues from the last checkpoint."""

    def to_go_on(self, folder):
        return ["--resume"] if (folder / "run/checkpoint.json").exists() else []


class Records(Command):
    """Its file grows: all lines but the last are whole, and the next run adds to them."""

    def after_kill(self, folder):
        lines = (folder / "r.jsonl").read_bytes().split(b"\n") if (folder / "r.jsonl").exists() else []
        for line in lines[:-1]:
            json.loads(line)
        self.seen = len(lines) - 1
        return []

    def next_run(self, folder):
        self.finish(folder)
        lines = [json.loads(line) for line in (folder / "r.jsonl").read_text().splitlines() if line.endswith("}")]
        return [] if len(lines) >= self.seen + self.rows else [f"{len(lines)} records after {self.seen} and {self.rows} more"]

    def measure(self, folder):
        super().measure(folder)
        self.rows = len((folder / "r.jsonl").read_text().splitlines())


def commands(inputs):
    count = 1 << (18 if FEW else 23)
    rng = np.random.default_rng(1)
    np.save(inputs / "x.npy", rng.standard_normal(count).astype("f4"))
    np.save(inputs / "k.npy", rng.integers(0, 1 << 32, count, dtype="u4"))
    sort_in_runs = None if FEW else 120 << 20  # bytes of addresses, too few for all keys at once
    last = 200 if FEW else 400
    return [
        Command(inputs, "scan {i}/x.npy -o {o}/y.npy", ["y.npy"]),
        Command(inputs, "sort {i}/k.npy -o {o}/y.npy --scratch {o} --device cpu --threads 2", ["y.npy"], sort_in_runs),
        Diffusion(inputs, f"diffuse -o {{o}}/run --grid 128x128 --steps {last} --every 100 --device cpu",
                  [f"run/diffusion.{step:07}.npy" for step in (100, last)]),
        Records(inputs, "bench reduce --n 1000 --dtype f32 --device cpu:serial --max-time 0.01 -o {o}/r.jsonl", []),
    ]


def kill(command, folder, at=None, files=None):
    """What is wrong after a kill `at` seconds after the start, or once so many files have their names, and whether it came in time."""
    job = command.run(folder, env=files and {**os.environ, "LD_PRELOAD": f"{BUILD}/libfake-disk.so", "FAKE_DISK": f"kill - {files}"})
    try:
        job.wait(at)
    except subprocess.TimeoutExpired:
        job.send_signal(signal.SIGKILL)
    job.communicate()
    try:
        wrong = command.after_kill(folder) + command.next_run(folder)
    except AssertionError as ended:
        wrong = [f"the next run: {ended}"]
    if left_behind(folder):
        wrong.append(f"left behind: {left_behind(folder)}")
    return wrong, job.returncode == -signal.SIGKILL


def kills(command, folder):
    """Of each kill its name, what is wrong, and whether it came in time: at random, and after each file that gets its name."""
    for number in range(KILLS):
        if number % 2 == 0:  # else over what the run before wrote
            empty(folder)
        yield number, *kill(command, folder, at=random.random() * command.seconds)
    is_killed = not SANITIZED
    for files in itertools.takewhile(lambda _: is_killed, itertools.count(1)):
        empty(folder)
        wrong, is_killed = kill(command, folder, files=files)
        yield f"after file {files}", wrong, is_killed


def empty(folder):
    shutil.rmtree(folder)
    folder.mkdir()


def main():
    random.seed(int(os.environ.get("CAMPAIGN_SEED", "1")))
    tried = failed = 0
    with tempfile.TemporaryDirectory() as name:
        inputs = pathlib.Path(name) / "inputs"
        inputs.mkdir()
        for command in commands(inputs):
            folder = pathlib.Path(name) / "outputs"
            folder.mkdir()
            command.measure(folder)
            runs = hits = 0
            for kill_name, wrong, was_in_time in kills(command, folder):
                runs += 1
                hits += was_in_time
                failed += bool(wrong)
                for one in wrong:
                    print(f"{command.words[0]}, kill {kill_name}: {one}")
            print(f"{command.words[0]:8} {runs} runs, {hits} of them killed before they ended")
            tried += runs
            shutil.rmtree(folder)
    print(f"{tried} cases, {failed} found")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
