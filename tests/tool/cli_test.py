# SPDX-License-Identifier: Apache-2.0
"""The tool as a user meets it: arguments, files and faults in; exit code, results and messages out.

cli_test.py TOOL PLANTED DRIVER...   (as tests/CMakeLists.txt builds them: a crashing one, a hanging one, one of a CPU, one of a GPU)
"""

import concurrent.futures
import functools
import itertools
import json
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

import named_tests
from processes import HANGS_S

TOOL, PLANTED = sys.argv[1:3]
COVER = os.environ.get("TILEWISE_TEST_COVER", "pairs")  # as in helpers.hpp
DTYPES = "f4 f8 i4 i8 u4 u8".split()
OPS = {"sum": np.add, "product": np.multiply, "min": np.minimum, "max": np.maximum}

# name, arguments, exit code, what standard output matches, what standard error matches. {d} is the folder.
ROWS = [
    ("help without arguments", "", 0, r"Subcommands:", r"^$"),
    ("help", "--help", 0, r"Exit codes: 0 good", r"^$"),
    ("version", "--version", 0, r"tilewise \d+\.\d+\.\d+\norder 1\n(.*\n)*backends: cpu", r"^$"),
    ("no such command", "scna x.npy", 2, r"^$", r"no command 'scna'; did you mean scan"),
    ("no such option", "reduce {d}/f4.npy --opp sum", 2, r"^$", r"no option '--opp'; did you mean --op, .*\? `tilewise reduce --help` lists all$"),
    ("no such option with a value", "reduce {d}/f4.npy --initial=3 --op sum", 2, r"^$", r"no option '--initial'; did you mean --init[ ,]"),
    ("no such option before one that is missing", "scan {d}/f4.npy --out {d}/y.npy", 2, r"^$", r"no option '--out'; did you mean --output\?"),
    ("a value that looks like an option", "reduce {d}/f4.npy --tuning --weird {d}/f8.npy", 2, r"^$", r"not expected: \S+/f8\.npy;"),
    ("a file that looks like an option", "reduce -- --f4.npy", 6, r"^$", r"--f4\.npy: cannot be read"),
    ("files that look like options", "reduce -- --f4.npy --f8.npy", 2, r"^$", r"not expected"),
    ("no input", "reduce", 2, r"^$", r"X\.npy is required"),
    ("two inputs", "reduce {d}/f4.npy {d}/f8.npy", 2, r"^$", r"not expected"),
    ("scan without output", "scan {d}/f4.npy", 2, r"^$", r"--output is required"),
    ("quiet and verbose", "reduce {d}/f4.npy -q -v", 2, r"^$", r"excludes"),
    ("threads that are no number", "reduce {d}/f4.npy --threads many", 2, r"^$", r"threads"),
    ("negative threads", "reduce {d}/f4.npy --threads -1", 2, r"^$", r"threads"),
    ("reduce", "reduce {d}/f4.npy --device cpu", 0, r"^-?[0-9.e+]+\n$", r"^$"),
    ("reduce help", "reduce --help", 0, r"Examples:", r"^$"),
    ("scan help says flat", "scan --help", 0, r"flat, in C order", r"^$"),
    ("verify help", "verify --help", 0, r"Exit 3", r"^$"),
    ("verbose", "reduce {d}/f4.npy --device cpu -v", 0, r"^\S+\n$", r"reduce/\S+ .*on cpu: "),
    ("largest u8", "reduce {d}/big.npy --device cpu --op max", 0, r"^18446744073709551615\n$", r"^$"),
    ("smallest i8", "reduce {d}/small.npy --device cpu --op min", 0, r"^-9223372036854775808\n$", r"^$"),
    ("a single value", "reduce {d}/single.npy --device cpu", 0, r"^2\.5\n$", r"^$"),
    ("the shortest digits", "reduce {d}/tenth.npy --device cpu", 0, r"^0\.1\n$", r"^$"),
    ("an empty sum", "reduce {d}/empty.npy --device cpu", 0, r"^0\n$", r"^$"),
    ("an empty product", "reduce {d}/empty.npy --device cpu --op product", 0, r"^1\n$", r"^$"),
    ("an empty min", "reduce {d}/empty.npy --device cpu --op min", 2, r"^$", r"tilewise: .*min"),
    ("a nan wins", "reduce {d}/nan.npy --device cpu --op max", 0, r"^nan\n$", r"^$"),
    ("no such op", "reduce {d}/f4.npy --op summ", 2, r"^$", r"no op 'summ'; did you mean sum"),
    ("no such op of scan", "scan {d}/f4.npy -o {d}/y.npy --op mean", 2, r"^$", r"no op 'mean'; divide the sum"),
    ("no such device", "reduce {d}/f4.npy --device cpu:opnmp", 4, r"^$", r"did you mean cpu:openmp"),
    ("no such backend", "reduce {d}/f4.npy --device vulkan:0", 4, r"^$", r"no device 'vulkan:0'; did you mean"),
    ("no such index", "reduce {d}/f4.npy --device cuda:99", 4, r"^$", r"no device 'cuda:99'"),
    ("an empty device name part", "reduce {d}/f4.npy --device cpu:", 4, r"^$", r"did you mean"),
    ("no such variant", "reduce {d}/f4.npy --device cpu --variant lookbak", 2, r"^$", r"no variant 'lookbak'; did you"),
    ("a variant of elsewhere", "reduce {d}/f4.npy --device cpu --variant reduce/opencl:two_phase", "2|4", r"^$",
     r"opencl"),
    ("no such tuning", "reduce {d}/f4.npy --device cpu --variant reduce/serial --tuning size=3", 2, r"^$",
     r"'size=3' is not one"),
    ("the definition", "reduce {d}/f4.npy --device cpu --variant reduce/serial -v", 0, r"\d", r"asked for"),
    ("missing file", "reduce {d}/nix.npy", 6, r"^$", r"nix\.npy: cannot be read: No such file"),
    ("a folder", "reduce {d}", 6, r"^$", r"not a regular file"),
    ("a fifo", "reduce {d}/fifo", 6, r"^$", r"not a regular file"),
    ("text", "reduce {d}/text.npy", 6, r"^$", r"not a NumPy file"),
    ("an empty file", "reduce {d}/nothing.npy", 6, r"^$", r"not a NumPy file"),
    ("a lying shape", "reduce {d}/lying.npy", 6, r"^$", r"cut off"),
    ("cut off", "scan {d}/cut.npy -o {d}/y.npy", 6, r"^$", r"cut off"),
    ("too long", "reduce {d}/long.npy", 6, r"^$", r"not one array"),
    ("float16", "reduce {d}/f2.npy", 6, r"^$", r"'<f2'.*f4, f8, i4, i8, u4 and u8"),
    ("complex", "reduce {d}/c8.npy", 6, r"^$", r"'<c8'"),
    ("bool", "reduce {d}/b1.npy", 6, r"^$", r"'\|b1'"),
    ("records", "reduce {d}/records.npy", 6, r"^$", r"records"),
    ("an npz", "reduce {d}/x.npz", 6, r"^$", r"not a NumPy file"),
    ("a pickled object", "reduce {d}/object.npy", 6, r"^$", r"'\|O'"),
    ("larger than memory", "sort {d}/giant.npy -o {d}/y.npy", 5, r"^$", r"(needs|takes) \d{13,} bytes of memory, but .*\d+ (are )?left"),
    ("no folder to write", "scan {d}/f4.npy -o {d}/no/y.npy --device cpu", 6, r"^$", r"y\.npy: cannot be written"),
    ("a folder to write", "scan {d}/f4.npy -o {d} --device cpu", 6, r"^$", r"not a regular file"),
    ("/dev/full to write", "scan {d}/f4.npy -o /dev/full --device cpu", 6, r"^$", r"not a regular file"),
    ("/dev/null to write", "scan {d}/f4.npy -o /dev/null --device cpu", 6, r"^$", r"not a regular file"),
    ("standard output by its path", "scan {d}/f4.npy -o /dev/stdout --device cpu", 6, r"^$", r"/dev/stdout: is open already, .*write to - instead"),
    ("an endless name", "scan {d}/f4.npy -o {d}/" + "n" * 300 + " --device cpu", 6, r"^$", r"File name too long"),
    ("init that is no number", "scan {d}/f4.npy -o {d}/y.npy --init x --device cpu", 2, r"^$", r"'x' is not a number"),
    ("init out of range", "scan {d}/i4.npy -o {d}/y.npy --init 2147483648 --device cpu", 2, r"^$", r"-2147483648 to"),
    ("negative init", "scan {d}/u4.npy -o {d}/y.npy --init=-1 --device cpu", 2, r"^$", r"u32"),
    ("fractional init", "scan {d}/i8.npy -o {d}/y.npy --init 1.5 --device cpu", 2, r"^$", r"not a number of type i64"),
    ("nan as init", "scan {d}/f4.npy -o {d}/y.npy --init nan --device cpu", 0, r"^$", r"^$"),
    ("exclusive min lacks init", "scan {d}/f4.npy -o {d}/y.npy --exclusive --op min --device cpu", 2, r"^$", r"initial"),
    ("verify one", "verify reduce --device cpu:serial --n 1000", 0,
     r"^reduce +[0-9a-f]{{32}}  = on \d+ variants, 1 device, \d+ cases\n.*--thorough tries\n.*minutes\.\n$", r"^$"),
    ("verify quietly", "verify reduce --device cpu:serial --n 1000 -q", 0, r"^reduce .* cases\n$", r"^$"),
    ("verify all", "verify reduce --variant serial --device cpu:serial --n 1000 --thorough", 0, r"^reduce .* = on 1 variant, 1 device, 49 cases\n$",
     r"^$"),
    ("verify several", "verify reduce --device cpu:serial,cpu:threads --device cpu:serial --n 1000", 0, r" = on \d+ variants, 2 devices, ", r"^$"),
    ("verify several, one missing", "verify reduce --device cpu:serial,cuda:99", 4, r"^$", r"no device 'cuda:99'"),
    ("verify below nothing", "verify scan --n -1", 2, r"^$", r"--n: '-1' is not a whole number from 0 to"),
    ("a zero before a number", "verify scan --n 010", 2, r"^$", r"--n: '010' begins with a 0; write it without"),
    ("a zero before a side", "bench matmul --shape 010x4x4", 2, r"^$", r"--shape: '010' begins with a 0; write it without"),
    ("a zero before a size", "reduce {d}/f4.npy --device-memory 062M", 2, r"^$", r"'062M' begins with a 0; write it without"),
    *((f"a limit of {word}", f"reduce {{d}}/f4.npy --device-memory={word}", 2, r"^$", f"--device-memory: '{re.escape(word)}' is not a number of bytes, such as 512M")
      for word in ("0", "-1", "K", "1e3", "1.5G", "512MB", "17179869184G", "18446744073709551616")),
    ("a limit of all bytes", "reduce {d}/tenth.npy --device cpu --device-memory=18446744073709551615", 0, r"^0\.1\n$", r"^$"),
    ("bench no number", "bench scan --n 1.5e0", 2, r"^$", r"--n: '1.5e0' is not a whole number from 1 to"),
    ("bench a rank of nobody", "bench scan reduce --shape 3x4", 2, r"^$",
     r"--shape 3x4 has 2 sizes; reduce takes 1, scan takes 1"),
    ("bench no shape", "bench matmul --shape 3x4x", 2, r"^$", r"--shape '3x4x' is not one to six whole numbers"),
    ("bench a shape without answer", "bench matvec --shape 3x4x2", 2, r"^$", r"n=3x4x2: A is 3x4, but its rows are"),
    ("bench no such setting", "bench sort --set ordr=descending", 2, r"^$", r"setting 'ordr'; did you mean order"),
    ("bench no such word", "bench sort --set order=desc", 2, r"^$", r"no order 'desc'; did you mean descending"),
    ("bench no word", "bench sort --set order", 2, r"^$", r"--set 'order' is not NAME=WORD"),
    ("bench of sides", "bench matmul matvec --n 8 --device cpu --dry-run", 0,
     r"(?s)^matmul.f32 n=8x8x8 @cpu.*\nmatvec.f32 n=8x8 @cpu", ""),
    ("bench of shapes", "bench matmul matvec --shape 8x4x2,3x4 --device cpu --dry-run", 0,
     r"(?s)^matmul.f32 n=8x4x2 @cpu.*\nmatvec.f32 n=3x4 @cpu", ""),
    ("bench a first look", "bench --device cpu:serial --n 8 --max-time 0.001 -q", 0,
     r"\nThis first look covered \d+ rows: (\d+) algorithms, .*\.\n--preset normal covers \d+ rows: \1 .*, f32 f64 i32\.\n$", "^$"),
    ("bench what is named", "bench reduce --device cpu:serial --n 8 --max-time 0.001 -q", 0, r"^(?!(.*\n)*This first)", "^$"),
    ("bench a device twice", "bench reduce --n 8 --op sum --dtype f32 --variant cpu --device cpu:serial,cpu:serial --device all --dry-run", 0,
     r"^reduce.*\n(?!(.*\n)*  (reduce/cpu @cpu:serial)\n(.*\n)*  \2\n)(.*\n)*  reduce/cpu @cpu:serial\n", ""),
    ("bench no elements", "bench scan --dry-run --n 0", 2, r"^$", r"--n: '0' is not a whole number from 1 to"),
    ("bench settings", "bench sort --n 9 --set order=descending,payload=indices --device cpu --dry-run", 0,
     r"^sort.f32 n=9 order=descending payload=indices @cpu", ""),
    ("bench a document's sizes", "bench polymul --preset seeds --device cpu --dry-run", 0,
     r"(?s)^polymul.i32 n=256x256 modulus=none data=seeds @cpu.*serial @cpu\n.*n=65536x65536 .*serial @cpu .skipped: one call", "^$"),
    ("bench a document's sum", "bench reduce --preset seeds --n 8 --device cpu:serial --max-time 0.01 -q", 0,
     r"(?s)reduce.i32  n = 8 .*Kuppannagari.*begins 36, as published.*publishes no times.*Not measured:", "^$"),
    ("bench what no document measures", "bench matvec --preset seeds", 2, r"^$",
     r"no document measures that; they measure polymul at 256x256 1024x1024 4096x4096 16384x16384 65536x65536, scan at 67108865"),
    ("bench a document at another size", "bench sort --preset seeds --n 11", 2, r"^$", r"sort at 10 32 1000 50000"),
    ("bench a document with another type", "bench sort --preset seeds --dtype f32", 2, r"^$", r"leave --dtype, --op"),
    ("bench no time", "bench scan --max-time 0", 2, r"^$", r"'0' is not a number of seconds above 0"),
    ("bench a precision of words", "bench scan --dry-run --precision 1x", 2, r"^$", r"--precision '1x' is not a share"),
    ("bench no precision", "bench scan --dry-run --precision 51%", 2, r"^$", r"--precision '51%' is not a share"),
    ("bench no such variant", "bench --variant foo", 2, r"^$", r"no variant is called 'foo'; did you mean"),
    ("bench a type as files have it", "bench --dtype u8", 2, r"^$", r"no type 'u8'; did you mean u64[ ,]"),
    ("bench no such type", "bench --dtype f16", 2, r"^$", r"no type 'f16'; did you mean"),
    ("no output", "scan {d}/f4.npy", 2, r"^$", r"^tilewise: --output is required; see `tilewise scan --help`\n$"),
    ("an output without a name", "scan {d}/f4.npy -o", 2, r"^$", r"^tilewise: --output needs a value; see"),
    ("verify nothing of it", "verify sacn", 2, r"^$", r"no algorithm 'sacn'; did you mean scan"),
    ("verify no such variant", "verify scan --variant nix --device cpu", 4, r"^$", r"no variant of scan fits"),
    ("verify no elements", "verify scan --device cpu --n 0", 0, r"  = on ", r"^$"),
    ("list one", "list scan", 0, r"scan/serial\n +order +tilewise", r"^$"),
    ("list groups, which are everywhere", "list reduce", 0, r"\n  reduce/group\n( +(order|dtypes|source|tuning) .*\n)+(  \S|$)", r"^$"),
    ("list nothing of it", "list reduse", 2, r"^$", r"did you mean reduce"),
    ("probe is hidden", "--help", 0, r"^(?!.*  probe)", r"^$"),
]

