# SPDX-License-Identifier: Apache-2.0
"""Headers of .npy files: what NumPy reads is read alike, or what is said makes a file of it that is; what NumPy refuses is refused.

cli_headers_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import io
import itertools
import random
import re
import struct
import subprocess
import tempfile
import warnings

import numpy as np

import named_tests
from cli_test import COVER, HANGS_S, TOOL, Case

ADVICE = r"(if NumPy reads the file, )?(np\.save\(.*\))( |$)"
SHARE = {"few": 0.2, "pairs": 1, "all": 10}[COVER]
OURS = {np.dtype(t) for t in ("f4", "f8", "i4", "i8", "u4", "u8")}
CODES = [c + n for c, n in itertools.product("?abcdefghilmopqstuvwxyzBDFGHILMOPQSUV", ("", "1", "2", "4", "8", "16", "04"))]
NAMES = [name for name in np.sctypeDict if isinstance(name, str)] + "float int complex str bytes object Float32 FLOAT32 float80 real uint4".split()
SPELLINGS = ["".join(p) for p in itertools.product(("", "<", ">", "=", "|", "!", "<<"), CODES + NAMES)]
ODD_SPELLINGS = ["", "<", "<f4 ", " <f4", "f 4", "1f4", "2f4", "f4,f4", "(2,)f4", "(1,)f4", "f4,", "f4, ", "(2,)f4,f4", "f4,(2,)f4", "(1,)i8", "1i8", "i8,", "u8,", "1i1", "n", "N", "<n", "T", "<M8[ns]", ">m8[3s]", "M8[", "M8[x]", "\\x66", "é", "f4\t", "<f4;", "f8 d", "f4 f"]
PLAIN = {"version": 1, "descr": "'<f4'", "shape": "(3,)", "order": "False", "keys": (0, 1, 2), "quote": "'", "prefix": "", "space": " ", "comma": ", ", "end": "\n"}
AXES = {
    "version": (1, 2, 3), "descr": ("'<f4'", "'>i8'", "u'=u4'", "'double'", '"|u8"', "'i'"), "order": ("False", "True"),
    "shape": ("(3,)", "(3L,)", "(2, 3L)", "(2L,3L,1)", "()", "(0,)", "(0L, 4)", "( 2 ,\n 3, )", "(2,3,2)", "(1,1,1,1,1,1,1,2)"),
    "keys": tuple(itertools.permutations(range(3))), "quote": ("'", '"'), "prefix": ("", "u", "U"), "space": ("", " ", "\n", "\r\n", "\t\f "), "comma": ("", ", "),
    "end": ("", "\n", "\n\n", "\r\n", "      \n", "\r", " \f")}
SHAPES = ["(3,)", "(3)", "3", "[3]", "(3,,)", "(,)", "(3 1)", "(3,", "(-3,)", "(-1,)", "(+3,)", "(0x3,)", "(0o3,)", "(03,)", "(00,)", "(3.,)", "(3.0,)", "(3e0,)", "(3j,)",
          "(3_0,)", "(1_2,)", "(True,)", "(True, 3)", "(None,)", "('3',)", "((3),)", "((3,),)", "(3L)", "(3l,)", "(3LL,)", "(3 L,)", "(3\nL,)", "(3Lx,)", "(3L_,)", "(3_L,)", "(L,)",
          "(03L,)", "(3L.5,)", "(3#x\n,)", "(3\\\n,)", "(9223372036854775807,)", "(9223372036854775808,)", "(0,9223372036854775808)", "(4611686018427387904, 4)",
          "(18446744073709551616,)", "(1,1,1,1,1,1,1,1,3)", "(" + "1," * 32 + ")", "(" + "1," * 33 + ")", "(3L,1L,2)", "(2,3)L", "tuple([3])", "(*[3],)", "()()", "(3,) + (1,)"]
DESCRS = ["None", "4", "'<f4", "b'<f4'", "r'<f4'", "R'<f4'", "ur'<f4'", "u '<f4'", "f'<f4'", "'''<f4'''", "'<' 'f4'", "'<f'+'4'", "('<f4')", "('<f4',)", "('<f4', (3,))", "('<f4', 2)",
          "[('a', '<f4')]", "[('a', '<f4'), ('b', '<i8')]", "{'a': 1}", r"'\x3cf4'", "'<f4\\\n'", "'<f4\n'", "float", "'<f4'#", "'''<i8'''", "'' '<i8'", "'O'", "'|O'"]
ORDERS = ["1", "0", "true", "FALSE", "'True'", "None", "(False)", "not False", "Falsehood", "True False", "TrueFalse", "b'True'", "False#\n"]
WHOLE = ["", "{}", "\n", "[]", "None", "{", "}", "{'descr'}", "{'shape': (3,)}", "{PLAIN},", "{PLAIN};", "{PLAIN} x", "{PLAIN}{PLAIN}", "{PLAIN}\n{PLAIN}", "({PLAIN})", "dict({PLAIN})",
         "{{PLAIN}}", "{PLAIN}#", "# x\n{PLAIN}", "{PLAIN}\0", "\0{PLAIN}", "{PLAIN}\x1a", "{PLAIN}\v", "\ufeff{PLAIN}", "{PLAIN}\xa0", "x = {PLAIN}", "{PLAIN}.copy()", " {PLAIN}", "\\\n{PLAIN}", "{PLAIN}\\\n", "{PLAIN}\n#x\n",
         "\t{PLAIN}", "{'x': 1, **{PLAIN}}"]
INNER = ["'x': 1, ", "'shape': (7,), ", "'descr': 4, ", "'descr': '<i8', ", "'fortran_order': True, ", "'shape': (3L,), ", ", ", "0: 1, ", "b'shape': (3,), ", "'Shape': (3,), ",
         r"'sh\x61pe': (3,), ", "'sha' 'pe': (3,), ", "'': 1, ", "# x\n", "**{}, ", "*[], "]


def text_of(given):
    """A dictionary, of which all but these are plain."""
    p = {**PLAIN, **given}
    named = [("descr", p["descr"]), ("fortran_order", p["order"]), ("shape", p["shape"])]
    entries = [p["space"].join((p["prefix"] + p["quote"] + key + p["quote"], ":", value)) for key, value in (named[i] for i in p["keys"])]
    return "{" + p["space"] + ("," + p["space"]).join(entries) + p["comma"] + p["space"] + "}" + p["end"]


def file_of(text, version):
    """With as many elements as NumPy finds in it, if it finds any."""
    header = text.encode("utf-8" if version == 3 else "latin1", "replace")
    whole = b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(header)) + header
    read = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}.get(version)
    try:
        shape, _, dtype = read(io.BytesIO(whole[8:])) if read else np.lib.format._read_array_header(io.BytesIO(whole[8:]), (3, 0))
        count = int(np.prod(shape, dtype=object))
    except Exception:  # of many kinds, as that of tokens
        return whole + bytes([1] * 12)
    if not -100 < count < 1000 or dtype.itemsize > 1000:
        return whole
    try:
        beyond_f8 = 2**53 if dtype.base.kind in "iu" and dtype.base.itemsize == 8 else 0
        return whole + (np.arange(1, abs(count) + 1) + beyond_f8).astype(dtype).tobytes()
    except Exception:
        return whole + bytes(abs(count) * dtype.itemsize)


class Headers(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.d = cls.folder.name
        warnings.simplefilter("ignore")  # of what Python 2 wrote, and of times without a unit

    def scanned(self, path):
        return subprocess.run([TOOL, "scan", path, "-o", "-", "--device", "cpu:serial"], capture_output=True, timeout=HANGS_S)

    def expect_as_numpy(self, text, version=1, more=b""):
        path, new = f"{self.d}/old.npy", f"{self.d}/new.npy"
        with open(path, "wb") as file:
            file.write(file_of(text, version) + more)
        try:
            x = np.load(path)
        except Exception:  # of many kinds
            x = None
        result = self.scanned(path)
        said = result.stderr.decode(errors="replace")
        if result.returncode == 0:
            self.assertIsNotNone(x, "NumPy refuses it")
            y = np.load(io.BytesIO(result.stdout))
            self.assertEqual((y.dtype, y.shape), (x.dtype.newbyteorder("="), x.shape))
            self.assertEqual(y.tobytes(), np.cumsum(x.ravel(), dtype=y.dtype).tobytes())
            return True
        self.assertEqual((result.returncode, result.stdout), (6, b""), said)
        advice = re.search(ADVICE, said)
        if x is None:
            self.assertTrue(not advice or advice[1], said)
        elif "save an array of numbers" in said:
            self.assertIn(x.dtype.kind, "V", said)
        elif x.dtype.itemsize != 0:
            self.assertTrue(advice, said)
            for _ in range(2):  # of what is written in an unusual way, the type that is there may need a step of its own
                y = np.load(path)
                exec(advice[2].replace("new.npy", new).replace("old.npy", path).replace("FIELD", (y.dtype.names or [""])[0]), {"np": np})
                if y.dtype.kind in "iub":
                    np.testing.assert_array_equal(np.load(new), y, said)
                result, path = self.scanned(new), new
                if result.returncode == 0:
                    break
                said = result.stderr.decode(errors="replace")
                advice = re.search(ADVICE, said)
                self.assertTrue(advice, said)
            self.assertEqual(result.returncode, 0, said)
        return False

    def test_spellings_of_a_type(self):
        """All codes and names, with and without an order of bytes."""
        read = set()
        r, types = random.Random(1), [s for s in SPELLINGS if self.is_type(s)]
        ours, others = [s for s in types if np.dtype(s) in OURS], [s for s in types if np.dtype(s) not in OURS]
        for spelling in ours[::1 if SHARE >= 1 else 5] + r.sample(others, int(50 * SHARE)) + r.sample(SPELLINGS, int(30 * SHARE)) + ODD_SPELLINGS:
            with self.subTest(spelling):
                if self.expect_as_numpy(text_of({"descr": f"'{spelling}'"})):
                    read.add(spelling)
                    continue
                self.assertFalse(spelling not in ODD_SPELLINGS and "0" not in spelling[1:] and self.is_type(spelling) and np.dtype(spelling) in OURS)
        self.assertGreater(len(read), 15 if COVER == "few" else 90)

    @staticmethod
    def is_type(spelling):
        try:
            return bool(np.dtype(spelling))
        except (TypeError, ValueError):
            return False

    def test_ways_to_write_a_dictionary(self):
        """Any of them together; all is read, but for what Python 2 alone writes where it did not yet."""
        r = random.Random(3)
        for version, shape in itertools.product(*(AXES[name] for name in ("version", "shape"))):
            for _ in range(max(1, int(5 * SHARE))):
                given = {**{name: r.choice(values) for name, values in AXES.items()}, "version": version, "shape": shape}
                with self.subTest(given):
                    is_read = self.expect_as_numpy(text_of(given), version)
                    self.assertEqual(is_read, version < 3 or "L" not in shape)

    def test_what_else_python_reads_or_not(self):
        cases = [text_of({name: value}) for name, values in (("shape", SHAPES), ("descr", DESCRS), ("order", ORDERS)) for value in values]
        cases += [whole.replace("{PLAIN}", text_of({"end": ""})) for whole in WHOLE]
        cases += [text.replace("'shape'", inner + "'shape'") for inner in INNER for text in [text_of({})]] + [text_of({"end": inner + "}"})[:-2] for inner in INNER]
        for text, version in list(itertools.product(cases, (1, 3)))[::1 if SHARE >= 1 else 5]:
            with self.subTest(f"{version} {text}"):
                self.expect_as_numpy(text, version)

    def test_what_follows_the_elements(self):
        """NumPy reads one array after another from a file."""
        for more in b"\0", b"\n", file_of(text_of({}), 1), bytes(5000):
            with self.subTest(more):
                self.assertFalse(self.expect_as_numpy(text_of({}), more=more))

    def test_damaged_headers(self):
        r = random.Random(7)
        for _ in range(int(150 * SHARE)):
            text = list(text_of({name: r.choice(values) for name, values in AXES.items() if name not in ("version", "end")}))
            for _ in range(r.randint(1, 2)):
                at, how = r.randrange(len(text)), r.choice("delete double swap insert".split())
                if how == "insert":
                    text.insert(at, r.choice("{}()[],:'\"L0123u<>=|fi48 \n#\\-_.x"))
                elif how == "swap":
                    other = r.randrange(len(text))
                    text[at], text[other] = text[other], text[at]
                else:
                    text[at:at + 1] = [text[at]] * (2 * (how == "double"))
            with self.subTest("".join(text)):
                self.expect_as_numpy("".join(text), r.choice((1, 2, 3)))


if __name__ == "__main__":
    named_tests.main()
