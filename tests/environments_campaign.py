# SPDX-License-Identifier: Apache-2.0
"""Each command in each of many odd environments: it does all that it does elsewhere, with the same bits, or ends with a code that
the environment explains and a sentence; never by a signal, late, with half an output or with a file left behind.

environments_campaign.py BUILD_FOLDER [--few]   all pairs of a command and an environment; with --few every 23rd
"""

import concurrent.futures
import ctypes
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

import numpy as np

BUILD, FEW = os.path.abspath(sys.argv[1]), "--few" in sys.argv
TOOL, IS_ROOT, NOBODY = f"{BUILD}/tilewise", os.geteuid() == 0, 65534
LIMIT_S = 120  # a hang; the slowest compile for OpenCL in some seconds

# The words of each command, where {i} are inputs and {o} its outputs.
COMMANDS = {
    "help": "help", "version": "--version", "list": "list", "list-json": "list --json", "complete": "complete scan --",
    "devices": "devices", "doctor": "doctor", "tune": "tune reduce --device cpu:serial --dry-run",
    "reduce": "reduce {i}/x.npy", "reduce-opencl": "reduce {i}/x.npy --device opencl:0",
    "scan": "scan {i}/x.npy -o {o}/y.npy --device cpu:threads", "sort": "sort {i}/x.npy -o {o}/y.npy --device cpu:tbb",
    "matmul": "matmul {i}/m.npy {i}/m.npy -o {o}/y.npy --device cpu:openmp", "group": "scan {i}/x.npy -o {o}/y.npy --device 2*cpu:serial",
    "diffuse": "diffuse -o {o}/run --grid 32x32 --steps 4 --every 2 --device cpu:threads",
    "verify": "verify reduce --n 1000 --device cpu:serial", "bench-dry": "bench reduce --device cpu --dry-run",
    "bench": "bench reduce --n 1000 --dtype f32 --variant serial --device cpu:serial --max-time 0.001 -o {o}/r.jsonl",
    "report": "report {i}/r.jsonl -o {o}/r.html --csv {o}/r.csv", "markdown": "report {i}/r.jsonl --markdown",
    "compare": "compare {i}/r.jsonl {i}/r.jsonl", "roofline": "roofline {i}/r.jsonl", "bad-option": "scan --no-such-option",
    "missing-file": "reduce {i}/missing.npy"}
TIMELESS = {"help", "version", "complete", "reduce", "reduce-opencl", "scan", "sort", "matmul", "group", "verify",
            "markdown", "compare", "bad-option", "missing-file"}  # they print the same whenever and wherever they run
WRITES = {name for name, words in COMMANDS.items() if "{o}" in words}
OPENCL = {"reduce-opencl", "devices"}


class Environment:
    """What is other than usual, and the codes that it explains beside the usual one, of all or of some commands."""

    def __init__(self, name, codes=(), of=None, variables=None, before=None, where=lambda d: None, shell="", user=False, says="",
                 prints_the_same=True):
        self.name, self.codes, self.of, self.variables = name, set(codes), of, variables or {}
        self.before, self.where, self.shell, self.user, self.says = before, where, shell, user, says
        self.prints_the_same = prints_the_same

    def codes_of(self, command, usual):
        return {usual.returncode} | (self.codes if self.of is None or command in self.of else set())


def limit(what, value):
    return lambda: resource.setrlimit(what, (value, value))


def forbid_processes_and_network():
    """A filter of the kernel's: socket, fork, vfork and clone without CLONE_THREAD are refused; clone3 is not known."""
    load, equal, some_bits, ret = 0x20, 0x15, 0x45, 0x06
    refused, unknown, allowed = 0x00050000 | 1, 0x00050000 | 38, 0x7fff0000  # EPERM, ENOSYS
    program = [(load, 0, 0, 0), (equal, 6, 0, 41), (equal, 5, 0, 57), (equal, 4, 0, 58), (equal, 4, 0, 435), (equal, 0, 4, 56),
               (load, 0, 0, 16), (some_bits, 2, 0, 0x10000), (ret, 0, 0, refused), (ret, 0, 0, unknown), (ret, 0, 0, allowed)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))
    whole = struct.pack("HxxxxxxP", len(program), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, whole, 0, 0) != 0:  # no new privileges; the filter
        raise OSError(ctypes.get_errno(), "prctl")