# The same for the tool with faulty variants in it.
PLANTED_ROWS = [
    ("a wrong bit", "verify scan --device cpu --variant one_bit --n 1001", 3,
     r"DIFFERS 1 time on 1 variant, 1 device, 1 case\n  scan/cpu:one_bit on cpu: y\[500\] is \S+ \(0x[0-9a-f]{{8}}\) instead of \S+ \(0x[0-9a-f]"
     r"{{8}}\); 1 element differs\n  repeat: tilewise verify scan --variant scan/cpu:one_bit --device cpu --n 1001", ""),
    ("a wrong bit of one tuning", "verify scan --variant altering --tuning pace=altering --seed 7 --device cpu:threads --threads 3 --n 99", 3,
     r'\n  repeat: tilewise verify scan --variant scan/cpu:altering --device cpu:threads --n 99 --seed 7 --tuning "pace=altering" --threads 3\n', ""),
    ("a wrong bit in JSON", "verify scan --device cpu --variant one_bit --json", 3, r'"repeat":"tilewise verify', ""),
    ("a wrong bit of one word", "verify scan --device cpu --variant exclusive_bit --n 1001", 3,
     r"kind=exclusive.*: y\[500\] is ", ""),
    ("a wrong bit of two words, not looked for", "verify scan --device cpu --variant pair_bit --n 1001", 0, r"  = on 1 v", ""),
    ("a wrong bit of two words", "verify scan --device cpu --variant pair_bit --n 1001 --thorough", 3,
     r"op=max kind=exclusive.*: y\[500\] is .*\n  repeat: .* --thorough", ""),
    ("a wrong bit of a document's sum", "bench reduce --preset seeds --n 8 --variant first_bit --device cpu:serial -q", 3,
     r"first_bit @cpu:serial +wrong +WRONG\n +the result differs from the definition's\n", ""),
    ("no memory for one", "verify scan --device cpu --variant no_memory", 5, r"failed: the host does not have enough", ""),
    ("a lost device", "verify scan --device cpu --variant lost", 8, r"failed: planted", ""),
    ("a lost device in scan", "scan {d}/f4.npy -o {d}/none.npy --device cpu --variant lost", 8, r"^$", "planted"),
    ("a failed build", "scan {d}/f4.npy -o {d}/none.npy --device cpu --variant unbuilt", 4, r"^$", "planted"),
    ("an overflow", "scan {d}/f4.npy -o {d}/none.npy --device cpu --variant overflows", 5, r"^$", "planted"),
    ("no memory", "scan {d}/f4.npy -o {d}/none.npy --device cpu --variant no_memory", 5, r"^$", "not have enough memory"),
    ("a fault of ours", "scan {d}/f4.npy -o {d}/none.npy --device cpu --variant internal", 1, r"^$", "internal error"),
    ("a fault that nobody catches", "verify scan --device cpu --variant uncaught", -signal.SIGABRT, r"^$",
     r"tilewise::error(.|\n)*planted"),
    ("no memory, where none may be thrown", "scan {d}/f4.npy -o {d}/none.npy --device cpu --variant uncaught_memory", 5, r"^$",
     "not have enough memory"),
]


