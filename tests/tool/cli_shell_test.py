# SPDX-License-Identifier: Apache-2.0
"""What shells and man show of the tool: completions and manual pages.

cli_shell_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import named_tests
from cli_test import HANGS_S, TOOL, run

SHARE = pathlib.Path(__file__).resolve().parents[2] / "share/completions"
BASH_COMPLETION = "/usr/share/bash-completion/bash_completion"

# What is typed before the tab, and words that must be offered then. None where bash offers files.
LINES = [
    ("tilewise ", ["scan", "verify", "help", "devices"]),
    ("tilewise he", ["help"]),
    ("tilewise help do", ["doctor"]),
    ("tilewise scan x.npy --dev", ["--device", "--device-memory"]),
    ("tilewise scan --device cpu:", ["serial", "threads"]),
    ("tilewise scan --device=cpu:", ["serial", "threads"]),
    ("tilewise bench --device cpu,cpu:s", ["serial"]),
    ("tilewise sort --device a", ["auto"]),
    ("tilewise verify --device a", ["all"]),
    ("tilewise matmul --variant cpu:pa", ["packed"]),
    ("tilewise bench scan/ser", ["scan/serial"]),
    ("tilewise verify matm", ["matmul"]),
    ("tilewise reduce --op p", ["product"]),
    ("tilewise convolve --border ", ["valid", "zero"]),
    ("tilewise bench sort --set order=d", ["descending"]),
    ("tilewise bench --preset n", ["normal"]),
    ("tilewise bench --mode file", ["file_to_file"]),
    ("tilewise compare --fail-on wrong,sl", ["wrong,slower"]),
    ("tilewise scan ", []),
    ("tilewise scan --threads ", []),
    ("tilewise nosuch ", []),
]


def offered(*words):
    return [line.split("\t")[0] for line in run(["complete", "--", *words]).stdout.splitlines()]


def patient(folder):
    """An environment in which the tool may be as slow as a busy machine makes it."""
    shim = pathlib.Path(folder, "timeout")
    shim.write_text('#!/bin/sh\nshift\nexec "$@"\n')
    shim.chmod(0o755)
    return os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": folder}


def bash(line, tool=TOOL, environment=None, library=BASH_COMPLETION):
    """What bash would offer, asked as bash-completion asks."""
    words = re.findall(r"[=:]+|[^\s=:]+", line) + ([""] if line[-1] in " " else [])
    script = f"""
        source {library} && source {SHARE}/tilewise.bash
        COMP_LINE=$1 COMP_POINT=${{#1}} COMP_TYPE=9 COMP_KEY=9; shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _tilewise "{tool}" "${{COMP_WORDS[-1]}}" "${{COMP_WORDS[-2]}}"
        printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "--norc", "-c", script, "bash", line, *words], capture_output=True, text=True, timeout=HANGS_S,
                          env=environment)
    return done.stdout.split(), done.stderr


class Completion(unittest.TestCase):
    def test_bash(self):
        with tempfile.TemporaryDirectory() as folder:
            for library, (line, wanted) in itertools.product((BASH_COMPLETION, "/dev/null"), LINES):  # a bare Debian has none
                with self.subTest(line, library=library):
                    found, said = bash(line, environment=patient(folder), library=library)
                    self.assertEqual(said, "")
                    self.assertLessEqual(set(wanted), set(found))
                    self.assertEqual(bool(wanted), bool(found))

    def test_every_command_and_option_is_offered(self):
        commands = offered("")
        self.assertEqual(sorted(commands), sorted(re.findall(r"^  (\w+) {2,}", run([]).stdout, re.M) + ["help"]))
        for command in commands:
            with self.subTest(command):
                shown = re.findall(r"^  (?:-\w,)?(--?[\w-]+)", run(["help", command]).stdout, re.M)
                self.assertEqual(offered(command, "-"), [o for o in shown if command != "help"] or ["--help", "--version"])

    def test_every_variant_and_device_is_offered(self):
        variants = [v for v in json.loads(run(["list", "--json"]).stdout)["variants"] if not v["peer"]]
        for v in variants:
            self.assertIn(v["id"], offered("bench", v["algorithm"] + "/"))
        devices = {d["name"] for d in json.loads(run(["devices", "--json"]).stdout)["devices"]}
        self.assertEqual(set(offered("verify", "--device", "")), devices | {"cpu", "all"})

    def test_what_hangs_or_is_missing_is_left_quietly(self):
        self.assertEqual(bash("tilewise scan --dev", "/nowhere/tilewise"), ([], ""))
        with tempfile.TemporaryDirectory() as folder:
            slow = pathlib.Path(folder, "slow")
            slow.write_text("#!/bin/sh\necho early\nexec sleep 6000\n")
            slow.chmod(0o755)
            self.assertEqual(bash("tilewise scan --dev", slow)[1], "")

    def test_other_shells_can_read_theirs(self):
        for shell, name in [("zsh", "_tilewise"), ("fish", "tilewise.fish")]:
            if shutil.which(shell):
                subprocess.run([shell, "-n", SHARE / name], check=True)
        if shutil.which("fish"):
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "tilewise").symlink_to(os.path.abspath(TOOL))
                script = f"source {SHARE}/tilewise.fish; complete -C 'tilewise scan --device cpu:s'"
                done = subprocess.run(["fish", "-N", "-c", script], capture_output=True, text=True,
                                      env=patient(folder))
            self.assertEqual([line.split("\t")[0] for line in done.stdout.splitlines()], ["cpu:serial"], done.stderr)


class Manual(unittest.TestCase):
    def test_there_is_a_page_for_each_command_that_man_can_print(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run(["manual", folder]).returncode, 0)
            pages = {path.name: path.read_text() for path in pathlib.Path(folder).iterdir()}
            commands = [c for c in offered("") if c != "help"]
            self.assertEqual(set(pages), {"tilewise.1"} | {f"tilewise-{c}.1" for c in commands})
            for command in commands:
                page = pages[f"tilewise-{command}.1"].replace("\\-", "-")
                for option in offered(command, "-"):
                    self.assertIn(f"\\fB{option}\\fR", page, command)
            if shutil.which("man"):
                done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", *sorted(pages)], cwd=folder,
                                      capture_output=True, text=True, env=os.environ | {"MANWIDTH": "80"})
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("8 time-out or lost device", done.stdout)
        self.assertEqual(run(["manual", "/nowhere"]).returncode, 6)


if __name__ == "__main__":
    named_tests.main()
