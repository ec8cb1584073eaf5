# SPDX-License-Identifier: Apache-2.0
"""The tool as several processes of mpirun, and on groups of devices: the same files as one device, and what failures end in.

cli_ranks_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import filecmp
import itertools
import json
import os
import pathlib
import re
import socket
import subprocess

import numpy as np

import named_tests
from cli_test import COVER, HANGS_S, PLANTED, TOOL, Case, covering, run, together, wide_values

# Open MPI refuses root, and more processes than cores, unless told so; a test machine may be both. It binds up to two processes
# to a processor each, which is told where there are more.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_hwloc_base_binding_policy": "none"}
RANKS = (1, 2, 3, 5)

# A command with {d} for the folder and {y} for the output.
COMMANDS = (
    "scan {d}/x.npy -o {y}",
    "scan {d}/x.npy -o {y} --op max --exclusive --init -3",
    "scan {d}/two.npy -o {y}",
    "scan {d}/none.npy -o {y}",
    "reduce {d}/a.npy -o {y} --axis 0 --op product",
    "scan {d}/a.npy -o {y} --axis 1",
    "reduce {d}/x.npy -o {y} --segments {d}/offsets.npy",
    "sort {d}/x.npy -o {y} --segments {d}/offsets.npy --indices {y}.i",
    "reduce {d}/x.npy -o {y} --by {d}/keys.npy --keys-out {y}.keys",
    "sort {d}/b.npy -o {y} --axis 0",
    "sort {d}/x.npy -o {y} --descending",
    "sort {d}/x.npy -o {y} --indices {y}.i",
    "matmul {d}/a.npy {d}/b.npy -o {y}",
    "matvec {d}/a.npy {d}/v.npy -o {y}",
    "polymul {d}/i.npy {d}/j.npy -o {y} --modulus 998244353",
    "convolve {d}/a.npy {d}/mask.npy -o {y} --border zero",
)


def mpirun(ranks, arguments, tool=TOOL):
    return ["mpirun", "--oversubscribe", "-n", str(ranks), tool] + arguments.split()


def run_ranks(ranks, arguments, tool=TOOL):
    return subprocess.run(mpirun(ranks, arguments, tool), capture_output=True, text=True, timeout=HANGS_S,
                          stdin=subprocess.DEVNULL, env=ENVIRONMENT)


class RankCase(Case):
    """With the inputs of COMMANDS, and what one process makes of them."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        d = cls.d
        np.save(f"{d}/x.npy", wide_values("f4", 10007))
        np.save(f"{d}/two.npy", wide_values("f8", 2))
        np.save(f"{d}/none.npy", wide_values("f8", 0))
        np.save(f"{d}/a.npy", wide_values("f4", 61 * 37).reshape(61, 37))
        np.save(f"{d}/b.npy", np.asfortranarray(wide_values("f4", 37 * 53, 2).reshape(37, 53)))
        np.save(f"{d}/v.npy", wide_values("f4", 37, 3))
        np.save(f"{d}/mask.npy", wide_values("f4", 15, 4).reshape(3, 5))
        np.save(f"{d}/i.npy", wide_values("i4", 1009))
        np.save(f"{d}/offsets.npy", np.array([0, 0, 5, 3000, 3000, 3001, 10007, 10007]))
        np.save(f"{d}/keys.npy", np.repeat(np.array([4, 2, 4, 9, 4], "i4"), [5, 2995, 1, 7000, 6]))
        np.save(f"{d}/j.npy", wide_values("i4", 517, 2))
        for number, command in enumerate(COMMANDS):
            done = run(command.format(d=d, y=f"{d}/one{number}.npy") + " --device cpu:serial")
            assert done.returncode == 0, done.stderr

    def same_files(self, number, other):
        for end in "", ".i":
            one, many = f"{self.d}/one{number}.npy{end}", other + end
            if os.path.exists(one):
                self.assertTrue(filecmp.cmp(one, many, shallow=False), f"{COMMANDS[number]}: {many}")


