# SPDX-License-Identifier: Apache-2.0
"""What the documents show is run: the examples of each docstring, of the pages and of the README; and the types are checked."""

import doctest
import inspect
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import tilewise as tw

ROOT = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(tw.__file__).parents[2]

# Each line with a comment is refused by mypy for that reason; the others pass.
TYPED = """
import numpy as np
import tilewise as tw
x = np.ones(3, dtype=np.float32)
total: np.float32 = tw.sum(x)
running: np.ndarray[object, np.dtype[np.float32]] = tw.cumsum(x)
places: np.ndarray[object, np.dtype[np.uint32]] = tw.argsort(x, descending=True)
keys, values = tw.sort_by_key(x, places, device=tw.open("cpu"))
product: np.ndarray[object, np.dtype[np.int64]] = tw.polymul(np.ones(3, np.int32), np.ones(3, np.int32), modulus=7)
there: tw.array = tw.cumsum(tw.array(x), out=tw.array(x))
of_rows: np.ndarray[object, np.dtype[np.float32]] = tw.sum(x.reshape(1, 3), axis=1, out=np.empty(1, np.float32))
of_columns: tw.array = tw.max(tw.array(x.reshape(1, 3)), 0, out=tw.array(x), initial=2)
part = tw.partial("max", np.float32)
part.push(x)
names: list[str] = [device.name for device in tw.devices()]
try:
    tw.matmul(x, x, variant="packed")
except tw.InvalidArgument as e:
    error: ValueError = e
tw.cumsum([1, 2])  # type-var
tw.sum(x, axis="rows")  # call-overload
tw.inclusive_scan(x, op="mean")  # arg-type
tw.sort(x, descending="yes")  # arg-type
text: str = tw.sum(x)  # assignment
tw.sum(x, out=x)  # call-overload
wrong: tw.array = tw.min(x.reshape(1, 3), axis=0, out=x)  # assignment
tw.mean(x)  # attr-defined
"""


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)


class Documents(unittest.TestCase):
    def run_examples(self, text, name, names):
        test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
        test.globs = names  # those of the examples before it too
        self.assertTrue(test.examples, f"{name} shows nothing")
        said = []
        failed = doctest.DocTestRunner().run(test, out=said.append, clear_globs=False)
        self.assertEqual(failed.failed, 0, "".join(said))

    def test_docstrings(self):
        self.run_examples(tw.__doc__, "tilewise", {})
        for name in sorted(set(tw.__all__) - {"order_version", "show_config"}):
            thing = getattr(tw, name)
            self.assertTrue(thing.__doc__, name)
            if ">>>" in thing.__doc__:
                self.run_examples(thing.__doc__, name, {"np": np, "tw": tw})
            else:
                self.assertTrue(inspect.isclass(thing), f"{name} has no example")

    def test_signatures(self):
        """inspect and help() show the parameters of the stub."""
        stub = (ROOT / "python/tilewise/__init__.pyi").read_text()
        for name in set(tw.__all__) - {"device", "show_config", "order_version"}:
            thing = getattr(tw, name)
            if inspect.isclass(thing) and issubclass(thing, tw.Error):
                continue
            start = rf"class {name}:\n    def __init__\(self, " if inspect.isclass(thing) else rf"def {name}\("
            parameters = re.search(start + r"(.*?)\) ->", stub, re.S)
            of_stub = re.findall(r"(\w+): ", parameters[1]) if parameters else []
            self.assertEqual(list(inspect.signature(thing).parameters), of_stub, name)

    def test_pages(self):
        for page in "docs/python.md", "docs/howto.md", "docs/partial.md", "README.md":
            names = {}
            for text in blocks(page, "python"):
                if "torch" in text and not has_gpu():
                    continue
                self.run_examples(text, page, names)

    def run_commands(self, texts, **changed):
        """One after another in one folder, by the tool that lies beside the module."""
        if not (BUILD / "tilewise").is_file():
            self.skipTest("the tool is not built")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OMPI_ALLOW_")}
        with tempfile.TemporaryDirectory() as folder:
            for text in texts:
                text = re.sub(r"(?<!\S)(/usr/bin/)?python3(?!\S)", sys.executable, text)
                done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder,
                                      env=environment | {"PATH": f"{BUILD}:{os.environ['PATH']}"} | changed,
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, text + done.stdout + done.stderr)
        return done.stdout

    def test_commands(self):
        self.run_commands(blocks("docs/howto.md", "sh"))

    def test_readme(self):
        """What it tells a newcomer to type, whether as root or not, on a machine of any number of cores."""
        set_up, *tasks = blocks("README.md", "sh")
        self.assertIn("export PATH=", set_up)
        in_checkout = set_up.replace("$PWD/build/release", str(BUILD)) + "\n" + "\n".join(tasks)
        if not list(BUILD.glob("libtilewise-mpi.so*")):
            self.skipTest("this build is without MPI")
        self.run_commands([in_checkout], PATH=os.environ["PATH"])

    def test_digests_of_the_readme(self):
        shown = re.findall(r"^(\w+) +([0-9a-f]{32}) ", (ROOT / "README.md").read_text(), re.M)
        self.assertTrue(shown)
        for algorithm, digest in shown:
            self.assertIn(digest, self.run_commands([f"tilewise verify {algorithm} --device cpu:serial"]))

    def test_what_run_says_to_try(self):
        """The last words of scripts/run: what they tell to type works, and sums agree."""
        end = re.search(r"^cat <<END\n(.*?)^END$", (ROOT / "scripts/run").read_text(), re.M | re.S)[1]
        lines = "\n".join(re.findall(r"^  (\S.*)", end.replace("\\$", "$").replace("$root/build/release", str(BUILD)), re.M))
        self.assertEqual(lines.count("\n"), 3, lines)
        self.assertEqual(self.run_commands([lines], PATH=os.environ["PATH"]).splitlines()[-1], "True")

    def test_types(self):
        mypy = pathlib.Path("/usr/bin/mypy")
        if not mypy.exists():
            self.skipTest("mypy is not installed")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "typed.py")
            file.write_text(TYPED)
            done = subprocess.run([mypy, "--strict", "--cache-dir", os.environ.get("MYPY_CACHE_DIR", folder), "typed.py"], cwd=folder,
                                  env=os.environ | {"MYPYPATH": str(pathlib.Path(tw.__file__).parents[1])},
                                  capture_output=True, text=True, check=False)
            found = re.findall(r"^typed\.py:(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.M)
            wanted = [(str(n), line.split("# ")[1]) for n, line in enumerate(TYPED.split("\n"), 1) if "# " in line]
            self.assertEqual(found, wanted, done.stdout + done.stderr)


def has_gpu():
    try:
        import torch
        return torch.cuda.is_available()
    except ImportError:
        return False


if __name__ == "__main__":
    unittest.main()
