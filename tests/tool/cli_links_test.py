# SPDX-License-Identifier: Apache-2.0
"""Another user plants links, swaps names and renames folders where the tool writes: it writes and removes no file of its user's
but the named one.

cli_links_test.py TOOL PLANTED DRIVER...   (as cli_test.py); only root can be two users
"""

import contextlib
import glob
import os
import pathlib
import signal
import tempfile

import numpy as np

import named_tests
from cli_test import TOOL, Case, run
from processes import mark_of_place

OTHER = 65534
PRECIOUS = b"precious\n"
MARK = f"999999999-{mark_of_place()}-"  # of a process that has ended
# {i} is the folder of inputs and {o} that of outputs; and the names of these.
SCAN = "scan {i}/x.npy -o {o}/y.npy --device cpu:serial"
COMMANDS = {SCAN: ["y.npy"], "sort {i}/x.npy -o {o}/y.npy --indices {o}/i.npy --device cpu:serial": ["y.npy", "i.npy"],
            "bench reduce --n 100 --dtype f32 --variant serial --device cpu:serial --max-time 0.001 -q -o {o}/r.jsonl": ["r.jsonl"],
            "report {i}/r.jsonl -o {o}/r.html --csv {o}/r.csv": ["r.html", "r.csv"],
            "diffuse -o {o} --grid 16x16 --steps 2 --every 1 --device cpu:serial":
            ["diffusion.0000002.png", "diffusion.0000002.npy", "checkpoint.json", "runlog.csv"]}
NAMES = sorted(set().union(*COMMANDS.values()))


def become_other():
    os.setegid(OTHER)
    os.setgroups([])
    os.seteuid(OTHER)


@contextlib.contextmanager
def as_other():
    become_other()
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@contextlib.contextmanager
def meanwhile(act):
    """The other user does this again and again."""
    child = os.fork()
    if child == 0:
        try:
            become_other()
            while True:
                with contextlib.suppress(OSError):
                    act()
        finally:
            os._exit(1)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


