# SPDX-License-Identifier: Apache-2.0
"""Where `auto` runs a job: by figures that were measured, or made up, on a machine whose PoCL calls itself a GPU.

cli_choice_test.py TOOL PLANTED DRIVER...   (as cli_test.py); TILEWISE_FAKE_OPENCL names the driver that says so
"""

import functools
import glob
import json
import os
import tempfile

import numpy as np

import named_tests
from cli_test import COVER, PLANTED, Case, device_facts, run, wide_values

FAKE = os.environ.get("TILEWISE_FAKE_OPENCL")
MEASURE = "`tilewise tune --transfers` measures this machine"
CPU_WINS, DEVICE_WINS = "1e3 1e9", "1e9 1e3"  # nanoseconds for a million operations, here and there
PREDICTED = r"predicted: cpu [\d.]+ \S+, opencl:0 [\d.]+ \S+; "


class Choice(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.d = cls.folder.name
        np.save(f"{cls.d}/x.npy", wide_values("f4", 1_000_003))
        np.save(f"{cls.d}/small.npy", wide_values("f4", 1003))
        np.save(f"{cls.d}/i8.npy", wide_values("i8", 1003))
        cls.has_cuda = any(d["backend"] == "cuda" for d in device_facts())
        cls.has_gpu = any(d["backend"] in ("cuda", "opencl") and not d["is_cpu"] for d in device_facts())
        cls.plain = {**os.environ, "TILEWISE_CACHE": f"{cls.d}/cache"}  # OpenCL programs are built once, and stay
        cls.environment = {**cls.plain, "TILEWISE_OPENCL_LIBRARY": FAKE or "", "FAKE_OPENCL_TYPE": "gpu"}

    def setUp(self):
        for record in self.records():
            os.remove(record)

    def need_a_gpu(self):
        if not FAKE or self.has_cuda:
            self.skipTest("no OpenCL device can be made to look like the one that auto takes")

    @classmethod
    @functools.cache
    def identity(cls):
        devices = json.loads(run("devices --json", env=cls.environment).stdout)["devices"]
        gpu, = [d for d in devices if d["name"] == "opencl:0"]
        return ", ".join(gpu[key] for key in ("description", "platform", "driver", "api_version") if gpu[key])

    def plant(self, times, identity=None):
        planted = {**self.environment, "PLANTED_FIGURES": f"{times} {identity or self.identity()}"}
        self.check(run("--version", PLANTED, env=planted), 0)

    def ran(self, words, err, environment=None):
        """What -v says, of a job whose result is checked against that of the CPU."""
        result = run(f"{words} -v", env=environment or self.environment)
        self.check(result, 0, "", err)
        self.assertEqual(result.stdout, run(f"{words} --device cpu").stdout)
        return result.stderr

    def records(self):
        """Where figures are kept, among what else the cache folder holds."""
        for name in glob.glob(f"{self.d}/cache/*.bin"):
            with open(name, "rb") as file:
                if b"read_bytes_per_s" in file.read():
                    yield name


class Predictions(Choice):
    def test_figures_decide(self):
        self.need_a_gpu()
        for job in f"reduce {self.d}/x.npy", f"reduce {self.d}/small.npy":
            self.plant(CPU_WINS)
            self.assertRegex(self.ran(job, "^reduce/cpu"), f" on cpu: {PREDICTED}computed while it is read; first choice on cpu")
            self.plant(DEVICE_WINS)
            self.assertRegex(self.ran(job, "^reduce/opencl"), f" on opencl:0: {PREDICTED}since reduce/opencl:single_pass: nothing is known of")
        for times, device in ("2e6 3e6", "cpu"), ("3e6 2e6", "opencl:0"):
            self.plant(times)
            self.ran(f"reduce {self.d}/x.npy", f" on {device}: {PREDICTED}")

    def test_what_is_not_computed_while_it_is_read(self):
        self.need_a_gpu()
        words = f"sort {self.d}/small.npy -o {self.d}/y.npy"
        self.plant(CPU_WINS)
        self.assertNotIn("while it is read", self.ran(words, f"^sort/cpu.* on cpu: {PREDICTED}first choice on cpu"))
        self.plant(DEVICE_WINS)
        self.ran(words, f"^sort/opencl.* on opencl:0: {PREDICTED}")
        with open(f"{self.d}/y.npy", "rb") as file:
            on_device = file.read()
        self.check(run(f"{words} --device cpu"), 0)
        with open(f"{self.d}/y.npy", "rb") as file:
            self.assertEqual(file.read(), on_device)

    def test_the_reason_is_told_to_programs(self):
        self.need_a_gpu()
        self.plant(CPU_WINS)
        told = json.loads(run(f"reduce {self.d}/x.npy --json", env=self.environment).stdout)
        self.assertRegex(told["reason"], PREDICTED)
        self.assertEqual(told["device"], "cpu")

    def test_what_is_asked_for_is_not_predicted(self):
        self.need_a_gpu()
        self.plant(DEVICE_WINS)
        for words in "--device cpu", "--variant reduce/cpu --device cpu", "--device opencl:0", "--variant opencl:two_phase":
            said = run(f"reduce {self.d}/small.npy -v {words}", env=self.environment)
            self.check(said, 0, "", "^reduce/")
            self.assertNotIn("predicted", said.stderr)
        self.plant(CPU_WINS)
        self.check(run(f"reduce {self.d}/small.npy --tuning tile=1024", env=self.environment), 2, "^$", "'tile=1024' is not one of this variant.s; it has: group_size=")
        self.plant(DEVICE_WINS)
        named = run(f"reduce {self.d}/small.npy -v", env={**self.environment, "TILEWISE_DEVICE": "cpu:serial"})
        self.check(named, 0, "", "^reduce/.* on cpu:serial: first choice")

    def test_what_was_not_measured_follows_the_rule(self):
        self.need_a_gpu()
        self.plant(DEVICE_WINS)
        self.ran(f"reduce {self.d}/i8.npy", rf"reduce.i64 n=1003 .* not among the measured figures; {MEASURE}\nreduce/cpu")
        one = run(f"reduce {self.d}/x.npy --threads 1 -v", env=self.environment)
        self.check(one, 0, "", f"has not been measured; {MEASURE}\nreduce/cpu")


class Records(Choice):
    def test_without_figures(self):
        self.ran(f"reduce {self.d}/x.npy", rf"^tilewise: whether a GPU .* has not been measured; {MEASURE}\nreduce/cpu", self.plain)
        self.assertEqual(run(f"reduce {self.d}/x.npy", env=self.plain).stderr, "", "only with -v")

    def test_damaged_figures_are_not_used(self):
        self.need_a_gpu()
        self.plant(DEVICE_WINS)
        record, = self.records()
        with open(record, "rb") as file:
            whole = file.read()
        for damaged in whole[:-1], b"", whole[:70], whole + b"x", whole.replace(b"1000.0", b"2000.0"), whole[:-3] + b"?" + whole[-2:]:
            with open(record, "wb") as file:
                file.write(damaged)
            self.ran(f"reduce {self.d}/x.npy", f"figures of this machine are not used: they are damaged, .*; {MEASURE}\nreduce/cpu")
            self.assertEqual(run(f"reduce {self.d}/x.npy", env=self.environment).stderr, "", "only with -v")
        self.plant(DEVICE_WINS)
        os.chmod(record, 0o622)
        self.ran(f"reduce {self.d}/x.npy", "figures of this machine are not used: .* another user may write")

    def test_impossible_figures_are_not_used(self):
        self.need_a_gpu()
        for times in "-1 1", "1 0", "nan 1", "1 inf":
            self.plant(times)
            self.ran(f"reduce {self.d}/x.npy", f"are not used: .*(not possible|form); {MEASURE}\nreduce/cpu")

    def test_figures_of_another_device_are_not_used(self):
        self.need_a_gpu()
        self.plant(DEVICE_WINS, "Some GPU, driver 1.0")
        other = f"the measured figures are of another opencl:0, Some GPU, driver 1.0; {MEASURE}\n"
        self.ran(f"reduce {self.d}/small.npy", rf"^tilewise: {other}reduce/cpu")
        words = f"sort {self.d}/small.npy -o {self.d}/y.npy"
        self.ran(words, rf"^tilewise: {other}sort/opencl:radix.* on opencl:0: since sort/opencl:onesweep: nothing is known of")

    def test_a_cpu_of_opencl_is_never_taken(self):
        self.need_a_gpu()
        self.plant(DEVICE_WINS)
        self.ran(f"sort {self.d}/small.npy -o {self.d}/y.npy", "of another opencl:0.*\nsort/cpu", self.plain)


class Tune(Choice):
    def test_a_machine_without_a_gpu(self):
        if self.has_gpu:
            self.skipTest("it has one")
        result = run("tune --transfers --json", env={**self.plain, "TILEWISE_CACHE": "off"})
        self.check(result, 0, "", "not kept")
        told = json.loads(result.stdout)
        self.assertIs(told["kept"], False)
        self.assertIsNone(told["device"])
        self.assertGreater(told["cpu"]["computing"]["sort.f32"]["ns"], 0)
        if not FAKE or COVER == "few":
            return  # figures are kept where OpenCL programs are
        self.plant(DEVICE_WINS, "Some GPU, driver 1.0")
        damaged, = self.records()
        with open(damaged, "r+b") as file:
            file.truncate(100)
        self.check(run("tune --transfers", env=self.plain), 0, r"(?s)^cpu: .*read a file +\S+ [GM]B/s\n.*scan.f32 +\S+ \S+\n.*no other device", "^$")
        self.ran(f"reduce {self.d}/x.npy", "^reduce/cpu.* on cpu: computed while it is read", self.plain)

    def test_it_says_what_it_needs(self):
        self.check(run("tune"), 2, "", "--transfers")


if __name__ == "__main__":
    named_tests.main()
