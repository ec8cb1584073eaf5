# SPDX-License-Identifier: Apache-2.0
"""The module in a process: threads, forks, Ctrl-C, a second interpreter, and the end of the program."""

import itertools
import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import tilewise as tw

X = np.random.default_rng(3).standard_normal(100_003).astype(np.float32)
OPENCL = [d.name for d in tw.devices() if d.backend == "opencl"][:1]


class Threads(unittest.TestCase):
    def together(self, *calls):
        """Runs all calls at once, each in a thread, and returns what they return."""
        results, start = [None] * len(calls), threading.Barrier(len(calls))

        def run(i):
            start.wait()
            results[i] = calls[i]()

        all_threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
        for thread in all_threads:
            thread.start()
        for thread in all_threads:
            thread.join()
        return results

    def test_first_calls(self):
        """What the module makes at its first call takes imports, during which Python lets other threads run."""
        program = ("import sys, threading, tilewise as tw, numpy as np\n"
                   "x, start, sums = np.ones(3, 'f4'), threading.Barrier(8), []\n"
                   "def first(): start.wait(); sums.append(tw.sum(x, device='cpu:serial'))\n"
                   "all = [threading.Thread(target=first) for _ in range(8)]\n"
                   "sys.setswitchinterval(1e-6)\n"
                   "for one in all: one.start()\n"
                   "for one in all: one.join()\n"
                   "print(sums)\n")
        for _ in range(5):
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.stdout, done.stderr), (f"{[np.float32(3)] * 8}\n", ""))

    def test_one_queue(self):
        wanted = tw.cumsum(X).tobytes()
        for name in ["cpu", "2*cpu:serial"] + OPENCL:
            device = tw.open(name)
            mine = tw.array(X, device=device)

            small = [tw.array(X[:n], device=device) for n in range(1, 40)]
            values = [x.numpy().sum(dtype=np.float64) for x in small]

            def work():
                for x, value in zip(small, values):
                    if abs(tw.sum(x) - value) > 1e-3 or tw.cumsum(x).numpy().shape != x.shape:
                        return "a wrong sum"
                return {tw.cumsum(X, device=device).tobytes(), tw.cumsum(mine).numpy().tobytes(),
                        tw.array(tw.cumsum(X), device=device).numpy().tobytes()}

            self.assertEqual(self.together(*[work] * 4), [{wanted}] * 4, name)

    def test_one_name(self):
        """What threads make by a name that none has used before lies together."""
        for name in [f"{n}*cpu:serial" for n in range(20, 26)]:
            arrays = self.together(*[lambda: tw.array(X[:8], device=name)] * 8)
            self.assertEqual(len({array.device for array in arrays}), 1, name)

    def test_one_partial(self):
        x = np.resize(X, 2_000_003)  # for so long that two threads meet
        part, in_turn = tw.partial("sum", np.float32), tw.partial("sum", np.float32)
        for _ in range(200):
            in_turn.push(x, device="cpu:serial")
        self.together(*[lambda: [part.push(x, device="cpu:serial") for _ in range(50)]] * 4)
        self.assertEqual(part.end, in_turn.end)
        self.assertEqual(pickle.dumps(part), pickle.dumps(in_turn))  # of blocks in a wrong order the sum may be the same

    def test_one_carry(self):
        """Scans continue from it, and append to it; all threads' parts are the same, so their order does not matter."""
        x = np.resize(X, 200_003)
        carry, in_turn = tw.partial("sum", np.float32), tw.partial("sum", np.float32)
        for _ in range(400):
            in_turn.push(x, device="cpu:serial")
        out = [np.empty_like(x) for _ in range(4)]
        scans = [tw.cumsum, tw.exclusive_scan, tw.inclusive_scan]
        append = [lambda scan=scan, y=y: scan(x, carry=carry, out=y, device="cpu:serial") for scan, y in zip(scans, out)]
        append.append(lambda: carry.push(x, device="cpu:serial"))
        self.together(*[lambda one=one: [one() for _ in range(100)] for one in append])
        self.assertEqual(pickle.dumps(carry), pickle.dumps(in_turn))

    def test_others_run_meanwhile(self):
        a = np.ones((150, 150))
        self.assertTrue(self.others_ran_during(lambda: tw.matmul(a, a)), "the interpreter's lock was held during calls")

    def test_others_run_while_one_waits_for_a_partial(self):
        """Each look at one waits for the thread that pushes to it."""
        x, part, another, going = np.zeros(1 << 26, np.float32), tw.partial("sum", "f4"), tw.partial("sum", "f4"), True

        def push():
            while going:
                part.push(x, device="cpu:serial")

        pushing = threading.Thread(target=push)
        pushing.start()
        for name, look in {"end": lambda: part.end, "value": part.value, "repr": lambda: repr(part),
                           "pickle": lambda: pickle.dumps(part), "merge": lambda: tw.partial("sum", "f4").merge(part),
                           "merge into": lambda: self.assertRaises(ValueError, part.merge, another)}.items():
            with self.subTest(name):
                self.assertTrue(any(self.others_ran_during(look) for _ in range(5)), "all waited with the one")
        going = False
        pushing.join()

    def others_ran_during(self, call):
        """Whether a thread that may run does so. With so long an interval it can only where another one gives the
        interpreter up."""
        ran, go, before = [], threading.Lock(), sys.getswitchinterval()
        go.acquire()

        def other():
            with go:
                ran.append(True)

        thread = threading.Thread(target=other)
        thread.start()
        sys.setswitchinterval(1000)
        try:
            time.sleep(0.001)  # until threads that compute do so
            go.release()
            for _ in range(2000):
                call()
                if ran:
                    return True
            return False
        finally:
            sys.setswitchinterval(before)
            thread.join()


