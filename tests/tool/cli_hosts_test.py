# SPDX-License-Identifier: Apache-2.0
"""The tool as ranks on several hosts, which are namespaces of this machine: the same digests and files as one process, and one
of the hosts that is cut off.

cli_hosts_test.py TOOL PLANTED   (as cli_test.py)
"""

import filecmp
import os
import pathlib
import re
import signal
import subprocess
import time

import hosts

hosts.enter()  # or skips all of them

import numpy as np  # noqa: E402

import cli_test  # noqa: E402
import named_tests  # noqa: E402
from cli_ranks_test import COMMANDS, RankCase  # noqa: E402
from cli_test import COVER, HANGS_S, TOOL, together  # noqa: E402

# What docs/groups.md gives, with which mpirun notices in seconds that a host is lost; without, it waits for TCP to give up.
NOTICES = {"OMPI_MCA_oob_tcp_keepalive_time": "1", "OMPI_MCA_oob_tcp_keepalive_intvl": "1", "OMPI_MCA_oob_tcp_keepalive_probes": "3"}
EACH_HOST = ("--map-by", "node")  # a rank on each, in turn
OTHERS = ("--nolocal", "--map-by", "slot")  # as many on each as it has processors, but none on mpirun's own
WITHOUT_END = "diffuse -o {y} --grid 64x64 --steps 100000000 --every 100000000"
PRODUCT = "matmul {d}/big.npy {d}/big.npy -o {y} --device cpu:serial"  # for seconds
ENDS_S = 120  # less than the minutes after which TCP gives up
PAUSE_S = 2  # less than the 6 s after which a rank is missed
# A rank that is late on the last host: the others wait in MPI for it to join.
LATE = """#!/bin/sh
case $(hostname) in cow*) sleep 1000 ;; esac
exec {tool} "$@"
"""


class HostsCase(RankCase):
    def hosts(self, count, **options):
        made = hosts.Hosts(count, **options)
        self.addCleanup(made.end)
        return made

    def job(self, on, ranks, arguments, options=EACH_HOST, tool=TOOL):
        words = ["mpirun", "--oversubscribe", "--hostfile", on.file, *options, "-n", str(ranks), tool, *arguments.split()]
        return on.within(on.names[0], *words)

    def done(self, on, ranks, arguments, **options):
        words = self.job(on, ranks, arguments, **options)
        result = subprocess.run(words, capture_output=True, text=True, timeout=HANGS_S, stdin=subprocess.DEVNULL)
        result.stderr = without_warnings(result.stderr)
        return result

    def started(self, on, ranks, arguments, until, environment=None, **options):
        """The job, and the file that has what it says, once that holds."""
        said = pathlib.Path(f"{self.d}/said{on.network}")
        with open(said, "wb") as file:
            job = subprocess.Popen(self.job(on, ranks, arguments, **options), stdout=file, stderr=file, stdin=subprocess.DEVNULL,
                                   env={**os.environ, **(environment or {})})
        self.wait(lambda: until() or job.poll() is not None, "it begins")
        self.assertIsNone(job.poll(), said.read_text(encoding="utf-8"))
        return job, said

    def wait(self, until, what):
        deadline = time.monotonic() + ENDS_S
        while not until():
            self.assertLess(time.monotonic(), deadline, f"never: {what}")
            time.sleep(0.02)

    def ended(self, job, said):
        """What it has said."""
        self.wait(lambda: job.poll() is not None, "mpirun ends")
        return without_warnings(said.read_text(encoding="utf-8"))


def without_warnings(said):
    """But for mpirun's of a launcher that is quick."""
    return re.sub(r"(?m)^\[.*setpgid.*\n", "", said)


def complaints(said):
    return [line for line in said.splitlines() if line.startswith("tilewise:")]


