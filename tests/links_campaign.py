# SPDX-License-Identifier: Apache-2.0
"""Somebody else plants links, swaps names and renames folders where the tool writes, in folders like /tmp, in their own and in
those of a group, beforehand and in a race: no file of its user's is written or removed but what was named.

links_campaign.py BUILD_FOLDER [--few]   each race many times, or with --few a few; it takes root, who is two users
"""

import glob
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import numpy as np

from processes import mark_of_place

BUILD, FEW = os.path.abspath(sys.argv[1]), "--few" in sys.argv
TOOL, OTHER = f"{BUILD}/tilewise", 65534
RACES = 1 if FEW else 40  # of each command
PRECIOUS = b"precious\n"
MARK = f"999999999-{mark_of_place()}-"  # of a process that has ended
# Where {i} are inputs and {o} is the folder of outputs; and the names of these.
COMMANDS = [("scan {i}/x.npy -o {o}/y.npy --device cpu:serial", ["y.npy"]),
            ("sort {i}/x.npy -o {o}/y.npy --indices {o}/i.npy --device cpu:serial", ["y.npy", "i.npy"]),
            ("bench reduce --n 100 --dtype f32 --variant serial --device cpu:serial --max-time 0.001 -q -o {o}/r.jsonl", ["r.jsonl"]),
            ("report {i}/r.jsonl -o {o}/r.html --csv {o}/r.csv", ["r.html", "r.csv"]),
            ("diffuse -o {o} --grid 16x16 --steps 2 --every 1 --device cpu:serial",
             ["diffusion.0000002.png", "diffusion.0000002.npy", "checkpoint.json", "runlog.csv"])]


class Place:
    """A folder of everybody's, as /tmp is; one of a group's, whose members rename each other's files; one of somebody
    else's; and the user's own, in which every name that a command writes holds something precious."""

    def __init__(self, parent):
        self.all = tempfile.mkdtemp(dir=parent)
        os.chmod(self.all, 0o755)
        for name, mode in (("shared", 0o1777), ("group", 0o777), ("mine", 0o700), ("theirs", 0o777)):
            os.mkdir(f"{self.all}/{name}")
            os.chmod(f"{self.all}/{name}", mode)
        self.shared, self.group, self.mine, self.theirs = (f"{self.all}/{n}" for n in ("shared", "group", "mine", "theirs"))
        os.chown(self.theirs, OTHER, OTHER)
        for _, names in COMMANDS:
            for name in names:
                pathlib.Path(f"{self.mine}/{name}").write_bytes(PRECIOUS)

    def harm(self):
        """What became of the user's own files."""
        names = sorted({name for _, all_names in COMMANDS for name in all_names})
        wrong = [f"{name} was written" for name in names if not os.path.exists(f"{self.mine}/{name}")
                 or pathlib.Path(f"{self.mine}/{name}").read_bytes() != PRECIOUS]
        return wrong + [f"{name} was made" for name in os.listdir(self.mine) if name not in names]


def run(words, o="", before=(), **variables):
    words = words.format(i=INPUTS, o=o).split()
    return subprocess.run(words if words[0] == "mpirun" else [*before, TOOL, *words], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=120, env={**os.environ, **variables})


