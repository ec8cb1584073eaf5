# SPDX-License-Identifier: Apache-2.0
"""`bench --isolate`: what crashes, hangs or loses its device costs its own row and nothing else. `bench --against`: another build
beside this one. And which peers `bench` leaves out.

cli_isolate_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import named_tests
from cli_test import HANGS_S, PLANTED, TOOL, Case, device_facts, run
from processes import outliving, processes_with

HOW = "--device cpu:serial --dtype f32 --op sum --max-time 0.02 --isolate -o {}/r.jsonl"


class IsolateCase(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    def setUp(self):
        self.d = tempfile.mkdtemp(dir=self.folder.name)

    def bench(self, words, tool=PLANTED, **options):
        return run(f"bench {words} {HOW.format(self.d)}", tool, **options)

    def records(self):
        return [json.loads(line) for line in pathlib.Path(f"{self.d}/r.jsonl").read_text().splitlines()]

    def states(self):
        """By name and size."""
        return {(r["case"]["variant"], r["case"]["n"]): r["status"] for r in self.records()}


class Faults(IsolateCase):
    def check_rows(self, fault, state, reason, code, *more):
        """The faulty variant's rows say what happened; the others of its problem, and of later ones, have times."""
        result = self.bench(f"scan/cpu:{fault} scan/serial reduce/serial --n 100,101 {' '.join(more)}")
        self.check(result, code, f"cpu:{fault} @cpu:serial +{state}")
        good = {(name, n) for name in ("scan/serial", "reduce/serial", "copy/cpu") for n in (100, 101)}
        bad = {(f"scan/cpu:{fault}", n) for n in (100, 101)}
        self.assertEqual(self.states(), {**dict.fromkeys(good, "ok"), **dict.fromkeys(bad, state)})
        self.assertEqual(len(self.records()), 10)  # each of two algorithms has a copy
        for r in self.records():
            if r["status"] == state:
                self.assertRegex(r["reason"], reason)
                self.assertIsNone(r["timing"])
            else:
                self.assertGreater(r["timing"]["kernel"]["n"], 0)

    def test_a_crash(self):
        for fault in "crashes", "crashes_later":
            with self.subTest(fault):
                self.check_rows(fault, "failed", r"^its process crashed with signal 11 \(Segmentation fault\)$", 8)
                os.remove(f"{self.d}/r.jsonl")

    def test_a_hang(self):
        """The limit and its grace are 6 s: the healthy do not come near it, whoever else has the processors."""
        self.check_rows("sleeps", "timeout", "^it made no progress for 4 s; .*--time-limit", 8, "--time-limit 4")

    def test_peers_that_never_return(self):
        """Their rows are lost with --isolate; without it the tool ends. The limit is the first that healthy drivers keep to."""
        for device in "cpu:serial", "opencl:0":
            if device not in [d["name"] for d in device_facts()]:
                continue
            peer = f"scan/{device.split(':')[0]}:peer_sleeps"
            why = f"{peer} has not returned for .* s; this code of another library hangs, .*--time-limit SECONDS waits longer"
            words = f"bench {peer} reduce/serial --device {device} --device cpu:serial --n 100 --dtype f32 --op sum --max-time 0.01"
            for limit in "2", "16", "45":
                alone = run(f"{words} --time-limit {limit}", PLANTED)
                apart = run(f"{words} --time-limit {limit} --isolate -o {self.d}/{device}.jsonl", PLANTED)
                if "made no progress" not in alone.stderr + apart.stdout:
                    break
            with self.subTest(device):
                self.check(alone, 8, "", f"\ntilewise: {why}, and bench --isolate leaves it out\n$")
                self.check(apart, 8, "1 row failed")
                rows = [json.loads(line) for line in pathlib.Path(f"{self.d}/{device}.jsonl").read_text(encoding="utf-8").splitlines()]
                states = {r["case"]["variant"]: (r["status"], r["reason"]) for r in rows}
                self.assertRegex(states[peer][1], f"^{why}")
                self.assertEqual({name for name, (state, reason) in states.items() if state == "failed"}, {peer})
                self.assertEqual(states["reduce/serial"][0], "ok")

    def test_a_lost_device(self):
        self.check_rows("lost", "failed", "^planted$", 8)

    def test_a_lack_of_memory(self):
        self.check_rows("uncaught_memory", "failed", "^the host does not have enough memory", 5)  # which ends the process
        for fault, code in ("no_memory", 5), ("overflows", 5), ("unbuilt", 4):  # and what does not
            self.check(self.bench(f"scan/cpu:{fault} reduce/serial --n 100"), code, f"cpu:{fault} @cpu:serial +failed")

    def test_every_code_that_a_child_may_end_with(self):
        """Before its plan or any row of its group is told. What no error has is a fault of ours."""
        kept = {2: 2, 4: 4, 5: 5, 6: 6, 8: 8, -signal.SIGKILL: 8, -signal.SIGABRT: 8}
        for code in [*range(11), 42, 130, 255, -signal.SIGKILL, -signal.SIGABRT]:
            why = f"its process crashed with signal {-code} " if code < 0 else f"its process ended with exit code {code}$"
            with self.subTest(code):
                result = self.bench("scan/serial --n 100", env={**os.environ, "PLANTED_END": f"plan {code}"})
                self.check(result, kept.get(code, 1), "^$", f"^tilewise: .*{why}")
                self.assertFalse(os.path.exists(f"{self.d}/r.jsonl"))
                result = self.bench("scan/serial --n 100", env={**os.environ, "PLANTED_END": f"0 {code}"})
                self.check(result, kept.get(code, 1), "failed")
                self.assertEqual(set(self.states().values()), {"failed"})
                for r in self.records():
                    self.assertRegex(r["reason"], why)
                os.remove(f"{self.d}/r.jsonl")

    def test_a_crash_at_the_last_visit(self):
        """Of one row, or of two. What the first visit found of the others is not lost with the process that was told it."""
        for names in ("scan/cpu:crashes_again",), ("scan/cpu:crashes_again", "scan/cpu:crashes_again_too"):
            with self.subTest(names):
                result = self.bench(f"{' '.join(names)} scan/serial --n 100", env={**os.environ, "PLANTED_SEEN": f"{self.d}/{len(names)}"})
                self.check(result, 8, r"cpu:crashes_again @cpu:serial +failed")
                self.assertEqual(self.states(), {("scan/serial", 100): "ok", ("copy/cpu", 100): "ok", **{(name, 100): "failed" for name in names}})
                visits = {r["case"]["variant"]: len(r["timing"]["kernel"]["visits"]) for r in self.records() if r["status"] == "ok"}
                self.assertEqual(visits, {"scan/serial": 2, "copy/cpu": 2})
                os.remove(f"{self.d}/r.jsonl")

    def test_a_crash_after_the_last_record(self):
        """Nothing is lost, but that the process did not end well is told."""
        result = self.bench("scan/cpu:crashes_at_the_end reduce/serial --n 100")
        self.check(result, 8, "All .* have the definition's bits",
                   r"(?m)^tilewise: after the last record of scan.*, its process crashed with signal 11 \(Segmentation fault\)$")
        self.assertEqual(set(self.states().values()), {"ok"})
        self.assertEqual(len(self.records()), 4)
        for other, code in ("unbuilt", 8), ("internal", 1), ("one_bit", 3):  # the graver of both decides
            self.check(self.bench(f"scan/cpu:crashes_at_the_end scan/cpu:{other} --n 100"), code, "", "after the last record of scan")

    def test_an_exit_after_the_last_record(self):
        self.check(self.bench("scan/cpu:exits_at_the_end reduce/serial --n 100"), 8, "All .* have the definition's bits",
                   r"(?m)^tilewise: after the last record of scan.*, its process ended with exit code 3$")
        self.assertEqual(set(self.states().values()), {"ok"})

    def test_what_ends_no_process(self):
        self.check_rows("internal", "failed", "^planted$", 1)

    def test_several_in_one_group(self):
        self.check(self.bench("scan/cpu:crashes scan/cpu:lost scan/cpu:unbuilt scan/cpu:crashes_later scan/serial --n 100"), 8,
                   "4 rows failed")
        self.assertEqual(sorted(self.states().values()), ["failed"] * 4 + ["ok"] * 2)

    def test_the_gravest_decides(self):
        self.check(self.bench("scan/cpu:crashes scan/cpu:one_bit --n 100"), 3)
        self.check(self.bench("scan/cpu:crashes scan/cpu:internal --n 100"), 1)

    def test_a_plan_that_cannot_be_made(self):
        for words, code, err in (("scna", 2, r"^tilewise: nothing is called 'scna'; did you mean scan.*\n$"),
                                 ("scan/cpu:lookback_", 2, "nothing is called"), ("--n 8 --device cuda:99", 4, "no device 'cuda:99'")):
            self.check(self.bench(words), code, "^$", err)
            self.assertFalse(os.path.exists(f"{self.d}/r.jsonl"))

    def test_part_is_for_children(self):
        for part in "plan", "0", "x":
            self.check(run(f"bench scan --n 100 --device cpu:serial --part {part}"), 2, "^$", "--part is for the children")