class Ranks(RankCase):
    def test_processes_write_the_files_of_one(self):
        for ranks, number in covering(RANKS, range(len(COMMANDS))):
            if COVER != "all" and (RANKS.index(ranks) + number) % 2 != 0:
                continue  # starting processes is what takes the time: two numbers of them for each command
            with self.subTest(ranks=ranks, command=COMMANDS[number]):
                y = f"{self.d}/mpi{ranks}-{number}.npy"
                self.check(run_ranks(ranks, COMMANDS[number].format(d=self.d, y=y)), 0, "^$", "^$")
                self.same_files(number, y)

    def test_one_rank_reads_and_writes_pipes(self):
        """mpirun gives it a terminal to write to, hence the shell."""
        for number, command in enumerate(COMMANDS):
            with self.subTest(command):
                y = f"{self.d}/piped{number}.npy"
                words = command.replace(command.split()[1], "-", 1).replace("-o {y}", "-o -").format(d=self.d, y=y)
                with open(command.split()[1].format(d=self.d), "rb") as first:
                    done = subprocess.run(["mpirun", "-n", "1", "bash", "-c", f"{TOOL} {words} >{y}"], stdin=first, capture_output=True,
                                          text=True, timeout=HANGS_S, env=ENVIRONMENT)
                self.check(done, 0, "^$", "^$")
                self.same_files(number, y)
        with open(f"{self.d}/x.npy", "rb") as numbers:
            done = subprocess.run(mpirun(1, "reduce -"), stdin=numbers, capture_output=True, text=True, timeout=HANGS_S, env=ENVIRONMENT)
        self.check(done, 0, f"^{re.escape(run(f'reduce {self.d}/x.npy').stdout)}$", "^$")

    def test_a_long_path_is_known_to_all(self):
        deep = os.path.join(self.d, *["folder" * 30] * 21)  # hardly less than the system takes
        os.makedirs(deep)
        self.check(run_ranks(2, COMMANDS[0].format(d=self.d, y=f"{deep}/y.npy")), 0, "^$", "^$")
        self.same_files(0, f"{deep}/y.npy")

    def test_ranks_on_devices_with_memory_of_their_own(self):
        if run(f"reduce {self.d}/two.npy --device opencl:0").returncode != 0:
            self.skipTest("no opencl:0 here")
        y = f"{self.d}/opencl.npy"
        self.check(run_ranks(3, COMMANDS[4].format(d=self.d, y=y) + " --device opencl:0"), 0, "^$")
        self.same_files(4, y)

    def test_groups_write_the_files_of_one(self):
        for group, number in covering(("2*cpu:serial", "cpu:threads+cpu:serial+cpu:openmp"), range(len(COMMANDS))):
            with self.subTest(group=group, command=COMMANDS[number]):
                y = f"{self.d}/group-{number}.npy"
                self.check(run(f"{COMMANDS[number].format(d=self.d, y=y)} --device {group}"), 0, "^$", "^$")
                self.same_files(number, y)

    def test_the_first_rank_speaks(self):
        value = run(f"reduce {self.d}/x.npy --device cpu:serial").stdout
        self.check(run_ranks(3, f"reduce {self.d}/x.npy -v"), 0, f"^{re.escape(value)}$", "^reduce/group on mpi: [^\n]*\n$")
        fields = json.loads(run_ranks(3, f"scan {self.d}/x.npy -o {self.d}/y.npy --json").stdout)
        self.assertEqual(fields["digest"], json.loads(run(f"scan {self.d}/x.npy -o {self.d}/y.npy --json").stdout)["digest"])

    def test_verify_is_of_all_ranks(self):
        algorithms = "scan", "polymul", "reduce_axis", "scan_axis", "sort_axis"
        result = run_ranks(2, "verify " + " ".join(algorithms))
        self.check(result, 0, r"(?s)scan .* on 1 variant, 1 device, .*polymul .* on [23] variants, 1 device, ", "^$")
        one = run(f"verify {' '.join(algorithms)} --device cpu:serial").stdout.splitlines()
        for line in one[:len(algorithms)]:
            self.assertIn(line.split()[1], result.stdout)

    def measured(self, words, start):
        """The records of a run of bench by a group variant, by the device's name."""
        path = f"{self.d}/{self.id()}{len(os.listdir(self.d))}.jsonl"
        self.check(start(f"bench {words} --max-time 0.01 -q -o {path}"), 0, "ha(ve|s) the definition's bits", "^$")
        with open(path, encoding="utf-8") as lines:
            return [r for r in map(json.loads, lines) if r["case"]["backend"] == "group" and r["verify"]]

    def test_bench_measures_the_ranks_together(self):
        words = "reduce --n 10007 --dtype f32 --device"
        one, = self.measured(f"{words} 3*cpu:serial", run)
        many, = self.measured(f"{words} cpu:serial", lambda rest: run_ranks(3, rest))
        self.assertEqual(many["device"]["name"], "3*mpi:cpu:serial")
        self.assertEqual((one["ranks"]["transport"], many["ranks"]["transport"][:8]), ("threads", "Open MPI"))
        for key in "count", "sent_bytes", "exchanges":
            self.assertEqual(one["ranks"][key], many["ranks"][key], key)
        self.assertEqual(one["verify"]["digest"], many["verify"]["digest"])

    def test_ranks_decide_together_what_is_visited_again(self):
        """By a row's quickest call, which each of them may have seen another one of."""
        words = "reduce/group:uneven --n 1000 --dtype f32 --op sum --device cpu:serial"
        rows = self.measured(words, lambda rest: run_ranks(2, rest, PLANTED))
        self.assertEqual([(r["case"]["variant"], r["timing"]["kernel"]["n"]) for r in rows if r["timing"]],
                         [("reduce/group:uneven", 1)])

    def test_the_documents_processes_are_those_of_mpirun(self):
        rows = self.measured("polymul --preset seeds --shape 4096x4096", lambda rest: run_ranks(2, rest))
        self.assertEqual([(r["case"]["variant"], r["device"]["name"]) for r in rows],
                         [(f"polymul/group:{name}", "2*mpi:cpu:serial") for name in ("ntt", "naive", "karatsuba")])
        self.assertEqual(rows[1]["experiment"]["baseline"], "polymul/cpu:naive")

    def test_bad_input_ends_all(self):
        rows = (("scan {d}/gone.npy -o {d}/y.npy", 6, r"gone\.npy: cannot be read"),
                ("scan {d}/x.npy -o {d}/no/y.npy", 6, r"no/y\.npy: cannot be written"),
                ("scan {d}/x.npy -o -", 2, "name one instead of standard output"),
                ("scan {d}/x.npy -o {d}/y.npy --device cpu:serial+cpu:serial", 2, "under mpirun name what each rank"),
                ("scan {d}/x.npy -o {d}/y.npy --device cpu:serail", 4, "no device 'cpu:serail'"),
                ("bench scan --isolate", 4, "bench --isolate measures in one process"),
                ("scan {d}/x.npy -o {d}/y.npy --operation max", 2, "--operation"),
                ("scam {d}/x.npy -o {d}/y.npy", 2, "there is no command 'scam'"),
                ("bench scan --device 2*mpi:cpu", 2, "it has started 3"))
        for command, code, err in rows:
            with self.subTest(command):
                before = set(os.listdir(self.d))
                result = run_ranks(3, command.format(d=self.d))
                self.check(result, code, "^$", err)
                self.assertEqual(len([line for line in result.stderr.splitlines() if line.startswith("tilewise:")]), 1)
                self.assertEqual(set(os.listdir(self.d)), before)

    def test_few_of_the_processors(self):
        """A team of threads that mpirun has bound to one processor is told; what was meant is not."""
        told = "may run on 1 of .* processors; mpirun --bind-to none"
        for binding, words, expected in (("core", "", told), ("core", "--threads 1", "^$"), ("core", "--device cpu:serial", "^$"),
                                         ("none", "", "^$")):
            with self.subTest(binding=binding, words=words):
                job = ["mpirun", "--bind-to", binding, "-n", "1", TOOL, "reduce", f"{self.d}/x.npy", *words.split()]
                done = subprocess.run(job, capture_output=True, text=True, timeout=HANGS_S, stdin=subprocess.DEVNULL, env=ENVIRONMENT)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stderr, expected if os.cpu_count() > 1 else "^$")

    def test_names_of_groups_that_are_none(self):
        for name in "cpu:serial+", "0*cpu:serial", "x*cpu:serial", "cuda:0+", "cpu:*", "2*", "2*3*cpu:serial", "+":
            with self.subTest(name):
                self.check(run(f"reduce {self.d}/x.npy --device {name}"), 2, "^$", "is not a group of devices")
        self.check(run(f"reduce {self.d}/x.npy --device none:*"), 4, "^$", r"there is no device 'none:\*'.* devices` lists")

    def test_ranks_that_were_started_otherwise(self):
        """Each row: the words and the folder of rank 0, those of rank 1."""
        x, y = f"{self.d}/x.npy", f"{self.d}/other.npy"
        elsewhere = f"{self.d}/elsewhere"
        os.mkdir(elsewhere)
        np.save(f"{elsewhere}/x.npy", wide_values("f4", 7))
        for folder in self.d, elsewhere:
            pathlib.Path(f"{folder}/out").touch()
        rows = ((f"scan {x} -o {y} --device cpu:serial", self.d, f"scan {x} -o {y} --threads=1", self.d, 0, "^$"),
                (f"scan {x} -o {y}", self.d, f"scan {x} -o {y} --op max", self.d, 2, "rank 1 was started with '--op' where"),
                (f"scan {x} -o {y}", self.d, f"sort {x} -o {y}", self.d, 2, "rank 1 was started with 'sort' where rank 0"),
                (f"scan x.npy -o {y}", self.d, f"scan x.npy -o {y}", elsewhere, 2, "rank 1 looks for files in .*elsewhere"),
                (f"scan {x} -oout", self.d, f"scan {x} -oout", elsewhere, 2, "rank 1 looks for files in .*elsewhere"),
                (f"scan /proc/self/cwd/x.npy -o {y}", self.d, f"scan /proc/self/cwd/x.npy -o {y}", elsewhere, 2, "rank 1 reads other files: "),
                ("verify scan", self.d, "verify sort", self.d, 2, "rank 1 was started with 'sort' where rank 0 has 'scan'"))
        for words, folder, others, other_folder, code, err in rows:
            with self.subTest(words=words, others=others):
                job = ["mpirun", "--oversubscribe"]
                for count, their_words, where in ((1, words, folder), (2, others, other_folder)):
                    job += ["-wdir", where, "-n", str(count), TOOL, *their_words.split(), ":"]
                result = subprocess.run(job[:-1], capture_output=True, text=True, timeout=HANGS_S, stdin=subprocess.DEVNULL,
                                        env=ENVIRONMENT)
                self.check(result, code, "^$", err)
                self.assertLessEqual(len(re.findall("^tilewise:", result.stderr, re.M)), 1)
                self.assertEqual(os.path.exists(y), code == 0)
                if code == 0:
                    os.remove(y)

    def test_runs_of_diffuse_that_differ(self):
        """Each row: a line of rank 1's params.txt, how many steps it has done before, and what is told."""
        lines = ("nx 18", "ny 18", "dx 0.5", "dy 0.5", "dc 0.00625", "co 0.1", "ns 20", "nc 10", "sc 3 53", "bx 32", "by 32")
        rows = (("dx 0.4", 0, "dx=0x3fd.* dx=0x3fe"), ("dc 0.00626", 0, ", dc="), ("ns 30", 0, "step 0 to 30.*step 0 to 20"),
                ("ns 20", 10, "step 10 to 20.*step 0 to 20"))
        jobs = []
        for number, (line, steps, err) in enumerate(rows):
            job = ["mpirun", "--oversubscribe"]
            for rank, done in enumerate((0, steps)):
                folder = f"{self.d}/run{number}-{rank}"
                os.mkdir(folder)
                own = [line if rank == 1 and line[:3] == each[:3] else each for each in lines]
                pathlib.Path(f"{folder}/p.txt").write_text("\n".join(own) + "\n")
                self.check(run(f"diffuse p.txt -o out --steps {done}", cwd=folder), 0)
                job += ["-wdir", folder, "-n", "1", TOOL, *"diffuse /proc/self/cwd/p.txt -o /proc/self/cwd/out --resume".split(), ":"]
            jobs.append(job[:-1])

        def run_job(job):
            return subprocess.run(job, capture_output=True, text=True, timeout=HANGS_S, stdin=subprocess.DEVNULL, env=ENVIRONMENT)

        for (line, steps, err), result in zip(rows, together(run_job, jobs)):
            with self.subTest(line, steps=steps):
                self.check(result, 2, "^$", f"rank 1 reads other files: .*{err}")


