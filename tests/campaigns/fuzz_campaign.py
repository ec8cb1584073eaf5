# SPDX-License-Identifier: Apache-2.0
"""tests/campaigns/fuzz_campaign.py BUILD [--few | SECONDS]: each fuzz target for ten minutes, with --few for three seconds; as many at once
as there are processors. BUILD is what `cmake --preset fuzz && cmake --build --preset fuzz` makes. Inputs that broke something lie in
BUILD/found/, beside the folder of those that were worth keeping, from which the next run goes on. Exits 1 if any was found."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

BUILD = pathlib.Path(sys.argv[1]).resolve()
SECONDS = 3 if "--few" in sys.argv else int(sys.argv[2]) if len(sys.argv) > 2 else 600
SEEDS = pathlib.Path(__file__).resolve().parents[1] / "fuzz/seeds"


def fuzz(target):
    """Executions, and whether one of them broke what must hold, or there was none."""
    kind = target.name.removesuffix("-fuzz")
    kept = BUILD / "found" / kind
    kept.mkdir(parents=True, exist_ok=True)
    run = subprocess.run([target, f"-max_total_time={SECONDS}", "-print_final_stats=1", f"-artifact_prefix={kept}-", kept, SEEDS / kind],
                         stderr=subprocess.PIPE, text=True, errors="replace", stdin=subprocess.DEVNULL)
    told = re.search(r"number_of_executed_units: (\d+)", run.stderr)
    cases = int(told[1]) if told else 0
    print(run.stderr if run.returncode else f"- {kind}: {cases} executions, {cases // SECONDS} a second", flush=True)
    return cases, run.returncode != 0 or cases == 0


targets = sorted(BUILD.glob("*-fuzz"))
if not targets:
    sys.exit(f"{BUILD} has no fuzz targets; make them by `cmake --preset fuzz && cmake --build --preset fuzz`")
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
    results = list(workers.map(fuzz, targets))
found = sum(is_broken for _, is_broken in results)
print(f"{sum(cases for cases, _ in results)} cases, {found} found")
sys.exit(found != 0)
