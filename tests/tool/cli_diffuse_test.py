# SPDX-License-Identifier: Apache-2.0
"""diffuse: the original's parameter file, its hashes and files, stopped and resumed runs, and the answers to bad input.

cli_diffuse_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import collections
import glob
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import time
import unittest
import zlib

import numpy as np

import named_tests
from cli_test import HANGS_S, TOOL, Case, devices_for, run

# The original's file in another order, with its comments.
LINES = ["# Parameters of the diffusion benchmark", "", "nx 64 # points along x", "ny 64", "dx 0.5   # spacing", "dy 0.5",
         "sc 3 53 # mask width and code", "ns 1000 # steps", "nc 250  # steps between outputs", "dc 0.00625", "co 0.1",
         "bx 32", "by 32"]

# What the original program computes, built without fused multiply-adds: hash of the field, residual.
REFERENCES = {53: ("08cb9952874d1399", 0.00199997862525626), 93: ("4989949ba6bea438", 0.00204291379438328),
              95: ("20f43d2081762788", 0.00196292300371606)}

# name, what is replaced in the file's lines, options, exit code, what standard error matches.
ROWS = [
    ("a word for a number", ("nx 64", "nx many"), "", 6, r"line 3: nx is many; it must be a whole number"),
    ("a negative number", ("ny 64", "ny -3"), "", 6, r"line 4: ny is -3; it must be a whole number from 1 to 281474976710656$"),
    ("half a step", ("ns 1000", "ns 1.5"), "", 6, r"line 8: ns is 1\.5; it must be a whole number"),
    ("no value", ("dx 0.5   #", "dx #"), "", 6, r"line 5: dx has no value; it must be a positive number"),
    ("no distance", ("dx 0.5", "dx 0"), "", 6, r"line 5: dx is 0; it must be a positive number"),
    ("no number", ("dc 0.00625", "dc nan"), "", 6, r"line 10: dc is nan"),
    ("two values", ("dy 0.5", "dy 0.5 1"), "", 6, r"line 6: dy is 0\.5 1"),
    ("an even mask", ("sc 3 53", "sc 4 53"), "", 6, r"line 7: sc is 4 53; it must be a mask: 3 53, 3 93 or 5 95"),
    ("another width", ("sc 3 53", "sc 3 95"), "", 6, r"line 7: sc is 3 95"),
    ("an unknown key", ("bx 32", "bz 32"), "", 6, r"line 12: there is no key 'bz'; did you mean"),
    ("a key twice", ("by 32", "nx 32"), "", 6, r"line 13: nx is given a second time"),
    ("missing keys", ("ns 1000", "# "), "", 6, r"lacks ns; give each a line"),
    ("a control character", ("bx 32", "b\033[2Jx 32"), "", 6, r"no key 'b\\x1b\[2Jx'"),
    ("nothing but ghosts", ("nx 64", "nx 2"), "", 2, r"2x64 points is nothing but ghosts.*at least 3"),
    ("nothing but ghosts, 5x5", ("nx 64", "nx 4"), "--mask 95", 2, r"4x64 points is nothing but ghosts.*at least 5"),
    ("unstable", ("co 0.1", "co 1.01"), "", 2, r"co = 1\.01 is unstable with mask 53: the limit is 1;.*--allow-unstable"),
    ("unstable, 5x5", ("co 0.1", "co 0.9"), "--mask 95", 2, r"co = 0\.9 is unstable with mask 95: the limit is 0\.75;"),
    ("another mask", ("", ""), "--mask 54", 2, r"--mask"),
    ("no grid", ("", ""), "--grid 64", 2, r"--grid is '64'; write two numbers"),
    ("a grid of words", ("", ""), "--grid 64xlong", 2, r"'long' is not a number"),
    ("a giant grid", ("", ""), "--grid 1000000000x1000000000", 2, r"999999998x999999998 pixels is too large"),
    ("a side too long", ("nx 64", "nx 1000003"), "", 2, r"1000001x62 pixels is too large for a PNG.*at most 1000000 pixels a side"),
    ("too many pixels", ("", ""), "--grid 65538x65538", 2, r"65536x65536 pixels is too large.*at most 4294967295 in all"),
    ("no such variant", ("", ""), "--variant tempral --device cpu", 2, r"no variant 'tempral'; did you mean cpu:temporal"),
    ("too many points", ("nx 64", "nx 999999999999999"), "", 6, r"it must be a whole number from 1 to 281474976710656$"),
    ("a negative diffusivity", ("", ""), "--diffusivity -1", 2, r"--diffusivity: '-1' is not a positive number"),
    ("no diffusivity", ("", ""), "--diffusivity nan", 2, r"--diffusivity: 'nan' is not a positive number"),
    ("an infinite stability", ("", ""), "--stability inf", 2, r"--stability: 'inf' is not a positive number"),
    ("nothing to resume", ("", ""), "--resume", 6, r"checkpoint\.json: cannot be read; start without --resume"),
]


GROUPS = "4*cpu:serial", "cpu:threads+2*cpu:serial", "7*cpu:serial"
MPIRUN = "mpirun --allow-run-as-root --oversubscribe -n 3".split()
HAS_MPI = shutil.which("mpirun") and glob.glob(f"{os.path.dirname(TOOL)}/libtilewise-mpi.so*")


def predicted(filter_type, left, up, corner):
    """The byte that a PNG filter subtracts from a pixel."""
    by_distance = sorted((left, up, corner), key=lambda value: abs(left + up - corner - value))  # stable, as Paeth's
    return (0, left, up, (left + up) // 2, by_distance[0])[filter_type]


def pixels_of(path):
    """Of a PNG with one byte per pixel, and its palette."""
    file = open(path, "rb").read()
    assert file[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, collections.defaultdict(bytes)
    while at < len(file):
        length, name = struct.unpack_from(">I4s", file, at)
        data = file[at + 8:at + 8 + length]
        assert struct.unpack_from(">I", file, at + 8 + length)[0] == zlib.crc32(name + data)
        chunks[name] += data
        at += 12 + length
    width, height, depth = struct.unpack_from(">IIB", chunks[b"IHDR"])
    assert depth == 8
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), "u1").reshape(height, width + 1).tolist()
    above = [0] * width
    for row in rows:
        filter_type, left, corner = row.pop(0), 0, 0
        for i, up in enumerate(above):
            left = row[i] = (row[i] + predicted(filter_type, left, up, corner)) % 256
            corner = up
        above = row
    return np.array(rows), np.frombuffer(chunks[b"PLTE"], "u1").reshape(-1, 3)


def small_files():
    """In the child: no file may be larger than 4096 bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