PARAMETERS = "nx 18\nny 18\ndx 0.5\ndy 0.5\ndc 0.00625\nco 0.1\nns 20\nnc 10\nsc 3 53\nbx 32\nby 32\n"

# Of every command, with {d} for the folder and {y} for a file or folder of the run's own.
EVERY_COMMAND = ("", "--version", "help", "help scan", "scna", "reduce {d}/gone.npy", "reduce --opp", "reduce {d}/x.npy --device 2*mpi:cpu",
                 "bench reduce --n 100 --dtype f32 --op sum --device cpu:serial --max-time 0.001 -q -o {y}",
                 "bench reduce --n 100 --dtype f32 --op sum --device cpu:serial --max-time 0.001 -q -o {y} --isolate",
                 "compare {d}/r.jsonl {d}/r.jsonl", "complete -- scan --dev", "convolve {d}/a.npy {d}/mask.npy -o {y}", "devices",
                 "diffuse {d}/p.txt -o {y}", "doctor", "list", "manual {d}", "matmul {d}/a.npy {d}/b.npy -o {y}",
                 "matvec {d}/a.npy {d}/v.npy -o {y}", "polymul {d}/i.npy {d}/i.npy -o {y}", "reduce {d}/x.npy",
                 "report {d}/r.jsonl -o {y}.html", "roofline {d}/r.jsonl", "scale --from {d}/r.jsonl", "scan {d}/x.npy -o {y} --json",
                 "sort {d}/x.npy -o {y} -v", "tune reduce --n 100 --dtype f32 --device cpu:serial", "verify reduce --device cpu:serial --n 99")