def ignore(*signals):
    return lambda: [signal.signal(s, signal.SIG_IGN) for s in signals]


def folder(path, mode):
    os.mkdir(path)
    os.chmod(path, mode)


def cache_that_is(kind):
    """Makes XDG_CACHE_HOME something else in the case's folder."""
    def make(d):
        place = f"{d}/cache"
        if kind == "file":
            pathlib.Path(place).write_text("x")
        elif kind == "link":
            os.symlink(f"{d}/nowhere/cache", place)
        elif kind == "loop":
            os.symlink(place, place)
        elif kind == "pipe":
            os.mkfifo(place)
        elif kind == "closed":
            folder(place, 0o555)
        elif kind == "open":
            folder(place, 0o777)
        return {"XDG_CACHE_HOME": place}
    return make


def environments():
    E = Environment
    yield E("as usual")
    for name in "HOME", "XDG_CACHE_HOME", "TMPDIR", "PATH":
        for value in None, "", "/proc/none", "relative", "/dev/null", "a\nb\x1b[2J":
            more = {"XDG_CACHE_HOME": None} if name == "HOME" else {}
            has_linker = name != "PATH" or not value  # else PoCL's compiler finds none, unless there is nothing to compile
            yield E(f"{name}={value!r}", variables={**more, name: value}, codes=[] if has_linker else [8], of={"reduce-opencl"})
    nowhere = {"HOME": None, "XDG_CACHE_HOME": None}
    yield E("no PATH and no cache", variables={**nowhere, "PATH": None})
    yield E("no linker and no cache", variables={**nowhere, "PATH": "/proc/none"}, codes=[8], of={"reduce-opencl"})
    for kind in "file", "link", "loop", "pipe", "closed", "open":
        yield E(f"a cache folder that is a {kind}", where=cache_that_is(kind))
        yield E(f"a cache folder that is a {kind}, as nobody", where=cache_that_is(kind), user=True)
    yield E("nobody", user=True)
    yield E("nobody without a home", variables={"HOME": None, "XDG_CACHE_HOME": None}, user=True)
    yield E("nobody, no folder can be written", codes=[6], of=WRITES, where=lambda d: os.chmod(f"{d}/o", 0o555), user=True)
    yield E("nobody, no temporary folder can be written", where=lambda d: os.chmod(f"{d}/tmp", 0o555), user=True, codes=[4], of=OPENCL)
    yield E("nobody, umask 777", before=lambda: os.umask(0o777), user=True)
    yield E("umask 777", before=lambda: os.umask(0o777))
    yield E("stdin closed", shell="<&-")
    yield E("stdin a folder", shell="</")
    for how in ">&-", ">/dev/full", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full 2>/dev/full":
        yield E(how, shell=how, codes=[6])
    for how in "2>&-", "2>/dev/full", "<&- 2>&-":
        yield E(how, shell=how)
    for value in "C", "POSIX", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "nonsense", "../../etc", "":
        yield E(f"LC_ALL={value}", variables={"LC_ALL": value, "LANG": value})
    for value in "20", "1", "0", "-5", "many", "99999999999999999999", "":
        yield E(f"COLUMNS={value}", variables={"COLUMNS": value})
    for name, values in {"TERM": ("dumb", None, "nonsense"), "NO_COLOR": ("1", ""), "TZ": ("nonsense", ":/etc/passwd"),
                         "OMP_NUM_THREADS": ("nonsense", "0", "-1", "1", "64", "99999999999"), "OMP_THREAD_LIMIT": ("1",),
                         "OMP_DYNAMIC": ("true",), "OMP_STACKSIZE": ("nonsense", "1"), "OMP_PROC_BIND": ("true",),
                         "OMP_PLACES": ("nonsense",), "OMP_SCHEDULE": ("nonsense",), "MALLOC_PERTURB_": ("165",), "MALLOC_CHECK_": ("3",),
                         "CUDA_VISIBLE_DEVICES": ("nonsense", "", "-1"), "TILEWISE_DEVICE": ("",)}.items():
        for value in values:
            yield E(f"{name}={value!r}", variables={name: value})
    for name in "OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES", "POCL_DEVICES", "TILEWISE_OPENCL_LIBRARY":
        for value in "/proc/none", "", "/etc/passwd":
            yield E(f"{name}={value!r}", variables={name: value}, codes=[4], of=OPENCL, prints_the_same=name != "POCL_DEVICES")
    for value in "nonsense", "opencl:99", "cpu:" * 5000:
        yield E(f"TILEWISE_DEVICE={value[:20]}", variables={"TILEWISE_DEVICE": value}, codes=[2, 4], of={"reduce"})
    yield E("no variables at all", variables={**dict.fromkeys(os.environ), **nowhere, "TMPDIR": None})
    yield E("large variables", variables={f"V{i}": "x" * 100_000 for i in range(10)})
    for files in 4, 8, 12, 16, 32:
        yield E(f"{files} files", before=limit(resource.RLIMIT_NOFILE, files), codes=[4, 5, 6])
    for mib in 64, 128, 256, 1024:  # below, it is not even loaded
        yield E(f"{mib} MiB of addresses", before=limit(resource.RLIMIT_AS, mib << 20), codes=[4, 5, 8] if mib < 1024 else [4, 5])
    for kib in 128, 256, 1024:  # with the least, PoCL's compiler crashes where there is something to compile
        yield E(f"{kib} KiB of stack", before=limit(resource.RLIMIT_STACK, kib << 10), codes=[8] if kib == 128 else [],
                of={"reduce-opencl"})
    yield E("no processes beside it", before=limit(resource.RLIMIT_NPROC, 1), user=True, codes=[4, 5, 6])
    yield E("files of no bytes", before=limit(resource.RLIMIT_FSIZE, 0), codes=[6], of=WRITES | OPENCL)
    for name in "MEMLOCK", "CORE", "MSGQUEUE", "SIGPENDING", "NICE":
        yield E(f"no {name}", before=limit(getattr(resource, f"RLIMIT_{name}"), 0))
    yield E("no network, no programs", before=forbid_processes_and_network, codes=[4, 5, 8],
            of=OPENCL | {"list", "list-json", "doctor"})
    yield E("SIGPIPE, SIGHUP and SIGINT ignored", before=ignore(signal.SIGPIPE, signal.SIGHUP, signal.SIGINT))
    yield E("SIGCHLD ignored", before=ignore(signal.SIGCHLD))
    yield E("SIGSEGV and SIGABRT ignored", before=ignore(signal.SIGSEGV, signal.SIGABRT))
    yield E("all signals blocked", before=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()))
    yield E("one processor", before=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
    yield E("a folder that is gone", before=lambda: (os.mkdir("gone"), os.chdir("gone"), os.rmdir(os.path.abspath("."))))
    yield E("a folder that nobody may enter", before=lambda: os.chdir("/root"), user=True)
    if IS_ROOT:
        for hidden in "/proc", "/sys", "/tmp/none", "/dev/shm":
            os.makedirs("/tmp/none", exist_ok=True)
            yield E(f"without {hidden}", shell=f"hide {hidden}", codes=[4, 5], of=OPENCL | {"sort"})


def start(command, e, d):
    more = e.where(d) or {}
    variables = {**os.environ, "TMPDIR": f"{d}/tmp", "XDG_CACHE_HOME": f"{d}/cache" if e.user else CACHE, **e.variables, **more}
    variables = {name: value for name, value in variables.items() if value is not None}
    words = [TOOL, *COMMANDS[command].format(i=INPUTS, o=f"{d}/o").split()]
    if e.shell.startswith("hide "):
        words = ["unshare", "-m", "sh", "-c", f"mount -t tmpfs none {e.shell[5:]} && exec \"$@\"", "sh", *words]
    elif e.shell:
        words = ["/bin/sh", "-c", f"exec \"$@\" {e.shell}", "sh", *words]

    def before():
        if e.user and IS_ROOT:
            os.chdir(f"{d}/work")
            if e.name.endswith("may enter"):
                e.before()
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        if e.before and not e.name.endswith("may enter"):
            e.before()

    job = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=variables,
                           cwd=f"{d}/work", preexec_fn=before, start_new_session=True)
    try:
        told, errors = job.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        told, errors = job.communicate()
        job.returncode = "none in time"
    return subprocess.CompletedProcess(words, job.returncode, told.decode(errors="replace"), errors.decode(errors="replace"))


