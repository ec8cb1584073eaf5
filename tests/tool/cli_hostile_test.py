# SPDX-License-Identifier: Apache-2.0
"""Uses that no careful program makes, and environments that somebody else prepared: an answer or an error, nothing else.

cli_hostile_test.py TOOL PLANTED DRIVER... PROGRAM   (as cli_test.py; PROGRAM is hostile_use.cpp with the shared library)
"""

import glob
import itertools
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

import named_tests
from cli_test import COVER, HANGS_S, TOOL, Case, device_facts, devices_for, run, together, wide_values
from processes import mark_of_place, processes_with

PROGRAM = sys.argv[7]
COLD_STARTS = {"few": 3, "pairs": 8, "all": 200}[COVER]
TOTAL = re.escape("1e+06")

# What makes a folder that no driver can use of {}, with one in it that is ours alone, and why it cannot.
UNUSABLE = {
    "noexec": ("mount -t tmpfs -o size=64M,noexec none {0} && mkdir -m 700 {0}/cache", "programs in it may not be run"),
    "full": ("mount -t tmpfs -o size=64k none {0} && mkdir -m 700 {0}/cache", "less than 16 MiB are free there"),
    "few files": ("mount -t tmpfs -o nr_inodes=9 none {0} && mkdir -m 700 {0}/cache", "it has room for less than 256 files"),
    "read-only": ("mount -t tmpfs none {0} && mkdir -m 700 {0}/cache && mount -o remount,ro {0}", "it cannot be (written|created): Read-only"),
    "read-only inside": ("mount -t tmpfs none {0} && mkdir -m 700 {0}/cache {0}/cache/pocl {0}/pocl && mount -o remount,ro {0}", "it cannot be written: Read-only")}


def use(*words, **options):
    return run([str(word) for word in words], PROGRAM, **options)


