# SPDX-License-Identifier: Apache-2.0
"""Records of which every text is another hostile one: the page has no other markup than with harmless texts, a spreadsheet runs
nothing, tables keep their columns, and nothing steers the terminal.

strings_campaign.py BUILD_FOLDER [--few]   100,000 strings, or with --few 2,000
"""

import csv
import html.parser
import io
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

BUILD, FEW = os.path.abspath(sys.argv[1]), "--few" in sys.argv
SEED = int(os.environ.get("CAMPAIGN_SEED", "1"))
STRINGS = 2000 if FEW else 100_000
CHROMIUM = None if FEW else shutil.which("chromium")
RECORDS = pathlib.Path(__file__).parent.parent / "results/epyc-2core/bench.jsonl"
FIXED = {"schema", "status", "backend", "order", "mode"}  # words of the schema
KNOWN = [
    "</script><script>x()</script>", "<injected-element>", "\"'><img src=http://injected.invalid/x onerror=x()>", "<!--", "-->", "]]>", "<!--<script>",
    "</title></style></textarea><svg/onload=x()>", "javascript:x()", "<a href=\"javascript:x()\">", "{{7*7}}", "${7*7}", "&lt;b&gt;",
    "&#x3c;script&#x3e;", "=HYPERLINK(\"http://injected.invalid\")", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1", "\r=1", "\n=1",
    "a,b\";\"c\n", "|", "\\|", "| a | b |\n| --- | --- |", "`", "``` ", "[x](javascript:x())", "![x](http://injected.invalid)",
    "<br>", "\x1b]0;title\x07", "\x1b[2J", "\x9b31m", "\x7f", "\x00", "\r\n", "\u2028", "\u2029", "\u202e", "\ufeff",
    "\U0010ffff", "__proto__", "constructor", "toString", "NaN", "null", "%s%n", "../../etc/passwd", "A" * 3000, "é" * 300, " ", ""]
PIECES = [*KNOWN, *"<>&\"'`=/\\|,;:{}[]()#!-+@*_~^$%? \t\n\r\0\x1b\x7f\x85abcxyz019é漢𝄞"]


def hostile():
    """A known one, or some pieces of them."""
    if random.random() < 0.2:
        return random.choice(KNOWN)
    return "".join(random.choice(PIECES) for _ in range(random.randint(1, 8)))


class Texts:
    """What becomes of the texts of a file: each has a string at its end, or in its place; most records keep what the report asks
    the catalog for. Where they are joined, equal texts become equal ones, so that records of one problem stay together. Of one
    seed the same texts are changed, and the same ones are equal, whatever the strings."""

    def __init__(self, seed, joined, string):
        self.chance, self.string, self.made = random.Random(seed), string, {} if joined else None

    def changed(self, value, key):
        if key in FIXED or (key in ("algorithm", "dtype", "group", "variant") and self.chance.random() < 0.8):
            return value
        return value + self.string() if self.chance.random() < 0.5 else self.string() or "x"

    def of(self, value, key=""):
        if isinstance(value, str):
            if self.made is None:
                return self.changed(value, key)
            if value not in self.made:
                self.made[value] = self.changed(value, key)
            return self.made[value]
        if isinstance(value, list):
            return [self.of(item) for item in value]
        if isinstance(value, dict):
            return {name: self.of(item, name) for name, item in value.items()}
        return value


class Markup(html.parser.HTMLParser):
    """Elements with their attributes, and what is linked to."""

    def __init__(self, page):
        super().__init__()
        self.kinds, self.links = set(), set()
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.kinds |= {(tag, name) for name, _ in attributes} | {(tag, "")}
        self.links |= {value for name, value in attributes if name in ("href", "src", "action") and not value.startswith("#")}

    def handle_comment(self, data):
        self.kinds.add(("comment", ""))


def harmless(strings):
    """As many, equal where those are, and none where there is none."""
    names = {"": ""}
    return [names.setdefault(s, f"x{len(names)}") for s in strings]