def files(d):
    found = {}
    for path in pathlib.Path(d).rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.chmod(0o600)
            found[str(path.relative_to(d))] = path.read_bytes()
    return found


def plain(text, d):
    return text.replace(str(d), "")


def tried(command, e):
    """What a run printed, its files, and what it left where nothing belongs."""
    with tempfile.TemporaryDirectory(dir=PLACE) as d:
        for name in "work", "tmp", "o":
            folder(f"{d}/{name}", 0o1777)
        os.chmod(d, 0o1777)
        result = start(command, e, d)
        left = [str(p) for part in ("work", "tmp") for p in pathlib.Path(f"{d}/{part}").rglob("*")]
        outputs = files(f"{d}/o")
        result.stdout, result.stderr = plain(result.stdout, d), plain(result.stderr, d)
        return result, outputs, left


def is_same(name, written, usual):
    return written == usual or not name.endswith((".npy", ".html")) and written[-1:] in (b"", b"\n")


def complaints(command, e, usual, expected):
    result, outputs, left = tried(command, e)
    wrong = []
    codes = e.codes_of(command, usual)
    if result.returncode not in codes:
        wrong.append(f"exit {result.returncode} instead of {sorted(codes)}: {result.stderr[-600:]}")
    hears_errors = "2>" not in e.shell
    if result.returncode != usual.returncode and hears_errors and not re.search("tilewise: .{20,}", result.stderr):
        wrong.append(f"says {result.stderr!r}")
    if result.returncode == usual.returncode == 0:
        if set(outputs) != set(expected):
            wrong.append(f"wrote {sorted(outputs)} instead of {sorted(expected)}")
        if command in TIMELESS and e.prints_the_same and ">" not in e.shell.replace("2>", "") and result.stdout != usual.stdout:
            wrong.append(f"printed {result.stdout[:300]!r} instead of {usual.stdout[:300]!r}")
    wrong += [f"{name} is not whole" for name in outputs if name not in expected or not is_same(name, outputs[name], expected[name])]
    if left:
        wrong.append(f"left {left}")
    if re.search("\x1b|\x07", result.stderr + result.stdout):
        wrong.append("steers the terminal")
    return wrong