class Processes(unittest.TestCase):
    def run_python(self, code, before=(), **options):
        done = subprocess.run([*before, sys.executable, "-c", "import os, numpy as np, tilewise as tw\nX = np.ones(50_000, np.float32)\n" + code],
                              capture_output=True, text=True, timeout=120, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    @unittest.skipUnless(OPENCL, "no OpenCL here")
    def test_a_folder_that_a_driver_cannot_use(self):
        """A driver would end the interpreter where it cannot write or load what it compiles; another folder is taken."""
        for kind in "size=64M,noexec", "size=64k":
            with self.subTest(kind), tempfile.TemporaryDirectory() as at:
                before = ["unshare", "-rm", "sh", "-c", f'mount -t tmpfs -o {kind} none {at} && mkdir -m 700 {at}/cache && exec "$@"', "sh"]
                if subprocess.run([*before, "true"], capture_output=True).returncode != 0:
                    self.skipTest("nothing can be mounted here")
                environment = {**os.environ, "TILEWISE_CACHE": f"{at}/cache"}
                self.assertEqual(self.run_python(f"print(tw.sum(X, device='{OPENCL[0]}'))", before, env=environment), "50000.0\n")

    @unittest.skipUnless(OPENCL, "no OpenCL here")
    def test_a_folder_that_a_driver_can_use_no_more(self):
        """What happens to it in a long session ends the call, not the interpreter."""
        full = "with open(at + '/fill', 'wb', 0) as f:\n  try:\n    while True: f.write(bytes(4096))\n  except OSError: pass"
        files = "try:\n  for i in range(400): open(f'{at}/{i}', 'w').close()\nexcept OSError: pass"
        limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"
        changes = {full: "less than 16 MiB", files: "less than 256 files", "mount('noexec')": "may not be run", "mount('ro')": "Read-only", limit: "ulimit -f",
                   "shutil.rmtree(at + '/cache')": "", "os.chdir('/proc')": ""}
        caches = itertools.cycle([("TILEWISE_CACHE", "{at}/cache"), ("POCL_CACHE_DIR", "cache")])
        for (change, why), cache in zip(changes.items(), caches):
            with self.subTest(f"{change} {cache}"), tempfile.TemporaryDirectory() as at:
                before = ["unshare", "-rm", "sh", "-c", f'mount -t tmpfs -o size=64M,nr_inodes=600 none {at} && mkdir -m 700 {at}/cache && cd {at} && exec "$@"', "sh"]
                if subprocess.run([*before, "true"], capture_output=True).returncode != 0:
                    self.skipTest("nothing can be mounted here")
                environment = {**os.environ, "POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable", cache[0]: cache[1].format(at=at)}
                out = self.run_python(f"""
import shutil, subprocess
at, mount = {at!r}, lambda how: subprocess.run(["mount", "-o", "remount," + how, {at!r}], check=True)
print(tw.cumsum(X, device="{OPENCL[0]}")[-1])
{change}
for call in lambda: tw.cumsum(np.ones(5_000_000, np.float32), device="{OPENCL[0]}"), lambda: tw.sort(X, device="{OPENCL[0]}"):
    try: print(call()[0])
    except tw.Unsupported as e: print(e)
print(tw.sum(X))
""", before, env=environment)
                self.assertRegex(out, f"^50000.0\n(.*{why}.*\n){{2}}50000.0\n$")
                self.assertEqual("can compile no more" in out, bool(why), out)

    @unittest.skipUnless(OPENCL, "no OpenCL here")
    def test_what_a_driver_compiled_for_one_process_is_removed(self):
        """Also after Ctrl-C, when Python ends by the signal."""
        for end in "", "raise KeyboardInterrupt":
            with self.subTest(end), tempfile.TemporaryDirectory() as at:
                code = f"import os, numpy as np, tilewise as tw\nprint(tw.sum(np.ones(9, 'f4'), device='{OPENCL[0]}'), *os.listdir('{at}'))\n{end}"
                done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
                                      env={**os.environ, "TILEWISE_CACHE": "off", "TMPDIR": at})
                self.assertRegex(done.stdout, "^9.0 tilewise-drivers-", done.stderr)
                self.assertEqual((done.returncode, os.listdir(at)), (-signal.SIGINT if end else 0, []))

    @unittest.skipUnless(OPENCL, "no OpenCL here")
    def test_a_limit_of_files(self):
        limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))}
        self.assertRegex(self.run_python(f"""
try:
    tw.sum(X, device="{OPENCL[0]}")
except tw.Error as e:
    print(e)
print(tw.sum(X))
""", **limited), "OpenCL drivers are not loaded because no file may have more than 1000 bytes here.*\n50000.0\n$")

    def test_arrays_are_computed_by_their_device(self):
        """And not by all cores: their team of threads starts when it is first needed."""
        self.assertEqual(self.run_python("""
there = lambda x: tw.array(x, device="cpu:serial")
x, whole, m, k = there(X), there(X.astype("i4")), there(np.ones((200, 200))), there(np.ones((3, 3)))
row, out, part = there(np.ones(200)), there(X), tw.partial("sum", "f4")
calls = [(tw.sum, x), (tw.max, m, 0), (tw.cumsum, x), (tw.exclusive_scan, m, 1), (tw.sort, x), (tw.sort, m, 0), (tw.argsort, x),
         (tw.sort_by_key, x, x), (tw.matmul, m, m), (tw.matvec, m, row), (tw.dot, x, x), (tw.polymul, whole, whole),
         (tw.convolve, m, k), (tw.diffuse, m), (part.push, x), (lambda: tw.cumsum(x, carry=part, out=out),)]
for call, *operands in calls:
    before = len(os.listdir("/proc/self/task"))
    call(*operands)
    if len(os.listdir("/proc/self/task")) != before: print(call, "started threads")
"""), "")

    def test_fork_after_use(self):
        devices = ["cpu", "cpu:threads", "cpu:openmp"] + OPENCL
        out = self.run_python(f"""
devices = [tw.open(name) for name in {devices}]
arrays = [tw.array(X, device=d) for d in devices]
for d in devices: tw.sum(X, device=d)
if os.fork() == 0:
    for d, a in zip(devices, arrays):
        for x in X, a:
            try: print(d.name, float(tw.sum(x, device=d)))
            except tw.DeviceLost as e: print(d.name, e)
    del arrays, a, x
    print("end", flush=True)
    os._exit(0)
os.wait()
print(all(tw.sum(X, device=d) == 50_000 for d in devices))
""")
        for name in devices[:3]:
            self.assertEqual(out.count(f"{name} 50000.0"), 2, out)
        for name in OPENCL:
            self.assertEqual(out.count(f"{name} {name} was used before this process was forked"), 2, out)
        self.assertTrue(out.endswith("end\nTrue\n"), out)

    def test_partials_merged_with_each_other(self):
        """Without elements they are neighbours, each way round; nobody waits for whom they keep waiting."""
        self.assertEqual(self.run_python("""
import threading
a, b = tw.partial(), tw.partial()
def work(left, right):
    for _ in range(20_000): left.merge(right)
merging = [threading.Thread(target=work, args=two) for two in ((a, b), (b, a), (a, a))]
for one in merging: one.start()
for one in merging: one.join()
print(a.end, b.end)
"""), "0 0\n")

    def test_fork_during_a_call(self):
        """The child has its own locks: nobody there would open those that other threads of the parent held."""
        for name in OPENCL:
            self.assertEqual(self.run_python(f"""
import signal, threading, time
device, going = tw.open({name!r}), True
array = tw.array(X, device=device)
def work():
    while going: tw.sum(array)
thread = threading.Thread(target=work)
thread.start()
ended = []
for _ in range(8):
    time.sleep(0.01)
    if (child := os.fork()) == 0:
        signal.alarm(60)
        try: tw.sum(X, device=device)
        except tw.DeviceLost: os._exit(0)
        os._exit(1)
    ended.append(os.waitpid(child, 0)[1])
going = False
thread.join()
print(ended)
"""), "[0, 0, 0, 0, 0, 0, 0, 0]\n")

    def test_workers(self):
        self.assertEqual(self.run_python("""
import multiprocessing
def work(cut):
    part = tw.partial('sum', np.float32, cut)
    part.push(X[cut:cut + 12_500])
    return part
tw.sum(X)
with multiprocessing.get_context("fork").Pool(2) as pool:
    parts = pool.map(work, range(0, 50_000, 12_500))
for part in parts[1:]: parts[0].merge(part)
print(float(parts[0].value()))
"""), "50000.0\n")

    def test_ctrl_c(self):
        self.assertEqual(self.run_python("""
import signal, threading
a = np.ones((300, 300))
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True: tw.matmul(a, a)
except KeyboardInterrupt:
    print("interrupted", float(tw.sum(X)))
"""), "interrupted 50000.0\n")

    def test_second_interpreter(self):
        out = self.run_python("""
import _xxsubinterpreters as interpreters
other = interpreters.create()
try: interpreters.run_string(other, "import tilewise")
except interpreters.RunFailedError as e: print(e)
print(float(tw.sum(X)))
""")
        self.assertRegex(out, "in use by another interpreter.*\n50000.0\n$")

    def test_end_with_everything_alive(self):
        for name in ["cpu:threads", "2*cpu:serial"] + OPENCL:
            self.run_python(f"""
import threading
array = tw.array(X, device={name!r})
lent = array.__dlpack__() if {name!r} == "cpu:threads" else None
def forever():
    while True: tw.cumsum(array)
threading.Thread(target=forever, daemon=True).start()
tw.cumsum(array)
""")


if __name__ == "__main__":
    unittest.main()
