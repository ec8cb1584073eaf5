#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts/run and scripts/test say and ask CMake for, in a made-up checkout whose cmake, apt-get and nvcc are stubs.

usage: first_hour_test.py
"""
import os
import pathlib
import pty
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
HAS_GPU = pathlib.Path("/dev/nvidia0").exists()
STUBS = {
    "cmake": 'echo "cmake $*" >> "$ASKED"; if [[ $1 = --build ]]; then echo "[7/9] Building"; sleep "${BUILD_SECONDS:-0}"; fi; exit "${BUILD_EXIT:-0}"',
    "ctest": "echo '100% tests passed'",
    "nvcc": "exit 0",
    "nvidia-smi": 'exit "${NO_GPU:-9}"',
    "dpkg-query": '[[ $4 = "${MISSING:-}" ]] || echo installed',
    "sudo": '"$@"',
    "apt-get": 'echo "apt-get $*" >> "$ASKED"; echo "0 upgraded, 3 newly installed, 0 to remove."; echo "Need to get 7 MB of archives."',
}
TOOL = 'echo "tilewise $*" >> "$ASKED"; if [[ $1 = verify ]]; then echo "digests"; exit "${VERIFY_EXIT:-0}"; fi'


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)


class FirstHour(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.checkout = pathlib.Path(folder.name, "checkout")
        shutil.copytree(ROOT / "scripts", self.checkout / "scripts")
        for name, text in STUBS.items():
            write_program(pathlib.Path(folder.name, "bin", name), text)
        write_program(self.checkout / "build/release/tilewise", TOOL)
        self.asked = pathlib.Path(folder.name, "asked")
        self.environment = {"PATH": f"{folder.name}/bin:{os.environ['PATH']}", "ASKED": str(self.asked), "HOME": folder.name}

    def call(self, *words, output=subprocess.PIPE, wanted=0, **environment):
        """What it says; what it asks of others is in self.asked."""
        self.asked.write_text("")
        done = subprocess.run([self.checkout / "scripts" / words[0], *words[1:]], env=self.environment | environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode, wanted, done.stdout)
        return done.stdout

    def cuda_of(self, *words, **environment):
        said = self.call(*words, **environment)
        configured = self.asked.read_text().splitlines()[0]
        return configured.partition("--preset release")[2].strip(), said

    @unittest.skipIf(HAS_GPU, "this machine has a GPU")
    def test_cuda_is_left_out_without_a_gpu(self):
        option, said = self.cuda_of("run")
        self.assertEqual(option, "-DTILEWISE_CUDA=OFF")
        self.assertIn("without CUDA", said)
        self.assertIn("--cuda", said)

    def test_cuda_is_built_for_a_gpu_or_if_asked_for(self):
        for words, environment in ((["run"], {"NO_GPU": "0"}), (["run", "--cuda"], {})):
            option, said = self.cuda_of(*words, **environment)
            self.assertEqual(option, "-DTILEWISE_CUDA=ON")
            self.assertIn("with CUDA", said)

    def test_a_folder_with_cuda_keeps_it(self):
        (self.checkout / "build/release/CMakeCache.txt").write_text("TILEWISE_CUDA:BOOL=ON\n")
        self.assertEqual(self.cuda_of("run")[0], "")

    def test_tests_are_of_cuda_again_where_nvcc_is(self):
        self.assertEqual(self.cuda_of("test")[0], "-U TILEWISE_CUDA")

    def test_it_builds_what_the_readme_names_and_ends_with_what_to_do(self):
        said = self.call("run", wanted=3, VERIFY_EXIT="3")
        asked = self.asked.read_text()
        self.assertRegex(asked, "cmake --build .* --target tilewise-tool tilewise-shared tilewise-python\n")
        self.assertLess(asked.index("tilewise bench"), asked.index("tilewise verify"))
        self.assertRegex(said, r"(?s)^Tilewise: .* about \d+ minutes.*installs .*builds .*measures .*\ndigests\n.*report\.html.*export PATH=")

    def test_it_says_what_it_installs(self):
        said = self.call("run", MISSING="python3-numpy")
        self.assertRegex(said, r"installs +1 of \d+ Debian packages.* MB")
        self.assertRegex(said, r"0 upgraded, 3 newly installed\n +Need to get 7 MB of archives\.\n")
        self.assertIn("install", self.asked.read_text())
        self.assertIn("nothing", self.call("run"))
        self.assertNotIn("apt-get", self.asked.read_text())

    def test_a_terminal_sees_the_build_count(self):
        ours, theirs = pty.openpty()
        self.call("run", output=theirs, BUILD_SECONDS="1.5")
        os.close(theirs)
        self.assertRegex(os.read(ours, 65536).decode(), r"build-release +7 of 9, \d s\x1b\[K.*build-release +ok")

    def test_a_build_that_fails_ends_it_with_its_log(self):
        said = self.call("run", wanted=1, BUILD_EXIT="1")
        self.assertIn("FAILED", said)
        self.assertNotIn("tilewise", self.asked.read_text().replace(str(self.checkout), "").replace("TILEWISE", ""))

    def test_other_words_are_refused(self):
        self.assertIn("usage: scripts/run [--cuda]", self.call("run", "--gpu", wanted=1))


if __name__ == "__main__":
    unittest.main()
