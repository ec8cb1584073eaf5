# SPDX-License-Identifier: Apache-2.0
"""Which processes there are, by what stands in their files of /proc, and where they live."""

import os
import pathlib
import time

HANGS_S = 600  # what takes longer hangs: nothing does that a busy machine makes slow


def processes_with(file, *texts):
    """In whose `file`, "cmdline" or "environ", all these texts stand; "\\0" is between words."""
    found = []
    for told in pathlib.Path("/proc").glob(f"[0-9]*/{file}"):
        try:
            said = told.read_bytes()
        except OSError:  # it has ended, or is not ours
            continue
        if all(text.encode() in said for text in texts):
            found.append(told.parent.name)
    return found


def outliving(file, *texts):
    """Those of them that do not end within half a minute."""
    deadline = time.monotonic() + 30
    while (found := processes_with(file, *texts)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found


def mark_of_place(other=0):
    """What the name of a temporary file has behind the process's number: this boot and its processes here, or elsewhere."""
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot}-{os.stat('/proc/self/ns/pid').st_ino + other}"