MEASURED = {"bench", "devices", "doctor", "tune", "sort"}  # whose words differ each time

# What scripts set, what a job of another kind of launcher sets, what stays of one that has ended (and whose port ANOTHER has now).
FALSE_VARIABLES = ("ENDED", "OMPI_COMM_WORLD_RANK=3", "PMI_RANK=1", "PMIX_RANK=2", "OMPI_COMM_WORLD_RANK=", "PMIX_RANK=-1", "PMI_RANK=x",
                   "SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_JOB_ID=7", "MV2_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2",
                   "PMI_RANK=1 PMI_SIZE=2", "PMI_RANK=1 PMI_SIZE=2 PMI_FD=0", "PMI_RANK=1 PMI_SIZE=2 PMI_FD=99",
                   "PMI_RANK=1 PMI_SIZE=2 PMI_PORT=localhost:1", "PMIX_RANK=1 PMIX_NAMESPACE=job", "PMIX_RANK=1 PMIX_SERVER_URI2=0.0;tcp4://127.0.0.1:22",
                   "PMIX_RANK=1 PMIX_NAMESPACE=job PMIX_SERVER_URI2=job.0;tcp4://127.0.0.1:1", "PMIX_RANK=1 PMIX_NAMESPACE=job PMIX_SERVER_URI=",
                   "PMIX_RANK=1 PMIX_NAMESPACE=job PMIX_SERVER_URI41=job.0;usock:/tmp/none", "ANOTHER",
                   "PMIX_RANK=1 PMIX_NAMESPACE=job PMIX_SERVER_URI2=job.0;tcp4://127.0.0.1:{port}", "PMI_RANK=1 PMI_SIZE=2 PMI_PORT=localhost:{port}",
                   "PMIX_RANK=4294967296 PMIX_NAMESPACE=job", "RANK=1 WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT={port}",
                   "FLUX_TASK_RANK=1 FLUX_JOB_SIZE=2", "PALS_RANKID=1", "MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2", "ALPS_APP_PE=1")