class Several(HostsCase):
    def test_digests_are_those_of_one_process(self):
        digests = re.compile(r"^(\w+) +([0-9a-f]{32})", re.M)
        one = digests.findall(cli_test.run("verify --device cpu:serial --n 1000").stdout)
        self.assertEqual([name for name, _ in one], re.findall(r"^(\w+): ", cli_test.run("list").stdout, re.M))
        for count, ranks in (2, 2), (3, 4):
            with self.subTest(hosts=count):
                several = self.done(self.hosts(count), ranks, "verify --n 1000")
                self.check(several, 0, "", "^$")
                self.assertEqual(digests.findall(several.stdout), one)

    def test_files_are_those_of_one_process(self):
        on = {count: self.hosts(count) for count in (2, 3)}
        for number, command in enumerate(COMMANDS):
            if COVER != "all" and command.split()[0] not in ("sort", "matmul"):
                continue  # starting processes is what takes the time
            count = 2 + number % 2
            with self.subTest(hosts=count, command=command):
                y = f"{self.d}/hosts{number}.npy"
                self.check(self.done(on[count], count + 1, command.format(d=self.d, y=y)), 0, "^$", "^$")
                self.same_files(number, y)

    def test_a_host_that_sees_other_files(self):
        """Each row: what only the last host sees, the command, and how it ends."""
        os.mkdir(f"{self.d}/out")
        hidden, scan = "mount -t tmpfs tmpfs {d}", "scan {d}/x.npy -o {d}/out/y.npy"
        rows = ((hidden, scan, 6, "rank 2 on cow[0-9]+: .*/x.npy: cannot be read: No such file"),
                (hidden + "/out", scan, 6, "rank 2 on cow[0-9]+: .*/out/y.npy: cannot be written from this host, which must see"),
                ("mount --bind {d}/two.npy {d}/x.npy", scan, 2, "rank 2 reads other files: .*; all hosts must see the same files"))

        def ended(row):
            on = self.hosts(3)
            on.on(on.names[-1], row[0].format(d=self.d))
            return self.done(on, 3, row[1].format(d=self.d))

        for (only_there, command, code, err), result in zip(rows, together(ended, rows)):
            with self.subTest(only_there):
                self.check(result, code, "^$", err)
                self.assertEqual(len(complaints(result.stderr)), 1, result.stderr)
        self.assertEqual(os.listdir(f"{self.d}/out"), [])


def has_begun(y):
    """The run of a diffusion, or a file that is being written."""
    return os.path.isdir(y) and any(name.startswith("diffusion") for name in os.listdir(y)) or any(
        name.startswith(".tilewise-") for name in os.listdir(os.path.dirname(y)))


def begins(on, y, tool):
    """The ranks, or all but the late one."""
    programs = [word for _, words in on.processes() for word in words.split()[:1]]
    return has_begun(y) if tool == TOOL else programs.count(TOOL) == 2 and "sleep" in programs


