# SPDX-License-Identifier: Apache-2.0
"""Hosts of their own on one machine: each has a network interface, a name, processes and mounts that the others do not see.

All of them, and the files in SHARED, are in namespaces of the calling program's, and so end with it, however it ends.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from processes import HANGS_S

SHARED = "/var/local"  # what all hosts see in the same place, empty at first; nobody builds there
SPACES = ["--net", "--uts", "--ipc", "--pid", "--mount"]
OWN = [*SPACES, "--fork", "--kill-child", "--mount-proc"]
# What ssh does where the host has nobody at its door, or cannot be reached; then the command, in that host.
AGENT = f"""#!/bin/bash
host=$1; shift
said=$( (: </dev/tcp/$host/22) 2>&1 )
[[ $said == *refused* ]] || {{ echo "ssh: connect to host $host port 22: No route to host" >&2; exit 255; }}
echo "$*" >{SHARED}/door-$host
"""
# Commands come in by its door, a line each; the network comes from outside.
# Each also has a network that the others do not reach, and in it the same address, as Docker gives it.
HOST = """hostname {name} && mount --bind {shared}/names{network} /etc/hosts && ip link set lo up || exit
exec 3<>{shared}/door-{name}; echo >{shared}/is-up-{name}
while read -r line <&3; do sh -c "$line" </dev/null >/dev/null 2>&1 3<&- & done"""
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_plm_rsh_agent": f"{SHARED}/agent",
            "OMPI_MCA_btl_tcp_if_include": "10.0.0.0/16", "OMPI_MCA_oob_tcp_if_include": "10.0.0.0/16",
            "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1"}


def enter():
    """Begins the program again, in namespaces where it is root; says "skipped: " and ends where they cannot be made."""
    if os.environ.get("TILEWISE_IN_NAMESPACES") == "1":
        run("mount", "-t", "tmpfs", "tmpfs", SHARED)
        pathlib.Path(f"{SHARED}/agent").write_text(AGENT, encoding="ascii")
        os.chmod(f"{SHARED}/agent", 0o755)
        return
    for tool in "unshare", "nsenter", "ip", "mpirun":
        if shutil.which(tool) is None:
            sys.exit(print(f"skipped: there is no {tool} here"))
    words = ["unshare", *(["--user", "--map-root-user"] if os.geteuid() != 0 else []), *OWN]
    trial = f"mount -t tmpfs tmpfs {SHARED} && ip link add trial type bridge && ip link add to-trial type veth"
    tried = subprocess.run([*words, "sh", "-c", trial], capture_output=True, text=True, timeout=HANGS_S)
    if tried.returncode != 0:
        sys.exit(print(f"skipped: no namespaces can be made here: {tried.stderr.strip()}"))
    os.execvpe("unshare", [*words, sys.executable, *sys.argv],
               {**os.environ, **OPEN_MPI, "TMPDIR": SHARED, "TILEWISE_IN_NAMESPACES": "1"})


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=HANGS_S).stdout


class Hosts:
    """As many, in a network of their own, named after animals and their network; `names_lead` to addresses in it."""
    networks = 0

    def __init__(self, count, names_lead=True):
        Hosts.networks += 1
        self.network, self.init, self.started = Hosts.networks, {}, []
        self.names = [f"{animal}{self.network}" for animal in ("ant", "bee", "cow")[:count]]
        self.address = {name: f"10.0.{self.network}.{i}" for i, name in enumerate(self.names, 1)}
        known = "".join(f"{address} {name}\n" for name, address in self.address.items() if names_lead)
        pathlib.Path(f"{SHARED}/names{self.network}").write_text("127.0.0.1 localhost\n" + known, encoding="ascii")
        self.file = f"{SHARED}/hosts{self.network}"
        lines = (f"{name if names_lead else self.address[name]} slots=2\n" for name in self.names)
        pathlib.Path(self.file).write_text("".join(lines), encoding="ascii")
        run("ip", "link", "add", f"bridge{self.network}", "type", "bridge")
        run("ip", "link", "set", f"bridge{self.network}", "up")
        for name in self.names:
            self.start(name)

    def start(self, name):
        os.mkfifo(f"{SHARED}/door-{name}")
        os.symlink(f"door-{name}", f"{SHARED}/door-{self.address[name]}")
        self.started.append(subprocess.Popen(["unshare", *OWN, "sh", "-c", HOST.format(
            name=name, network=self.network, shared=SHARED)]))
        while not os.path.exists(f"{SHARED}/is-up-{name}"):
            time.sleep(0.01)
        parent = self.started[-1].pid
        self.init[name] = pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split()[0]
        run("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", self.init[name])
        run("ip", "link", "set", f"to-{name}", "master", f"bridge{self.network}", "up")
        self.on(name, f"ip address add {self.address[name]}/24 dev eth0 && ip link set eth0 up")
        self.on(name, "ip link add docker0 type bridge && ip address add 172.17.0.1/16 dev docker0 && ip link set docker0 up")

    def within(self, name, *words):
        """The words that run others in the host."""
        return ["nsenter", "--target", self.init[name], *SPACES, "--", *words]

    def on(self, name, line):
        return run(*self.within(name, "sh", "-c", line))

    def cut_off(self, name, is_off=True):
        self.on(name, f"ip link set eth0 {'down' if is_off else 'up'}")

    def stop_launchers(self, are_stopped=True):
        """mpirun, and what it has started on other hosts."""
        for number, words in self.processes():
            if os.path.basename(words.split()[0]) in ("mpirun", "orted"):
                os.kill(number, signal.SIGSTOP if are_stopped else signal.SIGCONT)

    def processes(self, name=""):
        """Of all hosts or of one, but for what makes the host: (number, command)."""
        spaces, found = {os.readlink(f"/proc/{self.init[n]}/ns/pid") for n in self.init if name in ("", n)}, []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
                is_there = os.readlink(process / "ns/pid") in spaces and process.name not in self.init.values()
            except OSError:  # it has ended
                continue
            if is_there and words[0]:
                found.append((int(process.name), b" ".join(words).decode()))
        return found

    def end(self):
        for process in self.started:
            process.kill()
            process.wait()
        run("ip", "link", "delete", f"bridge{self.network}")
