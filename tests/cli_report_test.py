# SPDX-License-Identifier: Apache-2.0
"""The report's page and the user's browser.

cli_report_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import os
import pathlib
import tempfile
import time

import named_tests
from cli_test import Case, run

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


if __name__ == "__main__":
    named_tests.main()