# A program that uses MPI, and starts another one.
PARENT = """
import ctypes, subprocess, sys
mpi = ctypes.CDLL("libmpi.so.40", ctypes.RTLD_GLOBAL)
mpi.MPI_Init(None, None)
print(subprocess.run(sys.argv[1:], capture_output=True, text=True).stdout, end="", flush=True)
mpi.MPI_Finalize()"""

# What waits for others at a port, and is no launcher.
SERVER = """
import socket, sys
waiting = socket.create_server(("127.0.0.1", 0))
print(waiting.getsockname()[1], flush=True)
sys.stdin.read()"""


class FalseRanks(Case):
    """A rank is one that a launcher waits for: variables alone make nobody silent, and start no MPI, which may end the process."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        d = cls.d
        for name, values in (("x", wide_values("f4", 10007)), ("a", wide_values("f4", 42).reshape(6, 7)), ("v", wide_values("f4", 7)),
                             ("b", wide_values("f4", 35).reshape(7, 5)), ("i", wide_values("i4", 10)), ("mask", np.ones((3, 3), "f4"))):
            np.save(f"{d}/{name}.npy", values)
        pathlib.Path(f"{d}/p.txt").write_text(PARAMETERS, encoding="ascii")
        run(f"bench reduce --n 100 --dtype f32 --device cpu:serial --max-time 0.001 -q -o {d}/r.jsonl")
        last = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", "env"], capture_output=True, text=True, timeout=HANGS_S, env=ENVIRONMENT)
        cls.ended = dict(re.findall(r"^((?:OMPI|PMIX?)_\w+)=(.*)$", last.stdout, re.M))
        assert "PMIX_RANK" in cls.ended, last.stderr
        cls.ended["PMIX_RANK"] = cls.ended["OMPI_COMM_WORLD_RANK"] = "1"
        cls.server = subprocess.Popen(["/usr/bin/python3", "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        cls.port = cls.server.stdout.readline().strip()
        cls.another = {name: re.sub(r":\d+$", f":{cls.port}", value) if "_URI" in name else value for name, value in cls.ended.items()}

    @classmethod
    def tearDownClass(cls):
        cls.server.communicate()
        super().tearDownClass()

    def environment(self, variables):
        alone = {"TILEWISE_CACHE": f"{self.d}/cache", "NO_COLOR": "1"}  # tune writes there
        known = {"ENDED": self.ended, "ANOTHER": self.another}.get(variables)
        return {**ENVIRONMENT, **alone, **(known or dict(v.split("=", 1) for v in variables.format(port=self.port).split()))}

    def told(self, number, command, variables=""):
        """The exit code and what was printed, but for what differs each time."""
        y = f"{self.d}/{number}-{variables.replace('/', '_')[:60].replace(' ', '_')}"
        done = run(command.format(d=self.d, y=y), env=self.environment(variables))
        shown = [text.replace(y, "Y") for text in (done.stdout, done.stderr)]
        if command.split(" ")[0] in MEASURED:
            return done.returncode, bool(done.stdout), ""
        return done.returncode, *(re.sub(r'(?<=_ns":)\d+', "N", text) for text in shown)

    def test_variables_make_nobody_silent(self):
        self.assertEqual({c.split()[0] for c in EVERY_COMMAND if c[:2] not in ("", "--", "sc")} - {"scna", "help"} | {"scale", "scan"},
                         set(re.findall(r"^  (\w+) {2,}", run("").stdout, re.M)) | {"complete", "manual"})
        plain = [self.told(number, command) for number, command in enumerate(EVERY_COMMAND)]
        numbers, most = range(len(EVERY_COMMAND)), FALSE_VARIABLES if COVER == "all" else FALSE_VARIABLES[:4]
        few = [EVERY_COMMAND.index(command) for command in ("list", "reduce {d}/x.npy", "scan {d}/x.npy -o {y} --json")]
        for number, variables in [*itertools.product(numbers, most), *itertools.product(few, FALSE_VARIABLES[4:])]:
            with self.subTest(EVERY_COMMAND[number], variables=variables):
                self.assertEqual(self.told(number, EVERY_COMMAND[number], variables), plain[number])

    def test_a_launcher_of_another_mpi(self):
        """Such as MPICH's, whose ranks Open MPI never joins."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            variables = f"PMI_RANK=1 PMI_SIZE=2 PMI_FD={theirs.fileno()}"
            for words in "list", "--version", "scna", f"reduce {self.d}/x.npy", f"reduce {self.d}/gone.npy":
                plain, told = run(words), run(words, env=self.environment(variables), pass_fds=[theirs.fileno()])
                self.assertEqual((told.returncode, told.stdout, told.stderr), (plain.returncode, plain.stdout, plain.stderr))

    def test_what_a_rank_has_started_is_none(self):
        value = run(f"reduce {self.d}/x.npy").stdout
        job = ["mpirun", "--oversubscribe", "-n", "2", "/usr/bin/python3", "-c", PARENT, TOOL, "reduce", f"{self.d}/x.npy"]
        done = subprocess.run(job, capture_output=True, text=True, timeout=HANGS_S, stdin=subprocess.DEVNULL, env=ENVIRONMENT)
        self.assertEqual((done.returncode, done.stdout), (0, 2 * value), done.stderr)
        for command in ("reduce {d}/x.npy", "list"):  # but a shell is no rank itself
            words = command.format(d=self.d)
            job = ["mpirun", "--oversubscribe", "-n", "2", "bash", "-c", f"{TOOL} {words}; true"]
            done = subprocess.run(job, capture_output=True, text=True, timeout=HANGS_S, stdin=subprocess.DEVNULL,
                                  env=self.environment(""))
            self.assertEqual((done.returncode, done.stdout), (0, run(words).stdout), done.stderr)

    def test_what_a_rank_has_left_behind_is_none(self):
        """Adopted by another process, which is no launcher; nor does it disturb the ranks."""
        for command in "reduce {d}/x.npy", "list":
            words = command.format(d=self.d)
            leaves = f"({TOOL} {words} >{self.d}/left.$PMIX_RANK; mv {self.d}/left.$PMIX_RANK {self.d}/done.$PMIX_RANK) 2>&1 &"
            waits = f"until [ -e {self.d}/done.$PMIX_RANK ]; do sleep 0.01; done"
            job = ["mpirun", "--oversubscribe", "-n", "2", "/usr/bin/python3", "-c", PARENT, "bash", "-c", f"setsid bash -c '{leaves}'; {waits}"]
            done = subprocess.run(job, capture_output=True, text=True, timeout=HANGS_S, stdin=subprocess.DEVNULL, env=self.environment(""))
            self.assertEqual(done.returncode, 0, done.stderr)
            for rank in 0, 1:
                left = pathlib.Path(f"{self.d}/done.{rank}")
                self.assertEqual(left.read_text(), run(words).stdout)
                left.unlink()

    def test_ranks_behind_programs_with_mpi_preloaded(self):
        words = f"reduce {self.d}/x.npy"
        job = ["mpirun", "--oversubscribe", "-n", "2", "env", "LD_PRELOAD=libmpi.so.40", "bash", "-c", f"{TOOL} {words}; exit $?"]
        done = subprocess.run(job, capture_output=True, text=True, timeout=HANGS_S, stdin=subprocess.DEVNULL, env=ENVIRONMENT)
        self.assertEqual((done.returncode, done.stdout), (0, run(words).stdout), done.stderr)

    def test_ranks_read_no_standard_input(self):
        for words in "reduce -", f"reduce {self.d}/x.npy --segments - -o {self.d}/none.npy", f"matmul {self.d}/a.npy - -o {self.d}/none.npy", f"sort {self.d}/x.npy -o {self.d}/none.npy --values - --values-out {self.d}/w.npy":
            with open(f"{self.d}/x.npy", "rb") as file:
                done = subprocess.run(mpirun(2, words), stdin=file, capture_output=True, text=True, timeout=HANGS_S, env=ENVIRONMENT)
            self.check(done, 2, "^$", r"tilewise: (rank \d: )?\S+: ranks read a file, not standard input; name one that all of them can read; see")
            self.assertNotIn("NumPy file", done.stderr)

    def test_mpi_by_name_where_its_launcher_has_ended(self):
        words = f"reduce {self.d}/x.npy --device mpi:cpu:serial"
        refused = run(words, env=self.environment("ENDED"))
        self.check(refused, 4, "^$", "^tilewise: there are variables of an mpirun that has ended.* remove them first, in bash by `unset [^`]*`\n$")
        advice = re.search("`(.*)`", refused.stderr)[1]
        followed = subprocess.run(["bash", "-c", f"{advice}; exec {TOOL} {words}"], capture_output=True, text=True, timeout=HANGS_S,
                                  env={**self.environment("ENDED")})
        self.check(followed, 0, f"^{re.escape(run(words).stdout)}$", "^$")


if __name__ == "__main__":
    named_tests.main()