class Healthy(IsolateCase):
    def test_rows_are_those_of_one_process(self):
        words = "reduce sort matmul --n 64 --device cpu --max-time 0.01 -q"
        here = run(f"bench {words} -o {self.d}/here.jsonl --report {self.d}/here.html")
        there = run(f"bench {words} -o {self.d}/there.jsonl --report {self.d}/there.html --isolate")
        self.check(here, 0)
        self.check(there, 0, "", "^$")
        rows = []
        for name in "here", "there":
            records = [json.loads(line) for line in pathlib.Path(f"{self.d}/{name}.jsonl").read_text().splitlines()]
            for r in records:
                self.assertEqual(r["argv"][-1], f"{self.d}/here.html" if name == "here" else "--isolate")
            rows.append([(r["case"], r["device"], r["verify"] and r["verify"]["ok"], r["status"], len(r["ratios"])) for r in records])
        self.assertEqual(*rows)
        shape = lambda text: re.findall(r"(?m)^(\S+ @\S+|\S+  n = .*)", text)
        self.assertEqual(shape(here.stdout), shape(there.stdout))

    def test_a_first_look_measures_launches_before_all_else_and_after_it(self):
        words = f"bench --device opencl:0 --n 64 --dtype f32 --max-time 0.01 -q -o {self.d}/r.jsonl"
        if "opencl:0" not in run("devices").stdout:
            self.skipTest("no OpenCL")
        for more in "", " --isolate":
            self.check(run(words + more), 0)
            names = [r["case"]["algorithm"] for r in self.records() if r["status"] == "ok"]
            self.assertEqual([i for i, name in enumerate(names) if name == "launch"], [0, len(names) - 1], more)
            os.remove(f"{self.d}/r.jsonl")

    def test_documents(self):
        self.check(self.bench("reduce --preset seeds --n 8".replace("--op sum", ""), TOOL), 2, "^$", "leave --dtype")
        result = run(f"bench reduce --preset seeds --n 8 --device cpu:serial --max-time 0.01 -q --isolate")
        self.check(result, 0, r"(?s)reduce.i32  n = 8 .*Kuppannagari.*begins 36, as published.*publishes no times.*Not measured:", "^$")

    def test_the_pace_that_is_said_is_kept(self):
        """What a smaller size shows to be too slow is left out, by a process that did not measure it."""
        words = "bench scan/serial scan/cpu:grows --n 10000,1000000,1000001"
        for _ in range(20):
            result = run(f"{words} {HOW.format(self.d)}", PLANTED)
            quickest = [min(r["timing"]["kernel"]["min_ns"], r["timing"]["first_call_ns"]) for r in self.records()
                        if r["case"]["n"] == 10000 and r["case"]["variant"] != "scan/cpu:grows"]
            if max(quickest) < 2e6:  # else others had the processor, and what is healthy looked as slow
                break
            os.remove(f"{self.d}/r.jsonl")
        self.check(result, 0, "All .* have the definition's bits", r"^tilewise: 9 rows: 1 algorithm,.*; at most about \d+ s, ")
        why = {r["case"]["n"]: r["reason"] for r in self.records() if r["case"]["variant"] == "scan/cpu:grows"}
        self.assertIsNone(why[10000])
        self.assertRegex(why[1000000], r"^a call would take about .*, judged by n=10000, .* 20 ms \(--max-time\)$")
        self.assertEqual(why[1000001], "it was left out at n=1000000 already")
        self.assertEqual({s for (name, _), s in self.states().items() if name != "scan/cpu:grows"}, {"ok"})
        said = [line for line in run(f"{words} {HOW.format(self.d)} --dry-run", PLANTED).stdout.splitlines() if "at most" in line]
        self.assertRegex(said[-1], r"^3 groups, at most about \d+ s$")

    def test_no_child_outlives_its_parent(self):
        words = f"bench scan/cpu:sleeps --n 100 --device cpu:serial --time-limit 0 --isolate -o {self.d}/r.jsonl"
        parent = subprocess.Popen([PLANTED, *words.split()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        child = ("cmdline", "--part\0000\0", f"{self.d}/r.jsonl")
        while parent.poll() is None and not processes_with(*child):
            time.sleep(0.01)
        parent.kill()
        self.assertEqual(parent.wait(), -signal.SIGKILL)
        self.assertEqual(outliving(*child), [])  # it would sleep for a minute

    def test_an_interrupt_keeps_what_is_done(self):
        """And a child that goes on is not ended, however long it has been at work: the limit and its grace are 5 s here."""
        words = ("bench scan/cpu:grows --n 100,300000,300001 --device cpu:serial --max-time 20 --precision 0.001% --isolate --time-limit 3 "
                 f"-o {self.d}/r.jsonl")
        child = subprocess.Popen([PLANTED, *words.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while child.poll() is None and not (os.path.exists(f"{self.d}/r.jsonl") and self.records()):
            time.sleep(0.1)
        time.sleep(6)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=HANGS_S)
        self.assertEqual(child.returncode, 130, err)
        states = self.states()
        self.assertEqual((states["scan/cpu:grows", 100], states["scan/cpu:grows", 300000]), ("ok", "interrupted"), err)
        self.assertNotIn(("scan/cpu:grows", 300001), states)

    def test_the_limit_does_not_run_while_all_are_suspended(self):
        """As a container may be: a child that could make no progress has not lost it. The limit and its grace are 5 s here."""
        words = f"scan/cpu:grows --n 300000 {HOW.format(self.d)} --max-time 3 --precision 0.001% --time-limit 3".replace("--max-time 0.02", "")
        parent = subprocess.Popen([PLANTED, "bench", *words.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while parent.poll() is None and not (children := processes_with("cmdline", "--part\0000\0", f"{self.d}/r.jsonl")):
            time.sleep(0.01)
        for command, pause in (signal.SIGSTOP, 8), (signal.SIGCONT, 0):
            for process in parent.pid, *map(int, children):
                os.kill(process, command)
            time.sleep(pause)
        out, err = parent.communicate(timeout=HANGS_S)
        self.assertEqual((parent.returncode, set(self.states().values())), (0, {"ok"}), err)



class Against(IsolateCase):
    def against(self, script, words="reduce/cpu --n 1000 --dtype f32 --op sum --device cpu:serial --max-time 0.02"):
        other = f"{self.d}/other"
        pathlib.Path(other).write_text(f"#!{sys.executable}\nimport json, os, subprocess, sys\n{script}\n")
        os.chmod(other, 0o755)
        return run(f"bench {words} --against {other}")

    def test_times_that_differ_are_told(self):
        """The other's times are those of this tool, times a factor so large that no load on the machine hides it."""
        for factor, ratio, verdict, code in (1e3, r"(\d,)?\d{3}x \(", "faster", 0), (1e-3, r"(0\.00\d+|\d\S*e-0[34])x \(", "slower", 7):
            times = f"""
told = subprocess.run(["{TOOL}", *sys.argv[1:]], check=True, stdout=subprocess.PIPE).stdout
if "--part" in sys.argv: print(float(told) * {factor})"""
            self.check(self.against(times), code, rf"(?s)reduce\.f32 n=1000 .*@cpu:serial .*{ratio}.* {verdict}\n\nThis tool against the other: 1 {verdict}\.\n$", "^$")

    def test_a_row_that_one_of_them_cannot_measure(self):
        self.check(self.against("sys.exit('tilewise: not today')"), 1, r"not compared: .*other: ended with exit code 1: .*not today", "^$")
        self.check(self.against("sys.exit(0)"), 4, "not compared: .*other has no such row", "^$")
        self.check(self.against("""if "--part" not in sys.argv: sys.exit(subprocess.call(["{TOOL}", *sys.argv[1:]]))""".format(TOOL=TOOL)), 1,
                   "not compared: .*other printed no time", "^$")

    def test_a_wrong_result_is_not_compared(self):
        """Turns do not check results; both tools' are checked before."""
        words = f"bench scan/cpu:one_bit --n 1000 --device cpu:serial --max-time 0.02 --against {PLANTED}"
        self.check(run(words, PLANTED), 3, "not compared: .*: ended with exit code 3", "^$")

    def test_what_makes_no_sense(self):
        for words, code, says in (("--against {d}/none", 6, "none is no program; name another build's tilewise"),
                                  ("--against {tool} -o {d}/r.jsonl", 2, "excludes"), ("--against {tool} --isolate", 2, "excludes")):
            with self.subTest(words):
                self.check(run(f"bench reduce/cpu --n 8 {words.format(d=self.d, tool=TOOL)}"), code, "^$", says)


class LimitedPeers(Case):
    """A peer that the environment limits would seem to be beaten: it is not measured, and that is said."""
    LIMITED = {**os.environ, "OPENBLAS_CORETYPE": "Haswell"}

    def setUp(self):
        peers = json.loads(run("list matmul --json").stdout)["variants"]
        if not any(v["id"] == "matmul/cpu:openblas" and v["available"] for v in peers):
            self.skipTest("there is no OpenBLAS")

    def bench(self, words, env):
        return run(f"bench {words} --shape 8x8x8 --device cpu:serial --max-time 0.01 -q", env=env)

    def test_one_line_at_the_end_names_them(self):
        says = r"^tilewise: not measured: matmul/cpu:openblas: OPENBLAS_CORETYPE=Haswell limits it; unset that to measure it\n$"
        for words in "matmul --dtype f32", "matmul --dtype f32 --isolate", "matmul --dtype i32,f32":
            with self.subTest(words):
                self.check(self.bench(words, self.LIMITED), 0, "", says)

    def test_nothing_is_said_without_a_limit_or_of_what_nobody_asked_for(self):
        self.check(self.bench("matmul --dtype f32", dict(os.environ)), 0, "", "^$")
        self.check(self.bench("matmul/cpu:packed --dtype f32", self.LIMITED), 0, "", "^$")


if __name__ == "__main__":
    named_tests.main()
