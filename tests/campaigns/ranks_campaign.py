# SPDX-License-Identifier: Apache-2.0
"""Ranks of mpirun that are killed, stopped or throw, at seven stages of their work: all ranks end, and no file is half written.
One that is stopped for two seconds goes on, and the files are those of one process.

ranks_campaign.py BUILD_FOLDER [--few]   --few tries a case of each stage and asks for no times
"""

import concurrent.futures
import filecmp
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tool"))
from processes import HANGS_S  # noqa: E402

BUILD, FEW = os.path.abspath(sys.argv[1]), "--few" in sys.argv
STAGES = {"start": "joining the others", "read": "reading its part of a file", "exchange": "before an exchange",
          "compute": "in the middle of its work", "write": "writing its part of the result",
          "sync": "waiting for the disk to have it", "end": "leaving the others"}
# What a user sees: the exit code and who it was. Of a rank that is killed the code is mpirun's own, or on a machine that is
# too busy for mpirun to look first, that of the rank which misses it. Of ranks that throw, the
# first one speaks for all, and so without its number. Of one that is killed before it has joined, mpirun may only say that
# there was one. mpirun itself dies of SIGPIPE if it writes to a rank 0 that is gone.
ENDS = {"kill": ({137, 8, -signal.SIGPIPE}, r"(tilewise:|process) rank {} "), "stop": ({8}, r"tilewise: rank {} on \S+ has "),
        "throw": ({1}, r"tilewise: rank {} .*planted")}
LIMIT_S = 10
PAUSE_S, STEPS = 2, 2000  # less than the 6 s after which a rank is missed; a diffusion that ends
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def command(stage, folder, output, steps=100000000):
    """Ranks of a product all read, exchange and write; those of a diffusion exchange again and again."""
    if stage == "compute":
        return f"diffuse -o {output} --grid 256x256 --steps {steps} --every 100000000"
    return f"matmul {folder}/a.npy {folder}/a.npy -o {output}"


def complaints(folder, ranks, fault, stage, rank):
    """What is wrong, and the seconds from the fault to the end."""
    if fault == "pause":
        return complaints_of_pause(folder, ranks, stage, rank)
    name = f"{folder}/{ranks}-{fault}-{stage}-{rank}"
    words = ["mpirun", "--oversubscribe", "-x", f"LD_PRELOAD={BUILD}/libfake-ranks.so", "-n", str(ranks), f"{BUILD}/tilewise",
             *command(stage, folder, name).split()]
    try:
        job = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=HANGS_S,
                             env={**ENVIRONMENT, "FAKE_RANK": f"{rank} {fault} {stage} {name}.began"})
    except subprocess.TimeoutExpired:
        return ["it did not end"], HANGS_S
    ended = time.time()
    if not os.path.exists(f"{name}.began"):
        return [f"the rank never came there: {job.stderr}"], 0
    took, wrong = ended - os.path.getmtime(f"{name}.began"), []
    codes, says = ENDS[fault]
    if (fault, rank) == ("throw", 0):
        says = "tilewise: internal error: planted"
    if (fault, stage) == ("kill", "start"):
        says += "|but 1 process returned"
    if job.returncode not in codes:
        wrong.append(f"exit code {job.returncode}")
    if not re.search(says.format(rank), job.stderr):
        wrong.append(f"says {job.stderr!r}")
    if len(re.findall("^tilewise:", job.stderr, re.M)) > 1:
        wrong.append(f"says more than one thing: {job.stderr!r}")
    # A first rank that was alone with its disk may have gone on before mpirun ended it.
    if os.path.isfile(name) and not filecmp.cmp(name, f"{folder}/product.npy", shallow=False) or (
            os.path.isdir(name) and not is_whole(name, f"{folder}/begun")):
        wrong.append("a file that is not whole has its name")
    if took > LIMIT_S and not FEW:
        wrong.append(f"it took {took:.1f} s")
    return wrong, took


