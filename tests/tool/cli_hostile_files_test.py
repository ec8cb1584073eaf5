# SPDX-License-Identifier: Apache-2.0
"""Files of records and outputs under bad conditions: no data is lost, and nothing waits for ever.

cli_hostile_files_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import fcntl
import io
import itertools
import json
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

import named_tests
from cli_test import HANGS_S, PLANTED, TOOL, Case, run, wide_values
from processes import mark_of_place

BENCH = "bench reduce --n 1000 --dtype f32 --op sum --device cpu:serial --max-time 0.01"


class FilesCase(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        np.save(f"{cls.folder.name}/k.npy", wide_values("f4", 100))
        cls.check(cls("check"), run(f"{BENCH} -o {cls.folder.name}/good.jsonl"), 0)

    def setUp(self):
        self.d = tempfile.mkdtemp(dir=self.folder.name)
        for name in "k.npy", "good.jsonl":
            pathlib.Path(f"{self.d}/{name}").write_bytes(pathlib.Path(f"{self.folder.name}/{name}").read_bytes())
        os.link(f"{self.d}/k.npy", f"{self.d}/k2.npy")

    def files(self):
        return {n: pathlib.Path(f"{self.d}/{n}").read_bytes() for n in os.listdir(self.d) if os.path.isfile(f"{self.d}/{n}")}

    def records(self, name="r.jsonl"):
        return [json.loads(line) for line in pathlib.Path(f"{self.d}/{name}").read_text().splitlines()]

    def refused(self, arguments, code, err):
        """And nothing has changed."""
        with self.subTest(arguments):
            before = self.files(), set(os.listdir(self.d))
            self.check(run(arguments, cwd=self.d), code, r"^$", err)
            self.assertEqual((self.files(), set(os.listdir(self.d))), before)


class Streams(FilesCase):
    def test_nothing_is_printed_into_files_of_a_tool_with_closed_streams(self):
        for closed, code in (("<&-", 0), (">&-", 6), ("2>&-", 0), ("<&- >&-", 6), ("<&- 2>&-", 0), ("<&- >&- 2>&-", 6)):
            with self.subTest(closed):
                command = f"{TOOL} {BENCH} -o {self.d}/r.jsonl --report {self.d}/r.html {closed}"
                self.check(subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=HANGS_S), code)
                self.assertGreater(len(self.records()), 0)
                self.check(run(f"report {self.d}/r.jsonl -o {self.d}/again.html"), 0, "^$", "^$")
                os.remove(f"{self.d}/r.jsonl")


class Overwriting(FilesCase):
    def names_of(self, file):
        """All that lead to one file, which is there."""
        os.link(f"{self.d}/{file}", f"{self.d}/hard-{file}")
        os.symlink(file, f"{self.d}/link-{file}")
        return [file, f"./{file}", f"{self.d}/{file}", f"hard-{file}", f"link-{file}"]

    def test_no_output_is_any_of_the_inputs(self):
        """Wherever it is among several, by whichever of its names, beside another output or not."""
        for i in range(3):
            pathlib.Path(f"{self.d}/{i}.jsonl").write_bytes(self.files()["good.jsonl"])
        np.save(f"{self.d}/v.npy", wide_values("f4", 100))
        keys = "sort k.npy --device cpu:serial"
        pairs = {f"{i}.jsonl": [f"report 0.jsonl 1.jsonl 2.jsonl {words}" for words in ("-o {}", "--csv {}", "-o {} --csv c", "-o p --csv {}")]
                 for i in range(3)}
        pairs["k.npy"] = [f"{keys} -o y --values v.npy --values-out {{}}", f"{keys} -o y --indices {{}}"]
        pairs["v.npy"] = [f"{keys} -o {{}} --values v.npy --values-out w"]
        for file, commands in pairs.items():
            for name in self.names_of(file):
                for command in commands:
                    self.refused(command.format(name), 2, f"^tilewise: the output {name} is the input {file};")
        os.rename(f"{self.d}/2.jsonl", f"{self.d}/report.html")  # what it is called if nobody says so
        for words in "", "--open", "--csv c --open":
            self.refused(f"report 0.jsonl report.html {words}", 2, "^tilewise: the output report.html is the input")

    def test_no_file_of_a_diffusion_is_its_parameters(self):
        parameters, said = "nx 8\nny 8\ndx 0.5\ndy 0.5\nns 2\nnc 2\ndc 0.00625\nco 0.1\nsc 3 53\n", "^tilewise: the output out/{} is the input {};"
        diffuse = "diffuse {} -o out --device cpu:serial"
        pathlib.Path(f"{self.d}/p").write_text(parameters)
        self.check(run(diffuse.format("p"), cwd=self.d), 0)
        outputs = os.listdir(f"{self.d}/out")
        self.assertEqual(len(outputs), 9)
        for output in outputs:
            at = pathlib.Path(f"{self.d}/out/{output}")
            before = at.read_bytes()
            at.write_text(parameters)
            for more in "", " --resume":
                self.refused(diffuse.format(f"out/{output}") + more, 2, said.format(output, f"out/{output}"))
                self.assertEqual(at.read_text(), parameters)
            at.unlink()
            at.symlink_to("../p")
            self.refused(diffuse.format("p"), 2, said.format(output, "p"))
            at.unlink()
            at.write_bytes(before)
        pathlib.Path(f"{self.d}/out/diffusion.txt").write_text(parameters)  # no name of an output
        self.check(run(diffuse.format("out/diffusion.txt") + " --resume", cwd=self.d), 0)

    def test_no_output_is_another(self):
        names = self.names_of("k.npy")
        os.symlink("later", f"{self.d}/to-later")
        values, sort = "--values v.npy --values-out", "sort v.npy --device cpu:serial"
        np.save(f"{self.d}/v.npy", wide_values("f4", 100))
        for command in ("report good.jsonl -o {} --csv {}", BENCH + " -o {} --report {}", sort + f" -o {{}} {values} {{}}",
                        sort + " -o {} --indices {}"):
            for first, second in [(names[0], name) for name in names] + [("later", "to-later"), ("later", "./later")]:
                for pair in {(first, second), (second, first)}:
                    self.refused(command.format(*pair), 2, "^tilewise: two outputs would go to ")
        self.refused("report good.jsonl --csv ./report.html --open", 2, "^tilewise: two outputs would go to one file: report.html and ./report.html;")

    def test_no_file_of_a_diffusion_is_another(self):
        """By links to one that is there or not, over other links, or to one place; nothing is written before."""
        diffuse = "diffuse --grid 8x8 --steps 2 --every 1 -o out --device cpu:serial"
        self.check(run(diffuse, cwd=self.d), 0)
        os.rename(f"{self.d}/out", f"{self.d}/good")
        os.symlink("out/runlog.csv", f"{self.d}/hop")
        os.mkdir(f"{self.d}/elsewhere")
        out = pathlib.Path(f"{self.d}/out")
        contents = lambda: {at.name: at.exists() and at.read_bytes() for at in out.iterdir()}
        for there in [], ["runlog.csv", "checkpoint.json", "diffusion.0000000.png"]:
            for first, second, to in (("checkpoint.json", "runlog.csv", "runlog.csv"), ("checkpoint.json", "runlog.csv", "../hop"),
                                      ("diffusion.0000000.csv", "diffusion.0000000.png", "diffusion.0000000.png"),
                                      ("runlog.csv", "diffusion.0000002.npy", "diffusion.0000002.npy"), ("runlog.csv", "checkpoint.json", "../later")):
                out.mkdir()
                for name in there:
                    (out / name).write_bytes(pathlib.Path(f"{self.d}/good/{name}").read_bytes())
                for name in (first, second) if to == "../later" else (first,):
                    (out / name).unlink(missing_ok=True)
                    (out / name).symlink_to(to)
                before, both = contents(), sorted((first, second))
                for more in "", " --resume":
                    self.refused(diffuse + more, 2, f"^tilewise: two outputs would go to one file: out/{both[0]} and out/{both[1]}; each")
                    self.assertEqual(contents(), before)
                shutil.rmtree(out)
        out.mkdir()
        (out / "checkpoint.json").symlink_to("../elsewhere/runlog.csv")  # of another folder
        for more in "", " --resume":
            self.check(run(diffuse + more, cwd=self.d), 0)
        self.assertEqual(os.listdir(f"{self.d}/elsewhere"), ["runlog.csv"])

    def test_standard_streams_are_files_too(self):
        for name in "m", "n":
            np.save(f"{self.d}/{name}.npy", wide_values("f4", 9).reshape(3, 3))
        np.save(f"{self.d}/v.npy", wide_values("f4", 100))
        pathlib.Path(f"{self.d}/p").write_text("nx 8\nny 8\ndx 0.5\ndy 0.5\nns 2\nnc 2\ndc 0.00625\nco 0.1\nsc 3 53\n")
        two, over, prints = "two outputs would go to one file: {} and standard output;", "the output {} is the input {};", "is where standard output goes;"
        both, to_array = two.format("good.jsonl"), "standard output"
        tiny = "--n 100 --device cpu:serial"
        for command, said in {
                "sort - -o y --indices v.npy < v.npy": over.format("v.npy", "standard input"),
                "sort k.npy -o v.npy --values - --values-out w < v.npy": over.format("v.npy", "standard input"),
                "sort v.npy -o y --indices - >> v.npy": over.format(to_array, "v.npy"),
                "sort k.npy -o - --values v.npy --values-out w >> v.npy": over.format(to_array, "v.npy"),
                "sort k.npy -o - --indices v.npy >> v.npy": "two outputs would go to one file: standard output and v.npy;",
                "sort k.npy -o v.npy --indices - 1<> v.npy": two.format("v.npy"),
                "scan v.npy -o - >> v.npy": prints, "scan v.npy -o - --dtype f4 >> v.npy": prints, "sort - -o - < v.npy 1<> v.npy": prints,
                "reduce v.npy >> v.npy": prints, "matmul n.npy m.npy -o - >> m.npy": prints, "diffuse p -o out >> p": over.format(to_array, "p"),
                f"{BENCH} -o good.jsonl >> good.jsonl": both, f"bench scan {tiny} -o r --report good.jsonl >> good.jsonl": both,
                f"roofline {tiny} -o good.jsonl >> good.jsonl": both, f"tune scan {tiny} -o good.jsonl >> good.jsonl": both,
                "scale scan --n 100 -o good.jsonl >> good.jsonl": both, "report good.jsonl -o v.npy --matrix >> v.npy": two.format("v.npy"),
                "report good.jsonl --markdown >> good.jsonl": over.format(to_array, "good.jsonl"),
                "compare good.jsonl good.jsonl >> good.jsonl": over.format(to_array, "good.jsonl")}.items():
            with self.subTest(command):
                before = self.files()
                result = subprocess.run(["bash", "-c", f"{TOOL} {command}"], cwd=self.d, capture_output=True, text=True, timeout=HANGS_S)
                self.check(result, 2, "^$", f"(?m)^tilewise: .*{re.escape(said)}")
                self.assertEqual(self.files(), before)
        for command in "scan k.npy -o new", "matmul m.npy m.npy -o new", "sort k.npy -o new", "sort k.npy -o y --indices new":
            result = subprocess.run(["bash", "-c", f"{TOOL} {command} --json > new"], cwd=self.d, capture_output=True, text=True, timeout=HANGS_S)
            self.check(result, 2, "^$", "^tilewise: --json is printed to standard output, where the array goes;")
            self.assertEqual(self.records("new")[0]["error"]["exit"], 2)  # what --json has of failures
        self.check(run("sort k.npy -o y --device cpu", cwd=self.d), 0)
        subprocess.run(["bash", "-c", f"{TOOL} sort - -o k.npy --device cpu < k.npy"], cwd=self.d, check=True)  # which is asked for by name
        self.assertEqual(self.files()["k.npy"], self.files()["y"])

    def test_a_result_may_replace_what_it_is_of(self):
        """Where there is one only: it is read to its end before."""
        np.save(f"{self.d}/m.npy", wide_values("f4", 9).reshape(3, 3))
        np.save(f"{self.d}/n.npy", wide_values("f4", 9)[::-1].reshape(3, 3))
        np.save(f"{self.d}/x.npy", wide_values("f4", 3))
        for command, *inputs in (("scan", "k.npy"), ("sort", "k.npy"), ("matmul", "m.npy", "n.npy"), ("matvec", "m.npy", "x.npy"),
                                 ("polymul", "k.npy", "x.npy"), ("convolve --border zero", "m.npy", "n.npy")):
            words = " ".join([command, *inputs, "--device cpu:serial -o "])
            self.check(run(words + "y", cwd=self.d), 0, "^$", "^$")
            for name in inputs:
                before = self.files()
                self.check(run(words + name, cwd=self.d), 0, "^$", "^$")
                self.assertEqual(self.files(), {**before, name: before["y"]})
                pathlib.Path(f"{self.d}/{name}").write_bytes(before[name])
        np.save(f"{self.d}/v.npy", wide_values("f8", 100))
        self.check(run("sort k.npy -o k.npy --values v.npy --values-out v.npy", cwd=self.d), 0, "^$", "^$")

    def test_outputs_are_tried_before_any_work(self):
        missing = r"^tilewise: missing/x.html: cannot be written: No such file or directory\n$"
        self.refused(f"{BENCH} --report missing/x.html", 6, missing)
        self.refused("report missing.jsonl -o missing/x.html", 6, missing)
        self.refused("report missing.jsonl -o . --csv c", 6, r"^tilewise: \.: is not a regular file; name a file to write\n$")
        self.refused(f"{BENCH} -o missing/x.html", 6, r"^tilewise: missing/x.html: cannot be opened for writing: No such file")

    def test_outputs_are_tried_before_any_array_is_read(self):
        """Of pipes that announce an array and end there, which whoever reads them first would tell."""
        def announced(*shape):
            file = io.BytesIO()
            np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
            return file.getvalue()

        np.save(f"{self.d}/m.npy", wide_values("f4", 9).reshape(3, 3))
        np.save(f"{self.d}/x.npy", wide_values("f4", 3))
        line, matrix, said = announced(100), announced(3, 3), "^tilewise: missing/y: cannot be written: No such file or directory\n$"
        for words, given in (("scan - -o {}", line), ("scan - -o {}", announced(1 << 20)), ("sort - -o {}", line),
                             ("sort - -o y --indices {}", line), ("sort k.npy -o y --values - --values-out {}", line),
                             ("matmul - m.npy -o {}", matrix), ("matvec - x.npy -o {}", matrix), ("convolve - m.npy -o {}", matrix),
                             ("polymul - k.npy -o {}", line)):
            with self.subTest(words):
                before = os.listdir(self.d)
                command = [TOOL, *words.replace("{}", "missing/y").split(), "--device", "cpu:serial"]
                result = subprocess.run(command, input=given, capture_output=True, cwd=self.d, timeout=HANGS_S)
                self.assertEqual((result.returncode, result.stdout), (6, b""))
                self.assertRegex(result.stderr.decode(), said)
                self.assertEqual(os.listdir(self.d), before)


class Links(FilesCase):
    def test_a_link_to_nothing_yet_is_followed(self):
        os.mkdir(f"{self.d}/deep")
        for target, at in (("deep/new.npy", "deep/new.npy"), (f"{self.d}/deep/other.npy", "deep/other.npy")):
            os.symlink(target, f"{self.d}/link.npy")
            self.check(run("scan k.npy -o link.npy --device cpu:serial", cwd=self.d), 0, "^$", "^$")
            self.assertTrue(os.path.islink(f"{self.d}/link.npy"))
            self.assertEqual(np.load(f"{self.d}/{at}").shape, (100,))
            os.remove(f"{self.d}/link.npy")

    def test_links_are_followed_from_the_folder_that_they_are_in(self):
        """Not from the one that the tool works in; over several links, and through those of folders."""
        os.makedirs(f"{self.d}/far/deep")
        os.symlink("deep", f"{self.d}/far/folder")
        os.symlink("folder/second", f"{self.d}/far/first")
        os.symlink("../last", f"{self.d}/far/deep/second")
        for words, name in ((f"scan k.npy --device cpu:serial -o", "last"), (BENCH + " -o", "last"), ("report good.jsonl -o", "last"),
                            ("report good.jsonl --csv", "last")):
            for is_there in False, True:
                with self.subTest(f"{words} {is_there}"):
                    before = set(os.listdir(self.d))
                    self.check(run(f"{words} far/first", cwd=self.d), 0, "", "")
                    self.assertEqual(set(os.listdir(self.d)), before)
                    self.assertEqual(set(os.listdir(f"{self.d}/far")), {"deep", "folder", "first", name})
                    self.assertEqual(os.listdir(f"{self.d}/far/deep"), ["second"])
                    self.assertGreater(os.path.getsize(f"{self.d}/far/{name}"), 0)
                    self.assertTrue(os.path.islink(f"{self.d}/far/first") and os.path.islink(f"{self.d}/far/deep/second"))
            os.remove(f"{self.d}/far/{name}")

    def test_the_folder_above_a_linked_one_is_the_systems(self):
        """The one that holds the folder to which the link leads, as open() has it, and not the link's own."""
        os.makedirs(f"{self.d}/far/deep")
        os.symlink("far/deep", f"{self.d}/folder")
        os.symlink("folder/../by-link", f"{self.d}/link")
        before = set(os.listdir(self.d))
        for words in ("scan k.npy --device cpu:serial -o", BENCH + " -o", "report good.jsonl -o", "report good.jsonl --csv"):
            for path, name in (("folder/../by-name", "by-name"), ("link", "by-link")):
                with self.subTest(f"{words} {path}"):
                    self.check(run(f"{words} {path}", cwd=self.d), 0, "", "")
                    self.assertEqual(set(os.listdir(self.d)), before)
                    self.assertEqual(set(os.listdir(f"{self.d}/far")), {"deep", name})
                    self.assertGreater(os.path.getsize(f"{self.d}/{path}"), 0)
                    os.remove(f"{self.d}/far/{name}")

    def test_a_file_that_is_open_is_not_replaced(self):
        """By any path to its descriptor: what else is written there would be lost, and a file without a name stays empty."""
        for path, how in itertools.product(("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", f"{self.d}/to-stdout"), ("w", "a", "gone")):
            with self.subTest(f"{path} {how}"), open(f"{self.d}/kept", "w+b") as kept:
                kept.write(b"before")
                kept.flush()
                if how == "gone":
                    os.unlink(f"{self.d}/kept")
                if not os.path.lexists(f"{self.d}/to-stdout"):
                    os.symlink("/proc/self/fd/1", f"{self.d}/to-stdout")
                done = subprocess.run([TOOL, "scan", f"{self.d}/k.npy", "-o", path, "--device", "cpu"], stdout=kept, stderr=subprocess.PIPE, text=True)
                self.assertEqual((done.returncode, os.pread(kept.fileno(), 99, 0), os.path.islink(f"{self.d}/to-stdout")), (6, b"before", True))
                self.assertRegex(done.stderr, r"^tilewise: \S+: is open already, and would be replaced; write to - instead, which is standard output, or name")
        os.mkdir(f"{self.d}/inside")
        folder = os.open(f"{self.d}/inside", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        run(f"scan {self.d}/k.npy -o /proc/{os.getpid()}/fd/{folder}/y.npy --device cpu")
        self.assertEqual(os.listdir(f"{self.d}/inside"), ["y.npy"], "a folder's descriptor leads to files with names")

    def test_a_link_without_an_end_is_refused(self):
        os.symlink("loop.npy", f"{self.d}/loop.npy")
        os.symlink("nowhere/y.npy", f"{self.d}/lost.npy")
        self.refused("scan k.npy -o loop.npy --device cpu:serial", 6, "loop.npy: .*Too many levels of symbolic links")
        self.refused("scan k.npy -o lost.npy --device cpu:serial", 6, "lost.npy: cannot be written: No such file")
        self.refused(f"{BENCH} -o loop.npy", 6, "loop.npy: .*Too many levels of symbolic links")
        for name in "loop", "lost":
            self.assertTrue(os.path.islink(f"{self.d}/{name}.npy"))


class Closed(FilesCase):
    def test_a_folder_that_may_not_be_entered(self):
        os.mkdir(f"{self.d}/closed", 0o000)
        for folder in self.folder.name, self.d:
            os.chmod(folder, 0o755)
        as_nobody = self.as_nobody()
        for words in ("report closed/r.jsonl --markdown", "compare closed/r.jsonl good.jsonl", "scale --from closed/r.jsonl",
                      "roofline closed/r.jsonl", "diffuse closed/params.txt -o closed/out", "diffuse -o closed --grid 8x8 --steps 1",
                      "diffuse -o closed --grid 8x8 --steps 1 --resume", "reduce closed/k.npy", "scan k.npy -o closed/y.npy"):
            with self.subTest(words):
                self.check(run(words, cwd=self.d, preexec_fn=as_nobody), 6, "^$", "^tilewise: closed.* cannot be")

    def test_a_file_that_may_be_written_and_not_replaced(self):
        """The folder is told, before any work; what is written elsewhere can be copied over the file."""
        at, closed = f"{self.d}/at", "its folder './at' lets no file be created: "
        os.mkdir(at)
        for folder in self.folder.name, self.d:
            os.chmod(folder, 0o777)
        kinds = [("new", "", 0o555, closed + "Permission denied"), ("out", "", 0o555, closed + "Permission denied"),
                 ("new", "mount --bind {0} {0} && mount -o remount,ro,bind {0}", 0o755, closed + "Read-only file system"),
                 ("out", "mount --bind {0}/out {0}/out", 0o755, "it is mounted there by itself")]
        if os.geteuid() == 0:
            kinds.append(("out", "", 0o1777, "it is another user's in a shared folder"))
        for name, mounted, mode, why in kinds:
            enter = ["unshare", "-rm", "sh", "-c", f'{mounted.format(at)} && exec "$@"', "sh"] if mounted else ["env"]
            run_there = lambda *words: run([*enter[1:], *words], enter[0], cwd=self.d, preexec_fn=None if mounted else self.as_nobody())
            pathlib.Path(f"{at}/out").write_text("old")
            os.chmod(f"{at}/out", 0o666)
            os.chmod(at, mode)
            if run_there("true").returncode != 0:
                continue  # nothing can be mounted here
            for words in "scan k.npy --device cpu:serial -o", "report good.jsonl -o", "report good.jsonl --csv":
                with self.subTest(f"{words} {name} {why}"):
                    before = pathlib.Path(f"{at}/out").read_bytes()
                    advice = "name a file in another folder" if name == "new" else "write to another folder, and copy the file over this one"
                    self.check(run_there(TOOL, *words.split(), f"at/{name}"), 6, "^$",
                               f"^tilewise: at/{name}: cannot be {'written' if name == 'new' else 'replaced'}: {re.escape(why)}; {advice}\n$")
                    self.assertEqual((os.listdir(at), pathlib.Path(f"{at}/out").read_bytes()), (["out"], before))
                    self.check(run_there(TOOL, *words.split(), "elsewhere"), 0)
                    if name == "out":
                        self.check(run_there("cp", "elsewhere", "at/out"), 0)
                        self.assertEqual(pathlib.Path(f"{at}/out").read_bytes(), pathlib.Path(f"{self.d}/elsewhere").read_bytes())
                    os.remove(f"{self.d}/elsewhere")


class Records(FilesCase):
    def test_several_benches_append_to_one_file(self):
        sizes = ",".join(map(str, range(1, 60)))
        command = [TOOL, *BENCH.replace("1000", sizes).replace("0.01", "0.001").split(), "-q", "-o", f"{self.d}/r.jsonl"]
        benches = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(4)]
        self.assertEqual([child.wait(timeout=HANGS_S) for child in benches], [0] * 4)
        counts = [sum(r["case"]["n"] == n for r in self.records()) for n in range(1, 60)]
        self.assertEqual(set(counts), {counts[0]})
        self.assertEqual(counts[0] % 4, 0)

    def test_nobody_appends_while_another_does(self):
        """What is taken back from a full disk would else be the other's."""
        with open(f"{self.d}/r.jsonl", "w", encoding="utf-8") as held:
            fcntl.flock(held, fcntl.LOCK_SH)
            child = subprocess.Popen([TOOL, *BENCH.split(), "-q", "-o", f"{self.d}/r.jsonl"], stdout=subprocess.DEVNULL)
            while child.poll() is None and not re.search(rf"-> FLOCK .* {child.pid} ", pathlib.Path("/proc/locks").read_text()):
                time.sleep(0.01)
            self.assertEqual((child.poll(), self.records()), (None, []))
        self.assertEqual(child.wait(timeout=HANGS_S), 0)
        self.assertGreater(len(self.records()), 0)

    def test_what_a_full_disk_cuts_short_is_taken_back(self):
        """And nothing else: not the records that the same command had written before."""
        before = self.files()["good.jsonl"]
        longest = max(map(len, before.splitlines()))
        command = f"{BENCH.replace('1000', ','.join(map(str, range(1000, 1010))))} -o full.jsonl"
        for written in 0, 1, 2, 7:
            with self.subTest(written):
                room = len(before) + 700 + written * 2 * longest  # lines differ in length

                def small_files():
                    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

                pathlib.Path(f"{self.d}/full.jsonl").write_bytes(before)
                self.check(run(command, cwd=self.d, preexec_fn=small_files), 6, "", "full.jsonl: cannot be written")
                after = self.files()["full.jsonl"]
                self.assertTrue(after.startswith(before))
                self.assertGreaterEqual(len(self.records("full.jsonl")), len(before.splitlines()) + written)
                self.assertGreaterEqual(len(after), room - 2 * longest)

    def test_a_file_that_may_only_be_written(self):
        """After half a line, and after whole ones, which look the same there: no record is swallowed, and nothing else told."""
        os.chmod(self.folder.name, 0o755)
        os.chmod(self.d, 0o777)
        begun = pathlib.Path(f"{self.d}/begun.jsonl")
        begun.write_text('{"schema":')
        begun.chmod(0o222)
        as_nobody = self.as_nobody()
        for _ in range(2):
            self.check(run(f"{BENCH} -o {begun}", preexec_fn=as_nobody), 0)
        begun.chmod(0o644)
        count = 2 * len(self.records("good.jsonl"))
        self.assertEqual(len([line for line in begun.read_text().splitlines() if line]), 1 + count)
        result = run("report begun.jsonl --csv all.csv", cwd=self.d)
        self.check(result, 0, "", r"^tilewise: begun\.jsonl: line 1 is damaged: .*; it was left out\n[^\n]*\n?$")
        self.assertEqual(len(pathlib.Path(f"{self.d}/all.csv").read_text().splitlines()), 1 + count)

    def test_broken_lines_are_skipped_and_told(self):
        good = pathlib.Path(f"{self.d}/good.jsonl").read_text().splitlines()[0]
        half = good[:len(good) // 2]
        pathlib.Path(f"{self.d}/b.jsonl").write_text("\n".join([good, half + good] + [half] * 6 + [good, half]))
        self.check(run(f"{BENCH} -o b.jsonl", cwd=self.d), 0)
        self.check(run("report b.jsonl", cwd=self.d), 0, "^$",
                   r"^(tilewise: b\.jsonl: line [2-6] is damaged: .*; it was left out\n){5}"
                   r"tilewise: b\.jsonl: 3 more lines are damaged; they were left out\nwrote report\.html\n$")


class Remains(FilesCase):
    """What a tool that is ended leaves behind."""
    SIGNALS = "INT TERM HUP QUIT ALRM USR1 USR2 VTALRM PROF XCPU IO PWR STKFLT RTMIN RTMAX".split()
    SIGNALS = [name for name in SIGNALS if hasattr(signal, f"SIG{name}")]  # STKFLT has a name since Python 3.11

    def test_signals_while_drivers_are_probed(self):
        icd, folder = f"{self.d}/icd", f"{self.d}/tmp"
        os.mkdir(icd)
        os.mkdir(folder)
        pathlib.Path(f"{icd}/slow.icd").write_text(sys.argv[4] + "\n")
        environment = {**os.environ, "TMPDIR": folder, "OCL_ICD_VENDORS": icd, "OPENCL_VENDOR_PATH": icd,
                       "TILEWISE_CACHE": f"{self.d}/cache"}
        if "opencl" not in run("--version").stdout:
            self.skipTest("no OpenCL in this build")
        for name in self.SIGNALS:
            with self.subTest(name):
                child = subprocess.Popen([TOOL, "devices"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                while child.poll() is None and not os.listdir(folder):
                    time.sleep(0.01)
                number = signal.Signals[f"SIG{name}"]
                child.send_signal(number)
                self.assertEqual(child.wait(timeout=HANGS_S), 128 + number)
                self.assertEqual(os.listdir(folder), [])

    def test_signals_while_two_files_are_written(self):
        """Of a pipe that has announced an array and says no more."""
        announced = io.BytesIO()
        np.lib.format.write_array_header_1_0(announced, {"descr": "<f4", "fortran_order": False, "shape": (100,)})
        before = set(os.listdir(self.d))
        for name in self.SIGNALS:
            with self.subTest(name):
                words = "sort - -o y.npy --indices i.npy --device cpu:serial".split()
                child = subprocess.Popen([TOOL, *words], stdin=subprocess.PIPE, cwd=self.d, bufsize=0)
                child.stdin.write(announced.getvalue())
                while child.poll() is None and len(os.listdir(self.d)) < len(before) + 2:
                    time.sleep(0.01)
                child.send_signal(signal.Signals[f"SIG{name}"])
                self.assertEqual(child.wait(timeout=HANGS_S), 128 + signal.Signals[f"SIG{name}"])
                child.stdin.close()
                self.assertEqual(set(os.listdir(self.d)), before)

    def test_a_limit_of_sizes_is_a_failed_write(self):
        before = self.files()
        result = run("scan k.npy -o y.npy --device cpu:serial", cwd=self.d,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256)), restore_signals=True)
        self.check(result, 6, "^$", "y.npy: cannot be written: File too large")
        self.assertEqual(self.files(), before)

    def test_what_killed_runs_left_is_swept(self):
        """Of processes elsewhere, which may share the folder, after a day; of those that were here, at once."""
        here, elsewhere = mark_of_place(), mark_of_place(1)
        left = [("999999999-0", 48, False), ("999999998-0", 0, True), (f"999999999-{here}-0", 0, False),
                (f"999999999-{elsewhere}-0", 0, True), (f"999999997-{elsewhere}-0", 23, True)]
        for alive in 1, os.getpid():  # here; elsewhere these are numbers as any
            left += [(f"{alive}-{here}-0", 48, True), (f"{alive}-{elsewhere}-0", 48, False), (f"{alive}-{elsewhere}-1", 1, True)]
        for name, hours, _ in left:
            pathlib.Path(f"{self.d}/.tilewise-{name}").write_bytes(b"half")
            os.utime(f"{self.d}/.tilewise-{name}", 2 * (time.time() - hours * 3600,))
        self.check(run("scan k.npy -o y.npy --device cpu:serial", cwd=self.d), 0, "^$", "^$")
        self.assertEqual([(name, hours, os.path.exists(f"{self.d}/.tilewise-{name}")) for name, hours, _ in left], left)

    def test_each_folder_that_gets_a_file_is_swept(self):
        """Of a command with several outputs too; where they are by links, in the folders that these lead to."""
        np.save(f"{self.d}/m.npy", wide_values("f4", 9).reshape(3, 3))
        np.save(f"{self.d}/x.npy", wide_values("f4", 3))
        for folder in "ab":
            os.mkdir(f"{self.d}/{folder}")
        os.symlink("../b/log", f"{self.d}/a/runlog.csv")
        os.symlink("a/result", f"{self.d}/to-a")
        for command, places in {"scan k.npy -o a/y": "a", "scan k.npy -o to-a": "a", "matmul m.npy m.npy -o a/y": "a", "matvec m.npy x.npy -o a/y": "a",
                                "polymul k.npy k2.npy -o a/y": "a", "convolve m.npy m.npy -o a/y": "a", "sort k.npy -o a/y --indices b/i": "ab",
                                "sort k.npy -o a/y --values k2.npy --values-out b/w": "ab", "report good.jsonl -o a/p": "a",
                                "report good.jsonl -o a/p --csv b/c": "ab", "report good.jsonl --csv b/c": "b",
                                "bench scan --n 8 --dtype f32 --op sum --max-time 0.01 -o r --report b/p": "b",
                                "diffuse --grid 8x8 --steps 1 -o a": "ab"}.items():
            with self.subTest(command):
                left = {f"{self.d}/{folder}/.tilewise-{999999990 + i}-{mark_of_place()}-{i}": folder in places for folder in "ab" for i in range(2)}
                for name in left:
                    pathlib.Path(name).write_bytes(b"half")
                self.check(run(command + ("" if command.startswith("report") else " --device cpu:serial"), cwd=self.d), 0)
                self.assertEqual({name: not os.path.exists(name) for name in left}, left)


class Failures(FilesCase):
    def test_the_gravest_decides(self):
        for variants, code in (("lost unbuilt", 8), ("lost internal", 1), ("lost no_memory overflows", 8), ("once", 8),
                               ("once unbuilt no_memory", 8), ("unbuilt no_memory", 5), ("one_bit internal", 3)):
            with self.subTest(variants):
                words = " ".join(f"scan/cpu:{name}" for name in variants.split())
                self.check(run(f"bench {words} --n 8 --dtype f32 --op sum --device cpu:serial --max-time 0.01", PLANTED), code)

    def test_the_gravest_decides_of_verify_too(self):
        for name in "fails", "fails_too":  # reductions come before scans
            with self.subTest(name):
                self.check(run(f"verify reduce scan --variant {name} --n 8 --device cpu:serial", PLANTED), 8)


class Terminals(FilesCase):
    """Only what is printed by the tool itself steers a terminal."""
    EVIL = "\r\x07\u009b2Jtitle\x1b]0;title\x07\x1b[2J\x7f\u009b31m\u0080\u009f\r"
    EVIL += "".join(f"\x1b[{code}mpassed" for code in ("31", "32", "2", "0", "8", "31;8", ""))  # the tool's own, and others like them
    RAW = os.fsdecode(b"\x9b2J\x80 \x9d0;title\x9c")  # such controls as single bytes, which are no UTF-8

    def on_a_terminal(self, arguments, **options):
        ours, theirs = pty.openpty()
        child = subprocess.Popen([TOOL, *arguments], cwd=self.d, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, **options)
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 1 << 16):
                seen += part
        except OSError:  # how a terminal ends
            pass
        os.close(ours)
        child.wait(timeout=HANGS_S)
        return os.fsdecode(seen)

    def check_plain(self, text):
        controls = set(re.findall("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\udc80-\udc9f]", text.replace("\r\n", "\n")))
        self.assertEqual(controls, set(), repr(text[:2000]))

    def test_records(self):
        records = self.records("good.jsonl")
        for r in records:
            for part, key in (("host", "hostname"), ("host", "cpu_model"), ("case", "dtype"), ("device", "description")):
                r[part][key] += self.EVIL
        pathlib.Path(f"{self.d}/evil.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
        for raw in False, True:
            pathlib.Path(f"{self.d}/bad.jsonl").write_text(json.dumps({"schema": self.EVIL}, ensure_ascii=raw) + "\n")
            for words in ["report", "evil.jsonl", "--markdown"], ["report", "evil.jsonl", "--matrix"], ["report", "bad.jsonl"]:
                result = run(words, cwd=self.d)
                self.check_plain(result.stdout + result.stderr)
                text = self.on_a_terminal(words)
                self.assertIn("title", text)
                self.check_plain(text)

    def test_what_comes_beside_colours(self):
        """Words of records and of the environment behind, between and before the tool's own codes, which alone go through."""
        kept = {"schema", "status", "time_utc", "algorithm", "dtype", "mode", "order", "settings", "ceiling", "digest"}

        def evil(part):
            if isinstance(part, dict):
                return {key: value if key in kept else evil(value) for key, value in part.items()}
            return [evil(each) for each in part] if isinstance(part, list) else part + self.EVIL if isinstance(part, str) else part

        old = [evil(r) for r in self.records("good.jsonl")]
        new = json.loads(json.dumps(old))
        for number, r in enumerate(r for r in new if r["verify"]):
            r["verify"]["digest"] = "0" * 32 if number == 0 else r["verify"]["digest"]
            r["host"]["cpu_model"] += " and another"  # which a remark tells, in red
        teams = [{**r, "case": {**r["case"], "threads": p}} for r in old for p in (1, 2)]
        for name, records in ("old", old), ("new", new), ("teams", teams):
            pathlib.Path(f"{self.d}/{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
        environment = {**os.environ, "TERM": "xterm", "TILEWISE_OPENCL_LIBRARY": f"{self.d}/{self.EVIL}"}
        environment.pop("NO_COLOR", None)
        code = r"\x1b\[(?:2|31|32|0)m"
        plain = ["report old.jsonl --markdown", "report old.jsonl --matrix", "roofline old.jsonl -v", "scale --from teams.jsonl"]
        of_records = ["compare old.jsonl new.jsonl", "compare old.jsonl old.jsonl -v", *plain]
        for words in [*of_records, "list", "devices", "doctor"]:
            with self.subTest(words):
                text = self.on_a_terminal(words.split(), env=environment)
                if words in of_records:
                    self.assertRegex(text, r"\\x1b\\?\[32mpassed")  # Markdown has a backslash before the bracket
                if words.startswith("compare") or (words not in plain and "title" in text):  # list and others name OpenCL's library, in builds with it
                    self.assertRegex(text, code + r"[^\x1b]*title")
                self.assertNotRegex(text, r"\x1b\[[0-9;]*mpassed")
                self.check_plain(re.sub(code + r"|\r\x1b\[K", "", text))  # the other one begins lines of progress
        self.assertNotRegex(self.on_a_terminal(of_records[0].split(), env=environment | {"NO_COLOR": "1"}), code)
        for words in ["compare old.jsonl new.jsonl", "roofline old.jsonl", "scale --from teams.jsonl", "list", "devices", "doctor"]:
            with self.subTest(words + " --json"):
                text = self.on_a_terminal([*words.split(), "--json"], env=environment)
                if "jsonl" in words:
                    self.assertIn(r"\u001b[2J\u007f\u009b31m", text)
                self.check_plain(text.replace("\r\x1b[K", ""))

    def test_names(self):
        for words in (["report", self.EVIL], ["reduce", self.EVIL], ["reduce", "k.npy", "--device", self.EVIL],
                      ["scan", "k.npy", "-o", self.EVIL + "/y.npy"], ["bench", "--variant", self.EVIL], [self.EVIL],
                      ["diffuse", self.EVIL, "-o", "out"], ["reduce", "k.npy", "--op", self.EVIL], ["report", self.RAW], ["reduce", self.RAW],
                      ["reduce", "k.npy", "--device", self.RAW], [self.RAW]):
            with self.subTest(words):
                self.check_plain(self.on_a_terminal(words))
        for words in ["reduce", self.EVIL, "--json"], ["scan", "k.npy", "-o", "\x7f\u0085.npy", "--json"]:
            result = run(words, cwd=self.d)
            self.check_plain(result.stdout + result.stderr)
            json.loads(result.stdout)
        self.assertEqual(json.loads(result.stdout)["output"], "\x7f\u0085.npy")


class Endless(FilesCase):
    """Files that would be waited for, or read, for ever."""

    def test_pipes_are_refused(self):
        os.mkdir(f"{self.d}/out")
        for pipe in "pipe", "out/checkpoint.json":
            os.mkfifo(f"{self.d}/{pipe}")
        for arguments in ("report pipe", f"{BENCH} -o pipe", "diffuse pipe -o new", "diffuse --grid 8x8 --steps 1 -o out --resume",
                          "diffuse --grid 8x8 --steps 1 -o out"):
            with self.subTest(arguments):
                self.check(run(arguments, cwd=self.d), 6, "^$", "pipe|checkpoint")

    def test_manual_pages_are_no_pipes(self):
        os.mkdir(f"{self.d}/out")
        os.mkfifo(f"{self.d}/out/tilewise-bench.1")
        self.check(run("manual out", cwd=self.d), 6, "^$", "^tilewise: out/tilewise-bench.1: is not a regular file")

    def test_pipes_are_no_arrays_and_no_outputs(self):
        os.mkfifo(f"{self.d}/pipe")
        np.save(f"{self.d}/m.npy", wide_values("f4", 9).reshape(3, 3))
        np.save(f"{self.d}/x.npy", wide_values("f4", 3))
        commands = {"reduce": ["k.npy"], "scan": ["k.npy", "-o y"], "sort": ["k.npy", "--values k2.npy", "--values-out w", "-o y"],
                    "sort k.npy": ["--indices i", "-o y"], "matmul": ["m.npy", "m.npy", "-o y"], "matvec": ["m.npy", "x.npy", "-o y"], "polymul": ["k.npy", "k2.npy", "-o y"],
                    "convolve": ["m.npy", "m.npy", "-o y"], "report": ["good.jsonl", "-o y", "--csv c"], "compare": ["good.jsonl", "good.jsonl"], "diffuse": ["-o y"],
                    "bench reduce --n 8 --device cpu:serial --max-time 0.01": ["--report y", "-o r"]}
        for command, words in commands.items():
            for i, word in enumerate(words):
                option = word.split()[:-1]
                with_pipe = " ".join([*words[:i], *option, "pipe", *words[i + 1:]])
                self.refused(f"{command} {with_pipe}", 6, "^tilewise: pipe")

    def test_lines_without_an_end_are_not_read_whole(self):
        os.truncate(f"{self.d}/good.jsonl", 1 << 40)
        self.check(run("report good.jsonl", cwd=self.d), 6, "^$", r"good\.jsonl: line \d+ is longer than 16 MiB")
        pathlib.Path(f"{self.d}/p.txt").write_text("ns 10\n")
        os.truncate(f"{self.d}/p.txt", 1 << 40)
        self.check(run("diffuse p.txt -o new", cwd=self.d), 6, "^$", r"p\.txt, line 2: is longer than 4096 bytes")


class Many(FilesCase):
    """A report's time and memory grow with its records, not with what these have in common or not."""
    COUNT = 2500
    ROOM = 160 << 20  # bytes of address space, the tool itself included

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        lines = pathlib.Path(f"{cls.folder.name}/good.jsonl").read_text().splitlines()
        r = next(r for r in map(json.loads, lines) if r["status"] == "ok" and r["verify"])
        r["timing"]["kernel"]["samples_ns"] = r["timing"]["kernel"]["samples_ns"][:10]
        cls.good = r

    def write(self, *changes, count=COUNT):
        """That many records for each of the changes, which are made to a part of the record with its number."""
        with open(f"{self.d}/many.jsonl", "w") as file:
            for part, change in changes:
                for i in range(count):
                    file.write(json.dumps({**self.good, part: {**self.good[part], **change(i)}}) + "\n")

    def with_little_room(self, words):
        return run(words, cwd=self.d, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (self.ROOM, self.ROOM)))

    def report(self, *more):
        return self.with_little_room(" ".join(["report many.jsonl -o many.html", *more]))

    def setUp(self):
        if os.environ.get("TILEWISE_TEST_COVER") == "few":
            self.skipTest("sanitizers need address space of their own")
        super().setUp()

    def test_records_with_nothing_in_common(self):
        self.write(("host", lambda i: {"hostname": f"host{i}"}), ("device", lambda i: {"name": f"opencl:{i}", "backend": "opencl"}),
                   ("case", lambda i: {"settings": {"op": f"op{i}"}, "group": f"g{i} @cpu"}),
                   ("case", lambda i: {"tuning": f"tile={i}"}), ("case", lambda i: {"n": i + 1, "shape": [i + 1], "group": f"n{i} @cpu"}))
        self.check(self.report("--csv", "many.csv", "--markdown"), 0, "", "^$")
        page = pathlib.Path(f"{self.d}/many.html").read_text()
        self.assertRegex(page, "[1-9],[0-9]{3} results are in no table of this page: it shows at most 50 machines, 500 problems")
        self.assertEqual(len(pathlib.Path(f"{self.d}/many.csv").read_text().splitlines()), 1 + 5 * self.COUNT)

    def test_records_with_much_in_common(self):
        size = lambda n: {"n": n, "shape": [n], "group": f"n{n} @cpu"}
        self.write(("case", lambda i: size(i + 1)), ("case", lambda i: {**size(i // 100 + 1), "variant": f"reduce/cpu:v{i % 100}"}), count=10000)
        self.check(self.report("--csv", "many.csv"), 0, "^$", "^$")
        page = pathlib.Path(f"{self.d}/many.html").read_text()
        self.assertRegex(page, "1[0-9],[0-9]{3} results are in no table of this page")
        self.assertLess(len(page), 4_000_000)
        self.assertEqual(len(pathlib.Path(f"{self.d}/many.csv").read_text().splitlines()), 1 + 20000)

    def test_all_who_read_records_have_room(self):
        size = lambda n: {"n": n, "shape": [n], "group": f"n{n} @cpu"}
        self.good = {**self.good, "device": {**self.good["device"], "name": "cpu:threads"}}
        self.write(("case", lambda i: {**size(i // 16 + 1), "threads": i % 16 + 1}), count=10000)
        for words in "compare {0} {0} --json", "scale --from {0}", "scale --from {0} --weak", "roofline {0}", "report {0} --markdown --matrix":
            with self.subTest(words):
                self.check(self.with_little_room(words.format("many.jsonl")), 0, "", "^$")

    def test_ordinary_pages_are_whole(self):
        self.write(("case", lambda i: {"n": i + 1, "shape": [i + 1], "group": f"n{i} @cpu"}))
        self.check(self.report(), 0, "^$", "^$")
        page = pathlib.Path(f"{self.d}/many.html").read_text()
        self.assertNotIn("in no table", page)
        self.assertIn(f"<th>{self.COUNT:,}<", page)


if __name__ == "__main__":
    named_tests.main()
