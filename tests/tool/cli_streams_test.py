# SPDX-License-Identifier: Apache-2.0
"""Arrays that are larger than what may be held.

cli_streams_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import glob
import itertools
import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import time

import numpy as np

import named_tests
from cli_test import DTYPES, HANGS_S, PLANTED, TOOL, Case, covering, run, wide_values

COUNT = 1_300_011  # some chunks and a part of one, for elements of four bytes and of eight
WHOLE = "--device cpu --variant"  # a variant that is asked for gets the whole array
SANITIZED = os.environ.get("TILEWISE_TEST_COVER") == "few"
KINDS = ("", "--op max", "--exclusive", "--init 3", "--exclusive --init 5 --op min", "--op product --init 2")


class StreamCase(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.d = cls.folder.name
        for t in DTYPES:
            np.save(f"{cls.d}/{t}.npy", wide_values(t, COUNT))

    def contents(self, name):
        with open(f"{self.d}/{name}", "rb") as file:
            return file.read()

    def file_of(self, arguments, name="y.npy"):
        self.check(run(f"{arguments} -o {self.d}/{name}"), 0, "", "^$")
        return self.contents(name)


class Chunks(StreamCase):
    def test_scans_have_the_bits_of_one_call(self):
        for t, kind in covering(DTYPES, KINDS):
            with self.subTest(f"{t} {kind}"):
                words = f"scan {self.d}/{t}.npy {kind}"
                self.assertEqual(self.file_of(f"{words} --device cpu"), self.file_of(f"{words} {WHOLE} scan/cpu"))

    def test_reductions_have_the_bits_of_one_call(self):
        for t, kind in covering(DTYPES, ("", "--op min", "--init 7", "--op product --init 3")):
            with self.subTest(f"{t} {kind}"):
                words = f"reduce {self.d}/{t}.npy {kind} --json"
                own, one = (json.loads(run(f"{words} {how}").stdout) for how in ("--device cpu", f"{WHOLE} reduce/cpu"))
                self.assertEqual((own["value_hex"], own["digest"]), (one["value_hex"], one["digest"]))

    def test_the_variant_that_is_asked_for_computes(self):
        words = f"scan {self.d}/f4.npy --device cpu -o {self.d}/y.npy"
        self.check(run(f"{words} --variant one_bit", PLANTED), 0)
        wrong = self.contents("y.npy")
        self.check(run(words, PLANTED), 0)
        self.assertNotEqual(self.contents("y.npy"), wrong)

    def test_any_team_of_threads(self):
        expected = self.file_of(f"scan {self.d}/f4.npy {WHOLE} scan/cpu")
        for how in "cpu --threads 1", "cpu --threads 5", "cpu:serial", "cpu:openmp --threads 3":
            if run(f"reduce {self.d}/f4.npy --device {how}").returncode == 0:
                self.assertEqual(self.file_of(f"scan {self.d}/f4.npy --device {how}"), expected, how)

    def test_auto_is_the_cpu_unless_something_else_is_asked_for(self):
        words = f"reduce {self.d}/f4.npy -v"
        reason = "computed while it is read"
        self.assertIn(reason, run(words).stderr)
        self.assertNotIn(reason, run(f"{words} --device cpu").stderr)
        told = run(words, env={**os.environ, "TILEWISE_DEVICE": "cpu:serial"}).stderr
        self.assertIn("on cpu:serial", told)
        self.assertNotIn(reason, told)

    def test_in_place_and_with_a_digest(self):
        expected = json.loads(run(f"scan {self.d}/f8.npy -o {self.d}/y.npy {WHOLE} scan/cpu --json").stdout)
        np.save(f"{self.d}/x.npy", np.load(f"{self.d}/f8.npy"))
        fields = json.loads(run(f"scan {self.d}/x.npy -o {self.d}/x.npy --device cpu --json").stdout)
        self.assertEqual((fields["digest"], set(fields)), (expected["digest"], set(expected)))
        self.assertEqual(self.contents("x.npy"), self.contents("y.npy"))
        for threads in 2, 3, 4, 5, 8, 16:  # which end their chunks in another order each time
            told = run(f"scan {self.d}/f8.npy -o {self.d}/y.npy --device cpu --threads {threads} --json").stdout
            self.assertEqual(json.loads(told)["digest"], expected["digest"], threads)

    def test_other_layouts(self):
        values = wide_values("f8", 800_000).reshape(1000, 800)
        np.save(f"{self.d}/c.npy", values)
        expected = self.file_of(f"scan {self.d}/c.npy {WHOLE} scan/cpu")
        for layout in values.astype(">f8"), np.asfortranarray(values), np.asfortranarray(values.astype(">f8")):
            np.save(f"{self.d}/x.npy", layout)
            self.assertEqual(self.file_of(f"scan {self.d}/x.npy --device cpu"), expected)


class Limits(StreamCase):
    def test_a_file_larger_than_the_address_space(self):
        if SANITIZED:
            self.skipTest("sanitizers need address space of their own")
        values = np.zeros(1 << 25, "i4")
        values[::4099] = 1
        np.save(f"{self.d}/large.npy", values)
        limit = 96 << 20  # the file has 128 MiB
        held = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))}
        words = f"scan {self.d}/large.npy -o {self.d}/y.npy --device cpu --threads 2"
        self.check(run(f"{words} --variant scan/cpu", **held), 5, "^$", r"needs 134217728 bytes of memory, but the host has \d+ left")
        self.check(run(words, **held), 0, "^$", "^$")
        self.assertEqual(np.load(f"{self.d}/y.npy").tobytes(), np.cumsum(values, dtype="i4").tobytes())
        self.check(run(f"reduce {self.d}/large.npy --device cpu --threads 2", **held), 0, rf"^{values.sum()}\n$", "^$")

    def test_a_sort_larger_than_the_address_space(self):
        if SANITIZED:
            self.skipTest("sanitizers need address space of their own")
        count, kept = 1 << 23, f"{self.d}/kept"
        os.mkdir(kept)
        np.save(f"{self.d}/v.npy", np.arange(count, dtype="f8"))
        bits = np.random.default_rng(5).integers(0, 1 << 32, count, "u4")
        bits[::3] %= 7  # many equal keys
        program = os.path.getsize(TOOL) >> 20
        for keys, words, more in ((bits.view("f4"), "", 74), (bits, "--descending --indices {}", 134), (bits.view("i4"), "--values {v} --values-out {}", 194)):
            mib = program + more
            with self.subTest(words):
                np.save(f"{self.d}/keys.npy", keys)
                held = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20))}
                command = f"sort {self.d}/keys.npy --device cpu --threads 2 --json -o {self.d}/"
                second = lambda name: words.replace("{}", f"{self.d}/{name}").replace("{v}", f"{self.d}/v.npy")
                whole = json.loads(run(f"{command}a.npy {second('a2.npy')}").stdout)
                self.check(run(f"{command}b.npy {second('b2.npy')}", **held), 5, "", r"takes \d+ bytes of memory, but .*--scratch DIR")
                runs = run(f"{command}b.npy {second('b2.npy')} --scratch {kept} -v", **held)
                self.assertEqual(runs.returncode, 0, runs.stderr)
                self.assertRegex(runs.stderr, r"in [2-9] runs kept in .*/kept; .*, in pieces")
                self.assertEqual(self.contents("a.npy"), self.contents("b.npy"))
                fields = json.loads(runs.stdout)
                for digest in set(whole) & {"digest", "values_digest", "indices_digest"}:
                    self.assertEqual(fields[digest], whole[digest])
                if words:
                    self.assertEqual(self.contents("a2.npy"), self.contents("b2.npy"))
                self.assertEqual(os.listdir(kept), [])
        self.check(run(f"sort {self.d}/keys.npy -o {self.d}/b.npy --scratch {self.d}/none"), 2, "^$", "none")

    def test_runs_on_a_disk_where_every_file_has_a_name(self):
        if SANITIZED:
            self.skipTest("sanitizers come before any other library")
        limit, kept = 120 << 20, f"{self.d}/named"
        os.mkdir(kept)
        keys = np.arange(1 << 23, dtype="u4")
        np.save(f"{self.d}/back.npy", keys[::-1])
        words = f"sort {self.d}/back.npy -o {self.d}/y.npy --device cpu --threads 2 --scratch {kept} -v"
        named = {"env": {**os.environ, "LD_PRELOAD": os.environ["TILEWISE_FAKE_DISK"], "FAKE_DISK": "bare - 0"},
                 "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))}
        self.check(run(words, **named), 0, "^$", "runs kept in")
        self.assertTrue((np.load(f"{self.d}/y.npy") == keys).all())
        self.assertEqual(os.listdir(kept), [])

        for _ in range(20):  # until it is seen in time
            child = subprocess.Popen([TOOL, *words.split()], stderr=subprocess.DEVNULL, **named)
            while child.poll() is None and not self.has_open(child, rf"^{re.escape(kept)}/.* \(deleted\)$"):
                time.sleep(0.001)
            child.kill()
            if child.wait() != 0:
                break
        self.assertEqual(child.wait(), -signal.SIGKILL, "its runs have a name for as long as they are there")
        self.assertEqual(os.listdir(kept), [])
        self.check(run(f"scan {self.d}/back.npy -o {self.d}/y.npy"), 0)  # which removes the killed one's output

    def test_a_disk_that_has_only_what_it_must(self):
        """Results, also those that replace a file, and records are as elsewhere: nothing else is needed, and nothing waited for."""
        if SANITIZED:
            self.skipTest("sanitizers come before any other library")
        bare = {**os.environ, "LD_PRELOAD": os.environ["TILEWISE_FAKE_DISK"], "FAKE_DISK": "bare - 0"}
        expected = self.file_of(f"scan {self.d}/f8.npy --device cpu", "elsewhere.npy")
        for _ in range(2):
            self.check(run(f"scan {self.d}/f8.npy -o {self.d}/bare.npy --device cpu", env=bare), 0, "^$", "^$")
            self.assertEqual(self.contents("bare.npy"), expected)
        bench = f"bench reduce --n 1000 --dtype f32 --op sum --device cpu:serial --max-time 0.01 -q -o {self.d}/bare.jsonl"
        self.check(run(bench, env=bare), 0, "", "^$")
        self.check(run(f"report {self.d}/bare.jsonl --markdown", env=bare), 0, "reduce", "^$")

    @staticmethod
    def has_open(child, pattern):
        for file in glob.glob(f"/proc/{child.pid}/fd/*"):
            try:
                if re.search(pattern, os.readlink(file)):
                    return True
            except OSError:  # it was closed meanwhile
                pass
        return False

    def test_a_disk_that_fails_in_the_middle(self):
        if SANITIZED:
            self.skipTest("sanitizers come before any other library")
        limit = 120 << 20
        np.save(f"{self.d}/u4.npy", np.arange(1 << 23, dtype="u4")[::-1])
        self.check(run(f"bench reduce --n 1000 --dtype f32 --op sum --device cpu:serial --max-time 0.01 -o {self.d}/r.jsonl"), 0)
        before = set(os.listdir(self.d))
        scan, chosen = f"scan {self.d}/f8.npy", "--device cpu --threads 2"
        runs = f"{self.d}/u4.npy --scratch {self.d}"
        for words, fault, says in ((f"{scan} {chosen}", "read f8.npy 5000000", r"f8\.npy: cannot be read at byte \d+: Input/output error"),
                                   (f"{scan} {chosen}", "write .tilewise- 5000000", r"none\.npy: cannot be written at byte \d+: Input/output error"),
                                   (f"{scan} {chosen}", "sync .tilewise- 0", r"none\.npy: cannot be written: Input/output error"),
                                   (f"sort {self.d}/f8.npy {chosen}", "read f8.npy 5000000", r"f8\.npy: cannot be read at byte \d+: Input/output error"),
                                   (f"sort {runs} {chosen}", "read /# 9000000", r"a scratch file cannot be read at byte \d+: Input/output error"),
                                   (f"sort {runs} {chosen}", "write /# 9000000", r"a scratch file cannot be written at byte \d+: Input/output error"),
                                   (f"report {self.d}/r.jsonl", "write .tilewise- 0", r"none\.npy: cannot be written at byte 0: Input/output error")):
            with self.subTest(f"{words} {fault}"):
                faulty = {**os.environ, "LD_PRELOAD": os.environ["TILEWISE_FAKE_DISK"], "FAKE_DISK": fault}
                result = run(f"{words} -o {self.d}/none.npy", env=faulty,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
                self.check(result, 6, "^$", says)
                self.assertEqual(set(os.listdir(self.d)), before)
                if at := re.search(r"at byte (\d+)", result.stderr):  # of the file, not of the piece in which it failed
                    self.assertGreaterEqual(int(at[1]), int(fault.split()[-1]))

    def test_a_kill_after_any_file_leaves_a_checkpoint_that_goes_on(self):
        if SANITIZED:
            self.skipTest("sanitizers come before any other library")
        words, last = "diffuse --grid 24x20 --steps 4 --every 2 --device cpu:serial -o", "diffusion.0000004.npy"
        self.check(run(f"{words} {self.d}/whole"), 0)
        for files in range(1, 100):
            with self.subTest(files):
                folder = f"{self.d}/killed{files}"
                faulty = {**os.environ, "LD_PRELOAD": os.environ["TILEWISE_FAKE_DISK"], "FAKE_DISK": f"kill - {files}"}
                if run(f"{words} {folder}", env=faulty).returncode == 0:
                    break
                self.check(run(f"{words} {folder}" + " --resume" * os.path.exists(f"{folder}/checkpoint.json")), 0)
                self.assertTrue((np.load(f"{folder}/{last}") == np.load(f"{self.d}/whole/{last}")).all())
        self.assertGreater(files, 3)

    def giant(self):
        """Elements of 1 TiB, all of them zeros that take no place."""
        path = f"{self.d}/giant.npy"
        with open(path, "wb") as file:
            np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (1 << 37,)})
            file.truncate(file.tell() + (1 << 40))
        return path

    def test_a_disk_without_room_is_found_first(self):
        path, before = self.giant(), set(os.listdir(self.d))
        self.check(run(f"scan {path} -o {self.d}/none.npy --device cpu"), 6, "^$", r"none\.npy: cannot be written: ")
        self.assertEqual(set(os.listdir(self.d)), before)

    def test_the_memory_of_the_cpu_is_what_its_groups_allow(self):
        os.makedirs(f"{self.d}/groups/memory")
        for name in "memory.max", "memory/memory.limit_in_bytes":  # of both versions
            with open(f"{self.d}/groups/{name}", "w") as file:
                file.write(str(1 << 30))
        mounted = ["-rm", "sh", "-c", f"mount --bind {self.d}/groups /sys/fs/cgroup && exec \"$@\"", "sh"]
        if run([*mounted, "true"], "unshare").returncode != 0:
            self.skipTest("nothing can be mounted here")
        told = json.loads(run([*mounted, TOOL, "devices", "--json"], "unshare").stdout)["devices"]
        self.assertEqual({d["memory_bytes"] for d in told if d["backend"] == "cpu"}, {1 << 30})

    def test_a_disk_without_room_in_memory_is_found_first(self):
        memory = f"{self.d}/memory"
        os.mkdir(memory)
        mounted = ["-rm", "sh", "-c", f'mount -t tmpfs -o size=1M none {memory} && {{ "$@"; code=$?; ls -A {memory}; exit $code; }}', "sh"]
        if run([*mounted, "true"], "unshare").returncode != 0:
            self.skipTest("nothing can be mounted here")
        scan = [TOOL, "scan", f"{self.d}/f4.npy", "-o", f"{memory}/none.npy", "--device", "cpu"]
        self.check(run([*mounted, *scan], "unshare"), 6, "^$", r"none\.npy: cannot be written: No space left on device")

    def test_room_that_is_kept_for_root_is_none(self):
        if SANITIZED:
            self.skipTest("sanitizers come before any other library")
        before, block = set(os.listdir(self.d)), os.statvfs(self.d).f_bsize
        whole = len(self.contents("f8.npy")) // block * block  # what is left of the file takes one block more
        for room, code, says in (whole, 6, r"none\.npy: cannot be written: No space left on device"), (whole + block, 0, "^$"):
            result = run(f"scan {self.d}/f8.npy -o {self.d}/none.npy --device cpu",
                         env={**os.environ, "LD_PRELOAD": os.environ["TILEWISE_FAKE_DISK"], "FAKE_DISK": f"room .tilewise- {room}"})
            self.check(result, code, "^$", says)
            self.assertEqual(set(os.listdir(self.d)) - before, set() if code else {"none.npy"})
        os.remove(f"{self.d}/none.npy")
        os.mkdir(f"{self.d}/full")
        result = run(f"sort {self.d}/f4.npy -o {self.d}/none.npy --indices {self.d}/full/none.npy --device cpu",
                     env={**os.environ, "LD_PRELOAD": os.environ["TILEWISE_FAKE_DISK"], "FAKE_DISK": f"room {self.d}/full {1 << 20}"})
        self.check(result, 6, "^$", r"full/none\.npy: cannot be written: No space left on device")
        self.assertEqual((set(os.listdir(self.d)) - before, os.listdir(f"{self.d}/full")), ({"full"}, []))
        kept, limit = f"{self.d}/runs", 120 << 20
        os.mkdir(kept)
        np.save(f"{self.d}/back.npy", np.arange(1 << 23, dtype="u4")[::-1])
        before = set(os.listdir(self.d))
        result = run(f"sort {self.d}/back.npy -o {self.d}/none.npy --device cpu --threads 2 --scratch {kept}",
                     env={**os.environ, "LD_PRELOAD": os.environ["TILEWISE_FAKE_DISK"], "FAKE_DISK": f"room {kept} {1 << 20}"},
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.check(result, 6, "^$", r"runs: has no room for 33554432 bytes of runs: No space left on device")
        self.assertEqual((set(os.listdir(self.d)), os.listdir(kept)), (before, []))

    def test_a_map_is_written_where_it_has_pages(self):
        """Without room for a page, whoever writes there is ended by a signal."""
        if SANITIZED or not os.access("/dev/shm", os.W_OK):
            self.skipTest("sanitizers come before any other library" if SANITIZED else "no files in memory here")
        expected = self.file_of(f"scan {self.d}/f8.npy --device cpu")
        with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
            for fault in ("map", "full") * 5:  # there is a map for the third thread that waits
                result = run(f"scan {self.d}/f8.npy -o {memory}/y.npy --device cpu --threads 8",
                             env={**os.environ, "LD_PRELOAD": os.environ["TILEWISE_FAKE_DISK"], "FAKE_DISK": f"{fault} .tilewise- 0"})
                self.check(result, 0, "^$", "^$")
                with open(f"{memory}/y.npy", "rb") as file:
                    self.assertEqual(file.read(), expected)

    def test_a_file_that_shrinks(self):
        for patience in 0.3, 2, 8:  # until it reads; a file that is short from the start has another message
            path = self.giant()
            child = subprocess.Popen([TOOL, "reduce", path, "--device", "cpu"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(patience)
            os.truncate(path, 1000)
            said = child.communicate(timeout=HANGS_S)
            if b"its header announces" not in said[1]:
                break
        self.assertEqual((child.returncode, said[0]), (6, b""))
        self.assertRegex(said[1].decode(), r"giant\.npy: became shorter .*: it ends at byte \d+ of 1099511627904\n$")

    def test_a_size_is_a_hint(self):
        """As of files that another program is writing, or that a file system makes up while they are read."""
        if SANITIZED:
            self.skipTest("sanitizers come before any other library")
        x = np.load(f"{self.d}/f4.npy")
        x.tofile(f"{self.d}/f4.bin")
        np.save(f"{self.d}/m.npy", x[:2500].reshape(50, 50))
        np.save(f"{self.d}/k.npy", np.asfortranarray(x[:225].reshape(15, 15).astype(">f4")))
        np.save(f"{self.d}/row.npy", x[:50])
        for words, name in (("scan", "f4.npy"), ("sort", "f4.npy"), ("scan --dtype f4", "f4.bin"), (f"sort --dtype f4 --shape {COUNT}", "f4.bin"),
                            (f"convolve {self.d}/m.npy", "k.npy"), (f"matvec {self.d}/m.npy", "row.npy"), (f"matmul {self.d}/m.npy", "m.npy")):
            expected, whole = self.file_of(f"{words} {self.d}/{name} --device cpu"), os.path.getsize(f"{self.d}/{name}")
            for told, path in itertools.product((0, 8, 200, whole // 8 * 4, whole - 1, whole + 4, 2 * whole, 1 << 60), (f"{self.d}/{name}", "-")):
                with self.subTest(f"{words} {path} {told}"), open(f"{self.d}/{name}", "rb") as file:
                    env = {**os.environ, "LD_PRELOAD": os.environ["TILEWISE_FAKE_DISK"], "FAKE_DISK": f"size {name} {told}"}
                    command = [TOOL, *f"{words} {path} -o {self.d}/hint.npy --device cpu".split()]
                    self.check(subprocess.run(command, capture_output=True, text=True, timeout=HANGS_S, stdin=file, env=env), 0, "^$", "^$")
                    self.assertTrue(self.contents("hint.npy") == expected)

    def test_an_interrupt_in_the_middle(self):
        before = set(os.listdir(self.d))
        child = subprocess.Popen([TOOL, "scan", "-", "-o", f"{self.d}/none.npy", "--device", "cpu"], stdin=subprocess.PIPE)
        child.stdin.write(self.contents("f8.npy")[:4_000_000])
        child.stdin.flush()
        while not set(os.listdir(self.d)) - before:
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(timeout=HANGS_S), 130)
        child.stdin.close()
        self.assertEqual(set(os.listdir(self.d)), before)


if __name__ == "__main__":
    named_tests.main()