def end_pause(file, job, result):
    """Of the process whose number is in the file. Returns whether the result had its name until then."""
    while job.poll() is None and not (os.path.exists(file) and open(file).read().endswith("\n")):
        time.sleep(0.01)
    time.sleep(PAUSE_S)
    is_early = os.path.isfile(result)
    if job.poll() is None:
        os.kill(int(open(file).read()), signal.SIGCONT)
    return is_early


def complaints_of_pause(folder, ranks, stage, rank):
    name, steps = f"{folder}/{ranks}-pause-{stage}-{rank}", {"steps": STEPS}
    words = ["mpirun", "--oversubscribe", "-x", f"LD_PRELOAD={BUILD}/libfake-ranks.so", "-n", str(ranks), f"{BUILD}/tilewise",
             *command(stage, folder, name, **steps).split()]
    job = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
                           env={**ENVIRONMENT, "FAKE_RANK": f"{rank} pause {stage} {name}.began"})
    is_early = end_pause(f"{name}.began", job, name)
    try:
        says = job.communicate(timeout=HANGS_S)[1]
    except subprocess.TimeoutExpired:
        job.kill()
        return ["it did not go on"], HANGS_S
    if not os.path.exists(f"{name}.began"):
        return [f"the rank never came there: {says}"], 0
    took, wrong = time.time() - os.path.getmtime(f"{name}.began"), []
    if job.returncode != 0 or says:
        wrong.append(f"exit code {job.returncode}: {says}")
    if is_early != (stage == "end"):
        wrong.append(f"the file had {'its' if is_early else 'no'} name while a rank was stopped")
    expected = f"{folder}/{'ended' if stage == 'compute' else 'product.npy'}"
    is_same = filecmp.cmp(name, expected, shallow=False) if os.path.isfile(name) else os.path.isdir(name) and (
        is_whole(name, expected) and set(os.listdir(name)) == set(os.listdir(expected)))
    return wrong + ([] if is_same else ["the files are not those of one process"]), took


def is_whole(folder, begun):
    """Whether a run has no other files than one that has only begun; the times that it logs are its own."""
    names = [name for name in os.listdir(folder) if not name.startswith(".tilewise-")]
    return set(names) <= set(os.listdir(begun)) and all(
        filecmp.cmp(f"{folder}/{name}", f"{begun}/{name}", shallow=False) for name in names if name.startswith("diffusion"))


def cases():
    if FEW:
        return [(3, "stop", "start", 0), (3, "throw", "read", 1), (2, "kill", "exchange", 0), (3, "stop", "compute", 1),
                (3, "throw", "write", 2), (3, "pause", "exchange", 1), (3, "pause", "sync", 1),
                (2, "stop", "sync", 0), (2, "stop", "end", 0)]
    return [(ranks, fault, stage, rank) for ranks, fault, stage in itertools.product((2, 3, 4, 7), [*ENDS, "pause"], STAGES)
            for rank in (0, ranks - 1) if (fault, stage) != ("throw", "end")]  # it leaves once all is done


def main():
    failed, worst = 0, {}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(5 if FEW else 2) as several:
        np.save(f"{folder}/a.npy", np.random.default_rng(1).standard_normal((300, 300)))
        subprocess.run(f"{BUILD}/tilewise {command('compute', folder, folder + '/begun', 0)}".split(), check=True,
                       stdout=subprocess.DEVNULL)
        for stage, name, steps in ("compute", "ended", STEPS), ("read", "product.npy", 0):
            subprocess.run(f"{BUILD}/tilewise {command(stage, folder, f'{folder}/{name}', steps)}".split(), check=True,
                           stdout=subprocess.DEVNULL)
        for case, (wrong, took) in zip(cases(), several.map(lambda case: complaints(folder, *case), cases())):
            failed += bool(wrong)
            worst.setdefault(case[1:3], []).append(took)
            for one in wrong:
                print("{} ranks, {} in {}, rank {}: {}".format(*case, one))
    for (fault, stage), times in worst.items():
        print(f"{fault:5} {STAGES[stage]:30} {len(times)} times, at most {max(times):4.1f} s")
    print(f"{len(cases())} cases, {failed} found")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
