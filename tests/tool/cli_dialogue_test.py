# SPDX-License-Identifier: Apache-2.0
"""What the tool says: on a terminal, as JSON, about the names it knows, and when it refuses.

cli_dialogue_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile

import numpy as np

import named_tests
from cli_test import HANGS_S, PLANTED, TOOL, Case, devices_for, run, wide_values

# name, arguments, exit code, what standard output matches, what standard error matches. {d} is the folder.
ROWS = [
    ("a sum from 100", "reduce {d}/ones.npy --init 100", 0, r"^105\n$", r"^$"),
    ("an empty min with a value", "reduce {d}/none.npy --op min --init 7.5", 0, r"^7\.5\n$", r"^$"),
    ("an empty min", "reduce {d}/none.npy --op min", 2, r"^$", r"the min of an empty array has no value; give an initial value"),
    ("a first value of another type", "reduce {d}/ones.npy --init 1.5", 2, r"^$", r"'1\.5' is not a number of type i32"),
    ("a folder called -", "diffuse -o -", 2, r"^$", r"--output: '-' as"),
    ("parameters from standard input", "diffuse - -o {d}/out", 2, r"^$", r"PARAMS\.txt: '-' as"),
    ("records to standard output", "bench scan -o -", 2, r"^$", r"-o: '-' as"),
    ("a page to standard output", "bench scan --report -", 2, r"^$", r"--report: '-' as"),
    ("records from standard input", "report -", 2, r"^$", r"RESULTS: '-' as"),
    ("a table to standard output", "report {d}/none.jsonl --csv -", 2, r"^$", r"--csv: '-' as"),
    ("help of a command", "help scan", 0, r"(?s)^running sums.*--exclusive.*Examples:", r"^$"),
    ("a version as a command", "version", 2, r"^$", r"no command 'version'; did you mean --version\?$"),
    ("an output without -o", "scan {d}/ones.npy {d}/y.npy", 2, r"^$", r"/y\.npy' is one file too many; did you mean -o \S+/y\.npy\? See"),
    ("a product's output without -o", "matmul {d}/square.npy {d}/square.npy c.npy", 2, r"^$", r"'c\.npy' is one file too many; did you mean -o c\.npy\?"),
    ("two inputs of what has no output", "reduce {d}/ones.npy {d}/ones.npy", 2, r"^$", r"not expected"),
    ("help of what is none", "help scna", 2, r"^$", r"no command 'scna'; did you mean scan"),
    ("what is none, with its help", "scna --help", 2, r"^$", r"no command 'scna'; did you mean scan"),
]

# What NumPy calls a type, and what the tool says to convert its files to.
ADVICE = {"f2": r'astype\("f4"\)', "g": r'astype\("f8"\)', "i1": r'astype\("i8"\)', "u2": r'astype\("i8"\)', "?": r'astype\("i8"\)',
          "u1": r'astype\("i8"\)\) converts it; for convolve "f4" instead of "i8"',
          "c8": "real parts, and .imag", "M8[s]": r'astype\("i8"\)', "m8[s]": r'astype\("i8"\)', "U3": "converts text", "S3": "converts text",
          "V4": "save an array of numbers"}

# Names of other libraries, and the command that the tool proposes for them.
MEANT = {"sum": "reduce", "add": "reduce", "max": "reduce --op max", "min": "reduce --op min", "prod": "reduce --op product", "cumsum": "scan",
         "prefix": "scan", "exclusive_scan": "scan --exclusive", "cummax": "scan --op max", "argsort": "sort --indices I.npy", "gemm": "matmul",
         "gemv": "matvec", "conv": "convolve", "conv2d": "convolve", "heat": "diffuse", "benchmark": "bench", "test": "verify", "gpu": "devices"}

# Options that other tools have, and the one that is proposed instead, with all else that is said.
OPTIONS_MEANT = {
    "sort --reverse": "--descending", "sort --desc": "--descending", "sort -r": "--descending", "sort --order descending": "--descending",
    "scan --kind exclusive": "--exclusive", "scan -x": "--exclusive", "scan --excl": "--exclusive", "polymul --mod 7": "--modulus"}


def on_terminal(words):
    """What a run leaves on a terminal: the lines, and everything that was written to it."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([TOOL] + words, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    written = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # how Linux says that the other end is closed
            break
        if not part:
            break
        written += part
    os.close(ours)
    assert child.wait(timeout=HANGS_S) == 0, written
    lines = []
    for line in written.decode().split("\n"):
        shown = ""
        for piece in line.removesuffix("\r").split("\r"):
            erased = piece.startswith("\033[K")
            piece = piece.removeprefix("\033[K")
            shown = piece if erased else piece + shown[len(piece):]
        lines.append(re.sub(r"\033\[\d*m", "", shown))
    return lines, written.decode()


