# SPDX-License-Identifier: Apache-2.0
"""`tilewise scale`: what it prints and writes, and what it makes of records.

cli_scale_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import gzip
import json
import pathlib
import re
import tempfile

import named_tests
from cli_test import PLANTED, Case, run

QUICK = "--n 5000 --max-time 0.02 -q"
RANKS = pathlib.Path(__file__).parents[2] / "results/epyc-zen3-2core/ranks.jsonl.gz"

# As in cli_test.py. {r} is a file of records of ranks.
ROWS = [
    ("no such algorithm", "scale sacn", 2, r"^$", r"no algorithm 'sacn'; did you mean scan"),
    ("no such algorithm in records", "scale sacn --from {r}", 2, r"^$", r"no algorithm 'sacn'; did you mean scan"),
    ("no weak scaling", "scale polymul --weak", 2, r"^$", r"polymul has no weak scaling: .*leave --weak out"),
    ("one thread", "scale scan --device cpu:serial", 2, r"^$", r"cpu:serial has one thread; name cpu,"),
    ("several kinds", "scale scan --device cpu:serial+cpu:threads", 2, r"^$", r"members of several kinds"),
    ("no such device", "scale scan --device cuda:99", 4, r"^$", r"no device 'cuda:99'"),
    ("records and measuring", "scale scan --from {r} --n 9", 2, r"^$", r"excludes"),
    ("records and threads", "scale scan --from {r} --threads 2", 2, r"^$", r"excludes"),
    ("no time", "scale scan --max-time 0", 2, r"^$", r"'0' is not a number of seconds above 0"),
    ("no file", "scale --from {d}/none.jsonl", 6, r"^$", r"none\.jsonl cannot be read"),
    ("no records that differ in p", "scale --from {r} --weak", 6, r"^$",
     r"among \d+ records no variant was measured right with two numbers of threads or ranks p at p times one size"),
    ("records of something else", "scale reduce_axis --from {r}", 6, r"^$", r"no variant was measured right with two numbers of threads or ranks at one"),
    ("records of ranks", "scale matmul --from {r}", 0,
     r"(?s)^matmul\.f32 n = 1024x1024x1024\n.*on cpu:serial, vm.*\n +4 .*exchanging: .*\nThe machine has 2 processors: .*"
     r"No fit: .*\n\nmatmul.*on cpu:serial, Open MPI .*Amdahl: serial part .*"
     r"\nBy Amdahl, p = 32 would be .* that was not measured\.\n$",
     r"^tilewise: 1 time is left out: matmul/group of 1024x1024x1024 on 16\*cpu:serial cannot be true: the kernel takes longer .*\n$"),
]


class Scale(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.d = cls.folder.name

    def test_rows(self):
        self.check_rows(ROWS, d=self.d, r=RANKS)

    def test_a_run_and_its_records(self):
        file = f"{self.d}/r.jsonl"
        told = run(f"scale scan --threads 4 {QUICK} -o {file}")
        self.check(told, 0, r"(?s)^scan\.f32 n = 5,000 .*\nstrong: scan/cpu on cpu.*\nbest for one, T_s: scan/.*\n"
                            r"    p .*\n    1 .*\n    2 .*\n    3 .*\n    4 .*\nThe cost p T\(p\) is ", r"^$")
        for line in told.stdout.splitlines():
            self.assertLessEqual(len(line), 80, line)
        records = [json.loads(line) for line in pathlib.Path(file).read_text().splitlines()]
        teams = {r["case"]["threads"] for r in records if r["case"]["variant"] == "scan/cpu"}
        self.assertEqual(teams, {1, 2, 3, 4})
        self.assertTrue(all(r["verify"]["ok"] for r in records if r["verify"]), "checked")
        self.assertEqual(run(f"scale --from {file}").stdout, told.stdout)
        self.check(run(f"report {file} -o {self.d}/page.html"), 0)
        self.assertIn("<h4>Scaling</h4>", pathlib.Path(f"{self.d}/page.html").read_text())

    def test_several_times_that_cannot_be_true(self):
        records = [json.loads(line) for line in gzip.decompress(RANKS.read_bytes()).decode().splitlines()]
        doubted = next(r for r in records if r["case"]["variant"] == "matmul/group" and r["derived"]["plausible"])
        doubted["derived"]["plausible"] = False
        file = pathlib.Path(f"{self.d}/doubtful.jsonl")
        file.write_text("".join(json.dumps(r) + "\n" for r in records))
        self.check(run(f"scale matmul --from {file}"), 0, "matmul",
                   r"^tilewise: 2 times are left out, the first: matmul/group of 1024x1024x1024 on \S+ cannot be true: ")

    def test_json_is_one_line(self):
        told = run(f"scale matmul --from {RANKS} --json")
        self.check(told, 0, r"^\{.*\}\n$", r"^tilewise: 1 time is left out: .*\n$")
        curve = json.loads(told.stdout)["curves"][0]
        self.assertEqual([p["p"] for p in curve["points"]][:3], [1, 2, 4])
        self.assertEqual((curve["scaling"], curve["processors"], curve["fits"]), ("strong", "cpu:serial", []))
        self.assertGreater(curve["points"][2]["exchange_share"], 0)
        self.check(run("scale polymul --weak --json"), 2, r'"code":"invalid_argument","exit":2')

    def test_data_that_were_asked_for_are_said_once_of_each_curve(self):
        file = pathlib.Path(f"{self.d}/sorted.jsonl")
        file.write_text(re.sub(r'"data":"\w+"', '"data":"sorted"', gzip.decompress(RANKS.read_bytes()).decode()))
        curves = json.loads(run(f"scale matmul --from {file} --json").stdout)["curves"]
        self.assertEqual({curve["data"] for curve in curves}, {"sorted"})
        self.assertEqual(run(f"scale matmul --from {file}").stdout.count("data=sorted"), len(curves))

    def test_weak_scaling_of_a_group(self):
        """What is measured, not what is told of it: on a busy machine a time may be one that cannot be true."""
        file = pathlib.Path(f"{self.d}/weak.jsonl")
        self.check(run(f"scale reduce --device 3*cpu:serial --weak {QUICK} --json -o {file}"), "0|6", r"^\{.*\}\n$")
        cases = [(r["ranks"]["count"], r["case"]["n"]) for r in map(json.loads, file.read_text().splitlines())
                 if r["case"]["variant"] == "reduce/group"]
        self.assertEqual(cases, [(1, 5000), (2, 10000), (3, 15000)])

    def test_a_wrong_program_has_no_speedup(self):
        file = f"{self.d}/wrong.jsonl"
        self.check(run(f"scale reduce --threads 2 --n 1001 --max-time 0.02 -q -o {file}", PLANTED), 3, r"",
                   r"first_bit @\S+: wrong, the result differs")
        with open(file, encoding="utf-8") as records:
            states = {r["case"]["variant"]: r["status"] for r in map(json.loads, records)}
        self.assertEqual((states["reduce/cpu:first_bit"], states["reduce/cpu"]), ("wrong", "ok"))


if __name__ == "__main__":
    named_tests.main()