def run(arguments, tool=TOOL, **options):
    words = arguments if isinstance(arguments, list) else arguments.split()
    return subprocess.run([tool] + words, capture_output=True, text=True, timeout=HANGS_S, stdin=subprocess.DEVNULL,
                          **options)


def together(call, cases):
    """What `call` returns for each case; all begin at once, for cases that wait or that start slow programs."""
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as threads:
        return list(threads.map(call, cases))


def covering(*axes):
    """Rows of a value of each axis, in which every pair of values of any two axes occurs; few: every value; all: all rows."""
    if COVER == "few":
        return [tuple(axis[i % len(axis)] for axis in axes) for i in range(max(map(len, axes)))]
    rows = list(itertools.product(*map(range, map(len, axes))))
    pairs = {row: set(itertools.combinations(enumerate(row), 2)) for row in rows}
    missing, chosen = set().union(*pairs.values()), []
    while missing and COVER != "all":
        chosen.append(max(rows, key=lambda row: len(pairs[row] & missing)))
        missing -= pairs[chosen[-1]]
    return [tuple(axis[i] for axis, i in zip(axes, row)) for row in (rows if COVER == "all" else chosen)]


@functools.cache
def devices_for(algorithm):
    """Where it runs in the order; few: one device of each backend."""
    variants = json.loads(run(f"list {algorithm} --json").stdout)["variants"]
    backends = {v["backend"].replace("serial", "cpu") for v in variants if v["order"] == "tilewise"}
    listed = [d for d in device_facts() if d["backend"] in backends]
    of_backend = {d["backend"]: d["name"] for d in reversed(listed)}
    return list(of_backend.values()) if COVER == "few" else [d["name"] for d in listed]


