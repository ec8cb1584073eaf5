# SPDX-License-Identifier: Apache-2.0
"""`tilewise compare`: what it prints of two files of records, and what it exits with.

cli_compare_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import copy
import gzip
import json
import pathlib
import re
import tempfile

import named_tests
from cli_test import Case, run

MEASURED = pathlib.Path(__file__).parents[2] / "results/epyc-2core/bench.jsonl.gz"


class Compare(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.d = cls.folder.name
        cls.records = [json.loads(line) for line in gzip.decompress(MEASURED.read_bytes()).decode().splitlines()]
        cls.quiet = [r for r in cls.records if r["case"]["order"] == "tilewise" and r["noise"]["min_effect"] < 0.01
                     and r["timing"]["kernel"]["ci95_hi_ns"] < 1.005 * r["timing"]["kernel"]["ci95_lo_ns"]]
        cls.ours = [i for i, r in enumerate(cls.records) if r in cls.quiet]

    def write(self, name, records):
        path = pathlib.Path(f"{self.d}/{name}.jsonl")
        path.write_text("".join(r if isinstance(r, str) else json.dumps(r) + "\n" for r in records))
        return path

    def compare(self, news, words=""):
        return run(f"compare {self.write('old', self.records)} {self.write('new', news)} {words}")

    def changed(self, *changes, records=None):
        """The records with a change to as many of the quiet ones."""
        news = copy.deepcopy(records or self.records)
        for i, change in zip(range(len(news)) if records else self.ours, changes):
            change(news[i])
        return news

    @staticmethod
    def slower(r, factor=1.2):
        for key in "median_ns", "ci95_lo_ns", "ci95_hi_ns":
            r["timing"]["kernel"][key] *= factor
        r["ratios"] = []

    @staticmethod
    def slower_than_peers(r, factor=1.2):
        """In doubt by its time, but not relative to peers."""
        r["timing"]["kernel"]["median_ns"] *= factor
        r["timing"]["kernel"]["ci95_hi_ns"] *= 2
        for q in r["ratios"]:
            for key in "median", "ci95_lo", "ci95_hi":
                q[key] /= factor

    @staticmethod
    def wrong(r):
        r["verify"]["digest"] = "0" * 32

    @staticmethod
    def unclear(r):
        r["timing"]["kernel"]["ci95_hi_ns"] *= 1.5
        r["ratios"] = []

    def test_a_file_and_itself(self):
        result = self.compare(self.records)
        self.check(result, 0, r"\n\d+ rows: 0 wrong, 0 slower, \d+ unclear, 0 faster, \d+ same\n"
                              r"new/old of \d+ rows of Tilewise: 1\.000 \(0\.\d{3} to 1\.\d{3}\)\n"
                              r"new/old of \d+ rows of peers: 1\.000 \(.*\)\n$", "^$")
        self.assertNotIn("\nSAME\n", result.stdout)

    def test_the_gravest_first_within_80_columns(self):
        lacks = self.changed(self.slower, self.wrong, lambda r: self.slower(r, 0.5), self.unclear)
        del lacks[self.ours[4]]
        result = self.compare(lacks, "-v")
        self.check(result, 0, r"(?s)^BUSY: .*\nvariant @device.*\nWRONG\n.*the digest is another.*\nSLOWER\n.* 1\.200 .*\nUNCLEAR\n"
                              r".*\nFASTER\n.* 0\.500 .*\nSAME\n.*\nNOT COMPARED\n.*only OLD has it\n\n95 rows: 1 wrong, 1 slower,", "^$")
        for line in result.stdout.splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_a_row_that_is_judged_relative_to_a_peer_says_so(self):
        news = self.changed(self.slower_than_peers)
        self.check(self.compare(news), 0, r"\nSLOWER\n.*\n.* 1\.200 .*\n    relative to cpu:\w+\n", "^$")
        told = json.loads(self.compare(news, "--json").stdout)["cases"][0]
        self.assertEqual(told["verdict"], "slower")
        self.assertRegex(told["relative"]["to"], "^[a-z_]+/cpu:")
        self.assertAlmostEqual(told["relative"]["ratio"], 1.2)
        self.assertTrue(told["relative"]["ci95_lo"] < 1.2 < told["relative"]["ci95_hi"])
        self.assertTrue(1 + told["relative"]["noise_floor"] < told["relative"]["ci95_lo"])
        self.assertIsNone(json.loads(self.compare(self.changed(self.slower), "--json").stdout)["cases"][0]["relative"])

    def test_how_many_runs_there_were(self):
        once = self.compare(self.changed(self.slower))
        self.check(once, 0, r"\nOf one run each\. Two of each build tell more, and surely: measure with OLD and\n", "^$")
        self.assertNotIn("\nOf ", self.compare(self.records).stdout)
        clean = copy.deepcopy(self.quiet)
        for r in clean:
            r["tool"] |= {"commit": "0000000", "dirty": False}
        old, new = self.write("one", clean), self.write("two", clean + self.changed(self.slower, records=clean))
        told = run(f"compare {old} {new}")
        self.check(told, 0, r"\nUNCLEAR\n(?s:.*)\nOf 1 run before and 2 after\.\n$", "^$")
        self.assertNotIn("SLOWER", told.stdout)
        self.assertEqual(json.loads(run(f"compare {old} {new} --json").stdout)["runs"], {"old": 1, "new": 2})

    def test_exit_codes(self):
        old = self.write("quiet", self.quiet)
        for changes, codes in (((), {"": 0, "unclear,slower,wrong": 0}),
                               ((self.slower,), {"": 0, "wrong": 0, "slower": 7, "unclear": 7}),
                               ((self.unclear,), {"": 0, "wrong --fail-on slower": 0, "unclear": 7}),
                               ((self.wrong,), {"": 0, "slower": 0, "wrong": 3}),
                               ((self.slower, self.wrong), {"slower": 7, "slower,wrong": 3, "wrong --fail-on unclear": 3})):
            new = self.write("changed", self.changed(*changes, records=self.quiet))
            for words, code in codes.items():
                with self.subTest(changes=changes, words=words):
                    self.check(run(f"compare {old} {new} " + (f"--fail-on {words}" if words else "")), code)

    def test_one_object_on_one_line(self):
        result = self.compare(self.changed(self.slower, self.wrong), "--json --fail-on slower")
        self.check(result, 7, r"^[^\n]*\n$", "^$")
        told = json.loads(result.stdout)
        self.assertEqual((told["ok"], told["counts"]["wrong"], told["counts"]["slower"]), (False, 1, 1))
        self.assertEqual([c["verdict"] for c in told["cases"][:2]], ["wrong", "slower"])
        slower = told["cases"][1]
        self.assertEqual(slower["group"], self.records[self.ours[0]]["case"]["group"])
        self.assertAlmostEqual(slower["ratio"], slower["new_ns"] / slower["old_ns"])
        self.assertTrue(slower["ratio_ci95_lo"] < 1.2 < slower["ratio_ci95_hi"])
        self.assertGreaterEqual(slower["noise_floor"], 0.01)
        self.assertEqual(sum(told["counts"].values()), len(self.records))

    def test_a_time_that_is_none_is_named_and_left_out(self):
        def set_to(ns):
            def change(r):
                for key in "median_ns", "ci95_lo_ns", "ci95_hi_ns":
                    r["timing"]["kernel"][key] = ns
                for q in r["ratios"]:
                    q |= dict.fromkeys(("median", "ci95_lo", "ci95_hi"), ns)
            return change
        for ns in None, 0, -1.0, "1":
            news = self.changed(set_to(ns))
            for words in "-v", "--json":
                with self.subTest(ns=ns, words=words):
                    result = self.compare(news, words)
                    self.check(result, 0, "NEW has no time of it: its time is not a number above 0", "^$")
                    self.assertNotRegex(result.stdout, r"\b(nan|inf)\b")
        infinite = json.dumps(self.changed(set_to(12345.5))[self.ours[0]]).replace("12345.5", "1e999")
        self.check(self.compare(self.records[1:] + [infinite]), 0, "only OLD has it", "line 96 is damaged: .*1e999.*; it was left out")

    def test_a_time_without_an_interval_is_unclear(self):
        def one_sample(r):
            r["timing"]["kernel"] |= {"n": 1, "ci95_lo_ns": None, "ci95_hi_ns": None}
            r["ratios"] = []
        self.check(self.compare(self.changed(one_sample)), 0, r"\nUNCLEAR\n(?s:.*)\n    too few samples for an interval\n", "^$")

    def test_another_machine_is_said_first(self):
        elsewhere = copy.deepcopy(self.records)
        for r in elsewhere:
            r["host"]["hostname"] = "else\x1b[31mwhere"
        self.check(self.compare(elsewhere), 0, r"^DIFFERENT: the name of the machine is 'vm' in OLD and 'else\\x1b\[31mwhere", "^$")

    def test_files_that_cannot_be_compared(self):
        old = self.write("old", self.records)
        other = self.write("other", [{**r, "case": {**r["case"], "group": "of another kind"}} for r in self.records])
        for words, code, said in ((f"{old} {other}", 6, "have no case in common; measure both"),
                                  (f"{old} {self.d}/none.jsonl", 6, "none.jsonl cannot be read; give a file"),
                                  (f"{old} {self.write('empty', [])}", 6, "holds no record"),
                                  (f"{old} -", 2, "NEW.jsonl: '-' as standard input"), (f"{old}", 2, "NEW.jsonl is required"),
                                  (f"{old} {old} --fail-on slowr", 2, "not 'slowr'; did you mean slower")):
            with self.subTest(words):
                self.check(run(f"compare {words}"), code, "^$", re.escape(said))

    def test_a_broken_line_is_left_out_and_told(self):
        self.check(self.compare(self.records[:-1] + ['{"schema": "tilew']), 0, r"\n95 rows: .*\n1 row not compared: only OLD has it\n",
                   r"^tilewise: .*new\.jsonl: line 96 is damaged: .*; it was left out\n$")


if __name__ == "__main__":
    named_tests.main()
