# SPDX-License-Identifier: Apache-2.0
"""Arrays and texts that come and go through standard input and output.

cli_pipes_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import fcntl
import glob
import json
import os
import pathlib
import pty
import re
import resource
import subprocess
import sys
import time

import numpy as np

import named_tests
from cli_streams_test import COUNT, SANITIZED, StreamCase
from cli_test import DTYPES, HANGS_S, TOOL, run


def piped(command, given=b"", **options):
    """A shell's command, with {t} for the tool."""
    return subprocess.run(["bash", "-o", "pipefail", "-c", command.replace("{t}", TOOL)], input=given, capture_output=True,
                          timeout=HANGS_S, **options)


class Pipes(StreamCase):
    def refused(self, result, code, says):
        said = result.stderr.decode()
        self.assertEqual(result.returncode, code, said)
        self.assertRegex(said, says)

    def test_three_tools(self):
        self.file_of(f"scan {self.d}/f4.npy --device cpu")
        self.file_of(f"sort {self.d}/y.npy --device cpu", "z.npy")
        expected = run(f"reduce {self.d}/z.npy --device cpu").stdout.encode()
        for source in f"< {self.d}/f4.npy", f"< <(cat {self.d}/f4.npy)":
            result = piped("{t} scan - -o - --device cpu -v " + source + " | {t} sort - -o - --device cpu | "
                           "{t} reduce - --device cpu")
            self.assertEqual((result.returncode, result.stdout), (0, expected), result.stderr)

    def test_what_is_written_is_the_file(self):
        for name in "f8", "i4":
            expected = self.file_of(f"scan {self.d}/{name}.npy --device cpu")
            for threads in 1, 4:
                words = "{t} scan - -o - --device cpu --threads " + str(threads)
                self.assertEqual(piped(words, self.contents(f"{name}.npy")).stdout, expected)

    def test_a_header_alone(self):
        for shape in (0,), (0, 3), ():
            np.save(f"{self.d}/x.npy", np.ones(shape))
            expected = self.file_of(f"scan {self.d}/x.npy --device cpu")
            self.assertEqual(piped("cat | {t} scan - -o - --device cpu | cat", self.contents("x.npy")).stdout, expected)

    def test_an_array_of_nothing_that_goes_on(self):
        np.save(f"{self.d}/x.npy", np.ones(0, "f4"))
        for words in "reduce -", "scan - -o -":
            with self.subTest(words):
                result = piped("cat | {t} " + words + " --device cpu", self.contents("x.npy") + b"\0")
                self.refused(result, 6, "^tilewise: standard input: goes on after the 0 bytes")
                self.assertEqual(result.stdout, b"")

    def written_to_a_small_pipe(self, words, **options):
        """Which nobody may wait at, and which is full before anybody reads from it."""
        ours, theirs = os.pipe()
        fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, 4096)
        os.set_blocking(theirs, False)
        child = subprocess.Popen([TOOL, *words.split()], stdout=theirs, stderr=subprocess.PIPE, **options)
        os.close(theirs)
        time.sleep(0.3)  # until it is full
        with open(ours, "rb") as file:
            written = file.read()
        self.assertEqual((child.communicate()[1], child.wait()), (b"", 0))
        return written

    def test_a_pipe_that_nobody_may_wait_at(self):
        expected = self.file_of(f"scan {self.d}/f4.npy --device cpu")
        self.assertEqual(self.written_to_a_small_pipe(f"scan {self.d}/f4.npy -o - --device cpu"), expected)

    def test_a_reader_that_takes_its_time(self):
        """Any time: where a wait has an end, it is over at once."""
        if SANITIZED:
            self.skipTest("sanitizers come before any other library")
        expected = self.file_of(f"scan {self.d}/f4.npy --device cpu")
        hasty = {**os.environ, "LD_PRELOAD": os.environ["TILEWISE_FAKE_WAIT"]}
        self.assertEqual(self.written_to_a_small_pipe(f"scan {self.d}/f4.npy -o - --device cpu", env=hasty), expected)

    def test_text_in_a_pipe_that_nobody_may_wait_at(self):
        for words in "list", "list --json":
            with self.subTest(words):
                expected = run(words).stdout
                self.assertGreater(len(expected), 3 * 4096)
                self.assertEqual(self.written_to_a_small_pipe(words).decode(), expected)

    def test_a_file_that_somebody_has_begun_to_read(self):
        expected = self.file_of(f"scan {self.d}/f4.npy --device cpu")
        with open(f"{self.d}/begun", "wb") as file:
            file.write(b"1234567" + self.contents("f4.npy"))
        with open(f"{self.d}/begun_raw", "wb") as file:
            file.write(b"1234567" + np.load(f"{self.d}/f4.npy").tobytes())
        result = piped("(dd bs=7 count=1 of=/dev/null status=none; {t} scan - -o - --device cpu) < " + self.d + "/begun")
        self.assertEqual((result.returncode, result.stdout), (0, expected), result.stderr)
        raw = piped("(dd bs=7 count=1 of=/dev/null status=none; {t} scan - -o - --dtype f4 --device cpu) < " + self.d + "/begun_raw")
        self.assertEqual((raw.returncode, raw.stdout), (0, expected), raw.stderr)

    def test_a_file_that_somebody_has_read_to_its_end(self):
        """Or has gone beyond it: nothing is left."""
        np.save(f"{self.d}/x.npy", np.ones(0, "f4"))
        empty = self.file_of(f"scan {self.d}/x.npy --device cpu")
        for beyond in 0, 8:
            for words, code, written, says in ("--dtype f4", 0, empty, "^$"), ("", 6, b"", "^tilewise: standard input: is not a NumPy file"):
                with self.subTest(f"{beyond} {words}"), open(f"{self.d}/f4.npy", "rb") as file:
                    file.seek(beyond, os.SEEK_END)
                    result = subprocess.run([TOOL, *f"scan - -o - --device cpu {words}".split()], stdin=file, capture_output=True, timeout=HANGS_S)
                    self.refused(result, code, says)
                    self.assertEqual(result.stdout, written)

    def test_what_ends_early_or_late(self):
        good = self.contents("f4.npy")
        for end in 0, 5, 11, 100, 128, 129, 3_000_000, len(good) - 1:
            with self.subTest(end):
                result = piped("cat | {t} scan - -o " + self.d + "/none.npy --device cpu", good[:end])
                self.refused(result, 6, "^tilewise: standard input: .*" + (rf"ends at byte {end} of {len(good)}\n$" if end >= 128 else ""))
                self.assertFalse(os.path.exists(f"{self.d}/none.npy"))
        self.refused(piped("cat | {t} reduce - --device cpu", good + b"\0"), 6, "standard input: goes on after")
        self.refused(piped("{t} reduce - --device cpu < /dev/null"), 6, "standard input: is not a NumPy file")
        self.refused(piped("{t} reduce - --device cpu <&-"), 6, "standard input: cannot be read")

    def test_a_reader_that_goes_away_and_a_full_disk(self):
        left = "{t} scan " + self.d + "/f4.npy -o - --device cpu | head -c 9"
        self.refused(piped(left), 141, "^$")  # by SIGPIPE, as other tools
        self.refused(piped("trap '' PIPE; " + left), 6, r"standard output: cannot be written at byte \d+: Broken")
        self.refused(piped("{t} scan " + self.d + "/f4.npy -o - --device cpu > /dev/full"), 6, "standard output: cannot be written at byte 0: No space")
        for room in 100, 1_000_000:  # within the header, and within the elements
            held = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))}
            self.refused(piped("{t} scan " + self.d + "/f4.npy -o - --device cpu > " + self.d + "/cut", **held), 6,
                         f"standard output: cannot be written at byte {room}: File too large")

    def test_terminals_hold_no_arrays(self):
        ours, theirs = pty.openpty()
        try:
            for words, streams in (("reduce -", {"stdin": theirs}), ("reduce - --dtype f4", {"stdin": theirs}),
                                   ("reduce - --dtype f4 --shape 2x3", {"stdin": theirs}), (f"scan {self.d}/f4.npy -o -", {"stdout": theirs})):
                result = subprocess.run([TOOL, *words.split()], stderr=subprocess.PIPE, timeout=HANGS_S, **streams)
                self.refused(result, 6, "^tilewise: standard (input|output): is a terminal")
        finally:
            os.close(ours)
            os.close(theirs)

    def test_nothing_is_mixed_into_arrays(self):
        for words, says in ((f"scan {self.d}/f4.npy -o - --json", "--json is printed to standard output"),
                            (f"sort {self.d}/f4.npy -o {self.d}/none.npy --json --indices -", "--json is printed to standard output"),
                            (f"sort {self.d}/f4.npy -o {self.d}/none.npy --json --values {self.d}/f8.npy --values-out -", "--json is printed to standard output"),
                            (f"sort {self.d}/f4.npy -o - --indices -", "two outputs would go to one file: standard output and standard output;"),
                            ("matmul - - -o y.npy", "standard input holds one array"),
                            (f"sort - -o {self.d}/y.npy --values - --values-out w.npy", "standard input holds one array")):
            result = piped("{t} " + words, self.contents("f4.npy"))
            self.refused(result, 2, says)
            self.assertNotIn(b"NUMPY", result.stdout)

    def test_a_pipe_of_raw_elements(self):
        for t in DTYPES:
            with self.subTest(t):
                x = np.load(f"{self.d}/{t}.npy")
                expected = self.file_of(f"scan {self.d}/{t}.npy --device cpu")
                x.tofile(f"{self.d}/x.bin")
                for words in (f"scan {self.d}/x.bin", f"scan - < {self.d}/x.bin", f"scan - < <(cat {self.d}/x.bin)",
                              f"scan - --shape {COUNT} < <(cat {self.d}/x.bin)"):
                    result = piped("{t} " + words + f" --dtype {t} -o - --device cpu")
                    self.assertEqual((result.returncode, result.stdout), (0, expected), result.stderr)
        words = "{t} sort - -o - --dtype u4 --device cpu | {t} reduce - --json --device cpu"
        self.assertEqual(json.loads(piped(words, np.arange(5, dtype="u4").tobytes()).stdout)["value"], 10)
        shaped = piped("{t} scan - -o - --dtype f4 --shape 2x3 --device cpu", np.ones(6, "f4").tobytes())
        self.assertIn(b"(2, 3)", shaped.stdout)

    def test_a_file_that_the_system_makes_up(self):
        """It has no size before it is read, or a page's."""
        def words_of_a_process(contents):  # which /proc shows, each ended by a zero
            self.assertEqual(contents[-1:], b"\0")
            child = subprocess.Popen(contents[:-1].split(b"\0"), executable="/bin/echo", stdout=subprocess.PIPE, pipesize=4096)
            self.addCleanup(lambda: (child.kill(), child.communicate()))
            child.stdout.read(1)  # it runs by now, and waits at the full pipe
            return f"/proc/{child.pid}/cmdline"

        x = np.arange(9000, dtype="i4") % 40  # its last byte is 0, and no word of it an option
        np.save(f"{self.d}/x.npy", x)
        expected, total = self.file_of(f"scan {self.d}/x.npy --device cpu"), f"{x.sum()}\n".encode()
        for path, words in (words_of_a_process(self.contents("x.npy")), ""), (words_of_a_process(x.tobytes()), "--dtype i4"):
            for file in path, f"- < {path}", f"- < <(cat {path})":
                with self.subTest(f"{words} {file}"):
                    self.assertEqual(piped(f"{{t}} scan -o - --device cpu {words} {file}").stdout, expected)
                    self.assertEqual(piped(f"{{t}} reduce --device cpu {words} {file}").stdout, total)
        pages = [path for path in glob.glob("/sys/kernel/mm/*/*") + glob.glob("/sys/class/*/*/*") if os.path.isfile(path) and os.stat(path).st_size == 4096
                 and os.access(path, os.R_OK)]
        for paths in pages[:200], glob.glob("/proc/sys/kernel/*"):  # which refuse to give 4 MiB at once
            for path in paths:
                try:
                    with open(path, "rb") as file:
                        contents = file.read()
                except OSError:
                    continue
                if contents and len(contents) % 4 == 0:
                    for file in path, f"- < {path}":
                        words = f"--dtype u4 --shape {len(contents) // 4} "  # for it may be a number in text
                        result = piped("{t} reduce --json --device cpu " + words + file)
                        self.assertEqual((result.returncode, result.stderr), (0, b""))
                        self.assertEqual(json.loads(result.stdout)["shape"], [len(contents) // 4])
                    break
        self.refused(piped("{t} reduce /proc/kmsg --dtype u4"), 6, "^tilewise: /proc/kmsg: cannot be read")  # nor waited for

    def test_raw_elements_that_are_none(self):
        for words, given, code, says in (("--dtype f8", 12, 6, "holds 12 bytes, no whole number of elements of 8 bytes"),
                                         ("--dtype f4 --shape 2x2", 12, 6, "ends at byte 12 of 16"),
                                         ("--dtype f4 --shape 2x2", 20, 6, "goes on after the 16 bytes"),
                                         ("--dtype f4 --shape 0", 100, 6, "goes on after the 0 bytes"),
                                         ("--dtype f2", 12, 2, "--dtype 'f2' is not one of"),
                                         ("--dtype f4 --shape 2y2", 16, 2, "--shape '2y2' is not one to eight"),
                                         ("--dtype f4 --shape 99999999999x99999999999", 16, 6, "more than 2\\^64 bytes"),
                                         ("--shape 2x2", 16, 2, "--shape requires --dtype")):
            with self.subTest(words):
                self.refused(piped("cat | {t} reduce - " + words + " --device cpu", bytes(given)), code, says)

    def test_text_is_not_taken_for_raw_elements(self):
        for text, t, expected in (b"1\n2\n", "f4", "3"), (b"1.5, 2\r\n-3e-1, nan\r\n", "f8", "nan"), (b"7;8\n", "i8", "15"), (b"1\n" * 9000, "u4", "9000"):
            with self.subTest(text[:20]):
                pathlib.Path(f"{self.d}/old.txt").write_bytes(text)
                for file in f"{self.d}/old.txt", f"- < {self.d}/old.txt", f"- < <(cat {self.d}/old.txt)":
                    result = piped("{t} reduce --dtype " + f"{t} {file}")
                    self.refused(result, 6, "looks like text, not binary elements; ")
                advice = re.search(r"np\.save.*\)\)", result.stderr.decode())[0]
                subprocess.run([sys.executable, "-c", f"import numpy as np; {advice}"], cwd=self.d, check=True)
                self.assertEqual(piped("{t} reduce " + f"{self.d}/new.npy").stdout.decode().strip(), expected)
        pathlib.Path(f"{self.d}/old.txt").write_bytes(b"1\n2\n")
        for file in f"{self.d}/old.txt", f"- < <(cat {self.d}/old.txt)":
            self.assertEqual(piped("{t} reduce --dtype u4 --shape 1 " + file).stdout, b"171051569\n", "--shape says that these are elements")


if __name__ == "__main__":
    named_tests.main()
