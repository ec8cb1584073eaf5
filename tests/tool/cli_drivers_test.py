# SPDX-License-Identifier: Apache-2.0
"""OpenCL drivers: faulty ones are named and harm nothing else, and `auto` loads none that it could not choose.

cli_drivers_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import contextlib
import glob
import json
import os
import pathlib
import shutil
import sys
import tempfile
import threading

import numpy as np

import named_tests
from cli_test import Case, run, together, wide_values
from processes import outliving

CRASHING, HANGING, CPU, GPU = sys.argv[3:7]
LEFT_OUT = r"crashed with signal 11 \(Segmentation fault\) while being listed; it is left out"
TAKEN = "nothing computes .* on opencl:0"  # a fake device is chosen, and can do nothing


class DriverCase(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.d = cls.folder.name
        os.environ["XDG_CACHE_HOME"] = f"{cls.d}/caches"  # a driver that crashes has its folder moved aside, under other tests
        os.mkdir(f"{cls.d}/caches")
        np.save(f"{cls.d}/f4.npy", wide_values("f4", 1003))
        facts = json.loads(run("devices --json").stdout)
        cls.has_opencl = not any(b["backend"] == "opencl" for b in facts["missing"])
        cls.has_cuda = any(d["backend"] == "cuda" for d in facts["devices"])
        cls.names = [d["name"] for d in facts["devices"]]

    def setUp(self):
        if not self.has_opencl:
            self.skipTest("no OpenCL here")


@contextlib.contextmanager
def waiting_readers(pipe):
    """Who has opened the pipe for reading, and would wait for ever, is let go, and an entry of the list."""
    found, done = [], threading.Event()

    def look():
        while not done.wait(0.02):
            with contextlib.suppress(OSError):  # nobody has
                os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
                found.append(pipe)

    looker = threading.Thread(target=look)
    looker.start()
    try:
        yield found
    finally:
        done.set()
        looker.join()


class Faults(DriverCase):
    def vendors(self, *faulty):
        folder = tempfile.mkdtemp(dir=self.d)
        for i, library in enumerate(faulty):
            pathlib.Path(f"{folder}/faulty{i}.icd").write_text(library + "\n")
        if os.path.isdir("/etc/OpenCL/vendors"):
            for name in os.listdir("/etc/OpenCL/vendors"):
                os.symlink(f"/etc/OpenCL/vendors/{name}", f"{folder}/{name}")
        return {**os.environ, "OCL_ICD_VENDORS": folder}

    def check_survives(self, library, fault):
        environment = self.vendors(library)
        result = run("devices", env=environment)
        self.check(result, 0, rf"faulty: \S+faulty0\.icd {fault} while being listed; it is left out")
        facts = json.loads(run("devices --json", env=environment).stdout)
        self.assertEqual([d["name"] for d in facts["devices"]], self.names)
        self.assertRegex(facts["faulty"][0]["reason"], fault)
        self.check(run(f"reduce {self.d}/f4.npy --device opencl:0", env=environment), 0, r"\d", rf"faulty0\.icd {fault}")
        self.check(run(f"reduce {self.d}/f4.npy --device cpu", env=environment), 0, r"\d", "^$")

    def test_the_doctor_names_what_crashes_and_what_is_idle(self):
        result = run("doctor --json", env=self.vendors(CRASHING, "/nowhere/lib.so"))
        self.check(result, 0, r"^[^\n]*\n$")
        found = {f["check"]: f["what"] for f in json.loads(result.stdout)["findings"]}
        self.assertRegex(found["driver"], f"faulty0.icd {LEFT_OUT}")
        self.assertRegex(found["icd"], "faulty1.icd adds no OpenCL device: its library '/nowhere/lib.so' is missing")
        self.assertNotIn("opencl", found)

    def test_crash(self):
        self.check_survives(CRASHING, r"crashed with signal 11 \(Segmentation fault\)")

    def test_hang(self):
        environments = [{**self.vendors(HANGING), "FAKE_DRIVER_LOG": f"{self.d}/hangs{i}.log", **more}
                        for i, more in enumerate(({}, {"FAKE_DRIVER_LEAVES": "1"}))]
        for environment, result in zip(environments, together(lambda each: run("devices", env=each), environments)):
            self.check(result, 0, r"did not answer within 10 s while being listed")
            self.assertEqual(outliving("environ", environment["FAKE_DRIVER_LOG"]), [])  # nor what the driver has started

    def test_a_driver_that_several_files_name(self):
        """By its name, its path or a link: it is one, and its devices are listed once."""
        libraries = [pathlib.Path(path).read_text().split()[0] for path in sorted(glob.glob("/etc/OpenCL/vendors/*.icd"))]
        link = f"{self.d}/link.so"
        os.symlink(GPU, link)
        opencl = lambda *those: [d["name"] for d in json.loads(run("devices --json", env=self.vendors(*those)).stdout)["devices"] if d["backend"] == "opencl"]
        before = opencl(GPU)
        self.assertEqual(opencl(GPU, GPU, link), before)
        self.assertEqual(opencl(GPU, *libraries, *libraries), before)

    def test_a_driver_that_is_not_there(self):
        self.check(run("devices", env=self.vendors("/nowhere/lib.so")), 0, "opencl:0")

    def test_what_is_no_file(self):
        """Nobody opens a pipe, where it would wait: neither the tool nor the loader in a child."""
        environment = {**self.vendors(), "TILEWISE_CACHE": tempfile.mkdtemp(dir=self.d)}
        pipe = f"{environment['OCL_ICD_VENDORS']}/pipe.icd"
        os.mkfifo(pipe)
        os.mkdir(f"{environment['OCL_ICD_VENDORS']}/folder.icd")
        fault = r"{}\.icd is not a regular file; it is left out"
        words = ["devices", "doctor"] + [f"sort {self.d}/f4.npy -o {self.d}/y.npy --device {device}"
                                         for device in ["opencl:0"] + ["auto"] * (not self.has_cuda)]  # with CUDA it looks at no OpenCL
        with waiting_readers(pipe) as found:
            devices, doctor, *sorts = [run(each, env=environment) for each in words]
        self.assertEqual(found, [])
        self.check(devices, 0, rf"(?s)opencl:0.*{fault.format('folder')}.*{fault.format('pipe')}")
        self.check(doctor, 0, r"pipe\.icd is not a regular file")
        for result in sorts:
            self.check(result, 0, "^$", fault.format("pipe"))

    def test_only_faulty_drivers(self):
        folder = tempfile.mkdtemp(dir=self.d)
        pathlib.Path(f"{folder}/only.icd").write_text(CRASHING + "\n")
        environment = {**os.environ, "OCL_ICD_VENDORS": folder}
        self.check(run("devices", env=environment), 0, r"(?s)cpu:serial.*opencl: none\..*faulty: ")
        for device in "opencl:0", "cuda:99", "openacc:99":
            self.check(run(f"reduce {self.d}/f4.npy --device {device}", env=environment), 4, "^$", "crashed")


class Auto(DriverCase):
    """What was found is kept, and keeps drivers from being loaded; it never lets one be loaded unprobed."""

    def setUp(self):
        super().setUp()
        if self.has_cuda:
            self.skipTest("auto takes a CUDA device and looks at no OpenCL")
        self.home = tempfile.mkdtemp(dir=self.d)
        os.mkdir(f"{self.home}/vendors")
        self.environment = {**os.environ, "OCL_ICD_VENDORS": f"{self.home}/vendors", "FAKE_DRIVER_LOG": f"{self.home}/log",
                            "TILEWISE_CACHE": f"{self.home}/cache"}

    def install(self, name, library):
        """A private copy of a driver, so that its times can change."""
        copy = f"{self.home}/{name}.so"
        shutil.copy2(library, copy)
        pathlib.Path(f"{self.home}/vendors/{name}.icd").write_text(copy + "\n")
        return copy

    def loads(self, words="", code=0, out="^$", err="^$", more={}):
        """Which drivers a sort on `auto` loads, in however many processes."""
        pathlib.Path(f"{self.home}/log").write_text("")
        self.check(run(f"sort {self.d}/f4.npy -o {self.home}/y.npy {words}", env={**self.environment, **more}), code, out, err)
        return set(pathlib.Path(f"{self.home}/log").read_text().split())

    def test_a_driver_of_cpus_is_looked_at_once(self):
        self.install("one", CPU)
        self.assertEqual(self.loads(), {"cpu"})
        self.assertEqual(self.loads(), set())
        self.assertEqual(self.loads("--device auto -q"), set())
        self.assertEqual(self.loads("--device opencl:0", 4, "^$", TAKEN), {"cpu"}, "it is there if named")
        self.check(run("devices", env=self.environment), 0, "opencl:0 +fake")

    def test_it_is_looked_at_again_when_something_changes(self):
        copy = self.install("one", CPU)
        icd = f"{self.home}/vendors/one.icd"
        self.loads()
        for change in (lambda: os.utime(copy, (1, 1)), lambda: os.utime(icd, (1, 1)), lambda: open(copy, "ab").write(b"x"),
                       lambda: self.install("two", CPU), lambda: self.environment.update(POCL_DEVICES="none")):
            change()
            self.assertEqual(self.loads(), {"cpu"})
            self.assertEqual(self.loads(), set())

    def test_a_record_that_is_not_ours_is_ignored(self):
        self.install("one", CPU)
        self.assertEqual(self.loads(more={"TILEWISE_CACHE": "off"}), {"cpu"})
        self.assertEqual(self.loads(more={"TILEWISE_CACHE": "off"}), {"cpu"}, "there is no place for one")
        self.loads()
        record, = glob.glob(f"{self.home}/cache/*.bin")
        whole = open(record, "rb").read()
        for damaged in whole[:-1], whole[:40], b"", whole + b"x", whole[:-3] + b"?" + whole[-2:]:
            open(record, "wb").write(damaged)
            self.assertEqual(self.loads(), {"cpu"})
            self.assertEqual(open(record, "rb").read()[:16], whole[:16], "it is written again")
        os.chmod(record, 0o622)
        self.assertEqual(self.loads(), {"cpu"})
        os.chmod(f"{self.home}/cache", 0o755)
        self.assertEqual(self.loads(), {"cpu"})

    def test_a_faulty_driver_is_told_each_time_and_looked_at_once(self):
        self.install("faulty", CRASHING)
        self.install("one", CPU)
        self.assertEqual(self.loads(err=rf"faulty\.icd {LEFT_OUT}\n"), {"faulty", "cpu"})
        self.assertEqual(self.loads(err=rf"faulty\.icd {LEFT_OUT} \(`tilewise devices` looks again\)\n"), set())
        self.assertEqual(self.loads("--device opencl:0", 4, "^$", rf"faulty\.icd {LEFT_OUT}\n"), {"faulty", "cpu"})
        self.install("faulty", CPU)
        self.assertEqual(self.loads(), {"cpu"})

    def test_a_gpu_is_taken_and_loads_its_own_driver_only(self):
        self.install("a_cpu", CPU)
        self.install("b_gpu", GPU)
        self.assertEqual(self.loads("", 4, "^$", TAKEN), {"cpu", "gpu"})
        self.assertEqual(self.loads("", 4, "^$", TAKEN), {"gpu"})
        self.assertEqual(self.loads("--device cpu"), set())

    def test_a_driver_that_became_faulty_is_seen_before_it_is_loaded(self):
        self.install("one", GPU)
        self.loads("", 4, "^$", TAKEN)
        self.assertEqual(self.loads(err=rf"one\.icd {LEFT_OUT}", more={"FAKE_DRIVER_CRASHES": "1"}), {"gpu"})
        self.loads("", 4, "^$", TAKEN)

    def test_devices_looks_again(self):
        self.install("one", GPU)
        crashes = {**self.environment, "FAKE_DRIVER_CRASHES": "1"}
        self.check(run("devices", env=crashes), 0, LEFT_OUT)
        again = rf"one\.icd {LEFT_OUT} \(`tilewise devices` looks again\)"
        self.assertEqual(self.loads(err=again), set(), "the record is believed for a while")
        self.check(run("devices", env=self.environment), 0, "opencl:0 +fake")
        self.assertEqual(self.loads("", 4, "^$", TAKEN), {"gpu"})


if __name__ == "__main__":
    named_tests.main()