class Somebody:
    """Does something again and again, as somebody else, while the user's command runs."""

    def __init__(self, act):
        self.pid = os.fork()
        if self.pid == 0:
            try:
                as_somebody(lambda: None, for_good=True)
                while True:
                    try:
                        act()
                    except OSError:
                        pass
            finally:
                os._exit(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def as_somebody(act, for_good=False):
    os.setegid(OTHER)
    os.setgroups([])
    os.seteuid(OTHER)
    act()
    if not for_good:
        os.seteuid(0)
        os.setegid(0)


def link_over(target, name):
    """In one step for everybody who looks."""
    os.symlink(target, f"{name}.new")
    os.rename(f"{name}.new", name)


def file_over(name):
    pathlib.Path(f"{name}.new").touch()
    os.rename(f"{name}.new", name)


def refused(result):
    return [] if result.returncode == 6 and "another user's" in result.stderr else [f"exit {result.returncode}: {result.stderr}"]


def planted_links():
    """Names in the shared folder that lead to the user's files, to names that are not there yet, or to the user's folder."""
    for words, names in COMMANDS[::2] if FEW else COMMANDS:
        for name in names:
            if not words.startswith("diffuse"):
                for target in name, "new":
                    place = yield f"{words.split()[0]}: a link {name} to {target}"
                    as_somebody(lambda: os.symlink(f"{place.mine}/{target}", f"{place.shared}/{name}"))
                    yield refused(run(words, place.shared)) + place.harm()
            place = yield f"{words.split()[0]}: a link {name} in their folder"
            as_somebody(lambda: os.symlink(f"{place.mine}/{name}", f"{place.theirs}/{name}"))
            yield refused(run(words, place.theirs)) + place.harm()
        place = yield f"{words.split()[0]}: a link to the folder"
        as_somebody(lambda: os.symlink(place.mine, f"{place.shared}/out"))
        yield refused(run(words, f"{place.shared}/out")) + place.harm()


def swapped_names():
    for words, names in COMMANDS:
        for number in range(RACES):
            place = yield f"{words.split()[0]}: names that are swapped, {number}"

            def swap():
                for name in names:
                    link_over(f"{place.theirs}/other", f"{place.theirs}/{name}")
                    link_over(f"{place.mine}/{name}", f"{place.theirs}/{name}")
                    file_over(f"{place.theirs}/{name}")

            with Somebody(swap):
                run(words, place.theirs)
            yield place.harm()


def swapped_folders():
    for words, _ in COMMANDS:
        for number in range(RACES):
            place = yield f"{words.split()[0]}: a folder that is swapped, {number}"
            out, real = f"{place.theirs}/out", f"{place.theirs}/real"
            as_somebody(lambda: (os.mkdir(real), os.chmod(real, 0o777)))

            def swap():
                os.rename(real, out)
                os.rename(out, real)
                os.symlink(place.mine, out)
                os.unlink(out)

            with Somebody(swap):
                run(words, out)
            yield place.harm()


def renamed_folders():
    """The user's folders, in a folder of the group's, are called what a killed run might have left."""
    for prefix, words, more in ((".tilewise-", COMMANDS[0][0], {}), ("tilewise-icd-", "list", {"TMPDIR": "{}"}),
                                ("tilewise-drivers-", "list", {"TMPDIR": "{}", "TILEWISE_CACHE": "off"})):
        place = yield f"{words.split()[0]}: a folder renamed to {prefix}"
        os.mkdir(f"{place.group}/results", 0o755)
        pathlib.Path(f"{place.group}/results/y.npy").write_bytes(PRECIOUS)
        renamed = f"{place.group}/{prefix}{MARK}0"
        as_somebody(lambda: os.rename(f"{place.group}/results", renamed))
        result = run(words, place.group, **{name: value.format(place.group) for name, value in more.items()})
        wrong = [] if result.returncode == 0 else [f"exit {result.returncode}: {result.stderr}"]
        yield wrong + ([] if os.path.exists(f"{renamed}/y.npy") else ["the folder was removed"])


def folders_in_theirs():
    """They own the folder, so that neither its mode nor a sticky bit keeps them from renaming what is in it."""
    for mode, apart in (0o755, []), (0o1777, []), (0o1777, ["unshare", "--user", "--map-root-user"]):  # where they have no number
        place = yield f"scan: a folder renamed in theirs of mode {mode:o} {' '.join(apart)}"
        if apart and subprocess.run([*apart, "true"], capture_output=True).returncode != 0:
            yield []  # namespaces are not allowed here
            continue
        os.mkdir(f"{place.theirs}/precious", 0o755)
        pathlib.Path(f"{place.theirs}/precious/y.npy").write_bytes(PRECIOUS)
        os.chmod(place.theirs, mode)
        renamed = f"{place.theirs}/.tilewise-{MARK}0"
        as_somebody(lambda: os.rename(f"{place.theirs}/precious", renamed))
        result = run(COMMANDS[0][0], place.theirs, before=apart)
        wrong = [] if result.returncode == 0 else [f"exit {result.returncode}: {result.stderr}"]
        yield wrong + ([] if os.path.exists(f"{renamed}/y.npy") else ["the folder was removed"])


def folders_of_drivers():
    """PoCL runs what it finds in its folder, so that must not lie where others can put one of theirs."""
    for number in range(RACES):
        for cache, says in (("off", ""), ("{}/cache", "others may write to a folder above it"))[1 if FEW else 0:]:
            place = yield f"reduce: a folder for drivers in the group's, {cache}, {number}"

            def take():
                for found in glob.glob(f"{place.group}/tilewise-*"):
                    os.rename(found, f"{place.group}/taken-{os.path.basename(found)}")
                    os.symlink(place.theirs, found)

            with Somebody(take):
                result = run("reduce {i}/x.npy --device opencl:0", TMPDIR=place.group, TILEWISE_CACHE=cache.format(place.group))
            wrong = [f"they took {name}" for name in os.listdir(place.group) if "tilewise-" in name]
            if result.returncode == 4 and "opencl" in result.stderr:
                yield wrong  # there is none here
                continue
            if result.returncode != 0 or says not in result.stderr:
                wrong.append(f"exit {result.returncode}: {result.stderr}")
            if os.path.isdir(f"{place.group}/cache") and os.listdir(f"{place.group}/cache"):
                wrong.append("the cache was used")
            yield wrong


def files_of_ranks():
    """Rank 1 opens by its name the file that rank 0 has made."""
    if FEW or shutil.which("mpirun") is None:
        return
    for link in os.symlink, os.link:
        for number in range(RACES):
            place = yield f"mpirun scan: the file of the ranks becomes a {link.__name__}, {number}"
            pathlib.Path(f"{place.group}/big").write_bytes(bytes(1 << 16))

            def take():
                for found in os.listdir(place.group):
                    if found.startswith(".tilewise-"):
                        link(f"{place.mine_open}/x", f"{place.group}/new")
                        os.rename(f"{place.group}/new", f"{place.group}/{found}")
                        signal.pause()

            place.mine_open = f"{place.all}/open"  # for hard links to a file they must be able to write it
            os.mkdir(place.mine_open, 0o755)
            pathlib.Path(f"{place.mine_open}/x").write_bytes(PRECIOUS)
            os.chmod(f"{place.mine_open}/x", 0o666)
            with Somebody(take):
                run("mpirun --oversubscribe -n 2 " + TOOL + " scan {i}/large.npy -o {o}/y.npy --device cpu:serial", place.group,
                    OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
            kept = pathlib.Path(f"{place.mine_open}/x").read_bytes() == PRECIOUS
            yield [] if kept else ["a file of the user's was written"]


def modes():
    place = yield "scan: over a file that sets users"
    as_somebody(lambda: (pathlib.Path(f"{place.group}/y.npy").touch(), os.chmod(f"{place.group}/y.npy", 0o6777)))
    result = run(COMMANDS[0][0], place.group)
    mode = os.stat(f"{place.group}/y.npy").st_mode & 0o7777
    yield [] if result.returncode == 0 and mode == 0o777 else [f"mode {mode:o}, exit {result.returncode}: {result.stderr}"]


def main():
    global INPUTS
    if os.geteuid() != 0:
        print("skipped: it takes root, who can be two users\n0 cases, 0 found")
        return 0
    number = found = 0
    with tempfile.TemporaryDirectory(dir="/tmp") as whole:
        os.chmod(whole, 0o755)
        INPUTS = f"{whole}/in"
        os.mkdir(INPUTS)
        rng = np.random.default_rng(1)
        np.save(f"{INPUTS}/x.npy", rng.standard_normal(1000).astype("f4"))
        np.save(f"{INPUTS}/large.npy", rng.standard_normal(1 << 18).astype("f4"))
        run(COMMANDS[2][0], INPUTS)
        for cases in planted_links, swapped_names, swapped_folders, renamed_folders, folders_in_theirs, folders_of_drivers, files_of_ranks, modes:
            each, before = cases(), (number, found)
            for name in each:
                place = Place(whole)
                wrong = each.send(place)
                number += 1
                found += bool(wrong)
                for one in wrong:
                    print(f"{name}: {one}", flush=True)
                shutil.rmtree(place.all)
            print(f"{cases.__name__.replace('_', ' '):20} {number - before[0]:5} cases, {found - before[1]} found", flush=True)
    print(f"{number} cases, {found} found")
    return found != 0


if __name__ == "__main__":
    sys.exit(main())
