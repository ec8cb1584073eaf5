# SPDX-License-Identifier: Apache-2.0
"""Files of as many records as one asks for, made from those in results/: as an archive of many machines has them, or all alike in
all but one thing.

many_records.py KIND COUNT FILE [SEED]   KIND is one of KINDS below; one line in ten thousand is half a record
"""

import json
import pathlib
import random
import sys

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "results"
BROKEN = 10_000  # one line in so many


def templates():
    """All records that were measured, with ten samples each and no pictures."""
    for file in sorted(RESULTS.glob("*/*.jsonl")):
        for line in file.read_text().splitlines():
            r = json.loads(line)
            for clock in (r["timing"] or {}).values():
                if isinstance(clock, dict) and "samples_ns" in clock:
                    clock["samples_ns"] = clock["samples_ns"][:10]
            for moment in (r.get("course") or {}).get("moments", []):
                moment["picture_png"] = ""
            yield r


def scaled(clock, by):
    if clock and "median_ns" in clock:
        for key, value in clock.items():
            if key.endswith("_ns") and isinstance(value, float):
                clock[key] = value * by


def resize(r, n):
    case = r["case"]
    scaled(r["timing"] and r["timing"]["kernel"], n / case["n"])
    case["group"] = case["group"].replace(f"n={case['n']} ", f"n={n} ") if len(case["shape"]) < 2 else f"{case['group']} n={n}"
    case["n"], case["shape"] = n, [n, *case["shape"][1:]]


def archive(r, i, rng):
    """Two hundred machines, measured again and again, with other sizes, threads and tunings."""
    r["host"]["hostname"] = f"machine{rng.randrange(200)}"
    r["host"]["load_avg_1m"] = rng.random() * 4
    resize(r, max(1, int(r["case"]["n"] * rng.choice((0.125, 0.25, 0.5, 1, 2, 3, 4)))))
    scaled(r["timing"] and r["timing"]["kernel"], rng.uniform(0.9, 1.1))
    if r["device"]["is_cpu"] and rng.random() < 0.5:
        r["case"]["threads"] = rng.choice((1, 2, 4, 8, 16))
    elif not r["device"]["is_cpu"]:
        r["device"]["name"] = r["device"]["name"].split(":")[0] + f":{rng.randrange(8)}"
    if rng.random() < 0.02:
        r["status"], r["reason"], r["timing"], r["derived"] = "failed", f"a fault at 0x{rng.randrange(1 << 40):x}", None, None


def change(part, key, value):
    def changed(r, i, rng):
        r[part][key] = value(i)
    return changed


def group(r, i, rng):
    r["case"]["settings"] = {"op": f"op{i}"}
    r["case"]["group"] += f" op{i}"


def threads(r, i, rng):
    """A curve of sixteen counts of threads at each of many sizes."""
    resize(r, i // 16 + 1)
    r["case"]["threads"] = i % 16 + 1
    scaled(r["timing"]["kernel"], 1 / (i % 16 + 1))


def thread_counts(r, i, rng):
    """One curve, of a machine that has them all."""
    r["case"]["threads"], r["host"]["threads"] = i + 1, 1 << 40
    scaled(r["timing"]["kernel"], 1 / (i + 1))


def failed(r, i, rng):
    resize(r, i + 1)
    r["status"], r["reason"], r["timing"], r["derived"] = "failed", f"a fault whose number is {i}", None, None


def ratios(r, i, rng):
    """Of each record to a hundred others of its group."""
    resize(r, i // 100 + 1)
    r["case"]["variant"] = f"scan/cpu:v{i % 100}"
    one = {"ci95_hi": 1.1, "ci95_lo": 0.9, "median": 1.0, "device": r["device"]["name"], "tuning": ""}
    r["ratios"] = [{**one, "to": f"scan/cpu:v{other}"} for other in range(0, 100, 10)]


# How a record is changed by its number; and which of those that were measured it is made from.
IS_SCAN = lambda r: r["case"]["variant"] == "scan/cpu" and r["timing"] and r["timing"]["kernel"]
KINDS = {
    "archive": (archive, lambda r: True),
    "same": (lambda r, i, rng: None, IS_SCAN),
    "sizes": (lambda r, i, rng: resize(r, i + 1), IS_SCAN),
    "tunings": (change("case", "tuning", lambda i: f"tile={i + 1}"), IS_SCAN),
    "variants": (change("case", "variant", lambda i: f"scan/cpu:v{i}"), IS_SCAN),
    "devices": (change("device", "name", lambda i: f"opencl:{i}"), IS_SCAN),
    "machines": (change("host", "hostname", lambda i: f"host{i}"), IS_SCAN),
    "groups": (group, IS_SCAN),
    "threads": (threads, IS_SCAN),
    "thread-counts": (thread_counts, IS_SCAN),
    "failed": (failed, IS_SCAN),
    "ratios": (ratios, IS_SCAN),
    "documents": (lambda r, i, rng: resize(r, i + 1), lambda r: "experiment" in r and r["experiment"]),
    "ranks": (lambda r, i, rng: resize(r, i + 1), lambda r: "ranks" in r and r["ranks"]),
    "courses": (change("host", "hostname", lambda i: f"host{i}"), lambda r: "course" in r and r["course"]),
}


def write(kind, count, path, seed=1):
    rng = random.Random(seed)
    alter, is_wanted = KINDS[kind]
    wanted = [r for r in templates() if is_wanted(r)]
    if alter is not archive:
        wanted = wanted[:1] if IS_SCAN(wanted[0]) else wanted
    texts = [json.dumps(r) for r in wanted]
    with open(path, "w", encoding="utf-8") as file:
        for i in range(count):
            r = json.loads(texts[rng.randrange(len(texts))])
            alter(r, i, rng)
            line = json.dumps(r)
            file.write(line[:len(line) // 2] + "\n" if i % BROKEN == BROKEN - 1 else line + "\n")


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), sys.argv[3], *map(int, sys.argv[4:]))