class HostileCase(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.d = cls.folder.name
        np.save(f"{cls.d}/f4.npy", wide_values("f4", 1003))
        cls.names = devices_for("reduce")
        cls.pocl = any(d["name"] == "opencl:0" and "Portable" in d["platform"] for d in device_facts())

    def require(self, name):
        if name not in self.names:
            self.skipTest(f"no {name} here")


class Threads(HostileCase):
    """Several threads begin at once, in processes where nothing was used before."""

    def first_use(self, name, repetitions):
        for threads in 2, 4, 16:
            left = repetitions
            while left > 0:
                count = min(left, 25)
                self.check(use("cold", name, threads, count), 0, f"^{count} of {count}\n$")
                left -= count

    def test_opencl(self):
        self.require("opencl:0")
        self.first_use("opencl:0", COLD_STARTS)

    def test_all_devices(self):
        self.first_use("devices", max(3, COLD_STARTS // 10))

    def test_auto(self):
        self.first_use("auto", max(3, COLD_STARTS // 10))


class Endings(HostileCase):
    def test_calls_from_static_destructors(self):
        for name in self.names:
            if name.startswith("cpu"):
                self.check(use("static", name), 0, f"^({name} {TOTAL}\n){{2}}$", "^$")

    def test_forks(self):
        group = "3*cpu:serial"  # whose threads no child has; one that is opened there has its own
        refused = r"error 4: .*was used before this process was forked.*\n"
        for name in [*self.names, group]:
            total = f"{re.escape(name)} {TOTAL}\n"
            survives = name in ("cpu:serial", "cpu:threads", "cpu:tbb")
            in_child = total * 2 if survives else refused + total + refused if name == group else refused * 3
            self.check(use("fork", name), 0, f"^{total}{in_child}the child ended well\n{total}$", "^$")
            self.check(use("fork-first", name), 0, f"^{total * 2}$", "^$")
        for name, before in ("opencl:0", "cpu:openmp"), ("cpu:openmp", "opencl:0"):  # first used in a child, then in a child of that
            if name in self.names and before in self.names:
                total = f"{name} {TOTAL}\n"
                self.check(use("fork-again", name, before), 0, f"^{before} {TOTAL}\n{total}{refused * 3}the child ended well\n{total}$", "^$")

    def test_threads_that_cannot_be_had(self):
        if COVER == "few":
            self.skipTest("sanitizers need address space of their own")
        for name in self.names:
            if name.startswith("cpu:") and name != "cpu:serial":
                says = rf"error 2: the system allows this process \d+ of the \d+ threads requested; request fewer\n"
                self.check(use("threads", name, 64), 0, f"^({says}|{name} {TOTAL}\n){name} {TOTAL}\n$", "^$")
        self.check(use("threads", "cpu:threads", 64), 0, "^error 2: the system allows")

    def test_divisions_by_zero(self):
        if COVER == "few":
            self.skipTest("sanitizers catch the signal")
        for name in self.names:
            self.check(use("divide", name), -signal.SIGFPE, f"^{name} {TOTAL}\n$", "^$")

    def test_memory_that_cannot_be_had(self):
        for name in "cpu:serial", "cpu:threads":
            self.check(use("memory", name), 0, "^done\n$", "^$")

    def test_memory_that_cannot_be_noted(self):
        self.check(use("notes", "cpu:serial"), 0, "^done\n$", "^$")

    def test_what_fails_takes_nothing_of_the_device(self):
        self.require("opencl:0")
        self.check(use("room", "opencl:0", env={**os.environ, "TILEWISE_DEVICE_MEMORY": "4M",
                                                "TILEWISE_OPENCL_LIBRARY": os.environ["TILEWISE_FAKE_OPENCL"]}), 0, "^done\n$", "^$")


class FewThreads(HostileCase):
    """Each thread would need more address space than there is; processes need none of that."""

    def reduce(self, *words, **more):
        def limited():
            resource.setrlimit(resource.RLIMIT_STACK, (128 << 30, resource.RLIM_INFINITY))
            resource.setrlimit(resource.RLIMIT_AS, (64 << 30, 64 << 30))

        return run(["reduce", f"{self.d}/f4.npy", *words], env={**os.environ, **more}, preexec_fn=limited)

    def setUp(self):
        if COVER == "few":
            self.skipTest("sanitizers need address space of their own")

    def test_teams(self):
        np.save(f"{self.d}/f4.npy", wide_values("f4", 1_000_003))
        for name in "threads", "openmp", "tbb":
            if f"cpu:{name}" in self.names:
                self.check(self.reduce("--device", f"cpu:{name}", "--threads", "2"), 5, "^$",
                           "^tilewise: the system allows this process 1 of the 2 threads requested; request fewer\n$")
        self.check(self.reduce("--device", "cpu:serial"), 0, r"\d", "^$")

    def test_the_watcher_of_drivers(self):
        self.require("opencl:0")
        icd = f"{self.d}/icd"
        os.mkdir(icd)
        pathlib.Path(f"{icd}/gpu.icd").write_text(sys.argv[6] + "\n")
        alone = {"OCL_ICD_VENDORS": icd, "OPENCL_VENDOR_PATH": icd, "TILEWISE_CACHE": f"{self.d}/cache"}
        self.check(self.reduce("--device", "opencl:0", **alone), 5, "^$",
                   "^tilewise: the system allows this process no thread that watches the driver of opencl:0; .*ulimit")


class Probes(HostileCase):
    """Drivers are tried in child processes and folders of the tool's own, whatever its caller left it."""

    def list_drivers(self, before=None, **more):
        icd, temporary = f"{self.d}/{self.id()}.icd", f"{self.d}/{self.id()}.tmp"
        for folder in icd, temporary:
            os.makedirs(folder, exist_ok=True)
        os.chmod(self.d, 0o755)
        os.chmod(temporary, 0o777)
        pathlib.Path(f"{icd}/gpu.icd").write_text(sys.argv[6] + "\n")
        alone = {"OCL_ICD_VENDORS": icd, "OPENCL_VENDOR_PATH": icd, "TILEWISE_CACHE": "off", "TMPDIR": temporary}
        self.check(run("list", env={**os.environ, **alone, **more}, preexec_fn=before), 0, "reduce/cpu", "^$")
        self.assertEqual(os.listdir(temporary), [])

    def test_a_caller_that_ignores_its_children(self):
        self.list_drivers(lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))

    def test_a_tool_that_is_suspended(self):
        """By Ctrl-Z, for longer than a driver has to list its devices, which it does meanwhile."""
        marked = {**os.environ, "TILEWISE_CACHE": "off", "SUSPENDED": self.d}
        tool = subprocess.Popen([TOOL, "devices"], env=marked, stdout=subprocess.PIPE, text=True)
        while tool.poll() is None and len(processes_with("environ", f"SUSPENDED={self.d}")) < 2:
            time.sleep(0.001)
        tool.send_signal(signal.SIGSTOP)
        time.sleep(11)
        tool.send_signal(signal.SIGCONT)
        self.assertNotIn("did not answer", tool.communicate(timeout=HANGS_S)[0])

    def test_a_driver_that_is_slow_does_not_hang(self):
        """Longer than one may be silent that does nothing: it compiles on a busy machine."""
        self.require("opencl:0")
        slow = {**os.environ, "TILEWISE_OPENCL_LIBRARY": os.environ["TILEWISE_FAKE_OPENCL"], "FAKE_OPENCL": "clCreateContext=slow12"}
        probe, = [d["probe"] for d in json.loads(run("devices --json", env=slow).stdout)["devices"] if d["name"] == "opencl:0"]
        self.assertEqual((probe["answered"], probe["findings"]), (True, []))

    def test_a_mask_that_takes_all_permissions(self):
        self.list_drivers(self.as_nobody(lambda: os.umask(0o777)))

    def test_no_folder_for_temporary_files(self):
        for named in f"{self.d}/none", f"{self.d}/f4.npy", "none", "":
            with self.subTest(named):
                self.list_drivers(TMPDIR=named)


class Environments(HostileCase):
    """In any environment a command does all that it does elsewhere, with the same bits, or ends with a code that the environment
    explains, and a sentence. It leaves nothing behind."""
    COMMANDS = ["reduce {i}/f4.npy --device cpu:serial", "scan {i}/f4.npy -o {o}/y.npy --device {openmp}",
                "diffuse -o {o}/run --grid 32x32 --steps 4 --every 2 --device cpu:threads", "report {i}/r.jsonl -o {o}/r.html --csv {o}/r.csv",
                "compare {i}/r.jsonl {i}/r.jsonl", "scan --no-such-option", "list"]
    VARIABLES = {"LC_ALL": ("tr_TR.UTF-8", "nonsense", "../../etc"), "COLUMNS": ("1", "-5", "99999999999999999999"), "TERM": ("nonsense", None),
                 "TZ": ("nonsense", ":/etc/passwd"), "PATH": ("", "/proc/none", "a\nb\x1b[2J"), "HOME": (None, "/dev/null"),
                 "OMP_NUM_THREADS": ("nonsense", "-1", "99999999999"), "OMP_THREAD_LIMIT": ("1",), "OMP_STACKSIZE": ("1",),
                 "MALLOC_PERTURB_": ("165",), "CUDA_VISIBLE_DEVICES": ("nonsense", "-1"), "OCL_ICD_VENDORS": ("/proc/none", "/etc/passwd"),
                 "TILEWISE_OPENCL_LIBRARY": ("/etc/passwd",)}

    @staticmethod
    def limit(what, value):
        return lambda: resource.setrlimit(what, (value, value))

    def environments(self):
        """Each as its name, the codes that it explains besides the usual one, and what to start with."""
        yield from ((f"{name}={value!r}", "", {"variables": {name: value}}) for name, values in self.VARIABLES.items() for value in values)
        yield "no variables", "", {"variables": dict.fromkeys(os.environ)}
        yield "large variables", "", {"variables": {f"V{i}": "x" * 100_000 for i in range(10)}}
        for files in 4, 8, 16:
            yield f"{files} files", "|4|5|6", {"before": self.limit(resource.RLIMIT_NOFILE, files)}
        for mib in 128, 256:
            yield f"{mib} MiB of addresses", "|4|5|8", {"before": self.limit(resource.RLIMIT_AS, mib << 20)}
        yield "256 KiB of stack", "", {"before": self.limit(resource.RLIMIT_STACK, 256 << 10)}
        yield "files of no bytes", "|6", {"before": self.limit(resource.RLIMIT_FSIZE, 0)}
        for name in "MEMLOCK", "CORE", "SIGPENDING":
            yield f"no {name}", "", {"before": self.limit(getattr(resource, f"RLIMIT_{name}"), 0)}
        for name in "SIGPIPE", "SIGINT", "SIGCHLD", "SIGSEGV":
            yield f"{name} ignored", "", {"before": lambda name=name: signal.signal(getattr(signal, name), signal.SIG_IGN)}
        yield "all signals blocked", "", {"before": lambda: signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())}
        yield "one processor", "", {"before": lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})}
        yield "a folder that is gone", "", {"before": lambda: (os.mkdir("gone"), os.chdir("gone"), os.rmdir(os.path.abspath(".")))}
        for hidden in "/proc", "/sys", "/dev/shm":
            words = ["unshare", "-rm", "sh", "-c", f'mount -t tmpfs none {hidden} && exec "$@"', "sh"]
            if run([*words[1:], "true"], words[0]).returncode == 0:  # else nothing can be mounted here
                yield f"without {hidden}", "|4|5", {"by": words}

    def start(self, command, variables=None, before=None, by=()):
        """The result, the files that it wrote, and what it left where nothing belongs."""
        with tempfile.TemporaryDirectory(dir=self.d) as folder:
            for name in "work", "tmp", "o":
                os.mkdir(f"{folder}/{name}")
            environment = {**os.environ, **(variables or {}), "TMPDIR": f"{folder}/tmp"}
            first, *words = *by, TOOL, *command.format(i=self.d, o=f"{folder}/o", openmp=self.openmp).split()
            result = run(words, first, cwd=f"{folder}/work", preexec_fn=before,
                         env={name: value for name, value in environment.items() if value is not None})
            outputs = {path.name: path.read_bytes() for path in pathlib.Path(f"{folder}/o").rglob("*") if path.is_file()}
            return result, outputs, os.listdir(f"{folder}/work") + os.listdir(f"{folder}/tmp")

    def test_commands(self):
        self.openmp = "cpu:openmp" if "cpu:openmp" in self.names else "cpu"
        self.check(run(f"bench reduce --n 1000 --dtype f32 --device cpu:serial --max-time 0.001 -q -o {self.d}/r.jsonl"), 0)
        usual = {command: self.start(command)[:2] for command in self.COMMANDS}
        pairs = list(itertools.product(self.environments(), self.COMMANDS))
        for (name, codes, how), command in pairs[::1 if COVER == "all" else 2]:
            with self.subTest(name, command=command):
                result, outputs, left = self.start(command, **how)
                said, whole = usual[command]
                self.check(result, f"{said.returncode}{codes}", "", "" if result.returncode == 0 else "tilewise: .{20,}")
                self.assertNotRegex(result.stdout + result.stderr, "[\x1b\x07]")
                self.assertEqual(left, [])
                if result.returncode == 0:
                    self.assertEqual(set(outputs), set(whole))
                    if command != "list":
                        self.assertEqual(result.stdout, said.stdout)
                for file, contents in outputs.items():  # others tell times
                    self.assertTrue(contents == whole[file] or not file.endswith((".npy", ".html")) and contents[-1:] in (b"", b"\n"), file)


def control_group():
    """A new one with a limit of memory, of version 1 or 2, and the names of its limit and its count of kills; none where it may not be made."""
    own = dict(line.split(":", 2)[1:] for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines())
    for parent, *names, swap in ((f"/sys/fs/cgroup/memory{own.get('memory', '/none')}", "memory.limit_in_bytes", "memory.oom_control", None),
                                 (f"/sys/fs/cgroup{own.get('', '/none')}", "memory.max", "memory.events", "memory.swap.max")):
        group = pathlib.Path(f"{parent}/tilewise-{os.getpid()}")
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            set_in_group(group / names[0], 1 << 30)
            if swap and (group / swap).exists():
                set_in_group(group / swap, 0)
            return group, *names
        except OSError:
            group.rmdir()
    return None


def set_in_group(path, value):
    with open(path, "r+") as file:  # a file that is missing stays so
        file.write(str(value))


class SmallGroups(HostileCase):
    """In a control group with less memory than a command needs it is exit 5, or the kernel kills it; no output is half written,
    and the next run removes what is left."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(dir="/var/tmp")  # on a disk: files in memory count as the writer's
        cls.d, cls.made = cls.folder.name, control_group()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        if cls.made:
            cls.made[0].rmdir()

    def setUp(self):
        if not self.made:
            self.skipTest("no control group with a limit of memory may be made here")

    def limited(self, mib, *words, tool=TOOL):
        """The result, and whether the kernel killed it."""
        group, limit, kills = self.made
        set_in_group(group / limit, mib << 20)
        count = lambda: int(re.search(r"^oom_kill (\d+)", (group / kills).read_text(), re.M)[1])
        before = count()
        result = run([*words], tool, preexec_fn=lambda: set_in_group(group / "cgroup.procs", os.getpid()))
        return result, count() > before

    def test_commands(self):
        rng = np.random.default_rng(1)
        for name, shape in (("x", 1 << 24), ("v", 2000), ("m", (2000, 2000))):
            np.save(f"{self.d}/{name}.npy", rng.standard_normal(shape).astype("f4"))
        np.save(f"{self.d}/p.npy", rng.integers(0, 100, 1 << 22, dtype="i4"))
        for command, mib in ("sort {d}/x.npy --device cpu:threads", 64), ("matvec {d}/m.npy {d}/v.npy --device cpu:openmp", 256), (
                "polymul {d}/p.npy {d}/p.npy --device cpu:threads", 128):  # exit 5, done, killed
            with self.subTest(command), tempfile.TemporaryDirectory(dir=self.d) as folder:
                words = [*command.format(d=self.d).split(), "-o", f"{folder}/y.npy"]
                self.check(run(words), 0)
                whole = pathlib.Path(f"{folder}/y.npy").read_bytes()
                os.remove(f"{folder}/y.npy")
                result, was_killed = self.limited(mib, *words)
                self.check(result, f"0|5|{-signal.SIGKILL}" if was_killed else "0|5", "", "tilewise: .{20,}" if result.returncode == 5 else "")
                if result.returncode == -signal.SIGKILL:
                    self.check(run(words), 0)
                self.assertEqual(os.listdir(folder), [] if result.returncode == 5 else ["y.npy"])
                if result.returncode != 5:
                    self.assertEqual(pathlib.Path(f"{folder}/y.npy").read_bytes(), whole)

    def test_kept_memory_is_given_up(self):
        """Where an array fits beside nothing that is kept for later."""
        self.check(self.limited(616, "group", "cpu:serial", tool=PROGRAM)[0], 0, "^done\n$", "^$")


class Libraries(HostileCase):
    def test_none_is_taken_from_the_current_folder(self):
        """Nor a module, in a folder where files of somebody else bear their names."""
        folder = pathlib.Path(f"{self.d}/stranger")
        folder.mkdir()
        names = {"libOpenCL.so.1", "libnccl.so.2", "libcuda.so.1", "libopenblas.so.0", "libclblast.so.1", "libmpi.so.40", "libtbb.so.12"}
        for module in pathlib.Path(TOOL).parent.glob("libtilewise*.so*"):
            names.add(module.name)
        for program in TOOL, PROGRAM:
            names.update(re.findall(r"^\s*(\S+\.so\S*) => ", subprocess.run(["ldd", program], capture_output=True, text=True).stdout, re.M))
        for name in names - {"libgcc_s.so.1"}:  # which ld, where PoCL calls it, looks for here first
            (folder / name).write_text("no library")
        self.check(run("--version", cwd=folder), 0, "^tilewise", "^$")
        self.assertEqual(run("list", cwd=folder).stdout, run("list").stdout)
        for name in self.names:
            self.check(use("cold", name, 2, 1, cwd=folder), 0, "^1 of 1\n$", "^$")

    def test_none_is_linked_from_the_current_folder(self):
        """A text that is named as a library may tell ld, which PoCL calls, to take code from anywhere."""
        if not self.pocl:
            self.skipTest("no PoCL here")
        folder = pathlib.Path(f"{self.d}/linked")
        folder.mkdir()
        subprocess.run(["g++", "-c", "-fPIC", "-x", "c++", "-", "-o", folder / "foreign.o"], check=True, text=True,
                       input='#include <cstdio>\nstatic int ran = std::puts("foreign code");')
        command, environment = f"reduce {self.d}/f4.npy --device opencl:0", {**os.environ, "TILEWISE_CACHE": "off"}
        self.check(run(command, cwd=folder, env=environment), 0, r"^\S+\n$", "^$")
        (folder / "libgcc_s.so.1").write_text(f"INPUT({folder}/foreign.o)")
        self.check(run(command, cwd=folder, env=environment), 4, "^$", "PoCL would link the file libgcc_s.so.1 .* start in another folder")
        self.assertNotIn("foreign code", run("devices", cwd=folder, env=environment).stdout)
        self.check(use("elsewhere", "opencl:0", folder, env=environment), 0, "^error .*PoCL would link the file libgcc_s.so.1 .*\n$", "^$")
        if "clblast" in run("list").stdout:  # which launches kernels of its own
            bench = "bench matmul --variant clblast --n 32 --dtype f32 --device opencl:0 --max-time 0.001"
            self.assertNotIn("foreign code", run(bench, cwd=folder, env=environment).stdout)


class Caches(HostileCase):
    """PoCL runs what it finds in its cache; so the cache is ours alone, or a new one."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.pocl:
            home = cls.new_home()
            cls.expected = cls.reduce(cls("setUpClass"), home, HOME=home)

    def setUp(self):
        if not self.pocl:
            self.skipTest("no PoCL here")
        self.home = self.new_home()

    @classmethod
    def new_home(cls):
        home = tempfile.mkdtemp(dir=cls.d)
        os.mkdir(f"{home}/tmp")
        return home

    @staticmethod
    def environment(home, more):
        return {"PATH": os.environ["PATH"], "TMPDIR": f"{home}/tmp", "POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable", **more}

    def reduce(self, home, err="^$", **more):
        result = run(f"reduce {self.d}/f4.npy --device opencl:0", env=self.environment(home, more))
        self.check(result, 0, r"^\S+\n$", err)
        self.assertEqual(os.listdir(f"{home}/tmp"), [])
        return result.stdout

    def driver_folder(self, home, **more):
        result = use("cache", env=self.environment(home, more))
        self.check(result, 0, r"^\S+ 700\n$", "^$")
        return result.stdout.split()[0]

    def test_without_a_home_there_is_a_folder_for_the_run(self):
        self.assertEqual(self.driver_folder(self.home, HOME=self.home), f"{self.home}/.cache/tilewise/pocl")

        for more in {}, {"HOME": ""}, {"HOME": "/nonexistent"}, {"HOME": "/dev/null"}, {"HOME": "relative"}:
            folder = self.driver_folder(self.home, **more)
            self.assertRegex(folder, f"^{self.home}/tmp/tilewise-drivers-")
            self.assertFalse(os.path.exists(folder), "it goes away with the process")
        self.assertEqual(self.reduce(self.home, r"^tilewise: OpenCL programs are rebuilt in every run: the cache folder .*\n$"),
                         self.expected)
        for more, why in (({"HOME": "/nonexistent"}, "it cannot be created: No such file or directory"),
                          ({"TILEWISE_CACHE": "/dev/null"}, "it is not a folder")):
            self.check(run("bench reduce --n 8 --device opencl:0 --dry-run", env=self.environment(self.home, more)), 0, "reduce",
                       f"^tilewise: OpenCL programs are rebuilt in every run: the cache folder '.*' is not used because {why}.*\n$")

    def test_whatever_variables_say_a_linker_is_found(self):
        """And none is taken from the current folder."""
        for name in "ld", "x86_64-pc-linux-gnu-ld":
            pathlib.Path(f"{self.home}/{name}").write_text(f'#!/bin/sh\n: >{self.home}/ran\nexec /usr/bin/ld "$@"\n')
            os.chmod(f"{self.home}/{name}", 0o755)
        more = {"TMPDIR": f"{self.home}/tmp", "POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable"}
        rebuilt = "^tilewise: OpenCL programs are rebuilt in every run: .*\n$"
        for path in {}, {"PATH": ""}, {"PATH": "/nonexistent"}, {"PATH": ":"}, {"PATH": ".:/usr/bin"}, {"COMPILER_PATH": ":"}:
            with self.subTest(path):
                result = run(f"reduce {self.d}/f4.npy --device opencl:0", env={**more, **path}, cwd=self.home)
                self.check(result, 0, f"^{re.escape(self.expected)}$", rebuilt)
                self.assertEqual((os.listdir(f"{self.home}/tmp"), os.path.exists(f"{self.home}/ran")), ([], False))

    def test_folders_of_killed_runs_are_swept(self):
        left, alive, fresh = (f"{self.home}/tmp/tilewise-drivers-{name}"
                              for name in ("999999999-a", f"{os.getpid()}-{mark_of_place()}-b", "999999998-c"))
        for folder in left, alive, fresh:
            os.makedirs(f"{folder}/deep")
        for folder in left, alive:
            os.utime(folder, (1, 1))
        self.driver_folder(self.home)
        self.assertEqual([os.path.exists(folder) for folder in (left, alive, fresh)], [False, True, True])

    def test_a_folder_that_is_not_ours_alone_is_named_and_not_used(self):
        """Of all that a folder may be, as disk_cache_test.cpp has it, the one that is dangerous."""
        open_one = f"{self.home}/open"
        os.mkdir(open_one)
        os.chmod(open_one, 0o777)
        refused = rf"the cache folder '{open_one}' is not used because its mode is not 700"
        self.assertEqual(self.reduce(self.home, refused, TILEWISE_CACHE=open_one), self.expected)
        self.assertEqual(os.listdir(open_one), [])
        os.mkdir(f"{open_one}/pocl")
        pathlib.Path(f"{self.home}/precious").write_text("kept")
        os.symlink(f"{self.home}/precious", f"{open_one}/tidied")
        os.utime(f"{open_one}/tidied", (1, 1), follow_symlinks=False)
        self.assertEqual(self.reduce(self.home, refused, TILEWISE_CACHE=open_one), self.expected)
        self.assertEqual(pathlib.Path(f"{self.home}/precious").read_text(), "kept")
        self.assertEqual(self.reduce(self.home, TILEWISE_CACHE="off"), self.expected)

    def test_a_folder_below_one_that_passes_on_its_group(self):
        os.chmod(self.home, 0o2755)
        self.assertEqual(self.reduce(self.home, TILEWISE_CACHE=f"{self.home}/cache"), self.expected)

    def test_a_folder_that_a_driver_cannot_use(self):
        """PoCL ends the process that cannot write or load what it compiled: such a folder is left out, and named once."""
        at = f"{self.home}/at"
        os.mkdir(at)
        ways = (({"TILEWISE_CACHE": f"{at}/cache"}, "rebuilt in every run: the cache folder '{}/cache' is not used because {}"),
                ({"TILEWISE_CACHE": f"{at}/cache", "POCL_CACHE_DIR": f"{at}/pocl"}, "rebuilt in every run: POCL_CACHE_DIR, '{}/pocl', is not used because {}.*; the cache"),
                ({"HOME": self.home, "POCL_CACHE_DIR": f"{at}/cache"}, "kept elsewhere: POCL_CACHE_DIR, '{}/cache', is not used because {}"),
                ({"TILEWISE_CACHE": "off", "POCL_CACHE_DIR": f"{at}/cache"}, "rebuilt in every run: POCL_CACHE_DIR, '{}/cache', is not used because {}"))
        pairs = list(itertools.product(UNUSABLE, ways)) if COVER == "all" else list(zip(UNUSABLE, itertools.cycle(ways)))
        for kind, (more, says) in pairs:
            mounted, why = UNUSABLE[kind]
            with self.subTest(f"{kind} {more}"):
                words = ["-rm", "sh", "-c", f'{mounted.format(at)} && exec "$@"', "sh"]
                if run([*words, "true"], "unshare").returncode != 0:
                    self.skipTest("nothing can be mounted here")
                result = run([*words, TOOL, "reduce", f"{self.d}/f4.npy", "--device", "opencl:0"], "unshare", env=self.environment(self.home, more))
                self.check(result, 0, f"^{re.escape(self.expected)}$", rf"^tilewise: OpenCL programs are {says.format(at, why)}.*\n$")
                self.assertEqual(os.listdir(f"{self.home}/tmp"), [])

    def test_names_of_folders(self):
        """PoCL takes few for POCL_CACHE_DIR, and none that is long; nor does its linker take those of options."""
        whole = f"{self.home}/" + "/".join(["d" * 99] * 12)
        os.makedirs(whole[:1000])
        cases = [({"POCL_CACHE_DIR": name}, "^$") for name in ("-x", "@x", ".", "~", "a/../b", "a 'b\"$c;%s\n")]
        cases += [({"POCL_CACHE_DIR": "/"}, "kept elsewhere: POCL_CACHE_DIR, '/', is not used")]
        for length in 850, 950, 1000, 1100:
            cases += [({"TILEWISE_CACHE": whole[:length]}, "rebuilt in every run: the cache folder .* its name has more than 768 bytes"),
                      ({"POCL_CACHE_DIR": whole[:length]}, "kept elsewhere: POCL_CACHE_DIR, .* its name has more than 768 bytes"),
                      ({"TILEWISE_CACHE": "off", "TMPDIR": whole[:length]}, "its name has more than 768 bytes")]
        for more, says in cases[::1 if COVER == "all" else 3]:
            with self.subTest(more):
                for name in {"TMPDIR"} & set(more):
                    os.makedirs(more[name], exist_ok=True)
                environment = self.environment(self.home, {"HOME": self.home, **more})
                self.check(run(f"reduce {self.d}/f4.npy --device opencl:0", env=environment, cwd=self.home), 0, f"^{re.escape(self.expected)}$", says)

    def test_all_who_leave_a_folder_out_say_so(self):
        """Also groups, and a process of several."""
        unusable = {"env": {**os.environ, "TILEWISE_CACHE": "/dev/null"}}
        for words in (f"reduce {self.d}/f4.npy --device 2*opencl:0", "devices", "verify reduce --n 100 --device opencl:0",
                      "bench reduce --n 100 --device opencl:0 --max-time 0.01"):
            with self.subTest(words):
                self.check(run(words, **unusable), 0, "", "OpenCL programs are rebuilt in every run: the cache folder '/dev/null' is not used")

    def test_a_limit_of_files(self):
        for most in 0, 1000, 1 << 20:
            limited = {"env": self.environment(self.home, {"HOME": self.home}), "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))}
            self.check(run(f"reduce {self.d}/f4.npy --device opencl:0", **limited), 4, "^$", f"OpenCL drivers are not loaded because no file may have more than {most} bytes")
            self.check(run(f"reduce {self.d}/f4.npy", **limited), 0, r"^\S+\n$", "^$")
            self.check(run("devices", **limited), 0, "cpu:threads")

    def test_a_pipe_in_the_place_of_the_time_of_the_last_turn(self):
        cache = f"{self.home}/cache"
        for folder in cache, f"{cache}/pocl", f"{cache}/pocl/tempfile_left":
            os.mkdir(folder, 0o700)
        os.mkfifo(f"{cache}/tidied")
        for path in f"{cache}/pocl/tempfile_left", f"{cache}/tidied":
            os.utime(path, (1, 1))
        self.assertEqual(self.reduce(self.home, TILEWISE_CACHE=cache), self.expected)
        self.assertFalse(os.path.exists(f"{cache}/pocl/tempfile_left"))
        self.assertGreater(os.stat(f"{cache}/tidied").st_mtime, 1)

    def damage(self, how):
        objects = [path for path in glob.glob(f"{self.home}/cache/pocl/**", recursive=True) if path.endswith((".so", ".bc"))]
        self.assertTrue(objects)
        for path in objects:
            whole = pathlib.Path(path).read_bytes()
            pathlib.Path(path).write_bytes(
                {"halved": whole[:len(whole) // 2], "emptied": b"", "random": os.urandom(len(whole))}[how])

    def test_damaged_objects_cost_one_run(self):
        more = {"TILEWISE_CACHE": f"{self.home}/cache"}
        self.assertEqual(self.reduce(self.home, **more), self.expected)
        for how in ("halved", "emptied", "random")[:3 if COVER == "all" else 1]:
            self.damage(how)
            result = run(f"reduce {self.d}/f4.npy --device opencl:0", env=self.environment(self.home, more))
            if result.returncode != 0:
                self.check(result, 8, "^$", "crashed with an OpenCL driver loaded.*moved to '.*cache/pocl.damaged-.*'; try again")
            self.assertEqual(self.reduce(self.home, **more), self.expected)

    def test_a_program_without_kernels_is_moved_aside(self):
        """It costs nobody a run. A build that fails leaves it where it is, since others may be using it."""
        more = {"TILEWISE_CACHE": f"{self.home}/cache"}
        self.assertEqual(self.reduce(self.home, **more), self.expected)
        group, = glob.glob(f"{self.home}/cache/pocl/[A-Z]*")
        program = lambda: glob.glob(f"{group}/*/program.bc")[0]
        fails = {**more, "TILEWISE_OPENCL_LIBRARY": os.environ["TILEWISE_FAKE_OPENCL"], "FAKE_OPENCL": "clBuildProgram=-11"}
        before = program()
        self.check(run(f"reduce {self.d}/f4.npy --device opencl:0", env=self.environment(self.home, fails)), 4, "^$", "CL_BUILD_PROGRAM_FAILURE")
        self.assertEqual((program(), glob.glob(f"{self.home}/cache/*damaged*")), (before, []))
        for damage in lambda: os.truncate(program(), 0), lambda: pathlib.Path(program()).write_bytes(bytes(os.path.getsize(program()))):
            damage()
            self.assertEqual(self.reduce(self.home, **more), self.expected)
            self.assertTrue(os.path.getsize(program()))

    def test_damaged_objects_may_raise_other_signals(self):
        raising = {"TILEWISE_CACHE": f"{self.home}/cache", "TILEWISE_OPENCL_LIBRARY": os.environ["TILEWISE_FAKE_OPENCL"]}
        for number in signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV, signal.SIGILL:
            environment = self.environment(self.home, {**raising, "FAKE_OPENCL": f"clCreateContext=raise{number.value}"})
            self.check(run(f"reduce {self.d}/f4.npy --device opencl:0", env=environment), 8, "^$",
                       "crashed with an OpenCL driver loaded.*moved to '.*cache/pocl.damaged-")

    def test_devices_mends_after_any_crash(self):
        cache = {"TILEWISE_CACHE": f"{self.home}/cache", "TILEWISE_OPENCL_LIBRARY": os.environ["TILEWISE_FAKE_OPENCL"]}
        for folder in cache["TILEWISE_CACHE"], f"{self.home}/cache/pocl":
            os.mkdir(folder, 0o700)
        for number in signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV, signal.SIGILL:
            environment = self.environment(self.home, {**cache, "FAKE_OPENCL": f"clCreateContext=raise{number.value}"})
            self.check(run("devices", env=environment), 0, f"its probe crashed with signal {number.value} ", "moved to '.*cache/pocl.damaged-")

    def test_devices_mends_a_damaged_cache(self):
        environment = self.environment(self.home, {"TILEWISE_CACHE": f"{self.home}/cache"})
        self.check(run("devices", env=environment), 0, "opencl:0")
        self.damage("halved")
        result = run("devices --json", env=environment)
        probe, = [d["probe"] for d in json.loads(result.stdout)["devices"] if d["name"] == "opencl:0"]
        self.assertEqual((probe["answered"], probe["findings"]), (True, []), result.stderr)
        self.check(run("devices", env=environment), 0, "opencl:0", "^$")


def at_its_limit(start, call):
    """What the tool says whose `call` hangs, and its time limit: the first that no healthy call comes to before. On a busy machine one may."""
    for limit in 4, 16, 64:
        said = start(limit)
        if re.search(f" made no progress for {limit} s in .*{call}", said.stderr):
            break
    return limit, said


class Hangs(HostileCase):
    """A driver call that never returns ends the tool, but not what was written before."""

    def setUp(self):
        self.require("opencl:0")
        pathlib.Path(f"{self.d}/r.jsonl").unlink(missing_ok=True)
        self.environment = {**os.environ, "TILEWISE_OPENCL_LIBRARY": os.environ["TILEWISE_FAKE_OPENCL"]}

    def hanging(self, call, after=0):
        return {**self.environment, "FAKE_OPENCL": f"{call}=hang{after}"}

    def test_calls_that_never_return_are_named(self):
        def hang(row):
            call, what = row
            words = what.format(d=self.d) + " --device opencl:0" * ("--device" not in what)
            cache = {"clBuildProgram": {"TILEWISE_CACHE": "off"},
                     "clGetProgramInfo": {"TILEWISE_CACHE": f"{self.d}/new", "FAKE_OPENCL_PLATFORM": "Another",
                                          "POCL_CACHE_DIR": f"{self.d}/pocl"}}.get(call, {})
            # So that the programs exist, if only in the driver's own cache: honest drivers build them slowly.
            run(words, env={**self.environment, **{name: value for name, value in cache.items() if name != "TILEWISE_CACHE"}})
            return at_its_limit(lambda limit: run(f"{words} --time-limit {limit}", env={**self.hanging(call), **cache}), call)

        rows = [("clFinish", "reduce {d}/f4.npy"), ("clGetProgramInfo", "reduce {d}/f4.npy"),
                ("clCreateProgramWithSource", "reduce {d}/f4.npy"), ("clCreateKernel", "reduce {d}/f4.npy"),
                ("clEnqueueNDRangeKernel", "reduce {d}/f4.npy"),
                ("clBuildProgram", "scan {d}/f4.npy -o {d}/y.npy"), ("clEnqueueReadBuffer", "scan {d}/f4.npy -o {d}/z.npy"),
                ("clFinish", "verify scan --n 1000"), ("clFinish", "bench scan --n 1000 --max-time 0.1")]
        if "openacc:0" in devices_for("convolve"):
            rows.append(("clFinish", "bench convolve --n 30 --max-time 0.1 --device openacc:0,opencl:0"))
        before = set(os.listdir(self.d)) | {"y.npy", "z.npy", "new", "pocl"}
        for row, (limit, result) in zip(rows, together(hang, rows)):
            with self.subTest(row):
                self.check(result, 8, "", rf"opencl:0 made no progress for {limit} s in .*{row[0]}.*--time-limit")
        self.assertLessEqual(set(os.listdir(self.d)), before)

    def test_json_tells_it_too(self):
        result = run(f"reduce {self.d}/f4.npy --device opencl:0 --time-limit 1 --json", env=self.hanging("clFinish"))
        self.check(result, 8)
        self.assertEqual(json.loads(result.stdout)["error"]["code"], "device_lost")

    def test_no_limit_and_slow_calls(self):
        for limit in 0, 30:
            self.check(run(f"reduce {self.d}/f4.npy --device opencl:0 --time-limit {limit}"), 0, r"\d", "^$")
        self.check(run(f"reduce {self.d}/f4.npy --device opencl:0 --time-limit -1"), 2, "^$", "--time-limit")

    def bench(self, *more, **environment):
        words = ["bench", "reduce", "--n", "1000,1001", "--dtype", "f32", "--op", "sum", "--device", "cpu:serial,opencl:0",
                 "--max-time", "0.05", "-o", f"{self.d}/r.jsonl", *more]
        return subprocess.Popen([TOOL, *words], env={**self.hanging("clFinish", after=20), **environment}, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def test_what_drivers_compiled_for_a_run_alone_is_removed(self):
        """However it ends: by a signal while drivers are listed in a child or when they compile, or at the time limit."""
        endings = [("clGetDeviceInfo", signal.SIGTERM), ("clBuildProgram", signal.SIGINT), ("clBuildProgram", None)]

        def end(row):
            call, by = row
            with tempfile.TemporaryDirectory() as temporary:
                is_in_child = call == "clGetDeviceInfo"  # which makes its folder anew until it has ended, too
                environment = {**self.hanging(call), "TILEWISE_CACHE": "off", "TMPDIR": temporary}
                environment.pop("POCL_CACHE_DIR", None)
                if is_in_child:
                    environment["FAKE_OPENCL"] = f"{call}=write"
                words = [TOOL, "reduce", f"{self.d}/f4.npy", "--device", "opencl:0", "--time-limit", "10" if by is None else "0"]
                child = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                while is_in_child and not glob.glob(f"{temporary}/*/AB") and child.poll() is None:
                    time.sleep(0.01)
                hangs = is_in_child or any(line.endswith(f"{call} hangs\n") for line in child.stderr)
                made = glob.glob(f"{temporary}/tilewise-drivers-*")
                for folder in made:
                    os.makedirs(f"{folder}/AB/CDEF/kernel/0-0-0")
                    pathlib.Path(f"{folder}/AB/CDEF/kernel/0-0-0/kernel.so").touch()
                    os.symlink("/", f"{folder}/AB/link")
                if by is not None:
                    child.send_signal(by)
                child.communicate(timeout=HANGS_S)
                return hangs, len(made), child.returncode, os.listdir(temporary)

        for row, got in zip(endings, together(end, endings)):
            with self.subTest(row):
                self.assertEqual(got, (True, 1, 8 if row[1] is None else 128 + row[1], []))

    def check_records(self):
        records = [json.loads(line) for line in pathlib.Path(f"{self.d}/r.jsonl").read_text().splitlines()]
        self.assertGreater(len(records), 0)
        return records

    def test_records_are_kept(self):
        """Also those that wait for their second visit, once another problem's have been written after theirs."""
        for limit in "4", "16", "64":  # the first that no call comes to before it is to hang
            pathlib.Path(f"{self.d}/r.jsonl").unlink(missing_ok=True)
            child = self.bench("--time-limit", limit, FAKE_OPENCL="clFinish=hang", FAKE_OPENCL_ONCE=f"{self.d}/r.jsonl")
            out, err = child.communicate(timeout=HANGS_S)
            if "clFinish hangs\n" in err:
                break
        self.assertEqual(child.returncode, 8, err)
        records = self.check_records()
        rows = [{(r["case"]["variant"], r["device"]["name"]) for r in records if r["case"]["n"] == n} for n in (1000, 1001)]
        self.assertEqual(rows[0], rows[1])

    def test_the_first_interrupt_ends_a_wait(self):
        child = self.bench("--time-limit", "0")
        too_late = threading.Timer(HANGS_S, child.kill)
        too_late.start()
        self.assertTrue(any(line.endswith("clFinish hangs\n") for line in child.stderr), "the driver was never called")
        too_late.cancel()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=HANGS_S)
        self.assertEqual(child.returncode, 130, err)
        self.assertRegex(err, r"interrupted while opencl:0 was in .*clFinish")
        self.check_records()


class OpenaccHangs(HostileCase):
    def test_calls_that_never_return_are_named(self):
        if "TILEWISE_FAKE_OPENACC" not in os.environ:
            self.skipTest("no OpenACC in this build")
        np.save(f"{self.d}/m.npy", wide_values("f4", 961).reshape(31, 31))
        diffuse, convolve = f"diffuse --grid 64x64 --steps 10 -o {self.d}/out", f"convolve {self.d}/m.npy {self.d}/m.npy -o {self.d}/y.npy"
        # Of bench the second kernel is the queue's own copy, which empties the caches.
        rows = [("launch0", diffuse, "a step of OpenACC's"), ("launch0", convolve, "a convolution of OpenACC's"),
                ("launch1", "bench convolve --n 30 --max-time 0.1", "OpenACC's copy"),
                *((call, convolve, call) for call in ("acc_set_device_num", "acc_malloc", "acc_memcpy_to_device",
                                                      "acc_memcpy_from_device", "acc_free"))]

        def hang(row):
            hanging = {**os.environ, "LD_PRELOAD": os.environ["TILEWISE_FAKE_OPENACC"], "FAKE_OPENACC": row[0]}
            return at_its_limit(lambda limit: run(f"{row[1]} --device openacc:0 --time-limit {limit}", env=hanging), row[2])

        for row, (limit, result) in zip(rows, together(hang, rows)):
            with self.subTest(row):
                self.check(result, 8, "", f"openacc:0 made no progress for {limit} s in {row[2]}; .*--time-limit")


if __name__ == "__main__":
    named_tests.main()