@functools.cache
def device_facts():
    return json.loads(run("devices --json").stdout)["devices"]


def wide_values(dtype, count, seed=1):
    """Values whose sum shows the order of additions."""
    r = np.random.default_rng(seed)
    if dtype[0] == "f":
        return (r.standard_normal(count) * 10.0 ** r.integers(-12, 12, count)).astype(dtype)
    info = np.iinfo(dtype)
    return r.integers(info.min, info.max, count, dtype=dtype, endpoint=True)


def make_inputs(d):
    for t in DTYPES:
        np.save(f"{d}/{t}.npy", wide_values(t, 1003))
    np.save(f"{d}/big.npy", np.array([0, 2**64 - 1], "u8"))
    np.save(f"{d}/small.npy", np.array([0, -(2**63)], "i8"))
    np.save(f"{d}/single.npy", np.float64(2.5))
    np.save(f"{d}/tenth.npy", np.array([0.1], "f4"))
    np.save(f"{d}/empty.npy", np.zeros((0, 3)))
    np.save(f"{d}/nan.npy", np.array([1, np.nan, 2]))
    np.save(f"{d}/f2.npy", np.zeros(3, "f2"))
    np.save(f"{d}/c8.npy", np.zeros(3, "c8"))
    np.save(f"{d}/b1.npy", np.zeros(3, "?"))
    np.save(f"{d}/records.npy", np.zeros(3, [("a", "f4")]))
    np.save(f"{d}/object.npy", np.array([{}], object))
    np.savez(f"{d}/x.npz", np.zeros(3))
    os.mkfifo(f"{d}/fifo")
    good = open(f"{d}/f4.npy", "rb").read()
    for name, contents in (("text", b"1,2,3\n"), ("nothing", b""), ("cut", good[:-5]), ("long", good + b"x"),
                           ("lying", good.replace(b"(1003,)", b"(9999,)"))):
        open(f"{d}/{name}.npy", "wb").write(contents)
    with open(f"{d}/giant.npy", "wb") as giant:
        facts = {"descr": "<f8", "fortran_order": False, "shape": (2**40,)}
        np.lib.format.write_array_header_1_0(giant, facts)
        giant.truncate(giant.tell() + 8 * 2**40)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.d = cls.folder.name
        make_inputs(cls.d)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def as_nobody(self, first=lambda: None):
        """For preexec_fn: after `first`, the process has no rights of root's. Skips the test where it may not run the tool."""
        def become():
            first()
            if os.geteuid() == 0:
                os.setuid(65534)

        try:
            run("--version", preexec_fn=become)
        except PermissionError:
            self.skipTest("nobody may not run what is built here")
        return become

    def check(self, result, code, out="", err=""):
        said = f"\nexit {result.returncode}\n{result.stdout}{result.stderr}"
        self.assertRegex(str(result.returncode), f"^({code})$", said)
        self.assertTrue(re.search(out, result.stdout), f"{out!r} does not match standard output of{said}")
        self.assertTrue(re.search(err, result.stderr), f"{err!r} does not match standard error of{said}")

    def check_rows(self, rows, **names):
        """As ROWS; `names` are what the arguments have in braces. What is printed fits a terminal."""
        for name, arguments, code, out, err in rows:
            with self.subTest(name):
                told = run(arguments.format(**names))
                self.check(told, code, out, err)
                for line in told.stdout.splitlines():
                    self.assertLessEqual(len(line), 80, line)


