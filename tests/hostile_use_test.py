"""Uses that no careful program makes, and surroundings that somebody else prepared: an answer or an error, and nothing else.

hostile_use_test.py TOOL PLANTED DRIVER... PROGRAM   (as cli_test.py; PROGRAM is hostile_use.cpp with the shared library)
"""

import glob
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

from cli_test import TOOL, Case, run, wide_values

PROGRAM = sys.argv[-1]
FACTOR = float(os.environ.get("TILEWISE_TEST_FACTOR", "1"))
TOTAL = 75000


def use(*words, **options):
    return run([str(word) for word in words], PROGRAM, **options)


class HostileCase(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.d = cls.folder.name
        np.save(f"{cls.d}/f4.npy", wide_values("f4", 1003))
        facts = json.loads(run("devices --json").stdout)
        cls.names = [d["name"] for d in facts["devices"]]
        cls.pocl = any(d["name"] == "opencl:0" and "Portable" in d["platform"] for d in facts["devices"])

    def require(self, name):
        if name not in self.names:
            self.skipTest(f"no {name} here")


class Threads(HostileCase):
    """Several threads begin at once, in processes where nothing was used before."""

    def first_use(self, name):
        repetitions = max(3, round(200 * FACTOR))
        for threads in 2, 4, 16:
            self.check(use("cold", name, threads, repetitions), 0, f"^{repetitions} of {repetitions}\n$")

    def test_opencl(self):
        self.require("opencl:0")
        self.first_use("opencl:0")

    def test_all_devices(self):
        self.first_use("devices")

    def test_auto(self):
        self.first_use("auto")


class Endings(HostileCase):
    def test_calls_from_static_destructors(self):
        for name in self.names:
            if name.startswith("cpu"):
                self.check(use("static", name), 0, f"^{name} {TOTAL}\n$", "^$")

    def test_forks(self):
        for name in self.names:
            total = f"{name} {TOTAL}\n"
            refused = r"error 4: .*was used before this process was forked.*\n"
            in_child = total * 2 if name in ("cpu:serial", "cpu:threads") else refused * (2 if "cpu" in name else 3)
            self.check(use("fork", name), 0, f"^{total}{in_child}the child ended well\n{total}$", "^$")
            self.check(use("fork-first", name), 0, f"^{total * 2}$", "^$")

    def test_threads_that_cannot_be_had(self):
        for name in self.names:
            if name.startswith("cpu:") and name != "cpu:serial":
                says = rf"error 2: the system gives this process \d+ threads of the \d+ asked for; ask for fewer\n"
                self.check(use("threads", name, 64), 0, f"^({says}|{name} {TOTAL}\n){name} {TOTAL}\n$", "^$")
        self.check(use("threads", "cpu:threads", 64), 0, "^error 2: the system gives")


class Caches(HostileCase):
    """PoCL runs what lies in its cache; so the cache is ours alone, or a new one."""

    def setUp(self):
        if not self.pocl:
            self.skipTest("no PoCL here")
        self.home = tempfile.mkdtemp(dir=self.d)
        os.mkdir(f"{self.home}/tmp")
        self.environment = {"PATH": os.environ["PATH"], "TMPDIR": f"{self.home}/tmp", "POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable"}

    def reduce(self, code=0, out=r"^\S+\n$", err="^$", **more):
        result = run(f"reduce {self.d}/f4.npy --device opencl:0", env={**self.environment, **more})
        self.check(result, code, out, err)
        self.assertEqual(os.listdir(f"{self.home}/tmp"), [])
        return result.stdout

    def folder_at_work(self, **more):
        """Where the driver keeps its objects while it runs."""
        script = f"{self.home}/driver.log"
        traced = run(f"reduce {self.d}/f4.npy --device opencl:0", tool=TOOL,
                     env={**self.environment, **more, "POCL_DEBUG": "cache"})
        return traced.stderr + traced.stdout

    def test_without_a_home_nothing_of_the_shared_folder_is_used(self):
        expected = self.reduce(HOME=self.home)
        shared = f"{self.home}/tmp"
        for more in {}, {"HOME": ""}, {"HOME": "/nonexistent"}, {"HOME": "relative"}:
            before = {path: os.stat(path).st_mtime_ns for path in glob.glob("/tmp/.cache/**", recursive=True, include_hidden=True)}
            self.assertEqual(self.reduce(err=r"^tilewise: OpenCL programs are built anew in each run: the cache folder .*\n$",
                                         **more), expected)
            after = {path: os.stat(path).st_mtime_ns for path in glob.glob("/tmp/.cache/**", recursive=True, include_hidden=True)}
            self.assertEqual(before, after)

    def test_folders_that_are_not_ours_alone_are_named_and_not_used(self):
        expected = self.reduce(HOME=self.home)
        open_one, link = f"{self.home}/open", f"{self.home}/link"
        os.mkdir(open_one)
        os.chmod(open_one, 0o777)
        os.symlink(self.home, link)
        for folder, why in ((open_one, "others may use it"), (link, "no folder, or a link"), ("/dev/null", "no folder"),
                            ("/proc/none", "cannot be made"), ("/nonexistent/deep", "cannot be made")):
            self.assertEqual(self.reduce(err=rf"the cache folder '{folder}' is not used, since .*{why}", TILEWISE_CACHE=folder),
                             expected)
        self.assertEqual(os.listdir(open_one), [])
        self.assertEqual(self.reduce(TILEWISE_CACHE="off"), expected)

    def test_without_any_private_folder_no_driver_is_loaded(self):
        environment = {**self.environment, "TMPDIR": "/nonexistent", "HOME": "/nonexistent"}
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")

    def damage(self, how):
        objects = [path for path in glob.glob(f"{self.home}/cache/pocl/**", recursive=True) if path.endswith((".so", ".bc"))]
        self.assertTrue(objects)
        for path in objects:
            whole = open(path, "rb").read()
            open(path, "wb").write({"halved": whole[:len(whole) // 2], "emptied": b"", "random": os.urandom(len(whole))}[how])

    def test_damaged_objects_cost_one_run(self):
        more = {"TILEWISE_CACHE": f"{self.home}/cache"}
        expected = self.reduce(**more)
        for how in "halved", "emptied", "random":
            self.damage(how)
            result = run(f"reduce {self.d}/f4.npy --device opencl:0", env={**self.environment, **more})
            if result.returncode != 0:
                self.check(result, 8, "^$", "crashed beside an OpenCL driver.*moved to '.*cache/pocl.damaged-.*'; try again")
            self.assertEqual(self.reduce(**more), expected)

    def test_devices_mends_a_damaged_cache(self):
        environment = {**self.environment, "TILEWISE_CACHE": f"{self.home}/cache"}
        self.check(run("devices", env=environment), 0, "opencl:0")
        self.damage("halved")
        result = run("devices --json", env=environment)
        probe, = [d["probe"] for d in json.loads(result.stdout)["devices"] if d["name"] == "opencl:0"]
        self.assertEqual((probe["answered"], probe["findings"]), (True, []), result.stderr)
        self.check(run("devices", env=environment), 0, "opencl:0", "^$")


class Hangs(HostileCase):
    """A driver that does not come back ends the tool, and not what was written before."""

    def setUp(self):
        self.require("opencl:0")
        self.environment = {**os.environ, "TILEWISE_OPENCL_LIBRARY": os.environ["TILEWISE_FAKE_OPENCL"]}

    def hanging(self, call):
        return {**self.environment, "FAKE_OPENCL": f"{call}=hang"}

    def test_calls_that_never_return_are_named(self):
        for call, what in (("clFinish", "reduce {d}/f4.npy"), ("clBuildProgram", "scan {d}/f4.npy -o {d}/y.npy"),
                           ("clEnqueueReadBuffer", "scan {d}/f4.npy -o {d}/y.npy"), ("clFinish", "verify scan --n 1000"),
                           ("clFinish", "bench scan --n 1000 --max-time 0.1")):
            before = set(os.listdir(self.d))
            with self.subTest(f"{call} in {what}"):
                words = what.format(d=self.d) + " --device opencl:0 --time-limit 1"
                self.check(run(words, env={**self.hanging(call), "TILEWISE_CACHE": "off"}), 8, "",
                           rf"opencl:0 made no progress for 1 s in .*{call}.*--time-limit")
                self.assertEqual(set(os.listdir(self.d)), before)

    def test_json_tells_it_too(self):
        result = run(f"reduce {self.d}/f4.npy --device opencl:0 --time-limit 1 --json", env=self.hanging("clFinish"))
        self.check(result, 8)
        self.assertEqual(json.loads(result.stdout)["error"]["code"], "device_lost")

    def test_no_limit_and_slow_calls(self):
        for limit in 0, 30:
            self.check(run(f"reduce {self.d}/f4.npy --device opencl:0 --time-limit {limit}"), 0, r"\d", "^$")
        self.check(run(f"reduce {self.d}/f4.npy --device opencl:0 --time-limit -1"), 2, "^$", "--time-limit")

    def bench(self, call, *more):
        words = ["bench", "reduce", "--n", "1000,1001", "--dtype", "f32", "--op", "sum", "--device", "cpu:serial,opencl:0",
                 "--max-time", "0.05", "-o", f"{self.d}/r.jsonl", *more]
        return subprocess.Popen([TOOL, *words], env=self.hanging(call), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def kept_records(self):
        return [json.loads(line) for line in open(f"{self.d}/r.jsonl")] if os.path.exists(f"{self.d}/r.jsonl") else []

    def test_records_are_kept(self):
        child = self.bench("clFinish", "--time-limit", "1")
        out, err = child.communicate(timeout=120)
        self.assertEqual(child.returncode, 8, err)
        self.kept_records()

    def test_the_first_interrupt_ends_a_wait(self):
        child = self.bench("clFinish", "--time-limit", "0")
        time.sleep(6)
        self.assertIsNone(child.poll())
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=30)
        self.assertEqual(child.returncode, 130, err)
        self.assertRegex(err, r"interrupted while opencl:0 was in .*clFinish")
        self.kept_records()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
