# SPDX-License-Identifier: Apache-2.0
"""A GPU that a row of `bench` loses to its process.

cli_lost_gpu_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""


import named_tests
from cli_isolate_test import IsolateCase
from cli_test import PLANTED, run


class LostGpu(IsolateCase):
    """A kernel that reads where no memory is loses the device to all of its process."""
    ROWS = "bench scan/cuda:unmapped scan/cuda:lookback reduce/cuda:two_phase --n 100 --device cuda:0 --dtype f32 --op sum --max-time 0.02"

    def test_its_row_alone_is_lost(self):
        self.check(run(f"{self.ROWS} --isolate -o {self.d}/r.jsonl", PLANTED), 8)
        states = self.states()
        self.assertEqual(states.pop(("scan/cuda:unmapped", 100)), "failed")
        self.assertEqual(set(states.values()), {"ok"})
        self.assertIn(("scan/cuda:lookback", 100), states)
        why = [r["reason"] for r in self.records() if r["status"] == "failed"]
        self.assertRegex(why[0], r"cudaErrorIllegalAddress.*this process can no longer use the device")

    def test_in_one_process_it_is_exit_8(self):
        self.check(run(f"{self.ROWS} -o {self.d}/r.jsonl", PLANTED), 8)
        self.assertEqual(self.states()["scan/cuda:unmapped", 100], "failed")


if __name__ == "__main__":
    if run("bench scan --n 100 --device cuda:0 --dry-run").returncode == 4:
        print("skipped: there is no CUDA device")
    else:
        named_tests.main()
