# SPDX-License-Identifier: Apache-2.0
"""The report's page: the user's browser, and records whose texts attack what reads them.

cli_report_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import copy
import csv
import gzip
import html.parser
import io
import json
import os
import pathlib
import re
import tempfile
import time

import named_tests
from cli_test import COVER, Case, run

MEASURED = pathlib.Path(__file__).parents[2] / "results/epyc-2core/bench.jsonl.gz"
BENCH = "bench reduce --n 1000 --dtype f32 --op sum --device cpu:serial --max-time 0.01"


class Opening(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.d = os.path.realpath(cls.folder.name)
        cls.check(cls("check"), run(f"{BENCH} -o {cls.d}/good.jsonl"), 0)
        browser = pathlib.Path(f"{cls.d}/bin/xdg-open")
        browser.parent.mkdir()
        browser.write_text(f'#!/bin/sh\necho noise\nprintf "%s\\n" "$@" > {cls.d}/opened.part\nmv {cls.d}/opened.part {cls.d}/opened\n')
        browser.chmod(0o755)
        cls.plain = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
        cls.with_browser = {**cls.plain, "DISPLAY": ":9", "PATH": f"{cls.d}/bin:{os.environ['PATH']}"}

    def opened(self):
        file = pathlib.Path(f"{self.d}/opened")
        for _ in range(600):  # it runs beside the tool
            if file.exists():
                text = file.read_text()
                file.unlink()
                return text
            time.sleep(0.05)
        return None

    def test_the_page_is_opened_in_the_browser(self):
        for words, page in ("", "report.html"), ("-o ./-x.html", "-x.html"), ("--csv t.csv", "report.html"):
            with self.subTest(words):
                result = run(f"report good.jsonl {words} --open", cwd=self.d, env=self.with_browser)
                self.check(result, 0, "^$", f"^opening {self.d}/{page}\n$")
                self.assertEqual(self.opened(), f"{self.d}/{page}\n")
                self.assertIn("<!doctype html>", pathlib.Path(f"{self.d}/{page}").read_text())

    def test_without_a_display_or_a_browser_the_path_is_told(self):
        for environment in (self.plain, {**self.with_browser, "PATH": "/nowhere:bin"}, {**self.with_browser, "DISPLAY": ""}):
            result = run("report good.jsonl --open", cwd=self.d, env=environment)
            self.check(result, 0, "^$", f"; it is {self.d}/report.html\n$")
        self.assertFalse(os.path.exists(f"{self.d}/opened"))


class GoogleBenchmark(Case):
    """The file has what readers of the format ask for: github-action-benchmark and Bencher, by their sources."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.d = cls.folder.name
        cls.records = [json.loads(line) for line in gzip.decompress(MEASURED.read_bytes()).decode().splitlines()]

    def report(self, *records, words="--google-benchmark times.json"):
        pathlib.Path(f"{self.d}/r.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
        return run(f"report r.jsonl {words}", cwd=self.d)

    def written(self, *records):
        self.check(self.report(*records), 0, "^$", "^$")
        return json.loads(pathlib.Path(f"{self.d}/times.json").read_text(), parse_constant=self.fail)

    def changed(self, **kernel):
        r = copy.deepcopy(self.records[0])
        r["timing"]["kernel"] |= kernel
        return r

    def test_every_time_is_there_once(self):
        told = self.written(*self.records, *self.records)
        first, context = told["benchmarks"][0], told["context"]
        self.assertEqual(len(told["benchmarks"]), len(self.records))
        self.assertEqual(len({b["name"] for b in told["benchmarks"]}), len(self.records))
        kernel, host = self.records[0]["timing"]["kernel"], self.records[0]["host"]
        self.assertEqual((first["real_time"], first["time_unit"]), (kernel["median_ns"], "ns"))
        self.assertEqual(first["iterations"], kernel["n"] * kernel["calls_per_sample"])
        self.assertEqual((context["host_name"], context["num_cpus"]), (host["hostname"], host["threads"]))
        self.assertEqual((context["date"], context["library_build_type"]), (self.records[-1]["time_utc"], "release"))
        self.assertEqual([cache["size"] for cache in context["caches"]], [cache["bytes"] for cache in host["caches"]])
        for b in told["benchmarks"]:
            self.assertEqual([type(b[key]) for key in ("name", "run_name", "run_type", "threads", "iterations", "time_unit")],
                             [str, str, str, int, int, str])
            self.assertTrue(b["real_time"] > 0 and b["cpu_time"] == b["real_time"] and 0 < len(b["name"]) <= 1024)
        self.assertFalse(os.path.exists(f"{self.d}/report.html"))

    def test_the_last_record_of_a_case_counts(self):
        told = self.written(self.changed(median_ns=1000.0), self.changed(median_ns=2000.0), self.changed(median_ns=None))
        self.assertEqual([b["real_time"] for b in told["benchmarks"]], [2000])

    def test_a_new_default_tuning_continues_a_series_and_a_sweep_is_several(self):
        tuned = lambda tuning: {**self.records[0], "case": {**self.records[0]["case"], "tuning": tuning}}
        names = lambda *tunings: [b["name"] for b in self.written(*map(tuned, tunings))["benchmarks"]]
        self.assertEqual(names("tile=1"), names("tile=2"))
        several = names("tile=1", "tile=2", "tile=1")
        self.assertEqual(several, [several[0], several[0] + " tile=2"])

    def test_what_has_no_time_is_left_out(self):
        wrong = {**self.records[0], "verify": {**self.records[0]["verify"], "ok": False}}
        skipped = {**self.records[0], "status": "skipped", "timing": None, "derived": None}
        impossible = {**self.records[0], "derived": {**self.records[0]["derived"], "plausible": False}}
        bad = [wrong, skipped, impossible, *(self.changed(median_ns=ns) for ns in (0, -1.0, None, "1"))]
        self.assertEqual(len(self.written(self.records[1], *bad)["benchmarks"]), 1)
        self.check(self.report(*bad), 6, "^$", "--google-benchmark: no record has a time")

    def test_several_machines_are_refused(self):
        other = {**self.records[1], "host": {**self.records[1]["host"], "hostname": "another"}}
        self.check(self.report(self.records[0], other), 2, "^$", "the records are of several; give one machine's files")
        self.check(self.report(self.records[0], words="--google-benchmark t.json --csv t.json"), 2)


class Markup(html.parser.HTMLParser):
    """The elements of a page with their attributes, and what it links to."""

    def __init__(self, page):
        super().__init__()
        self.kinds = set()
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.kinds |= {(tag, name, value if name in ("href", "src", "action") and not value.startswith(("#", "data:")) else "")
                       for name, value in [("", ""), *attributes]}

    def handle_comment(self, data):
        self.kinds.add("comment")


class HostileTexts(Case):
    """Around every text of some records: the page has no other markup than with a harmless one, a spreadsheet runs nothing, tables
    keep their columns, nothing steers the terminal, and no character is cut."""
    TEXTS = ["</script><script>x()</script>", "<!--<script>", "\"'><img src=http://injected.invalid/x onerror=x()>", "&lt;b&gt;{{7*7}}",
             "=HYPERLINK(\"http://injected.invalid\")", "\t=1", "@SUM(1)", "a,b\";\"c\n", "|", "\\|", "| a | b |\n| --- | --- |", "``` `",
             "![x](javascript:x())", "\x1b]0;title\x07\x1b[2J\x9b31m\x7f\0", "\u2028\u202e\ufeff\U0010ffff", "é" * 300, "__proto__", "A" * 3000]
    WORDS = {"schema", "status", "backend", "order", "mode"}  # of the schema
    KNOWN = WORDS | {"algorithm", "dtype", "group", "variant"}  # that the report asks the catalog for

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.d = cls.folder.name
        lines = gzip.decompress(MEASURED.read_bytes()).decode().splitlines()
        cls.records = [r for r in map(json.loads, lines) if r["case"]["group"].startswith(("scan.f32", "matvec.f32"))][:60]

    def around(self, value, text, kept, key=""):
        if isinstance(value, dict):
            return {name: self.around(item, text, kept, name) for name, item in value.items()}
        if isinstance(value, list):
            return [self.around(item, text, kept) for item in value]
        return text + value + text if isinstance(value, str) and key not in kept else value

    def told(self, words):
        result = run(words, cwd=self.d)
        self.check(result, 0)
        self.assertEqual(set(re.findall("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]", result.stdout + result.stderr)), set())
        return result.stdout

    def page(self, text, kept):
        with open(f"{self.d}/r.jsonl", "w", encoding="utf-8") as file:
            for r in self.records:
                print(json.dumps(self.around(r, text, kept), ensure_ascii=False), file=file)
        self.told("report r.jsonl -o page.html --csv r.csv")
        return pathlib.Path(f"{self.d}/page.html").read_bytes().decode()

    def check_csv(self):
        rows = list(csv.reader(io.StringIO(pathlib.Path(f"{self.d}/r.csv").read_bytes().decode(), newline=""), strict=True))
        self.assertEqual((len(rows), {len(row) for row in rows}), (1 + len(self.records), {len(rows[0])}))
        run_as_formulas = [cell for row in rows for cell in row if cell[:1] in tuple("=+-@\t\r") and not re.fullmatch(r"-?[0-9.e+-]+", cell)]
        self.assertEqual(run_as_formulas, [])

    def check_markdown(self, text):
        self.assertIsNone(re.search(r"(?<!\\)<(?!!-- results:)[a-zA-Z/!]", text))
        for table in re.split(r"\n(?!\|)", text):
            columns = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table.split("\n") if line.startswith("|")}
            self.assertLessEqual(len(columns), 1, table)

    def test_each_stays_text(self):
        for kept in self.WORDS, self.KNOWN:
            own = Markup(self.page("x", kept)).kinds
            for text in self.TEXTS[::3 if COVER == "few" else 1]:
                with self.subTest(text, known=kept is self.KNOWN):
                    page = self.page(text, kept)
                    self.assertEqual(Markup(page).kinds - own, set())
                    self.assertIsNone(re.search("[\0\x1b]", page))
                    for data in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.S):
                        json.loads(data)
                        self.assertNotIn("<", data)  # "<!--<script>" would keep it open beyond its end
                    self.check_csv()
                    for words in "report r.jsonl --markdown", "report r.jsonl --matrix":
                        self.check_markdown(self.told(words))
                    for words in "compare r.jsonl r.jsonl -v", "roofline r.jsonl":
                        self.told(words)


if __name__ == "__main__":
    named_tests.main()