class Campaign:
    def __init__(self, folder):
        self.folder, self.used, self.found = folder, 0, 0
        records = [json.loads(line) for line in RECORDS.read_text().splitlines()]
        self.records = [r for r in records if r["case"]["group"].startswith(("scan.f32", "matvec.f32"))][:60]

    def tool(self, *words):
        job = subprocess.run([f"{BUILD}/tilewise", *words], cwd=self.folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
        said = self.text_of(job.stdout + job.stderr, " ".join(words))
        if job.returncode != 0:
            self.report(f"{words}: exit {job.returncode}: {said[-500:]}")
        if controls := set(re.findall("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]", said)):
            self.report(f"{words} prints {controls}")
        return said

    def text_of(self, written, name):
        try:
            return written.decode()
        except UnicodeDecodeError as e:
            self.report(f"{name} is no UTF-8: {written[e.start - 40:e.end + 10]}")
            return written.decode(errors="replace")

    def report(self, what):
        self.found += 1
        print(f"seed {SEED}, after {self.used} strings: {what}", flush=True)

    def write(self, texts):
        with open(f"{self.folder}/r.jsonl", "w", encoding="utf-8") as file:
            for record in self.records:
                print(json.dumps(texts.of(record), ensure_ascii=random.random() < 0.5), file=file)

    def write_hostile(self, joined):
        """After a page of harmless texts that belong together like these, whose markup is the page's own."""
        seed, strings = random.random(), []

        def next_hostile():
            strings.append(hostile())
            return strings[-1]

        self.write(Texts(seed, joined, next_hostile))
        hostile_file = (self.folder / "r.jsonl").read_bytes()
        in_turn = iter(harmless(strings))
        self.write(Texts(seed, joined, lambda: next(in_turn)))
        self.own = Markup(self.page())
        (self.folder / "page.html").rename(self.folder / "harmless.html")
        (self.folder / "r.jsonl").write_bytes(hostile_file)
        self.used += len(strings)

    def page(self):
        self.tool("report", "r.jsonl", "-o", "page.html")
        return self.text_of((self.folder / "page.html").read_bytes(), "page.html")

    def check_page(self):
        page = self.page()
        markup = Markup(page)
        if more := markup.kinds - self.own.kinds:
            self.report(f"the page has {more} besides its own markup")
        if more := markup.links - self.own.links:
            self.report(f"the page links to {more}")
        if "\0" in page or "\x1b" in page:
            self.report("the page has control characters")
        for data in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.S):
            json.loads(data)
            if "<" in data:  # "<!--<script>" would keep it open beyond its end
                self.report(f"the data of a script have {data[data.index('<'):][:40]!r}")

    def check_csv(self):
        self.tool("report", "r.jsonl", "--csv", "r.csv")
        table = self.text_of((self.folder / "r.csv").read_bytes(), "r.csv")
        rows = list(csv.reader(io.StringIO(table, newline=""), strict=True))
        if len(rows) != len(self.records) + 1 or {len(row) for row in rows} != {len(rows[0])}:
            self.report(f"the table has {len(rows)} rows of {({len(row) for row in rows})} cells")
        for cell in (cell for row in rows for cell in row):
            if cell[:1] in tuple("=+-@\t\r") and not re.fullmatch(r"-?[0-9.e+-]+", cell):
                self.report(f"a spreadsheet would run {cell!r}")

    def check_markdown(self):
        for form in "--markdown", "--matrix":
            said = self.tool("report", "r.jsonl", form)
            tables = re.split(r"\n(?!\|)", said)
            for lines in ([line for line in table.split("\n") if line.startswith("|")] for table in tables):
                if len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines}) > 1:
                    self.report(f"{form} has rows of other columns")
            if markup := re.search(r"(?<!\\)<(?!!-- results:)[a-zA-Z/!].{0,40}", said):
                self.report(f"{form} has markup: {markup[0]!r}")

    def check_terminal(self):
        self.tool("compare", "r.jsonl", "r.jsonl", "-v")
        self.tool("roofline", "r.jsonl")

    def drawn(self, page):
        """How many charts Chromium draws, which sets their widths."""
        job = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", f"--user-data-dir={self.folder}/profile", "--virtual-time-budget=10000",
             "--enable-logging=stderr", f"--log-net-log={self.folder}/net", "--dump-dom", f"file://{self.folder}/{page}"],
            capture_output=True, text=True, errors="replace", timeout=300)
        if "CONSOLE" in job.stderr:
            self.report(f"the console says {re.search('.*CONSOLE.*', job.stderr)[0]}")
        if "injected.invalid" in (self.folder / "net").read_text(errors="replace"):
            self.report("the page asks the network")
        return len(re.findall("<canvas [^>]*width=", job.stdout))

    def check_browser(self):
        drawn, due = self.drawn("page.html"), self.drawn("harmless.html")
        if drawn != due:
            self.report(f"the page draws {drawn} charts where one of harmless texts draws {due}")

    def run(self):
        for joined in itertools.cycle([True] * 4 + [False]):  # of few strings, and of many
            if self.used >= STRINGS:
                break
            self.write_hostile(joined)
            for check in self.check_page, self.check_csv, self.check_markdown, self.check_terminal:
                check()
            if CHROMIUM:
                self.check_browser()
        print(f"{self.used} cases, {self.found} found")
        return self.found != 0


if __name__ == "__main__":
    random.seed(SEED)
    with tempfile.TemporaryDirectory() as name:
        sys.exit(Campaign(pathlib.Path(name)).run())