class Links(Case):
    """In a folder of everybody's, as /tmp is; in one of a group's; in one of the other user's; the user's own has something
    precious under each name that a command writes."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    def setUp(self):
        self.d = tempfile.mkdtemp(dir=self.folder.name)
        os.chmod(self.folder.name, 0o755)
        os.chmod(self.d, 0o755)
        self.shared, self.group, self.mine, self.theirs = (f"{self.d}/{name}" for name in ("shared", "group", "mine", "theirs"))
        for path, mode in ((self.shared, 0o1777), (self.group, 0o777), (self.mine, 0o700), (self.theirs, 0o777)):
            os.mkdir(path)
            os.chmod(path, mode)
        os.chown(self.theirs, OTHER, OTHER)
        np.save(f"{self.d}/x.npy", np.arange(1000, dtype="f4"))
        bench = next(words for words in COMMANDS if words.startswith("bench"))
        self.check(self.use(bench, self.d), 0)
        for name in NAMES:
            pathlib.Path(f"{self.mine}/{name}").write_bytes(PRECIOUS)

    def use(self, words, folder="", before=(), **variables):
        first, *more = *before, TOOL, *words.format(i=self.d, o=folder).split()
        return run(more, first, env={**os.environ, **variables})

    def folder_of_theirs(self):
        with as_other():
            made = tempfile.mkdtemp(dir=self.theirs)
            os.chmod(made, 0o777)
        return made

    def check_mine(self):
        self.assertEqual(sorted(os.listdir(self.mine)), NAMES)
        for name in NAMES:
            self.assertEqual(pathlib.Path(f"{self.mine}/{name}").read_bytes(), PRECIOUS, name)

    def refused(self, words, folder):
        self.check(self.use(words, folder), 6, "", "another user's")
        self.check_mine()

    def test_planted_links_are_not_followed(self):
        """To the user's files, to names that are not there yet, and to the user's folder."""
        for words, names in COMMANDS.items():
            plants = [(self.theirs, name, name) for name in names]
            if not words.startswith("diffuse"):
                plants += [(self.shared, name, target) for name in names for target in (name, "new")]
            for folder, name, target in plants:
                with self.subTest(words, folder=folder, name=name, target=target):
                    with as_other():
                        os.symlink(f"{self.mine}/{target}", f"{folder}/{name}")
                    self.refused(words, folder)
                    os.unlink(f"{folder}/{name}")
            with self.subTest(words, name="the folder"):
                with as_other():
                    os.symlink(self.mine, f"{self.shared}/out")
                self.refused(words, f"{self.shared}/out")
                os.unlink(f"{self.shared}/out")

    def test_names_that_are_swapped_meanwhile(self):
        for words, names in COMMANDS.items():
            folder = self.folder_of_theirs()

            def swap():
                for name in names:
                    for target in f"{folder}/other", f"{self.mine}/{name}":
                        os.symlink(target, f"{folder}/new")
                        os.rename(f"{folder}/new", f"{folder}/{name}")
                    pathlib.Path(f"{folder}/new").touch()
                    os.rename(f"{folder}/new", f"{folder}/{name}")

            with self.subTest(words), meanwhile(swap):
                self.use(words, folder)
            self.check_mine()

    def test_folders_that_are_swapped_meanwhile(self):
        for words in COMMANDS:
            real = self.folder_of_theirs()
            out = f"{real}.out"

            def swap():
                os.rename(real, out)
                os.rename(out, real)
                os.symlink(self.mine, out)
                os.unlink(out)

            with self.subTest(words), meanwhile(swap):
                self.use(words, out)
            self.check_mine()

    def renamed(self, folder, name):
        """A folder of the user's below `folder`, by a name that a killed run might have left."""
        os.mkdir(f"{folder}/results", 0o755)
        pathlib.Path(f"{folder}/results/y.npy").write_bytes(PRECIOUS)
        with as_other():
            os.rename(f"{folder}/results", f"{folder}/{name}{MARK}0")
        return f"{folder}/{name}{MARK}0/y.npy"

    def test_folders_with_the_name_of_what_a_killed_run_left(self):
        for name, words, more in ((".tilewise-", SCAN, {}), ("tilewise-icd-", "list", {"TMPDIR": self.group}),
                                  ("tilewise-drivers-", "list", {"TMPDIR": self.group, "TILEWISE_CACHE": "off"})):
            with self.subTest(name):
                kept = self.renamed(self.group, name)
                self.check(self.use(words, self.group, **more), 0)
                self.assertTrue(os.path.exists(kept))

    def test_folders_in_theirs(self):
        """Its owner may rename what is in it, whatever its mode; a user namespace may not show who that is."""
        for mode, apart in (0o755, ()), (0o1777, ()), (0o1777, ("unshare", "--user", "--map-root-user")):
            with self.subTest(f"{mode:o} {apart}"):
                if apart and run([*apart[1:], "true"], apart[0]).returncode != 0:
                    self.skipTest("no namespaces can be made here")
                os.chmod(self.theirs, 0o777)
                kept = self.renamed(self.theirs, ".tilewise-")
                os.chmod(self.theirs, mode)
                self.check(self.use(SCAN, self.theirs, apart), 0)
                self.assertTrue(os.path.exists(kept))
                os.rename(os.path.dirname(kept), f"{self.d}/{mode:o}{len(apart)}")

    def test_folders_of_drivers_cannot_be_taken(self):
        """PoCL runs what it finds there."""
        def take():
            for found in glob.glob(f"{self.group}/tilewise-*"):
                os.rename(found, f"{self.group}/taken-{os.path.basename(found)}")
                os.symlink(self.theirs, found)

        for cache, says in (("off", ""), (f"{self.group}/cache", "others may write to a folder above it")):
            with self.subTest(cache), meanwhile(take):
                result = self.use("reduce {i}/x.npy --device opencl:0", TMPDIR=self.group, TILEWISE_CACHE=cache)
                if result.returncode == 4 and "opencl" in result.stderr:
                    self.skipTest("no opencl:0 here")
                self.check(result, 0, "", says)
            self.assertEqual([name for name in os.listdir(self.group) if "tilewise-" in name], [])
            self.assertFalse(os.path.isdir(f"{self.group}/cache") and os.listdir(f"{self.group}/cache"))

    def test_a_file_that_sets_users_is_replaced_without_that(self):
        with as_other():
            pathlib.Path(f"{self.group}/y.npy").touch()
            os.chmod(f"{self.group}/y.npy", 0o6777)
        self.check(self.use(SCAN, self.group), 0)
        self.assertEqual(os.stat(f"{self.group}/y.npy").st_mode & 0o7777, 0o777)


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: only root can be two users")
    else:
        named_tests.main()
