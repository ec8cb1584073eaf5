# SPDX-License-Identifier: Apache-2.0
"""`tilewise tune ALGORITHM`: what it finds, keeps and applies, what comes before that, and what is not believed.

cli_tune_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

import numpy as np

import named_tests
from cli_test import HANGS_S, PLANTED, Case, run, wide_values

RACE = "--device cpu:serial --n 1000 --max-time 6"  # of which a sixth is for each: longer than a machine is likely to take away
KEEPS = "opencl" in run("--version").stdout


class Tune(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.d = cls.folder.name
        for n in 700, 1000, 5000:
            np.save(f"{cls.d}/{n}.npy", wide_values("f4", n))

    def setUp(self):
        self.cache = tempfile.mkdtemp(dir=self.d)
        self.environment = {**os.environ, "TILEWISE_CACHE": self.cache}

    def tool(self, words, **more):
        return run(words, PLANTED, env={**self.environment, **more})

    def tune(self, words, code=0, out="", err="", **more):
        result = self.tool(f"tune {words}", **more)
        self.check(result, code, out, err)
        return result

    def told(self, words="", n=1000, device="cpu:serial", **more):
        result = self.tool(f"scan {self.d}/{n}.npy -o {self.d}/y.npy --json --variant cpu:paced --device {device} {words}", **more)
        self.check(result, 0)
        return json.loads(result.stdout)

    def cases(self, variant):
        """Of its records beside the cache."""
        with open(f"{self.cache}.jsonl") as file:
            return [r["case"] for r in map(json.loads, file) if r["case"]["variant"] == variant]

    def entry(self):
        """The file that the tunings are in."""
        found, = [path for path in pathlib.Path(self.cache).glob("*.bin") if b"tilewise tunings 1, of " in path.read_bytes()]
        return found


class Races(Tune):
    def test_what_it_prints(self):
        result = self.tune(f"scan/cpu:paced {RACE}", 0,
                           r"(?s)^scan.f32 n=1000 .*scan/cpu:paced on cpu:serial, 2 tunings; by default pace=slow\n.*"
                           r"the default +\S+ ms .*\n +pace=quick .*-> pace=quick is .* times as fast", "")
        for line in result.stdout.splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_other_bits_never_win(self):
        result = self.tune(f"scan/cpu:altering {RACE} --json", 3, "", "altering.*wrong, the result differs from the definition's")
        race, = json.loads(result.stdout)["problems"]
        self.assertEqual(race["best"], "pace=quick")
        self.assertEqual({r["tuning"]: r["status"] for r in race["raced"]},
                         {"pace=slow": "ok", "pace=quick": "ok", "pace=altering": "wrong"})

    def test_records(self):
        self.tune(f"scan/cpu:paced {RACE} -q -o {self.d}/r.jsonl")
        with open(f"{self.d}/r.jsonl") as file:
            records = [json.loads(line) for line in file]
        self.assertEqual([r["case"]["tuning"] for r in records], ["pace=slow", "pace=quick"])
        self.assertTrue(all(r["verify"]["ok"] and "tuned_at" not in r["case"] for r in records))

    def test_an_interrupt_before_anything_is_measured(self):
        words = "tune matmul/cpu:packed --device cpu:serial --n 600 --json"
        child = subprocess.Popen([PLANTED, *words.split()], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertTrue(any(" tunings of " in line for line in child.stderr))
        child.send_signal(signal.SIGINT)  # while the definition computes what is expected
        out, err = child.communicate(timeout=HANGS_S)
        self.assertEqual(child.returncode, 130, err)
        race, = json.loads(out)["problems"]
        self.assertIsNone(race["best"])
        self.assertEqual({r["status"] for r in race["raced"]}, {"interrupted"})

    def test_nothing_to_choose(self):
        self.tune(f"scan/serial {RACE}", 0, "1 tuning\n  -> there is nothing to choose")

    def test_a_plan(self):
        self.tune(f"sort scan/cpu:paced {RACE} --dry-run --dtype f32,i64", 0,
                  r"(?s)sort.f32 n=1000 .*sort.i64 .*scan.i64 n=1000 .*: scan/cpu:paced on cpu:serial, 2 tunings\n4 races, about ")

    def test_what_is_refused(self):
        self.tune("", 2, "^$", "name an algorithm .*--transfers.*--forget")
        self.tune("scna", 2, "^$", "no algorithm and no variant 'scna'; did you mean scan")
        self.tune("--forget scna", 2, "^$", "did you mean scan")
        self.tune("scan --transfers", 2, "^$", "excludes")
        self.tune("--forget --apply", 2, "^$", "excludes")
        self.tune("--transfers --n 5", 2, "^$", "excludes")
        for words in "--transfers -v", "--forget -v", "--forget --threads 2", "scan --dry-run --json":
            self.tune(words, 2, "", "excludes")
        self.tune(f"scan/opencl:chunked {RACE}", 4, "^$", "runs on opencl, not on cpu:serial")
        self.tune("scan --device 2*cpu:serial --n 10", 4, "^$", "a group, whose ranks must all compute alike")
        self.tune("scan --shape 3x4x5", 2, "^$", "scan takes")
        self.tune(f"scan {RACE} --max-time 0", 2, "^$", "above 0")


@unittest.skipUnless(KEEPS, "tunings are kept where OpenCL programs are")
class Kept(Tune):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.applied = f"{cls.d}/applied"
        cls.said = run(f"tune scan/cpu:paced {RACE} --apply", PLANTED, env={**os.environ, "TILEWISE_CACHE": cls.applied})

    def apply(self):
        self.check(self.said, 0, r"times as fast(.|\n)*;\s+applied")
        shutil.rmtree(self.cache)
        shutil.copytree(self.applied, self.cache)

    def test_what_is_found_is_kept_and_changes_nothing(self):
        self.tune(f"scan/cpu:paced {RACE}", 0, r"kept,\s+not applied")
        self.assertEqual(self.told()["tuning"], "pace=slow")
        written = self.entry().stat().st_ino
        self.tune(f"scan/cpu:paced {RACE}", 0, r"as\s+measured\s+at\s+20\d\d-")
        self.assertEqual(self.entry().stat().st_ino, written, "it is as it was")
        self.tune(f"scan/cpu:paced {RACE} --apply", 0, r"as\s+measured\s+at(.|\n)*;\s+applied")
        self.assertEqual(self.told()["tuning"], "pace=quick")

    def test_what_is_applied_is_for_such_calls_only(self):
        before = self.told()
        self.apply()
        after = self.told()
        self.assertEqual((after["tuning"], before["tuning"]), ("pace=quick", "pace=slow"))
        self.assertIn("by the tuning that was applied", after["reason"])
        self.assertNotIn("applied", before["reason"])
        self.assertEqual(after["digest"], before["digest"])
        asked = self.told("--tuning pace=slow")
        self.assertEqual((asked["tuning"], asked["reason"]), ("pace=slow", "asked for"))
        self.assertEqual(self.told(n=700)["tuning"], "pace=slow", "it is of the same size class, but not every tuning takes it")
        for others in {"n": 5000}, {"device": "cpu:threads"}, {"words": "--exclusive"}, {"TILEWISE_CACHE": "off"}:
            self.assertEqual(self.told(**others)["tuning"], "pace=slow", others)

    def test_measurements_and_doctor_say_so(self):
        self.apply()
        bench = f"bench scan/cpu:paced --device cpu:serial --n 1000 --dtype f32 --max-time 0.01 -q -o {self.cache}.jsonl"
        self.check(self.tool(bench), 0, "pace=quick")
        for asked in "pace=slow", "pace=quick", "all":
            self.check(self.tool(f"{bench} --tuning {asked}"), 0)
        cases = self.cases("scan/cpu:paced")
        self.assertEqual([c["tuning"] for c in cases], ["pace=quick", "pace=slow", "pace=quick", "pace=slow", "pace=quick"])
        self.assertRegex(cases[0]["tuned_at"], r"^20\d\d-\d\d-\d\dT")
        self.assertFalse([c for c in cases[1:] if "tuned_at" in c], "they were asked for")
        self.check(self.tool("doctor"), 0, r"applied\s+here:\s+scan/cpu:paced(.|\n)*`tilewise tune --forget`")

    def test_so_do_those_of_what_auto_takes(self):
        self.tool("--version", PLANTED_TUNING="1000 tile=1024")
        self.check(run(f"scale scan --threads 2 --n 1000 --max-time 0.01 -q -o {self.cache}.jsonl", env=self.environment), 0)
        tuned = [c.get("tuned_at") for c in self.cases("scan/cpu") if c["tuning"] == "tile=1024"]
        self.assertEqual(set(tuned), {"2026-11-23T20:10:00Z"})

    def applied_tunings(self):
        result = self.tool("devices --json")
        self.check(result, 0)
        return {d["name"]: d["applied_tunings"] for d in json.loads(result.stdout)["devices"]}

    def test_each_problem_and_device_has_its_own(self):
        self.apply()

        def told(words):
            told, = json.loads(self.tune(f"scan/cpu:paced {words} --json -q", err="^$").stdout)["problems"]
            self.assertTrue(told["gain"]["ci95_lo"] <= told["gain"]["median"] <= told["gain"]["ci95_hi"])
            self.assertEqual(told["tunings"], 2)
            return told

        kept = told("--device cpu:serial --n 1000")
        self.assertEqual((kept["applied"], "raced" in kept), (True, False))
        raced = told("--device cpu:serial --n 1001 --max-time 1 --apply")
        self.assertEqual((raced["applied"], raced["default_ns"]), (True, raced["raced"][0]["median_ns"]))
        self.assertFalse(told("--device cpu:serial --n 1000")["applied"], "of one class of sizes one is")
        self.assertIn("raced", told("--device cpu:threads --n 1000 --max-time 1"))

    def test_devices_says_how_many(self):
        line = "tuning of `tilewise tune` applied"
        self.assertNotIn(line, self.tool("devices").stdout)
        self.assertEqual(set(self.applied_tunings().values()), {0})
        self.tune(f"scan/cpu:paced {RACE}", 0, r"kept,\s+not applied")
        self.assertEqual(set(self.applied_tunings().values()), {0})
        self.apply()
        self.check(self.tool("devices"), 0, rf"cpu:serial .*\n.*\n.*arithmetic.*\n +1 {line}\n")
        self.assertEqual({name: n for name, n in self.applied_tunings().items() if n}, {"cpu:serial": 1})

    def test_forgetting(self):
        self.apply()
        for other in "sort", "scan/cpu":
            self.tune(f"--forget {other}", 0, "^0 tunings are forgotten, 1 stays\n")
        self.assertEqual(self.told()["tuning"], "pace=quick")
        self.tune("--forget scan/cpu:paced", 0, "^1 tuning is forgotten, 0 stay\n")
        self.assertEqual(self.told()["tuning"], "pace=slow")

    def test_damaged_or_foreign_entries_are_not_used(self):
        self.apply()
        entry = self.entry()
        whole = entry.read_bytes()
        for damaged in whole[:-1], b"", whole[:40], whole + b"x", whole.replace(b"pace=quick", b"pace=slow!"):
            entry.write_bytes(damaged)
            self.assertEqual(self.told()["tuning"], "pace=slow")
        self.check(self.tool("doctor"), 0, r"kept\s+are\s+not\s+used:\s+they\s+are\s+damaged")
        self.tune("scan/serial --device cpu:serial --n 1000 -q", 0, "nothing to choose", "(?s)^(?!.*not used)")
        self.tune(f"scan/cpu:paced {RACE}", 0, "times as fast", "not used: they are damaged")
        self.assertEqual(self.told()["tuning"], "pace=slow", "it was not applied anew")
        self.apply()
        os.chmod(entry, 0o622)
        self.assertEqual(self.told()["tuning"], "pace=slow", "others may write it")

    def test_without_a_private_folder(self):
        os.chmod(self.cache, 0o755)
        self.tune(f"scan/cpu:paced {RACE} --apply", 6, "^$", "no private cache folder")
        self.tune(f"scan/cpu:paced {RACE}", 0, "times as fast", "nothing is kept: there is no private cache folder")
        self.tune(f"scan/cpu:paced {RACE}", 0, "times as fast", "nothing is kept", TILEWISE_CACHE="off")
        self.tune(f"scan/cpu:paced {RACE} -q", 0, "times as fast", "^$", TILEWISE_CACHE="off")
        self.assertEqual(self.told()["tuning"], "pace=slow")

    def test_a_call_creates_no_folder(self):
        nowhere = f"{self.cache}/none"
        self.assertEqual(self.told(TILEWISE_CACHE=nowhere)["tuning"], "pace=slow")
        self.assertFalse(os.path.exists(nowhere))


if __name__ == "__main__":
    named_tests.main()
