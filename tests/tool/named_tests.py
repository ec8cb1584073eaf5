# SPDX-License-Identifier: Apache-2.0
"""Runs a script's tests, or those that are named: behind the programs that it is given, or in TILEWISE_TESTS, which ctest passes on."""

import os
import sys
import unittest


def main():
    """A name is where that of a class or of a test begins, with * for anything, as Caches, Caches.test_damaged or test_*home."""
    names = [word for word in sys.argv[1:] if "/" not in word] + os.environ.get("TILEWISE_TESTS", "").split()
    result = unittest.main(argv=sys.argv[:1] + [f"-k*.{name}*" for name in names], exit=False).result
    if result.testsRun == 0:
        sys.exit(f"no test is called {' or '.join(names)}")
    sys.exit(not result.wasSuccessful())