class Files(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.d = cls.folder.name
        np.save(f"{cls.d}/ones.npy", np.ones(5, "i4"))
        np.save(f"{cls.d}/none.npy", np.ones(0))
        np.save(f"{cls.d}/wide.npy", wide_values("f4", 1003))
        np.save(f"{cls.d}/large_row.npy", wide_values("f4", 100_003))
        np.save(f"{cls.d}/square.npy", wide_values("f4", 9).reshape(3, 3))


class Dialogue(Files):
    def test_table(self):
        for name, arguments, code, out, err in ROWS:
            with self.subTest(name):
                before = set(os.listdir(self.d))
                self.check(run(arguments.format(d=self.d)), code, out, err)
                self.assertEqual(set(os.listdir(self.d)), before)

    def test_the_same_help_by_each_of_its_names(self):
        self.assertEqual(run("help").stdout, run("--help").stdout)
        self.assertEqual(run("help sort").stdout, run("sort --help").stdout)
        self.assertEqual(run("-V").stdout, run("--version").stdout)
        self.check(run("-V"), 0, r"^tilewise \d", "^$")

    def test_a_sum_goes_on_by_a_partial_alone(self):
        """An initial value is added to the sum of the file, and help says so."""
        x = np.random.default_rng(1).standard_normal(1003, "f4")
        for name, part in ("head", x[:400]), ("tail", x[400:]), ("whole", x):
            np.save(f"{self.d}/{name}.npy", part)
        head, tail, whole = (run(f"reduce {self.d}/{name}.npy").stdout.strip() for name in ("head", "tail", "whole"))
        both = run(["reduce", f"{self.d}/tail.npy", f"--init={head}"]).stdout.strip()
        self.assertEqual(np.float32(both), np.float32(head) + np.float32(tail))
        self.assertNotEqual(both, whole)
        for command in "reduce", "scan":
            self.check(run(f"{command} --help"), 0, r"With --init (.|\n)*`partial` of\s+Python or\s+C\+\+")

    def test_a_type_that_is_not_read_is_told_what_to_become(self):
        for code, advice in ADVICE.items():
            with self.subTest(code):
                np.save(f"{self.d}/other.npy", np.zeros(3, code))
                self.check(run(f"reduce {self.d}/other.npy"), 6, "^$", f"f4, f8, i4, i8, u4 and u8; .*{advice}")

    def test_progress_leaves_no_trace_in_results(self):
        lines, written = on_terminal(f"diffuse -o {self.d}/field --grid 32x32 --steps 50 --device cpu".split())
        self.assertIn("step 16 of 50", written, "there was progress")
        self.assertRegex(lines[0], r"^hash [0-9a-f]{16}, residual \S+$")
        self.assertEqual(lines[1:], [""])
        lines, written = on_terminal("verify reduce --n 1000 --device cpu:serial -q".split())
        self.assertIn("verifying reduce/", written)
        self.assertRegex(lines[0], r"^reduce +[0-9a-f]{32}  = on ")
        self.assertEqual(lines[1:], [""])

    def test_a_line_as_each_algorithm_ends(self):
        together = subprocess.run([TOOL, *"verify reduce scan --n 100 --device cpu:serial -v".split()], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        self.assertRegex(together, r"(?s)reduce/.*: same\nreduce  .*scan/.*: same\nscan  ")

    def test_what_a_quiet_bench_says_is_its_table(self):
        words = "bench reduce scan --n 8 --dtype f32 --op sum --variant serial --device cpu:serial --max-time 0.01"
        self.check(run(words), 0, "", r"serial")
        for quiet in "-q", "-q --isolate":
            self.check(run(f"{words} {quiet}"), 0, r"^variant @device(.|\n)*reduce\.f32(.|\n)*scan\.f32", "^$")


class Recorded(Files):
    """The digests of results/digests.txt, which the tool has in it."""

    def setUp(self):
        text = (pathlib.Path(__file__).parents[2] / "results/digests.txt").read_text()
        lines = re.findall(r"^(\w+) +([0-9a-f]{32})((?: \w+)+)$", text, re.M)
        self.digests = {name: digest for name, digest, _ in lines}
        self.everywhere = set.intersection(*(set(machines.split()) for _, _, machines in lines))
        self.called = dict(re.findall(r"^machine (\w+) (.*)$", text, re.M))
        self.common = "verify scan reduce --device cpu:serial --variant serial"

    def test_they_are_seen_here_for_all_algorithms(self):
        listed = {v["algorithm"] for v in json.loads(run("list --json").stdout)["variants"]} - {"skeleton"}
        self.assertEqual(set(self.digests), listed)
        result = run(["verify", *self.digests, "--device", "cpu:serial", "--variant", "serial"])
        *others, last = (words for name, words in self.called.items() if name in self.everywhere)
        self.check(result, 0, rf"\nThe same digests as {', '.join(others)} and {last}\.\n$", "^$")
        self.assertEqual(dict(re.findall(r"^(\w+) +([0-9a-f]{32})  = on", result.stdout, re.M)), self.digests)
        self.check(run("verify reduce --device cpu:serial --variant serial"), 0, r"\nThe same digest as an NVIDIA H200, an NVIDIA H100, .*\.\n$")

    def test_another_input_has_none(self):
        for words in "--n 1000004", "--seed 2", "-q":
            with self.subTest(words):
                self.check(run(f"{self.common} {words}"), 0, r"^(?!(.|\n)*The same dig)", "^$")

    def test_a_wrong_bit_is_no_standing(self):
        self.check(run("verify scan --device cpu:serial --variant one_bit", PLANTED), 3, r"^(?!(.|\n)*(The same dig|report this))")

    def test_a_digest_that_differs_is_told_with_a_request(self):
        """A tool that has another digest of scan in it."""
        right = self.digests["scan"]
        wrong = right[::-1]
        tool = f"{self.d}/tilewise"
        pathlib.Path(tool).write_bytes(pathlib.Path(TOOL).read_bytes().replace(right.encode(), wrong.encode()))
        os.chmod(tool, 0o755)
        cpu = re.search(r"cpu:serial +(.*)", run("devices").stdout)[1]
        for words in "", " -q":
            self.check(run(self.common + words, tool), 3,
                       rf"\nscan: the digest is {right} on this {re.escape(cpu)},\n +but {wrong} on an NVIDIA H200, .* and an Intel Xeon\n"
                       "Please report this (.*\n)*.*`tilewise devices`", "^$")
        told = json.loads(run(f"{self.common} --json", tool).stdout)
        self.assertEqual((told["ok"], [(one["digest"] == one["recorded_digest"]) for one in told["algorithms"]]), (False, [False, True]))
        self.check(run(f"{self.common} --n 1000", tool), 0)


class Names(Files):
    def variants(self, algorithm):
        listed = json.loads(run(f"list {algorithm} --json").stdout)["variants"]
        return [v for v in listed if v["backend"] in ("serial", "cpu") and v["available"] and not v["peer"]]

    def test_each_is_taken_where_one_is_asked_for(self):
        for algorithm, inputs in (("scan", "wide.npy"), ("matmul", "square.npy {d}/square.npy")):
            for v in self.variants(algorithm):
                for name in {v["id"], v["id"].split("/")[1], v["name"] or v["id"]}:
                    with self.subTest(name):
                        command = f"{algorithm} {{d}}/{inputs} -o {{d}}/y.npy --device cpu --variant {name} --json"
                        self.assertEqual(json.loads(run(command.format(d=self.d)).stdout)["variant"], v["id"])
                        self.check(run(f"verify {algorithm} --device cpu --n 100 --variant {name} -v"), 0, r"= on 1 v",
                                   rf"^{re.escape(v['id'])} on cpu: same")
                        self.check(run(f"bench {algorithm} --device cpu:serial --n 8 --variant {name} --dry-run"), 0,
                                   re.escape(f"  {v['id']} @cpu"))

    def test_what_a_table_prints_is_one(self):
        said = run("bench matmul --n 8 --device cpu --max-time 0.01 -q").stdout
        labels = set(re.findall(r"^(cpu:\w+|serial) @cpu", said, re.M)) - {"cpu:call"}
        self.assertIn("cpu:packed", labels)
        for label in labels:
            self.check(run(f"bench matmul --device cpu:serial --n 8 --variant {label} --dry-run"), 0, rf"/{label} @cpu")
            self.check(run(f"bench {label} --device cpu:serial --n 8 --dry-run"), 0, rf"/{label} @cpu")

    def test_what_is_proposed_is_taken(self):
        for wanted in "packd", "cpu:packd", "matmul/cpu:packd", "serail":
            result = run(f"matmul {self.d}/square.npy {self.d}/square.npy -o {self.d}/y.npy --device cpu --variant {wanted}")
            self.check(result, 2, "^$", f"no variant '{wanted}'; did you mean ")
            proposed = re.split(", | or ", re.search(r"did you mean (.*)\?", result.stderr)[1])
            self.assertEqual(len(set(proposed)), len(proposed))
            self.check(run(f"bench matmul --n 8 --device cpu --variant {proposed[0]} --dry-run"), 0)

    def test_a_wrong_tuning_is_told_what_there_is(self):
        v = next(v for v in self.variants("matmul") if v["tuning_space"])
        command = f"matmul {self.d}/square.npy {self.d}/square.npy -o {self.d}/y.npy --device cpu --variant {v['id']}"
        axis, values = next(iter(v["tuning_space"].items()))
        self.check(run(f"{command} --tuning no_such=1"), 2, "^$", re.escape(f"it has: {axis}={values}"))
        self.check(run(f"{command} --tuning {axis}=none"), 2, "^$", re.escape(f"does not take 'none'; it takes {values}"))


class Meanings(Files):
    """Names that other libraries use: what is proposed, by their meaning, gives what they give."""

    def way(self, word):
        """The lines of a shell that the tool shows for a word that is none of its commands."""
        result = run(f"{word} X.npy")
        self.check(result, 2, "^$", f"^tilewise: there is no command '{word}'; ")
        return re.findall(r"`(tilewise [^`]*)`", result.stderr)

    def follow(self, word, **arrays):
        for name, values in arrays.items():
            np.save(f"{self.d}/{name}.npy", values)
        line = self.way(word)[0]
        self.check(run(re.sub(r"\b([A-Z]\.npy)", rf"{self.d}/\1", line).split()[1:]), 0)

    def test_a_command_is_proposed_that_is_one(self):
        for word, command in MEANT.items():
            with self.subTest(word):
                self.check(run(word), 2, "^$", rf"^tilewise: there is no command '{word}'; did you mean {command}\?$")
                name, *options = re.findall(r"(?:^|--)[a-z]+", command)
                self.assertRegex(run(f"help {name}").stdout, "(?s)" + ".*".join([r"^[^\n]+\nUsage: ", *options]))

    def test_an_algorithm_is_proposed_where_one_is_asked_for(self):
        for command in "list", "verify", "bench", "tune", "scale":
            for word, name in ("cumsum", "scan"), ("sum", "reduce"), ("gemm", "matmul"):
                self.check(run(f"{command} {word}"), 2, "^$", rf" '{word}'; did you mean {name}\?$")
            self.check(run(f"{command} mean"), 2, "^$", " 'mean'; divide the sum, which reduce gives, by the number of elements")
        for word, op in ("prod", "product"), ("total", "sum"), ("maximum", "max"):
            self.check(run(f"scan {self.d}/wide.npy -o {self.d}/y.npy --op {word}"), 2, "^$", rf"no op '{word}'; did you mean {op}\?$")

    def test_what_there_is_none_of_is_said_with_the_nearest(self):
        x = np.random.default_rng(1).integers(0, 50, 1001).astype("f4")
        self.follow("histogram", X=x)
        y, edges = np.load(f"{self.d}/Y.npy"), np.array([0, 10, 20.5, 60])
        self.assertEqual(np.diff(np.searchsorted(y, edges)).tolist(), np.histogram(x, edges)[0].tolist())
        self.follow("median", X=x)
        self.assertEqual(np.load(f"{self.d}/Y.npy")[500], np.median(x))
        self.follow("top", X=x)
        self.assertEqual(np.load(f"{self.d}/Y.npy")[:9].tolist(), np.sort(x)[::-1][:9].tolist())
        for word, index in ("argmax", np.argmax(x)), ("argmin", np.argmin(x)):
            self.follow(word, X=x)
            self.assertEqual(np.load(f"{self.d}/I.npy")[0], index)
        self.follow("dot", A=x.reshape(1, -1), X=x)
        self.assertEqual(np.load(f"{self.d}/Y.npy"), [x @ x])
        self.follow("fft", A=np.array([1, 2, 3]), B=np.array([4, 5]))
        self.assertEqual(np.load(f"{self.d}/Y.npy").tolist(), np.convolve([1, 2, 3], [4, 5]).tolist())
        self.check(run("mean"), 2, "^$", "'mean'; divide the sum, which reduce gives, by the number of elements")
        self.assertEqual(float(run(f"reduce {self.d}/X.npy").stdout) / x.size, np.mean(x, dtype="f8"))

    def test_an_option_is_proposed_that_is_one(self):
        for words, option in OPTIONS_MEANT.items():
            with self.subTest(words):
                command, wanted, *value = words.split()
                said = self.refusal([command, *(["x.npy"] * (1 + (command == "polymul"))), "-o", "y.npy", wanted, *value])
                self.assertRegex(said, f"^tilewise: there is no option '{wanted}'; (did you mean {option}\\?|.*{option};) .*`tilewise {command} --help` lists all$")
                self.assertEqual(set(re.findall("--[a-z]+", said)) - {wanted, "--help"}, {option})
                self.assertRegex(run(f"help {command}").stdout, rf"(?m)^ +(-\w,)?{option}\b")

    def refusal(self, words):
        result = run(words, cwd=self.d)
        self.check(result, 2, "^$", "^tilewise: ")
        return result.stderr

    def test_a_matrix_is_transposed_before(self):
        b = np.arange(6.0).reshape(2, 3)
        np.save(f"{self.d}/b.npy", b)
        for option in "--transpose", "-t", "--transb":
            advice = re.search(r"; transpose the file first: (np\.save.*\)\));", self.refusal(["matmul", "b.npy", "b.npy", "-o", "c.npy", option]))[1]
        subprocess.run([sys.executable, "-c", f"import numpy as np; {advice}"], cwd=self.d, check=True)
        self.check(run("matmul b.npy bT.npy -o c.npy", cwd=self.d), 0)
        self.assertEqual(np.load(f"{self.d}/c.npy").tolist(), (b @ b.T).tolist())

    def test_an_empty_name_is_no_device(self):
        for words in ["reduce", "ones.npy"], ["bench", "scan", "--dry-run"], ["verify"]:
            self.assertRegex(self.refusal([*words, "--device", ""]), r"^tilewise: --device: is empty; name auto, cpu, ")
        self.check(run(["reduce", f"{self.d}/ones.npy"], env={**os.environ, "TILEWISE_DEVICE": ""}), 0, "^5\n$")

    def test_an_algorithm_along_an_axis_is_an_option(self):
        for name in "reduce", "scan", "sort":
            self.check(run(f"{name}_axis"), 2, "^$", f"there is no command '{name}_axis'; did you mean {name} --axis N[?]")


class Json(Files):
    def error_of(self, arguments, tool=TOOL):
        result = run(arguments.format(d=self.d), tool)
        self.assertRegex(result.stdout, r"^[^\n]+\n$", "it is one line")
        said = json.loads(result.stdout)
        self.assertEqual(list(said), ["error"])
        self.assertEqual(said["error"]["exit"], result.returncode)
        self.assertIn(said["error"]["message"], result.stderr)
        return said["error"]["code"], result.returncode

    def test_every_command_prints_one_line(self):
        array = f"{self.d}/wide.npy"
        for arguments in (f"reduce {array}", f"scan {array} -o {self.d}/y.npy", f"sort {array} -o {self.d}/y.npy",
                          f"polymul {array} {array} -o {self.d}/y.npy",
                          f"matvec {self.d}/square.npy {self.d}/v.npy -o {self.d}/y.npy",
                          f"matmul {self.d}/square.npy {self.d}/square.npy -o {self.d}/y.npy",
                          f"convolve {self.d}/square.npy {self.d}/square.npy -o {self.d}/y.npy",
                          f"diffuse -o {self.d}/f --grid 8x8 --steps 0", "verify reduce --n 10 --device cpu", "list", "devices"):
            with self.subTest(arguments):
                np.save(f"{self.d}/v.npy", np.ones(3, "f4"))
                result = run(f"{arguments} --json")
                self.check(result, 0, r"^\{[^\n]*\}\n$")
                self.assertNotIn("error", json.loads(result.stdout))
                self.assertEqual(self.error_of(f"{arguments} --json --opp"), ("invalid_argument", 2))

    def test_errors_are_objects_too(self):
        for arguments, code, exit_code in (
                ("reduce {d}/no.npy --json", "io", 6), ("reduce --json", "invalid_argument", 2),
                ("reduce {d}/wide.npy --device nix --json", "unsupported", 4),
                ("reduce {d}/none.npy --op max --json", "invalid_argument", 2),
                ("diffuse {d}/no.txt -o {d}/f --json", "io", 6), ("list nix --json", "invalid_argument", 2),
                ("verify scan --variant nix --device cpu --json", "unsupported", 4), ("nix --json", "invalid_argument", 2)):
            with self.subTest(arguments):
                self.assertEqual(self.error_of(arguments), (code, exit_code))
        for variant, code, exit_code in (("lost", "device_lost", 8), ("unbuilt", "build_failed", 4), ("overflows", "overflow", 5),
                                         ("no_memory", "out_of_memory", 5), ("internal", "internal", 1)):
            command = "scan {d}/wide.npy -o {d}/none.npy --device cpu --json --variant " + variant
            self.assertEqual(self.error_of(command, PLANTED), (code, exit_code))
        self.check(run(f"reduce {self.d}/no.npy"), 6, "^$")

    def test_nothing_is_computed_twice(self):
        result = run(f"scan {self.d}/wide.npy -o {self.d}/y.npy --device cpu --json --variant once", PLANTED)
        self.check(result, 0)
        fields = json.loads(result.stdout)
        self.assertLess(0, fields["kernel_ns"])
        self.assertLessEqual(fields["kernel_ns"], fields["first_call_ns"])
        self.assertLessEqual(fields["first_call_ns"], fields["end_to_end_ns"])
        self.assertEqual(fields["round_trip_ns"], fields["h2d_ns"] + fields["kernel_ns"] + fields["d2h_ns"])

    def timed(self, words, env=None):
        """Its fields, and whether -v says the same."""
        result = run(f"{words} -o {self.d}/y.npy --json -v", env=env)
        self.check(result, 0)
        fields = json.loads(result.stdout)
        said = re.search(r"; (\d+) us end to end(, in pieces)?$", result.stderr, re.M)
        self.assertAlmostEqual(int(said[1]), fields["end_to_end_ns"] / 1000, delta=1)
        self.assertEqual(bool(said[2]), fields["in_pieces"])
        return fields

    def test_each_time_is_its_own(self):
        """A slow call of the driver is in the time that it belongs to, and in no other that the whole is made of."""
        np.save(f"{self.d}/large.npy", np.ones((300, 300)))
        fields = self.timed(f"matmul {self.d}/large.npy {self.d}/large.npy --variant serial --device cpu")
        self.assertEqual((fields["h2d_ns"], fields["d2h_ns"]), (0, 0), "nothing travels")
        self.assertLess(fields["first_call_ns"], 100 * fields["kernel_ns"], "it is all that the call does")
        if "opencl:0" not in devices_for("sort"):
            self.skipTest("no OpenCL here")
        sort, parts = f"sort {self.d}/wide.npy --device opencl:0", ("h2d_ns", "first_call_ns", "d2h_ns")
        for call, part in zip(("clEnqueueWriteBuffer", "clEnqueueNDRangeKernel", "clEnqueueReadBuffer"), parts):
            slow = {**os.environ, "TILEWISE_OPENCL_LIBRARY": os.environ["TILEWISE_FAKE_OPENCL"], "FAKE_OPENCL": f"{call}=slow1"}
            fields = self.timed(sort, slow)
            self.assertGreater(fields[part], 1e9)
            self.assertGreaterEqual(fields["end_to_end_ns"], sum(fields[name] for name in parts))
        fields = self.timed(f"sort {self.d}/large_row.npy --device opencl:0 --device-memory 300K")
        self.assertEqual((fields["in_pieces"], *(fields[name] for name in parts)), (True, None, None, None))


if __name__ == "__main__":
    named_tests.main()