def main():
    global INPUTS, CACHE, PLACE
    found = number = 0
    with tempfile.TemporaryDirectory() as PLACE, concurrent.futures.ThreadPoolExecutor(2) as several:
        os.chmod(PLACE, 0o755)
        INPUTS, CACHE = f"{PLACE}/in", f"{PLACE}/cache-of-all"
        folder(INPUTS, 0o755)
        rng = np.random.default_rng(1)
        np.save(f"{INPUTS}/x.npy", rng.standard_normal(50000).astype("f4"))
        np.save(f"{INPUTS}/m.npy", rng.standard_normal((64, 64)).astype("f4"))
        measured = tempfile.mkdtemp(dir=PLACE)
        subprocess.run([TOOL, *COMMANDS["bench"].format(o=measured).split(), "-q"], check=True, stdout=subprocess.DEVNULL)
        shutil.copy(f"{measured}/r.jsonl", INPUTS)
        all_of = list(environments())
        usual = {command: tried(command, all_of[0])[:2] for command in COMMANDS}
        for command, (result, _) in usual.items():
            if command == "reduce-opencl" and result.returncode == 4:
                continue
            assert result.returncode == {"bad-option": 2, "missing-file": 6}.get(command, 0), f"{command}: {result}"
        cases = [(command, e) for e in all_of for command in COMMANDS][7 if FEW else 0::23 if FEW else 1]
        for (command, e), wrong in several.map(lambda case: (case, complaints(*case, *usual[case[0]])), cases):
            number += 1
            found += bool(wrong)
            for one in wrong:
                print(f"{e.name}: {command}: {json.dumps(one)}", flush=True)
    print(f"{len(COMMANDS)} commands in {len(all_of)} environments")
    print(f"{number} cases, {found} found")
    return found != 0


if __name__ == "__main__":
    sys.exit(main())