class Lost(HostsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        np.save(f"{cls.d}/big.npy", np.random.default_rng(1).standard_normal((3000, 3000)))
        late = pathlib.Path(f"{cls.d}/late")
        late.write_text(LATE.format(tool=TOOL), encoding="utf-8")
        late.chmod(0o755)

    def output(self, on):
        """In a folder of its own."""
        os.mkdir(f"{self.d}/{on.network}")
        return f"{self.d}/{on.network}/y.npy"

    def ranks_end(self, case):
        """Without help of mpirun, which waits for the lost host until it is there again, and then ends with their code."""
        which, options, command, names_lead, err = case
        on = self.hosts(3, names_lead=names_lead)
        y = self.output(on)
        job, said = self.started(on, 3, command.format(d=self.d, y=y), lambda: has_begun(y), options=options)
        on.stop_launchers()
        on.cut_off(on.names[which])
        self.wait(lambda: not any(words.startswith(TOOL) for _, words in on.processes()), "all ranks end")
        on.stop_launchers(False)
        job.send_signal(signal.SIGCONT)  # it stops with what it has started
        self.wait(lambda: complaints(said.read_text(encoding="utf-8")), "one of them says why")
        told = complaints(said.read_text(encoding="utf-8"))
        on.cut_off(on.names[which], False)
        with self.subTest(which=which, options=options, names_lead=names_lead):
            self.assertRegex("\n".join(told), f"^tilewise: {err} has not answered for 6 seconds; all ranks end$")
            said = self.ended(job, said)
            self.assertEqual(job.returncode, 8, said)
            self.wait(lambda: not on.processes(), "all processes end")
            self.assertEqual(os.listdir(os.path.dirname(y)), [] if command == PRODUCT else ["y.npy"])

    def mpirun_ends(self, case):
        """With what docs/groups.md gives for that. A kernel sends no keepalives while data wait for an answer."""
        which, options, command, tool, err = case
        on = self.hosts(3)
        on.on(on.names[0], "echo 5 >/proc/sys/net/ipv4/tcp_retries2")
        y = self.output(on)
        job, said = self.started(on, 3, command.format(d=self.d, y=y), lambda: begins(on, y, tool),
                                 NOTICES, options=options, tool=tool)
        on.cut_off(on.names[which])
        said = self.ended(job, said)
        with self.subTest(which=which, options=options, tool=tool):
            self.assertNotEqual(job.returncode, 0)
            # Where all ranks have joined, those of a busy machine may be first.
            self.assertRegex(said, f"{err}|has not answered for 6 seconds" if tool == TOOL else err)
            self.wait(lambda: not on.processes(), "all processes end")
            self.assertFalse(os.path.isfile(y))

    def test_all_end_and_one_names_it(self):
        together(lambda case: case[0](case[1:]), (
            (self.ranks_end, -1, EACH_HOST, PRODUCT, True, "rank 2 on cow[0-9]+"),
            (self.ranks_end, -1, EACH_HOST, WITHOUT_END, False, "rank 2 on cow[0-9]+"),  # where names lead nowhere
            (self.ranks_end, 1, OTHERS, WITHOUT_END, True, "rank 0 on bee[0-9]+"),  # which has two of three
            (self.ranks_end, 0, EACH_HOST, WITHOUT_END, True, "rank [12] on (bee|cow)[0-9]+"),  # mpirun's own
            (self.mpirun_ends, -1, EACH_HOST, PRODUCT, TOOL, "node cow[0-9]+"),
            (self.mpirun_ends, -1, EACH_HOST, PRODUCT, f"{self.d}/late", "node cow[0-9]+"),
            (self.mpirun_ends, 0, OTHERS, WITHOUT_END, TOOL, "node (bee|cow)[0-9]+")))

    def test_an_interrupt_is_no_lost_rank(self):
        """mpirun ends the ranks of one host after those of another, which takes it seconds."""
        on = self.hosts(3)
        y = self.output(on)
        job, said = self.started(on, 3, PRODUCT.format(d=self.d, y=y), lambda: has_begun(y))
        os.kill(next(number for number, words in on.processes(on.names[0]) if words.startswith("mpirun ")), signal.SIGINT)
        said = self.ended(job, said)
        self.assertFalse([line for line in complaints(said) if "rank" in line], said)
        self.wait(lambda: not on.processes(), "all processes end")

    def test_before_it_begins(self):
        on = self.hosts(2)
        y = self.output(on)
        on.cut_off(on.names[-1])
        self.check(self.done(on, 2, PRODUCT.format(d=self.d, y=y)), "[1-9].*", "^$", f"host {on.names[-1]} port 22: No route to host")
        self.assertFalse(os.path.exists(y))
        self.wait(lambda: not on.processes(), "all processes end")

    def test_a_host_that_comes_back_goes_on(self):
        on = self.hosts(2)
        y, one = self.output(on), f"{self.d}/one"
        command = "diffuse -o {y} --grid 256x256 --steps 2000 --every 100000000"
        self.check(cli_test.run(command.format(y=one)), 0)
        job, said = self.started(on, 2, command.format(y=y), lambda: has_begun(y))
        on.cut_off(on.names[-1])
        time.sleep(PAUSE_S)
        is_done = job.poll() is not None
        on.cut_off(on.names[-1], False)
        said = self.ended(job, said)
        self.assertEqual((job.returncode, complaints(said), is_done), (0, [], False), said)
        results = [name for name in os.listdir(one) if name.startswith("diffusion")]
        self.assertTrue(results)
        for name in results:
            self.assertTrue(filecmp.cmp(f"{one}/{name}", f"{y}/{name}", shallow=False), name)


if __name__ == "__main__":
    named_tests.main()
