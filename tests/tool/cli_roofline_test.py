# SPDX-License-Identifier: Apache-2.0
"""`tilewise roofline`: what it makes of records, and what it measures and keeps.

cli_roofline_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import gzip
import json
import os
import pathlib
import re
import tempfile

import named_tests
from cli_test import Case, run

H200 = pathlib.Path(__file__).parents[2] / "results/h200/bench.jsonl.gz"
JOBS = pathlib.Path(__file__).parents[2] / "results/h200/jobs.jsonl.gz"
BOTH = pathlib.Path(__file__).parents[2] / "results/h200/convolve.jsonl.gz"  # roofs of memory and arithmetic
MATMUL = pathlib.Path(__file__).parents[2] / "results/epyc-zen4-2core/matmul.jsonl.gz"

# As in cli_test.py. {r} is a file of records.
ROWS = [
    ("no such file", "roofline {d}/none.jsonl", 6, r"^$", r"none\.jsonl cannot be read"),
    ("no records", "roofline {d}/empty.jsonl", 6, r"^$", r"empty\.jsonl holds no record"),
    ("whole jobs alone", "roofline {j}", 6, r"^$", r"among \d+ records there is neither a limit nor a right time of a kernel"),
    ("records and measuring", "roofline {r} --n 9", 2, r"^$", r"excludes"),
    ("records and a device", "roofline {r} --device cpu", 2, r"^$", r"excludes"),
    ("no such device", "roofline --device cuda:99", 4, r"^$", r"no device 'cuda:99'"),
    ("no time", "roofline --max-time 0", 2, r"^$", r"'0' is not a number of seconds above 0"),
    ("copies alone", "roofline {r}", 0,
     r"(?s)^cuda:0: NVIDIA H200\nMemory: copies .*\nArithmetic: not measured\.\nproblem .*limit  by +reached\n"
     r"reduce\.f32 65,536 [^\n]* copy +[^\n]*%[!]?\n(reduce|scan)", r"^$"),
    ("in detail", "roofline {r} -v", 0, r"(?s)reduce\.f32 65,536 [^\n]*\n  op=sum\n  256 KiB; .*, by cuda\S*; limit ", r"^$"),
    ("a product", "roofline {m}", 0, r"(?s)^cpu: .*Arithmetic: f32 fma .*matmul\.f32 [^\n]* fma ", r"^$"),
]


class Roofline(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.d = cls.folder.name
        pathlib.Path(f"{cls.d}/empty.jsonl").write_text("")

    def test_rows(self):
        self.check_rows(ROWS, d=self.d, r=H200, m=MATMUL, j=JOBS)

    def test_json_is_one_line_with_what_the_table_says(self):
        told = run(f"roofline {MATMUL} --json")
        self.check(told, 0, r"^\{.*\}\n$", r"^$")
        for device in json.loads(told.stdout)["devices"]:
            for problem in device["problems"]:
                self.assertAlmostEqual(problem["intensity"], problem["operations"] / problem["bytes"])
                if problem["bound"] == "arithmetic":
                    self.assertAlmostEqual(problem["limit_ns"] * problem["arithmetic_per_s"] * 1e-9 / problem["operations"], 1)
                    self.assertAlmostEqual(problem["share"], problem["limit_ns"] / problem["time_ns"])
        self.check(run(f"roofline {self.d}/none.jsonl --json"), 6, r'"code":"io","exit":6')

    def test_a_limit_in_doubt_is_marked_in_the_table_and_told_in_json(self):
        look = H200.parent / "look.jsonl.gz"
        problems = [p for device in json.loads(run(f"roofline {look} --json").stdout)["devices"] for p in device["problems"]]
        self.assertEqual({p["bound"] for p in problems if p["bound"]}, {"memory", "arithmetic", "launch"})
        in_doubt = sum(p.get("limit_in_doubt", False) for p in problems)
        self.assertGreater(in_doubt, 0)
        self.assertLess(in_doubt, len(problems) / 2)
        marked = re.findall(r"\d [nµm]?s\? (?:copy|read|fma|muladd|launch) ", run(f"roofline {look}").stdout)
        self.assertEqual(len(marked), in_doubt)

    def test_data_that_were_asked_for_are_said_once_of_each_problem(self):
        file = pathlib.Path(f"{self.d}/sorted.jsonl")
        file.write_text(re.sub(r'"data":"\w+"', '"data":"sorted"', gzip.decompress(H200.read_bytes()).decode()))
        devices = json.loads(run(f"roofline {file} --json").stdout)["devices"]
        problems = [problem for device in devices for problem in device["problems"]]
        self.assertGreater(len(problems), 10)
        self.assertEqual({p["data"] for p in problems}, {"sorted"})
        for words in "", "-v":
            self.assertEqual(run(f"roofline {file} {words}").stdout.count("data=sorted"), len(problems), words)

    def test_the_chart_fits_the_terminal(self):
        def chart(columns, files):
            out = run(f"roofline {files}", env={**os.environ, "COLUMNS": columns}).stdout
            blocks = out.split("\noperations/s against")[1:]
            return [("operations/s against" + b.split("\n\n")[0]).rstrip("\n").splitlines() for b in blocks]
        for columns, most in ("", 76), ("200", 76), ("60", 60), ("no", 76), ("-1", 76):
            for lines in chart(columns, BOTH):
                self.assertLessEqual(len(lines), 20)
                self.assertTrue(all(len(line) <= most and line.isascii() for line in lines), lines)
                self.assertTrue(any("a" in line[6:] for line in lines if line[5:6] in "|+"), lines)
                self.assertTrue(any(line.startswith("a convolve.f32") for line in lines), lines)
            self.assertTrue(chart(columns, BOTH))
        self.assertEqual(chart("39", BOTH), [], "no room")
        self.assertEqual(chart("76", MATMUL), [], "no roof of memory")

    def test_roofs_are_measured_once_and_kept(self):
        words = "roofline --device cpu:serial --n 64 --max-time 0.01 -q"
        cache = {**os.environ, "XDG_CACHE_HOME": f"{self.d}/cache"}
        os.mkdir(f"{self.d}/cache", 0o700)
        files = [f"{self.d}/{name}.jsonl" for name in ("first", "again")]
        self.check(run(f"{words} -o {files[0]}", env=cache), "0", r"(?s)^cpu: .*\nMemory: (reads|copies) .*\nArithmetic: f32 fma .*")
        self.check(run(f"{words} -o {files[1]}", env=cache), "0")
        records = [[json.loads(line) for line in pathlib.Path(file).read_text().splitlines()] for file in files]
        roofs = [[r["id"] for r in of if r["case"]["group"].startswith("read.")] for of in records]
        self.assertGreater(len(roofs[0]), 10)
        self.check(run(f"roofline {files[0]}"), 0, r"(?s)^cpu: .*\n\noperations/s against operations a byte\n.*\na reduce\.f32, b ")
        self.assertEqual(roofs[0], roofs[1], "kept")
        self.assertEqual({r["case"]["shape"][0] for r in records[0] if r["case"]["algorithm"] == "scan" and r["verify"]}, {64})
        measured = [{r["case"]["algorithm"] for r in of if r["verify"]} for of in records]
        listed = json.loads(run("list --json").stdout)["variants"]
        self.assertEqual(measured[0], {variant["algorithm"] for variant in listed})
        self.assertEqual(run(f"roofline {files[0]}").stdout, run(f"roofline {files[0]} {files[0]}").stdout)
        self.check(run(f"report {files[0]} -o {self.d}/page.html"), 0)
        self.assertIn("What bounds each device", pathlib.Path(f"{self.d}/page.html").read_text())


if __name__ == "__main__":
    named_tests.main()
