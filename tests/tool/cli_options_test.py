# SPDX-License-Identifier: Apache-2.0
"""Each option of each command, with another value than its default: what it does is seen with it, and not without.

cli_options_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import functools
import json
import os
import re
import resource
import shutil
import subprocess
import tempfile

import numpy as np

import named_tests
from cli_test import COVER, HANGS_S, TOOL, Case, devices_for, run, together, wide_values

# What commands on arrays are tried with. {o} is new in each run; what is in it counts as said.
JOBS = {"convolve": "{d}/m.npy {d}/k.npy -o {o}", "diffuse": "-o {o} --grid 64x66 --steps 4 --every 2", "matmul": "{d}/m.npy {d}/n.npy -o {o}",
        "matvec": "{d}/m.npy {d}/v.npy -o {o}", "polymul": "{d}/x.npy {d}/v.npy -o {o}", "reduce": "{d}/x.npy", "scan": "{d}/x.npy -o {o}",
        "sort": "{d}/x.npy -o {o}"}
ON_ARRAYS = tuple(JOBS)
ONE_BENCH = "reduce/cpu --n 8 --dtype f32 --op sum --max-time 0.01 -q"
ONE_SCALE = "reduce --n 1000 --max-time 0.01 -q --threads 2"
PLAN = "--n 8 --device cpu:serial --dry-run"

# Command, what all runs have, the option with a value, and what is then said; for options that these alone have, or that others pass on.
ROWS = [
    ("convolve", "--json", "--border zero", r'"border":"zero".*"shape":\[40,50\]'),
    ("polymul", "{d}/i.npy {d}/i.npy -o {o} --json", "--modulus 5", '"modulus":"given"'),
    ("reduce", "--json", "--op max", '"op":"max"'),
    ("reduce", "--json", "--init 5", '"init":"given"'),
    ("reduce", "{d}/raw --dtype f4 --json", "--shape 7x11", r'"shape":\[7,11\]'),
    ("reduce", "{d}/raw --dtype f4", "--shape 2x3", "raw: holds 308 bytes, but the shape needs 24"),
    ("reduce", "{d}/raw --dtype f4", "--shape 1x1x1x1x1x1x1x1x77", "is not one to eight whole numbers"),
    ("scan", "--json", "--op max", '"op":"max"'),
    ("scan", "--json", "--init 5", '"init":"given"'),
    ("scan", "--json", "--exclusive", '"kind":"exclusive"'),
    ("scan", "{d}/raw -o {o} --dtype f4 --json", "--shape 7x11", r'"shape":\[7,11\]'),
    ("reduce", "{d}/m.npy -o {o} --json", "--axis 0", r'"axis":"columns".*"shape":\[\d+\]'),
    ("reduce", "{d}/x.npy -o {o} --json", "--segments {d}/offsets.npy", r'"command":"reduce".*"shape":\[2\]'),
    ("reduce", "{d}/x.npy -o {o} --json", "--by {d}/keys.npy --keys-out {d}/w.npy", r'"command":"reduce".*"shape":\[2\]'),
    ("scan", "{d}/x.npy -o {o} --json", "--segments {d}/offsets.npy", '"variant":"segment_scan/'),
    ("sort", "{d}/x.npy -o {o} --json", "--segments {d}/offsets.npy", '"variant":"segment_sort/'),
    ("scan", "{d}/m.npy -o {o} --json", "--axis -1", '"axis":"rows"'),
    ("sort", "{d}/m.npy -o {o} --json", "--axis 1", '"axis":"rows"'),
    ("sort", "--json", "--descending", '"order":"descending"'),
    ("sort", "--json", "--indices {d}/w.npy", r'"payload":"indices".*"digest":"(\w+)".*"indices_digest":"(?!\1)'),
    ("sort", "--json", "--values {d}/f.npy --values-out {d}/w.npy", r'"payload":"values32".*"digest":"(\w+)".*"values_digest":"(?!\1)'),
    ("sort", "{d}/raw -o {o} --dtype f4", "--shape 7x11", "raw is 7x11; sort takes one dimension"),
    *((command, f"{{d}}/raw{out} --json", f"--dtype {name}", f'"dtype":"{type}"') for command, out in (("reduce", ""), ("scan", " -o {o}"), ("sort", " -o {o}"))
      for name, type in (("f4", "f32"), ("u32", "u32"), ("int32", "i32"), ("single", "f32"), ("<u4", "u32"))),
    ("reduce", "{d}/raw", "--dtype float16", r"--dtype 'float16' is not one of f4, f8, i4, i8, u4 and u8; "
     r'np\.save\("new\.npy", np\.fromfile\("old\.raw", "float16"\)\.astype\("f4"\)\) converts them'),
    ("reduce", "{d}/raw", "--dtype >f4", r"--dtype '>f4' is not one of f4, f8, i4, i8, u4 and u8; .*\">f4\"\)\.astype\(\"f4\"\)\) converts"),
    ("sort", "", "--scratch {d}/none", "--scratch: .*/none"),
    ("diffuse", "--json", "--mask 95", r'"mask":"95".*"shape":\[62,60\]'),
    *(("diffuse", "--json", f"--dtype {name}", '"dtype":"f32"') for name in ("f32", "float32")),
    ("diffuse", "--stability 1.5", "--allow-unstable", "^hash "),
    ("diffuse", "", "--resume", r"checkpoint\.json: cannot be read"),
    ("bench", "polymul --device cpu:serial --dry-run", "--preset seeds", "data=seeds"),
    ("bench", "reduce --n 8 --dry-run --device cpu:serial", "--device cpu:threads", "@cpu:threads"),
    ("bench", "reduce --dry-run --device cpu:serial", "--n 1e3,1.5e3,64K", r"n=1000 (.*\n)+reduce.f32 n=1500 (.*\n)+reduce.f32 n=65536 "),
    ("bench", "reduce --dry-run --device cpu:serial", "--n 10Q", "'10Q' is not a whole number from 1 to"),
    ("bench", "reduce --dry-run --device cpu:serial", "--n 9,10", r"n=9 (.*\n)+reduce.f32 n=10 "),
    ("bench", "matmul --dry-run --device cpu:serial", "--shape 2x3x4,4x3x2", r"n=2x3x4 (.*\n)+matmul.f32 n=4x3x2 "),
    ("bench", f"sort {PLAN}", "--set order=descending,payload=indices", "order=descending payload=indices"),
    *(("bench", f"reduce {PLAN}", f"--dtype {names}", r"reduce.i64 (.*\n)+reduce.u32 ") for names in ("i64,u32", "int64,uint32")),
    ("bench", f"reduce {PLAN}", "--op max,product", r"op=max (.*\n)+.*op=product "),
    ("bench", f"reduce {PLAN}", "--data sorted", "data=sorted"),
    ("bench", f"matmul {PLAN}", "--variant packed", r"^matmul.*\n(?!(.*\n)*  matmul/(serial|cpu:simple) )(.*\n)*  matmul/cpu:packed "),
    ("bench", f"{ONE_BENCH} --device cpu -o {{o}}", "--tuning tile=1024", '"tuning":"tile=1024"'),
    ("bench", f"reduce {PLAN} --max-time 1", "--max-time 100", r"at most about \d+ minutes"),
    ("bench", f"{ONE_BENCH} --device cpu:threads -o {{o}}", "--threads 3", '"threads":3,'),
    ("bench", f"{ONE_BENCH} --variant cpu --device cpu:serial,cpu:threads -o {{o}}", "--threads 3", '"threads":3,'),
    ("bench", f"{ONE_BENCH} --variant cpu --device all -o {{o}}", "--threads 3", '"threads":3,'),
    ("bench", "reduce --n 8 --dtype f32 --op sum --device cpu:threads --dry-run", "--threads 3", r"^reduce(?!(.|\n)*reduce/cpu:call)"),
    ("bench", f"{ONE_BENCH} --device cpu:serial -o {{o}}", "--mode cold", '"mode":"cold"'),
    ("bench", f"{ONE_BENCH} --device cpu:serial -o {{o}}", "--mode file_to_file", '"mode":"file_to_file"(.|\n)*"read":'),
    ("bench", f"{ONE_BENCH} --device cpu:serial --precision 0.0001% -o {{o}}", "--precision 50% --max-time 10", '"stop_reason":"precision"'),
    ("bench", f"{ONE_BENCH} --device cpu:serial", "-o {o}", '"schema":"tilewise.result/1"'),
    ("bench", f"{ONE_BENCH} --device cpu:serial", "--report {o}", "(?i)<!doctype html"),
    ("bench", "reduce/cpu --n 8 --dtype f32 --op sum --max-time 0.01 --device cpu:serial", "-q", r"^variant @device.*\n(?!(.*\n)*tilewise: )"),
    ("compare", "{d}/r.jsonl {d}/r.jsonl", "--json", '^{"ok":true,'),
    ("compare", "{d}/r.jsonl {d}/r.jsonl", "--fail-on fast", "--fail-on takes"),
    ("devices", "", "--json", '^{"devices":'),
    ("doctor", "", "--json", '^{"findings":'),
    ("list", "scan", "--json", '^{"variants":'),
    ("report", "{d}/r.jsonl -o {d}/page.html", "--csv {o}", "id,time_utc,status,reason,"),
    ("report", "{d}/r.jsonl -o {d}/page.html", "--google-benchmark {o}", '"benchmarks": '),
    ("report", "{d}/r.jsonl --csv {d}/r.csv", "-o {o}", "(?i)<!doctype html"),
    ("report", "{d}/r.jsonl --matrix", "--markdown", r"\| problem \| n \|"),
    ("report", "{d}/r.jsonl --markdown", "--matrix", r"\| algorithm \|"),
    ("report", "{d}/r.jsonl -o {d}/page.html", "--open", "page.html"),
    ("roofline", "{d}/r.jsonl", "--json", '^{"command":"roofline",'),
    ("roofline", "{d}/r.jsonl", "-v", "by cpu @cpu:serial"),
    ("scale", "--from {d}/p.jsonl --weak", "--from {d}/r.jsonl", "among 2 records"),
    ("scale", "--from {d}/p.jsonl", "--json", '^{"(command|error)":'),  # an error where times were disturbed
    ("scale", "--from {d}/p.jsonl", "--weak", "no variant was measured right .* p at p times one size"),
    ("scale", f"{ONE_SCALE} -o {{o}}", "--threads 3", r'"threads":3\b'),
    ("scale", f"{ONE_SCALE} -o {{o}}", "--n 1500", r'"n":1500\b'),
    ("scale", f"{ONE_SCALE} -o {{o}}", "--device 3*cpu:serial", '"variant":"reduce/group"'),
    ("scale", ONE_SCALE, "-o {o}", '"schema":"tilewise.result/1"'),
    ("tune", f"scan {PLAN}", "--device cpu:threads", "on cpu:threads"),
    ("tune", f"scan {PLAN}", "--n 9,10", r"n=9 (.*\n)+scan.f32 n=10 "),
    ("tune", "matmul/cpu:packed --device cpu:serial --dry-run", "--shape 2x3x4,4x3x2", r"n=2x3x4: (.*\n)+matmul.f32 n=4x3x2: "),
    ("tune", f"sort {PLAN}", "--set order=descending,payload=indices", "order=descending payload=indices"),
    ("tune", f"scan {PLAN}", "--dtype i64,u32", r"scan.i64 (.*\n)+scan.u32 "),
    ("tune", f"scan {PLAN}", "--op max,product", r"op=max (.*\n)+.*op=product "),
    ("tune", f"scan {PLAN} --max-time 3", "--max-time 30", "1 race, about 30"),
    ("tune", "--forget matmul/serial", "--json", '^{"command":"tune","forgotten":0,'),
    ("verify", "reduce --device cpu:serial --n 99 --json", "--n 98", "n=98 "),
    ("verify", "reduce --device cpu:serial --n 99 --json", "--seed 7", '"seed":7'),
    ("verify", "reduce --device cpu:serial --n 99 --variant serial --json", "--thorough", '"cases":49'),
    ("verify", "reduce --device cpu:serial --n 99 --variant serial --json", "--thorough", '"thorough":true'),
    ("verify", "reduce --device cpu:serial --n 99 -v", "--device cpu:threads", "on cpu:threads: same"),
    ("verify", "reduce --device cpu:serial --n 99", "--variant serial", "on 1 variant, "),
    ("verify", "reduce --device cpu:serial --n 99 --variant reduce/cpu --json", "--tuning tile=1024", '"tuning":"tile=1024"'),
    ("verify", "reduce --device cpu:serial --n 99", "--json", '^{"ok":true,'),
    ("verify", "reduce --device cpu:serial --n 99", "-q", r"^reduce .* cases\n$"),
    ("verify", "reduce --device cpu:serial --n 99", "-v", "reduce/serial on cpu:serial: same"),
]

# What is seen by other means: here below, or where it takes more than a run.
OF_ARRAYS = "--device", "--threads", "--device-memory", "--time-limit", "--variant", "--tuning", "--json", "--quiet", "--verbose"
ELSEWHERE = {
    **{command: {"--output", "--fast", *OF_ARRAYS} for command in ON_ARRAYS},  # --fast: a GPU's variants alone are faster by another order
    "compare": {"--verbose"}, "bench": {"--time-limit", "--isolate", "--against", "--dry-run"}, "roofline": {"--device", "--threads", "--time-limit", "--n", "--max-time", "-o", "--quiet"},
    "scale": {"--time-limit", "--max-time", "--quiet"}, "tune": {"--threads", "--time-limit", "-o", "--apply", "--dry-run", "--transfers", "--forget", "--quiet", "--verbose"},
    "verify": {"--threads", "--time-limit"}}
ELSEWHERE["diffuse"] |= {"--grid", "--spacing", "--steps", "--every", "--diffusivity", "--stability"}  # cli_results_test.py


class OptionCase(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.d, cls.count = cls.folder.name, 0
        for name, shape in ("x", 1000), ("m", (40, 50)), ("n", (50, 30)), ("v", 50), ("k", (3, 5)):
            np.save(f"{cls.d}/{name}.npy", wide_values("f4", np.prod(shape)).reshape(shape) / 1e12)
        np.save(f"{cls.d}/i.npy", np.arange(9))
        np.save(f"{cls.d}/offsets.npy", [0, 400, 1000])
        np.save(f"{cls.d}/keys.npy", np.repeat([7, 3], [400, 600]))
        np.save(f"{cls.d}/f.npy", np.arange(1000, dtype="f4"))
        np.ones(77, "f4").tofile(f"{cls.d}/raw")
        for name, words in ("r", "--device cpu:serial"), ("p", "--device cpu:threads --threads 1"), ("p", "--device cpu:threads --threads 2"):
            run(f"bench {ONE_BENCH} {words} --variant cpu -o {cls.d}/{name}.jsonl")

    @classmethod
    def said(cls, words, **options):
        """All that a run says: what it prints, and what is then in {o}."""
        cls.count += 1
        o = f"{cls.d}/out{cls.count}"
        environment = {**os.environ, **options.pop("env", {})}
        result = run(words.format(d=cls.d, o=o), env=environment, **options)
        if os.path.isfile(o):
            with open(o, errors="replace") as file:
                return result.stdout + result.stderr + file.read()
        return result.stdout + result.stderr

    @classmethod
    @functools.cache
    def said_without(cls, words):
        return cls.said(words)

    def check_option(self, words, option, wanted, **options):
        with self.subTest(f"{words} {option}"):
            self.assertNotRegex(self.said(words, **options) if options else self.said_without(words), wanted)
            for name in option.split()[::2]:  # another value, not a second one
                words = re.sub(rf"(?<= ){name} [^- ]\S*", "", words)
            self.assertRegex(self.said(f"{words} {option}", **options), wanted)


def job_of(command, more):
    return f"{command} {more}" if "{d}" in more or command not in JOBS else f"{command} {JOBS[command]} --device cpu {more}"


class Options(OptionCase):
    def test_each_is_tried(self):
        for command in sorted({row[0] for row in ROWS} | set(JOBS)):
            lines = re.findall(r"^ +(-.*?)(?:   |$)", run(f"{command} --help").stdout.split("\n\n", 1)[1], re.M)
            known = {words.split()[0] for of, _, words, _ in ROWS if of == command} | ELSEWHERE.get(command, set())
            known |= {word for of, _, words, _ in ROWS if of == command for word in words.split() if word.startswith("--")}
            for line in lines:
                names = re.findall(r"(?<![\w-])--?[a-z][a-z-]*", line)
                with self.subTest(f"{command} {names}"):
                    self.assertTrue({"--help", *known} & set(names) or any(n[:2] in known for n in names if not n.startswith("--")))

    def test_what_each_does_is_seen(self):
        for command, words, option, wanted in ROWS:
            self.check_option(job_of(command, words), option, wanted)


class OnArrays(OptionCase):
    """What all commands on arrays take."""

    def jobs(self):
        return {command: f"{command} {words}" for command, words in JOBS.items()}

    def test_device(self):
        for job in self.jobs().values():
            self.check_option(f"{job} --json", "--device cpu:serial", '"device":"cpu:serial"')

    def test_threads(self):
        if COVER == "few":
            self.skipTest("sanitizers need address space of their own")
        limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))}
        for job in self.jobs().values():
            self.check_option(f"{job} --device cpu:threads", "--threads 4096", r"allows this process \d+ of the 4096 threads", **limited)
            self.check_option(job, "--threads 4097", "--threads: '4097' is not a whole number from 0 to 4096")

    def test_variant_and_tuning(self):
        for command, job in self.jobs().items():
            self.check_option(f"{job} --device cpu --json", "--variant serial", f'"variant":"{command}/serial"')
            listed = json.loads(run(f"list {command} --json").stdout)["variants"]
            v = next(v for v in listed if v["backend"] == "cpu" and not v["peer"] and v["tuning_space"])
            for axis, values in v["tuning_space"].items():
                default = re.search(rf"\b{axis}=(\S+)", v["tuning"])[1]
                other = next(value for value in values.split("|") if value != default)
                self.check_option(f"{job} --device cpu --variant {v['id']} --json", f"--tuning {axis}={other}", rf'"tuning":"[^"]*\b{axis}={other}\b')

    def test_device_memory(self):
        if "opencl:0" not in devices_for("sort"):
            self.skipTest("no OpenCL here")
        for job in self.jobs().values():
            self.check_option(f"{job} --device opencl:0", "--device-memory 1K", r"(whose limit is|at once,|of its) 1024\b")
            self.check_option(f"{job} --device opencl:0", "--device-memory 010K", "'010K' begins with a 0")

    def test_time_limit(self):
        """Of these commands and all others that have it."""
        if "opencl:0" not in devices_for("sort"):
            self.skipTest("no OpenCL here")
        hangs = {"TILEWISE_OPENCL_LIBRARY": os.environ["TILEWISE_FAKE_OPENCL"], "FAKE_OPENCL": "clFinish=hang0"}
        jobs = [*self.jobs().values(), "bench scan --n 1000 --max-time 0.01", "verify scan --n 1000", "tune scan --n 1000 --max-time 1",
                "roofline --n 1000 --max-time 0.01"]
        for job, said in zip(jobs, together(lambda job: self.said(f"{job} --device opencl:0 --time-limit 3", env=hangs), jobs)):
            with self.subTest(job):
                self.assertRegex(said, "opencl:0 made no progress for 3 s in ")

    def test_what_is_said(self):
        bad = f"{self.d}/open"
        os.makedirs(bad, exist_ok=True)
        os.chmod(bad, 0o755)
        jobs = self.jobs()
        for command, job in jobs.items():
            self.check_option(f"{job} --device cpu", "--json", rf'^{{"command":"{command}",.*}}\n')
            self.check_option(f"{job} --device cpu:serial", "-v", rf"{command}/\S+( \S+=\S+)* on cpu:serial: first choice|{command}/\S+.* on cpu:serial: since")
        if "opencl:0" not in devices_for("sort"):
            self.skipTest("no OpenCL here")
        noisy = {"env": {"TILEWISE_CACHE": bad}}
        for job in [*jobs.values(), "verify scan --n 9 --variant opencl:chunked"]:
            words = f"{job} --device opencl:0"
            self.assertIn("is not used because", self.said(words, **noisy), words)
            self.assertNotIn("is not used because", self.said(f"{words} -q", **noisy), words)

    def test_names_of_files_that_begin_with_a_dash(self):
        """They are taken, or what is said names them so that they are."""
        with open(f"{self.d}/params", "w", encoding="utf-8") as file:
            file.write("nx 8\nny 8\ndx 0.5\ndy 0.5\nns 2\nnc 2\ndc 0.00625\nco 0.1\nsc 3 53\n")
        scan, sort, names = "scan ../x.npy -o", "sort ../x.npy --device cpu:serial -o", ("-v", "-y.npy", "--y", "--json", "--device=cpu", "--", "-1")
        outputs = {command: names for command in (scan, "scan ../x.npy --output", sort, f"{sort} y --indices", f"{sort} y --values ../f.npy --values-out",
                                                  "matmul ../m.npy ../n.npy -o", "diffuse --grid 8x8 --steps 1 -o", "report ../r.jsonl -o", "report ../r.jsonl --csv",
                                                  "report ../r.jsonl --google-benchmark",
                                                  f"bench {ONE_BENCH} --device cpu:serial -o")}
        names = "-x.npy", "--x", "-v.npy", "-q", "-1"
        inputs = {"reduce": ("x.npy", names[:3]), f"{scan[:4]} -o y": ("x.npy", names[:3]), f"{sort} y --values-out w --values": ("f.npy", names),
                  "matmul -o y ../m.npy": ("n.npy", names[:3]), "diffuse -o out": ("params", names[:2]), "report --markdown": ("r.jsonl", names),
                  "compare ../r.jsonl": ("r.jsonl", names), "scale --from": ("r.jsonl", names), "roofline": ("r.jsonl", names[:2])}
        cases = [(command, "", name) for command in outputs for name in outputs[command]]
        cases += [(command, source, name) for command, (source, all_names) in inputs.items() for name in all_names]
        for command, source, name in cases:
            with self.subTest(f"{command} {name}"), tempfile.TemporaryDirectory(dir=self.d) as here:
                if source:
                    shutil.copy(f"{self.d}/{source}", f"{here}/{name}")
                first = run(f"{command} {name}", cwd=here)
                told = re.search(f"^tilewise: .* (./{re.escape(name)} is a file of that name|a file of that name is ./{re.escape(name)});", first.stderr)
                if told or first.returncode == 2:
                    self.assertTrue(told, first.stderr)
                    self.assertEqual(os.listdir(here), [name] * bool(source))
                    first = run(f"{command} ./{name}", cwd=here)
                elif source:
                    self.assertEqual(first.stderr, run(f"{command} ./{name}", cwd=here).stderr.replace(f"./{name}", name))
                self.assertTrue(first.returncode == 0 or command.startswith("scale"), first.stderr)
                self.assertIn(name, os.listdir(here))
        self.check(run("scan x.npy -o=y.npy", cwd=self.d), 2, "^$", "--output: '=y.npy' follows it; write a space for the =")


if __name__ == "__main__":
    named_tests.main()