class Rows(Case):
    def test_table(self):
        self.assertGreaterEqual(len(ROWS), 60)
        for tool, rows in ((TOOL, ROWS), (PLANTED, PLANTED_ROWS)):
            for name, arguments, code, out, err in rows:
                with self.subTest(name):
                    before = set(os.listdir(self.d))
                    result = run(arguments.format(d=self.d), tool)
                    self.check(result, code, out.format(), err)
                    left = set(os.listdir(self.d)) - before
                    self.assertLessEqual(left, {"y.npy"} if code == 0 else set())

    def test_help_fits_a_terminal(self):
        for command in "", "bench", "compare", "devices", "diffuse", "doctor", "list", "reduce", "report", "roofline", "scale", "scan", "verify":
            for line in run(f"{command} --help").stdout.splitlines():
                self.assertLessEqual(len(line), 80, line)


class Files(Case):
    def test_a_device_tells_the_multiple_of_its_groups(self):
        for device in device_facts():
            if "OpenCL 3" in (device["api_version"] or "") or device["backend"] == "cuda":
                self.assertGreater(device["group_multiple"], 0, device)
                self.assertIn(f"groups in multiples of {device['group_multiple']}", " ".join(run("devices").stdout.split()))

    def test_all_devices_write_the_same_bytes(self):
        def scan(t, arguments, device):
            self.check(run(f"scan {self.d}/{t}.npy -o {self.d}/y.npy --device {device} {arguments}"), 0)
            return open(f"{self.d}/y.npy", "rb").read()

        expected = {}
        options = "", "--exclusive --init 3", "--op max", "--op product --init 1"
        for t, arguments, device in covering(DTYPES, options, [d for d in devices_for("scan") if d != "cpu:serial"]):
            if (t, arguments) not in expected:
                expected[t, arguments] = scan(t, arguments, "cpu:serial")
            self.assertEqual(scan(t, arguments, device), expected[t, arguments], (t, arguments, device))

    def test_exact_results_are_numpys(self):
        for t in DTYPES:
            x = np.load(f"{self.d}/{t}.npy")
            for name in ("min", "max") if t[0] == "f" else OPS:
                self.check(run(f"scan {self.d}/{t}.npy -o {self.d}/y.npy --device cpu --op {name}"), 0)
                with np.errstate(over="ignore"):
                    expected = OPS[name].accumulate(x, dtype=t)
                self.assertEqual(np.load(f"{self.d}/y.npy").tobytes(), expected.tobytes(), (t, name))

    def test_a_scan_ends_in_the_reduction(self):
        for t in DTYPES:
            fields = json.loads(run(f"reduce {self.d}/{t}.npy --device cpu --json").stdout)
            self.check(run(f"scan {self.d}/{t}.npy -o {self.d}/y.npy --device cpu"), 0)
            last = np.load(f"{self.d}/y.npy")[-1:]
            self.assertEqual("0x" + last.astype(">" + t).tobytes().hex(), fields["value_hex"])
            self.assertEqual(np.array([fields["value"]]).astype(t).tobytes(), last.tobytes())

    def test_numpys_files_of_every_kind_are_read(self):
        for t, byte_order, order, version in covering(DTYPES, "<>", "CF", ((1, 0), (2, 0), (3, 0))):
            values = wide_values(t, 24).reshape(2, 3, 4)
            with open(f"{self.d}/x.npy", "wb") as file:
                np.lib.format.write_array(file, values.astype(byte_order + t, order=order), version)
            self.check(run(f"scan {self.d}/x.npy -o {self.d}/y.npy --op max --device cpu:serial"), 0)
            y = np.load(f"{self.d}/y.npy")
            self.assertEqual((y.shape, y.dtype), ((2, 3, 4), np.dtype("<" + t)))
            self.assertEqual(y.tobytes(), np.maximum.accumulate(values.ravel()).tobytes())

    def test_json_has_its_fields(self):
        common = {"command", "device", "variant", "reason", "tuning", "op", "dtype", "shape", "digest", "h2d_ns",
                  "kernel_ns", "d2h_ns", "round_trip_ns", "first_call_ns", "end_to_end_ns"}
        fields = json.loads(run(f"reduce {self.d}/f8.npy --device cpu --json").stdout)
        self.assertLessEqual(common | {"value", "value_hex"}, set(fields))
        self.assertEqual((fields["dtype"], fields["shape"], fields["device"]), ("f64", [1003], "cpu"))
        fields = json.loads(run(f"scan {self.d}/f8.npy -o {self.d}/y.npy --device cpu --json").stdout)
        self.assertLessEqual(common | {"output", "kind", "init"}, set(fields))
        self.assertRegex(fields["digest"], "^[0-9a-f]{32}$")
        nan = json.loads(run(f"reduce {self.d}/nan.npy --device cpu --op max --json").stdout)
        self.assertEqual((nan["value"], nan["value_hex"]), (None, "0x7ff8000000000000"))
        np.save(f"{self.d}/one.npy", np.full((1, 1), 3, "f4"))
        reduced = json.loads(run(f"reduce {self.d}/one.npy --device cpu --json").stdout)
        scanned = json.loads(run(f"scan {self.d}/one.npy -o {self.d}/y.npy --device cpu --json").stdout)
        self.assertEqual([reduced[key] for key in ("digest", "shape")], [scanned[key] for key in ("digest", "shape")])
        self.assertEqual(scanned["shape"], [1, 1])
        self.assertEqual(json.loads(run(f"reduce {self.d}/one.npy --init 4 --device cpu --json").stdout)["value"], 7)

    def test_in_place_and_threads(self):
        results = set()
        for threads in 1, 2, 3, 7:
            np.save(f"{self.d}/x.npy", wide_values("f4", 300007))
            self.check(run(f"scan {self.d}/x.npy -o {self.d}/x.npy --device cpu --threads {threads}"), 0)
            results.add(open(f"{self.d}/x.npy", "rb").read())
        self.assertEqual(len(results), 1)


