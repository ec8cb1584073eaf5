#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls as a user of std or Thrust would write them first: the compiler answers in one sentence, which says what to do.

Usage: wrong_calls_test.py FOLDER_OF_HEADERS..."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

MOST_LINES = 7  # of a compiler's answer, without the lines that show the source
PROGRAM = """#include <tilewise/tilewise.hpp>

#include <functional>
#include <list>

namespace tw = tilewise;

int main() {
  std::vector<float> x(4), y(4);
  const std::vector<float> fixed(4);
  std::vector<double> doubles(4);
  std::vector<short> shorts(4);
  std::list<float> list;
  float* pointer = x.data();
  tw::array<float> there = tw::open("cpu").upload(x);
  CALL;
}
"""
CALLS = {
    "tw::reduce(x.begin(), x.end())": "pass ranges, not iterators or pointers",
    "tw::inclusive_scan(x.begin(), x.end(), y.begin())": "pass ranges, not iterators or pointers",
    "float sum = tw::reduce(pointer, 4)": "pass ranges, not iterators or pointers",
    "tw::reduce(x, 5.0f)": "numbers are options: {.init = 5}",
    "tw::reduce(x, 0.0f, std::plus<>())": "numbers are options: {.init = 5}",
    "tw::sort(x, std::greater<>())": "operators and orders are options",
    "tw::sort(x, tw::sort_order::descending)": "operators and orders are options",
    "tw::sort_by_key(tw::along(x, {2, 2}, tw::axis::rows), x)": "along() is for the input of reduce, a scan or sort",
    "tw::inclusive_scan(x, tw::along(y, {2, 2}, tw::axis::rows))": "along() is for the input of reduce, a scan or sort",
    "tw::reduce(shorts)": "elements are float, double, or integers of 32 or 64 bits",
    "tw::reduce(std::vector<bool>(4))": "elements are float, double, or integers of 32 or 64 bits",
    "tw::reduce(list)": "elements must lie one after another",
    "tw::inclusive_scan(x, doubles)": "the same type of elements",
    "tw::inclusive_scan(there, y)": "some operands are on the host and some are arrays",
    "tw::inclusive_scan(x, std::vector<float>(4))": "an output is const or temporary",
    "tw::sort(fixed)": "an output is const or temporary",
}
RIGHT = ["tw::reduce(fixed, tw::op::max)", "tw::inclusive_scan(x, y, {.op = tw::op::max, .init = 5})", "tw::sort(there)"]


def answer(compiler, call, folders):
    """What the compiler prints about the call."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "call.cpp")
        source.write_text(PROGRAM.replace("CALL", call))
        plain = "-fno-diagnostics-show-caret" if "g++" in pathlib.Path(compiler).name.replace("clang++", "") else "-fno-caret-diagnostics"
        done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", plain, *("-I" + f for f in folders), source],
                              capture_output=True, text=True)
        return done.returncode, done.stderr


def main():
    compilers = [c for c in (shutil.which("g++"), shutil.which("clang++")) if c]
    failures = []
    for compiler in compilers:
        for call in RIGHT:
            if (status := answer(compiler, call, sys.argv[1:])) != (0, ""):
                failures.append(f"{compiler} refuses {call}:\n{status[1]}")
        for call, words in CALLS.items():
            status, text = answer(compiler, call, sys.argv[1:])
            lines = text.splitlines()
            summary = [line for line in lines if line.endswith(" generated.")]  # clang's count of errors
            if status == 0 or words not in text or len(lines) - len(summary) > MOST_LINES:
                failures.append(f"{compiler}: {call}, {len(lines)} lines, expected '{words}':\n{text}")
    print("\n".join(failures))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