class Diffuse(Case):
    def setUp(self):
        self.params = f"{self.d}/params.txt"
        self.write(LINES)
        self.out = f"{self.d}/{self.id()}"

    def write(self, lines):
        open(self.params, "w").write("\n".join(lines) + "\n")

    def diffuse(self, arguments="", out=None):
        result = run(f"diffuse {self.params} -o {out or self.out} --json {arguments}")
        self.check(result, 0)
        return json.loads(result.stdout)

    def test_bad_input(self):
        for name, (old, new), options, code, err in ROWS:
            with self.subTest(name):
                self.write([line.replace(old, new) if old else line for line in LINES])
                self.check(run(f"diffuse {self.params} -o {self.out} {options}"), code, "^$", err)
                self.assertFalse(os.path.exists(self.out) and os.listdir(self.out))

    def test_every_missing_key_is_named(self):
        self.write(["nx 64"])
        self.check(run(f"diffuse {self.params} -o {self.out}"), 6, "^$", "lacks co, dc, dx, dy, nc, ns, ny, sc;")
        self.check(run(f"diffuse {self.d}/none.txt -o {self.out}"), 6, "^$", "none.txt: cannot be read")

    def test_hash_and_residual_on_every_device(self):
        for device in devices_for("diffuse"):
            for mask, (wanted, residual) in REFERENCES.items():
                with self.subTest(f"{device} {mask}"):
                    fields = self.diffuse(f"--mask {mask} --device {device}", f"{self.out}{device}.{mask}")
                    self.assertEqual((fields["hash"], fields["steps"], fields["mask"]), (wanted, 1000, str(mask)))
                    self.assertAlmostEqual(fields["residual"], residual, delta=1e-12)

    def test_a_field_larger_than_the_device_has_the_same_outputs(self):
        of_cpu, grid = f"{self.out}.cpu", "--grid 202x202 --mask 95 --steps 50 --every 20"
        wanted = self.diffuse(f"{grid} --device cpu", of_cpu)
        for device in devices_for("diffuse"):
            if device.startswith(("opencl", "cuda")):
                with self.subTest(device):
                    out = f"{self.out}{device}"
                    fields = self.diffuse(f"{grid} --device {device} --device-memory 700K", out)
                    self.assertEqual([fields[key] for key in ("hash", "residual")], [wanted[key] for key in ("hash", "residual")])
                    for step in 0, 20, 40, 50:
                        name = f"diffusion.{step:07}.npy"
                        self.assertEqual(open(f"{out}/{name}", "rb").read(), open(f"{of_cpu}/{name}", "rb").read(), name)

    def files(self, out):
        """All that a run has written, without its times."""
        contents = {name: open(f"{out}/{name}", "rb").read() for name in os.listdir(out)}
        checkpoint = json.loads(contents["checkpoint.json"])
        checkpoint["runlog"] = [row[:3] for row in checkpoint["runlog"]]
        log = [row.split(b",")[:3] for row in contents["runlog.csv"].splitlines()]
        return contents | {"checkpoint.json": checkpoint, "runlog.csv": log}

    def on_ranks(self, arguments, out):
        command = [*MPIRUN, TOOL, "diffuse", self.params, "-o", out, "--json", "--device", "cpu:serial", *arguments.split()]
        result = subprocess.run(command, capture_output=True, timeout=HANGS_S)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_groups_write_the_files_of_one_device(self):
        for mask in 53, 95:
            problem = f"--grid 200x131 --steps 170 --every 45 --mask {mask}"
            one = f"{self.out}.{mask}"
            wanted = self.diffuse(f"{problem} --device cpu:serial", one)
            for group in GROUPS + ("mpi",) * bool(HAS_MPI):
                with self.subTest(f"{group} {mask}"):
                    out = f"{one}.{group}"
                    fields = self.on_ranks(problem, out) if group == "mpi" else self.diffuse(f"{problem} --device {group}", out)
                    self.assertEqual([fields[key] for key in ("hash", "residual", "variant")],
                                     [wanted["hash"], wanted["residual"], "diffuse/group"])
                    self.assertEqual(self.files(out), self.files(one))

    def test_a_stopped_run_goes_on_with_any_number_of_ranks(self):
        for stop, group in zip((1, 250, 377, 600), ("cpu",) + GROUPS):
            self.diffuse(f"--steps {stop} --device {group}" + " --resume" * (stop > 1))
        if HAS_MPI:
            self.on_ranks("--steps 801 --resume", self.out)
        self.assertEqual(self.diffuse("--resume --device cpu:serial")["hash"], REFERENCES[53][0])

    @unittest.skipUnless(HAS_MPI, "there is no MPI")
    def test_an_interrupt_of_one_process_ends_all_with_a_checkpoint(self):
        script = f'"{TOOL}" diffuse "{self.params}" -o "{self.out}" --device cpu:serial --steps 3000000 --every 3000000 & '
        script += f'echo $! >"{self.d}/process.$OMPI_COMM_WORLD_RANK"; wait $!'
        ranks = subprocess.Popen([*MPIRUN, "sh", "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(ranks.terminate)
        while not (os.path.exists(f"{self.out}/checkpoint.json") and os.path.exists(f"{self.d}/process.2")
                   and open(f"{self.d}/process.2").read().endswith("\n")):
            time.sleep(0.01)
        time.sleep(0.3)
        os.kill(int(open(f"{self.d}/process.2").read()), signal.SIGTERM)
        said = ranks.communicate(timeout=HANGS_S)[1].decode()
        step = int(re.search(r"stopped after step (\d+); --resume continues", said)[1])
        self.assertEqual(json.load(open(f"{self.out}/checkpoint.json"))["step"], step)
        self.assertNotEqual(ranks.returncode, 0)

    def test_times_are_those_that_were_measured(self):
        fields = self.diffuse()
        self.assertEqual([name for name in fields if name.endswith("_ns")], ["kernel_ns"])
        self.assertGreater(fields["kernel_ns"], 0)
        log = np.genfromtxt(f"{self.out}/runlog.csv", delimiter=",", names=True)
        self.assertAlmostEqual(log["conv_time"][-1], fields["kernel_ns"] * 1e-9, delta=1e-6)
        self.diffuse("--resume --steps 1300")  # times go on from those before
        log = np.genfromtxt(f"{self.out}/runlog.csv", delimiter=",", names=True)
        for name in "conv_time", "IO_time", "soln_time", "run_time":
            self.assertTrue((np.diff(log[name]) >= 0).all() and log[name][-1] > 0, name)
        self.assertTrue((log["conv_time"] + log["IO_time"] + log["soln_time"] <= log["run_time"] + 4e-6).all())

    def test_no_step_leaves_the_start(self):
        self.write([line.replace("ns 1000", "ns 0") for line in LINES])
        fields = self.diffuse()
        self.assertEqual((fields["steps"], fields["kernel_ns"]), (0, 0))
        self.assertEqual(set(np.load(f"{self.out}/diffusion.0000000.npy").ravel()), {0, 1})

    def test_text_says_what_json_says(self):
        fields = self.diffuse()
        text = f"^hash {fields['hash']}, residual {fields['residual']!r}\n$"
        self.check(run(f"diffuse {self.params} -o {self.out}again"), 0, text)
        np.save(f"{self.d}/one.npy", [[1.0]])
        copied = run(f"convolve {self.out}/diffusion.0001000.npy {self.d}/one.npy -o {self.d}/copy.npy --json").stdout
        self.assertEqual(json.loads(copied)["digest"], fields["digest"])

    def test_lines_may_be_in_any_order(self):
        self.write(LINES[::-1])
        self.assertEqual(self.diffuse()["hash"], REFERENCES[53][0])

    def test_the_last_line_may_lack_its_end(self):
        with open(self.params, "w") as file:
            file.write("\n".join(LINES[4:] + LINES[:4]))  # ny 64 comes last
        self.assertEqual(self.diffuse()["hash"], REFERENCES[53][0])

    def test_files(self):
        for mask, ghosts in ((53, 1), (95, 2)):
            out = f"{self.out}{mask}"
            fields = self.diffuse(f"--mask {mask} --grid 64x40 --steps 600", out)
            field = np.load(f"{out}/diffusion.0000600.npy")
            self.assertEqual(field.shape, (40 - 2 * ghosts, 64 - 2 * ghosts))
            self.assertEqual(fields["shape"], list(field.shape))
            for step in 0, 250, 500, 600:
                self.assertTrue(os.path.exists(f"{out}/diffusion.{step:07}.png"), step)
            shown = np.pad(field, ghosts - 1, mode="edge")
            grey, palette = pixels_of(f"{out}/diffusion.0000600.png")
            self.assertEqual(grey.tolist(), np.floor(255 * shown[::-1]).tolist())
            colour, palette = pixels_of(f"{out}/diffusion.0000600.colour.png")
            self.assertEqual((colour.tolist(), palette.shape), (grey.tolist(), (256, 3)))
            lightness = palette @ [0.2126, 0.7152, 0.0722]
            self.assertTrue((np.diff(lightness) > -1).all() and lightness[-1] - lightness[0] > 180)
            table = np.genfromtxt(f"{out}/diffusion.0000600.csv", delimiter=",", names=True)
            self.assertEqual(table.dtype.names, ("x", "y", "c"))
            y, x = np.indices(shown.shape) * 0.5
            for name, values in ("x", x), ("y", y), ("c", shown):
                self.assertLessEqual(np.abs(table[name] - values.ravel()).max(), 5.1e-7, name)
            log = open(f"{out}/runlog.csv").read().splitlines()
            self.assertEqual(log[0], "iter,sim_time,wrss,conv_time,step_time,IO_time,soln_time,run_time")
            self.assertEqual([row.split(",")[0] for row in log[1:]], ["0", "250", "500", "600"])
            self.assertEqual(log[4].split(",")[1:3], ["600.000000", f"{fields['residual']:f}"])

    def test_a_stopped_run_goes_on_to_the_same_bits(self):
        residual = self.diffuse("--mask 93", f"{self.out}whole")["residual"]
        for stop in 1, 250, 377, 999:
            out = f"{self.out}{stop}"
            self.diffuse(f"--steps {stop} --mask 93", out)
            before = np.genfromtxt(f"{out}/runlog.csv", delimiter=",", names=True)
            fields = self.diffuse("--mask 93 --resume", out)
            log = np.genfromtxt(f"{out}/runlog.csv", delimiter=",", names=True)
            self.assertEqual(log[:len(before)].tobytes(), before.tobytes())
            self.assertTrue(all((np.diff(log[name]) >= 0).all() for name in ("conv_time", "IO_time", "run_time")))
            self.assertEqual((fields["hash"], fields["steps"]), (REFERENCES[93][0], 1000), stop)
            self.assertEqual(fields["residual"], residual, stop)
            self.assertEqual(log["iter"].tolist(), sorted({0, 250, 500, 750, 1000, stop}))  # as if it had not stopped
            idle = self.diffuse("--mask 93 --resume", out)
            self.assertEqual((idle["hash"], idle["kernel_ns"]), (REFERENCES[93][0], 0))

    def step_at(self, ending):
        """Where this signal stops a long run."""
        command = [TOOL, "diffuse", self.params, "-o", self.out] + "--grid 256x256 --every 100000000".split()
        child = subprocess.Popen(command + ["--steps", "100000000"], stderr=subprocess.PIPE)
        while not os.path.exists(f"{self.out}/checkpoint.json"):
            time.sleep(0.01)
        time.sleep(0.3)
        child.send_signal(ending)
        said = child.communicate(timeout=HANGS_S)[1].decode()
        self.assertEqual(child.returncode, 130, said)
        step = int(re.search(r"stopped after step (\d+); --resume continues", said)[1])
        self.assertEqual(json.load(open(f"{self.out}/checkpoint.json"))["step"], step)
        return step

    def test_an_interrupt_leaves_a_checkpoint(self):
        end = self.step_at(signal.SIGINT) + 10
        resumed = self.diffuse(f"--grid 256x256 --every 100000000 --steps {end} --resume")
        self.assertEqual(resumed["hash"], self.diffuse(f"--grid 256x256 --every {end} --steps {end}",
                                                       f"{self.out}again")["hash"])

    def test_so_does_a_terminal_that_goes_away(self):
        self.step_at(signal.SIGHUP)

    def test_a_checkpoint_of_another_run_is_refused(self):
        self.diffuse()
        for options, err in (("--mask 93", "with mask = 53, not 93"), ("--stability 0.2", "with co = 0.1, not 0.2"),
                             ("--diffusivity 0.01", "with dc = 0.00625, not 0.01"), ("--dtype f32", 'with dtype = "f64", not "f32"'),
                             ("--spacing 0.6x0.5", "with dx = 0.5, not 0.6"), ("--spacing 0.5x0.6", "with dy = 0.5, not 0.6"),
                             ("--grid 65x64", "with nx = 64, not 65"), ("--grid 64x65", "with ny = 64, not 65"),
                             ("--steps 10", "of step 1000, beyond the 10 asked for")):
            self.check(run(f"diffuse {self.params} -o {self.out} --resume {options}"), 2, "^$", err)
        checkpoint = json.load(open(f"{self.out}/checkpoint.json"))
        for step, err in ((10, r"is of step 10, but its field is diffusion\.0001000\.npy"), (7.9, "is not a checkpoint"),
                          (-1, "is not a checkpoint"), (1e300, "is not a checkpoint"), ("1000", "is not a checkpoint")):
            json.dump(checkpoint | {"step": step}, open(f"{self.out}/checkpoint.json", "w"))
            self.check(run(f"diffuse {self.params} -o {self.out} --resume"), 6, "^$", err)
        json.dump(checkpoint, open(f"{self.out}/checkpoint.json", "w"))
        field = np.load(f"{self.out}/diffusion.0001000.npy")
        for other in field.reshape(31, -1), field + (np.indices(field.shape).sum(0) == 6):
            np.save(f"{self.out}/diffusion.0001000.npy", other)
            self.check(run(f"diffuse {self.params} -o {self.out} --resume"), 6, "^$", "is not the field that")
        os.remove(f"{self.out}/diffusion.0001000.npy")
        self.check(run(f"diffuse {self.params} -o {self.out} --resume"), 6, "^$",
                   r"diffusion\.0001000\.npy.*, and .*checkpoint\.json goes on from it; remove the checkpoint, and start without --resume")
        json.dump(checkpoint | {"schema": "tilewise.diffuse/2"}, open(f"{self.out}/checkpoint.json", "w"))
        self.check(run(f"diffuse {self.params} -o {self.out} --resume"), 6, "^$",
                   "is of another version, tilewise.diffuse/2 instead of tilewise.diffuse/3; continue with the Tilewise that")
        for text in "", "[]", "{}", '{"parameters": 3}', json.dumps(checkpoint | {"time": "soon"}):
            open(f"{self.out}/checkpoint.json", "w").write(text)
            self.check(run(f"diffuse {self.params} -o {self.out} --resume"), 6, "^$", "is not a checkpoint")
        deep = json.dumps(checkpoint).replace('"mask": 53', '"mask": ' + "[" * 500000 + "]" * 500000)
        open(f"{self.out}/checkpoint.json", "w").write(deep)
        self.check(run(f"diffuse {self.params} -o {self.out} --resume"), 2, "^$", "with mask = something else, not 53")

    def test_a_late_checkpoint_is_read_at_once(self):
        self.diffuse("--steps 1")
        late = 2**40
        os.rename(f"{self.out}/diffusion.0000001.npy", f"{self.out}/diffusion.{late}.npy")
        checkpoint = json.load(open(f"{self.out}/checkpoint.json"))
        json.dump(checkpoint | {"step": late, "field": f"diffusion.{late}.npy"}, open(f"{self.out}/checkpoint.json", "w"))
        self.assertEqual(self.diffuse(f"--steps {late} --resume")["steps"], late)

    def test_an_unstable_run_may_be_forced(self):
        unstable = "--stability 3 --allow-unstable"
        whole = self.diffuse(unstable)
        self.assertIsNone(whole["residual"])
        out = f"{self.out}stopped"
        for stop in 375, 600, 1000:  # residuals are finite, infinite and NaN
            stopped = self.diffuse(f"{unstable} --steps {stop} --every 125" + " --resume" * (stop > 375), out)
        self.assertEqual((stopped["hash"], stopped["residual"]), (whole["hash"], None))
        residuals = np.genfromtxt(f"{out}/runlog.csv", delimiter=",", names=True)["wrss"]
        self.assertTrue(np.isfinite(residuals[:2]).all() and np.isinf(residuals).any() and np.isnan(residuals[-1]))
        self.diffuse(f"{unstable} --steps 3", out := f"{self.out}early")
        field = np.load(f"{out}/diffusion.0000003.npy")
        self.assertTrue(field.min() < 0 and field.max() > 1)
        np.testing.assert_array_equal(pixels_of(f"{out}/diffusion.0000003.png")[0], np.floor(255 * field[::-1].clip(0, 1)))

    def test_numbers_of_many_digits_are_complete(self):
        self.diffuse("--grid 16x16 --steps 240 --every 1 --stability 3 --diffusivity 1e-200 --allow-unstable")
        log = np.genfromtxt(f"{self.out}/runlog.csv", delimiter=",", names=True)
        self.assertEqual(log.shape, (241,))
        np.testing.assert_allclose(log["sim_time"], np.arange(241) * 3 * 0.25 / 4e-200)
        longest = max(open(f"{self.out}/runlog.csv"), key=len)
        self.assertRegex(longest, r"^[0-9.,]{513,}\n$")

    def test_f32(self):
        fields = self.diffuse("--dtype f32")
        field = np.load(f"{self.out}/diffusion.0001000.npy")
        self.assertEqual((fields["dtype"], field.dtype), ("f32", np.dtype("f4")))
        self.assertAlmostEqual(fields["residual"], REFERENCES[53][1], delta=1e-5)

    def test_no_file_is_half_written(self):
        self.check(run(f"diffuse {self.params} -o {self.out} --grid 200x200", preexec_fn=small_files), 6, "^$", "too large")
        self.assertEqual(sorted(os.listdir(self.out)), [f"diffusion.0000000{end}" for end in (".colour.png", ".png")] +
                         ["runlog.csv"])  # all but the field, which is the first that is too large
        self.assertEqual(pixels_of(f"{self.out}/diffusion.0000000.png")[0].shape, (198, 198))

    def test_a_resumed_run_writes_before_it_steps(self):
        self.diffuse("--grid 200x200 --steps 1")
        before = sorted(os.listdir(self.out))
        self.check(run(f"diffuse {self.params} -o {self.out} --grid 200x200 --resume", preexec_fn=small_files), 6, "^$",
                   r"diffusion\.0000001\.npy.*too large")
        self.assertEqual(sorted(os.listdir(self.out)), before)

    def test_a_new_run_does_not_replace_a_checkpoint(self):
        self.diffuse("--steps 10")
        before = {name: os.stat(f"{self.out}/{name}").st_mtime_ns for name in os.listdir(self.out)}
        self.check(run(f"diffuse {self.params} -o {self.out}"), 2, "^$",
                   r"checkpoint\.json is of step 10; --resume continues from it; otherwise choose another folder, or remove it")
        self.assertEqual({name: os.stat(f"{self.out}/{name}").st_mtime_ns for name in os.listdir(self.out)}, before)
        for text in "", "{", "[]", '{"step": "10"}', "another program's\n":
            with open(f"{self.out}/checkpoint.json", "w") as file:
                file.write(text)
            self.check(run(f"diffuse {self.params} -o {self.out}"), 2, "^$",
                       r"checkpoint\.json is no checkpoint that can be read, and would be written over; choose another folder, or remove it")
            self.assertEqual(open(f"{self.out}/checkpoint.json").read(), text)
        os.remove(f"{self.out}/checkpoint.json")
        self.diffuse("--steps 0")
        self.diffuse("--steps 10")  # the start is quickly recomputed

    def test_folders_that_cannot_be(self):
        self.check(run(f"diffuse {self.params} -o {self.params}/x"), 6, "^$", "cannot be created as a folder")
        self.check(run(f"diffuse {self.params} -o /proc/none"), 6, "^$", "cannot be created as a folder")
        self.check(run(f"diffuse {self.params}"), 2, "^$", "--output is required")


if __name__ == "__main__":
    named_tests.main()