class Surroundings(Case):
    def test_closed_and_full_outputs(self):
        command = f"{TOOL} reduce {self.d}/f4.npy --device cpu"
        shell = lambda text: subprocess.run(["bash", "-c", text], capture_output=True, text=True, timeout=HANGS_S)
        self.check(shell(f"{command} > /dev/full"), 6, "^$", "No space left")
        self.check(shell(f"{command} >&-"), 6, "^$", "Bad file descriptor")
        self.check(shell(f"{PLANTED} verify scan --variant one_bit --device cpu:serial --n 99 > /dev/full"), 3, "^$", "No space left")
        self.check(shell(f"{command} 2>&-"), 0, r"\d")
        self.check(shell(f"{command} <&-"), 0, r"\d")
        self.check(shell(f"{TOOL} list | head -n 0; exit ${{PIPESTATUS[0]}}"), 0, "^$", "^$")

    def test_bare_environment(self):
        self.check(run(f"reduce {self.d}/f4.npy --device cpu", env={}), 0, r"\d", "^$")
        self.check(run(f"reduce {self.d}/f4.npy", env={"TILEWISE_DEVICE": "cpu:serial"}), 0, r"\d", "^$")
        self.check(run(f"reduce {self.d}/f4.npy", env={"TILEWISE_DEVICE": "nix"}), 4, "^$", "no device 'nix'")
        self.check(run(f"reduce {self.d}/f4.npy", env={"TILEWISE_DEVICE": "2*auto"}), 2, "^$", "'2[*]auto', but auto is what TILEWISE_DEVICE names")
        for group, named in [("2*auto", "2*cpu:serial"), ("cpu:serial+2*auto", "2*cpu:serial"), ("cpu:serial+mpi", ""), ("2*3*cpu:serial", ""),
                             ("mpi:2*cpu:serial", ""), ("mpi:mpi:cpu:serial", "")]:
            self.check(run(f"sort {self.d}/f4.npy -o {self.d}/no.npy --device {group}", env={"TILEWISE_DEVICE": named}), 2, "^$",
                       "is not a group of devices: '.*' in it is one already")
        self.check(run(f"reduce {self.d}/f4.npy --device mpix+cpu:serial"), 4, "^$", "no device 'mpix'")
        self.check(run(f"reduce {self.d}/f4.npy", env={"TMPDIR": "/nowhere"}), 0, r"\d", "^$")

    def test_no_colour_where_it_is_not_wanted(self):
        self.assertNotIn("\033", run("devices").stdout)

    def test_a_read_only_target_is_left_alone(self):
        target = f"{self.d}/kept.npy"
        open(target, "w").write("kept")
        os.chmod(target, stat.S_IRUSR)
        if not os.access(target, os.W_OK):  # root may write it anyway
            self.check(run(f"scan {self.d}/f4.npy -o {target} --device cpu"), 6, "^$", "cannot be overwritten")
            self.assertEqual(open(target).read(), "kept")

    def test_a_failed_write_leaves_the_old_file_and_no_other(self):
        target = f"{self.d}/old.npy"
        open(target, "w").write("old")
        np.save(f"{self.d}/x.npy", wide_values("f8", 100000))
        before = set(os.listdir(self.d))

        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        self.check(run(f"scan {self.d}/x.npy -o {target} --device cpu", preexec_fn=small_files), 6, "^$", "too large")
        self.assertEqual(open(target).read(), "old")
        self.assertEqual(set(os.listdir(self.d)), before)

    def asleep(self, **options):
        """A scan that is in the middle of its work, where it sleeps."""
        words = [PLANTED, "scan", f"{self.d}/f4.npy", "-o", f"{self.d}/none.npy", "--device", "cpu", "--variant", "sleeps"]
        with tempfile.TemporaryDirectory() as folder:
            child = subprocess.Popen(words, stderr=subprocess.DEVNULL, env={**os.environ, "PLANTED_SEEN": f"{folder}/seen"}, **options)
            while child.poll() is None and not os.path.exists(f"{folder}/seen"):
                time.sleep(0.01)
        return child

    def test_an_interrupt_leaves_nothing_behind(self):
        before = set(os.listdir(self.d))
        child = self.asleep()
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(timeout=HANGS_S), 130)
        self.assertEqual(set(os.listdir(self.d)), before)

    def test_a_terminal_that_goes_away_ends_nothing_that_nohup_started(self):
        child = self.asleep(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        child.send_signal(signal.SIGHUP)
        with self.assertRaises(subprocess.TimeoutExpired):
            child.wait(timeout=0.5)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(timeout=HANGS_S), 130)


if __name__ == "__main__":
    named_tests.main()
