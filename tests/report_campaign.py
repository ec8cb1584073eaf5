# SPDX-License-Identifier: Apache-2.0
"""What reads records, on very many of them: it ends well, in memory that grows with the records alone, with a page that opens.

report_campaign.py BUILD_FOLDER [--few]   a million records of an archive, and 100,000 of each other kind; with --few 1,000 of each
"""

import os
import re
import resource
import subprocess
import sys
import tempfile

import many_records

BUILD, FEW = os.path.abspath(sys.argv[1]), "--few" in sys.argv
SEED = int(os.environ.get("CAMPAIGN_SEED", "1"))
ROOM, ROOM_OF_RECORD = 256 << 20, 3 << 10  # bytes of address space, of which a file's records are held once or, to compare, twice
LARGEST_PAGE = 8_000_000                   # bytes
LIMIT_S = 3600                             # a hang; no claim about speed
COMMANDS = {"report": "report {f} -o {d}/r.html --csv {d}/r.csv", "markdown": "report {f} --markdown --matrix",
            "compare": "compare {f} {f} --json", "scale": "scale --from {f}", "weak": "scale --from {f} --weak", "roofline": "roofline {f}"}
NOTHING = "records no variant was measured right|records there is neither a limit nor a right time"  # and exit 6


def count_of(kind):
    return 1000 if FEW else 1_000_000 if kind == "archive" else 100_000


def complaints(command, file, count, folder):
    room = ROOM + ROOM_OF_RECORD * count * (2 if command == "compare" else 1)
    with open(f"{folder}/out", "w+b") as out:
        job = subprocess.run([f"{BUILD}/tilewise", *COMMANDS[command].format(f=file, d=folder).split()], stdout=out, stderr=subprocess.PIPE,
                             text=True, timeout=LIMIT_S, env={**os.environ, "TILEWISE_OPENCL_LIBRARY": "/none"},
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (room, room)))
        size = out.tell()
        out.seek(max(0, size - 2))
        end = out.read()
    nothing = command in ("scale", "weak", "roofline") and job.returncode == 6 and re.search(NOTHING, job.stderr)
    if job.returncode != 0 and not nothing:
        yield f"exit {job.returncode}: {job.stderr[-300:]}"
    broken = count // many_records.BROKEN
    if len(re.findall(r"line \d+ is damaged|\d+ more lines are damaged", job.stderr)) != min(broken, 6):
        yield f"told of other lines than the {broken} that are damaged: {job.stderr[:300]}"
    if command == "compare" and end != b"}\n":
        yield f"an object that ends with {end}"
    if command == "report" and job.returncode == 0:
        if os.path.getsize(f"{folder}/r.html") > LARGEST_PAGE:
            yield f"a page of {os.path.getsize(f'{folder}/r.html')} bytes"
        with open(f"{folder}/r.csv", "rb") as table:
            if (lines := sum(1 for _ in table)) != 1 + count - broken:
                yield f"{lines} lines of CSV"


def main():
    found = number = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in many_records.KINDS:
            many_records.write(kind, count_of(kind), f"{folder}/many.jsonl", SEED)
            for command in COMMANDS:
                number += 1
                wrong = list(complaints(command, f"{folder}/many.jsonl", count_of(kind), folder))
                found += bool(wrong)
                used = resource.getrusage(resource.RUSAGE_CHILDREN)
                print(f"{kind}, {command}: {wrong or 'good'}; so far {used.ru_maxrss >> 10} MiB at most", flush=True)
    print(f"{number} cases, {found} found")
    return found != 0


if __name__ == "__main__":
    sys.exit(main())
