# SPDX-License-Identifier: Apache-2.0
"""What does not stay as it was, of quantities that are noted again and again over a long time, on a machine that others use too."""

import ctypes
import math
import os
import time

NOISE_ENDS = 5  # values, among which one was taken while nothing else was in the way
WARM = 10  # rounds after which allocators have what they keep: on a busy machine 35 rounds still lent 73 KB more


class Mallinfo(ctypes.Structure):  # mallinfo2 of malloc.h
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
                                                     "fordblks", "keepcost")]


MALLINFO = ctypes.CDLL(None).mallinfo2
MALLINFO.restype = Mallinfo


def memory():
    """Bytes that malloc has lent, and those of the process that are its alone."""
    lent = MALLINFO()
    with open("/proc/self/status") as status:
        own = next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))
    return lent.uordblks + lent.hblkhd, own


def used_on_gpu():
    """Bytes of the memory of the GPU that this thread used last, by all processes; none without one."""
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    try:
        told = ctypes.CDLL("libcuda.so.1").cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
    except OSError:
        return []
    return [total.value - free.value] if told == 0 else []


class Span:
    """How many values there were, and the least."""

    def __init__(self):
        self.count, self.least = 0, math.inf


class Series:
    """The first tenth of the time is the warm-up, in which pools and caches fill. Of the rest, the least value of the last third
    is held against that of the first: whatever others on the machine do only adds, while what grows lifts the least as well."""

    # A file or a thread is one too many. Memory: what malloc had lent after some hundred rounds differed by 2 KiB, and pages of
    # the process, by what its allocators keep, by less than 1 MiB. A GPU lends pages of 2 MiB. What a process had at most is
    # also what the one that started it had, so what "control" grew by is taken off.
    MOST = {"files": 0, "threads": 0, "lent": 64 << 10, "own": 8 << 20, "resident": 8 << 20, "gpu": 8 << 20}
    # Of times, the ratio beyond that of work that is none of ours, "control", and the seconds that are too few to be told. The
    # clock runs while others have the processors, which tells most of what is long and of what starts processes: so must
    # the control be.
    SLOWER = {"cpu": (1.5, 200e-6), "clock": (2, 2e-3)}
    SECONDS_FOR_TIMES = 60  # in less, what else the machine does comes or goes with a third, as other tests beside this one

    def __init__(self, seconds):
        self.seconds, self.start, self.spans = seconds, time.monotonic(), {}

    def spans_of(self, what, name):
        return self.spans.setdefault((what, name), [Span() for _ in range(4)])

    def goes_on(self):
        """Until the time is over, and longer where rounds have become so slow that the last third has few."""
        *_, last = self.spans_of("cpu", "control")
        return time.monotonic() < self.start + self.seconds or last.count < NOISE_ENDS

    def note(self, what, name, value):
        third = math.ceil(((time.monotonic() - self.start) / self.seconds - 0.1) / 0.3)
        span = self.spans_of(what, name)[max(0, min(3, third))]
        span.count, span.least = span.count + 1, min(span.least, value)

    def note_process(self):
        for what, value in zip(("lent", "own"), memory()):
            self.note(what, "the process", value)
        for value in used_on_gpu():
            self.note("gpu", "the process", value)
        for what, folder in (("files", "fd"), ("threads", "task")):
            self.note(what, "the process", len(os.listdir(f"/proc/self/{folder}")))

    def is_slower(self, what, first, last):
        if self.seconds < self.SECONDS_FOR_TIMES:
            return False
        ratio, few = self.SLOWER[what]
        _, before, _, after = self.spans[what, "control"]
        return min(first.count, last.count) >= NOISE_ENDS and last.least - first.least > few \
            and last.least > first.least * max(1, after.least / before.least) * ratio

    def grows(self, what, first, last):
        if min(first.count, last.count) == 0:
            return False
        if what not in self.MOST:
            return self.is_slower(what, first, last)
        _, before, _, after = self.spans.get((what, "control"), [Span()] * 4)
        of_control = max(0, after.least - before.least) if min(before.count, after.count) else 0
        return last.least - first.least > self.MOST[what] + of_control

    def growing(self):
        """How many grew; each is told."""
        found = 0
        for (what, name), (warm, first, _, last) in self.spans.items():
            grows = (what != "lent" or warm.count >= WARM) and self.grows(what, first, last)
            found += grows
            if grows or name in ("the process", "control"):
                print(f"{'GROWS: ' if grows else ''}{what} of {name}: {first.least:.6g} and then {last.least:.6g}", flush=True)
        return found
