#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the agent of a fleet costs: portprof record -a --push, on a host of many
processes that do little and of many short ones.

usage: bench/agent.py BUILD_DIRECTORY [--seconds S] [--every S] [--processes N]
                      [--forks HZ] [--rate HZ] [--flat] [--warm S]
                      [--cgroup FOLDER] [AGENT...]

Starts N processes that wake twice a second, one that computes and one that runs HZ
commands a second, and then each AGENT (a portprof command; that of the build, if
none is named) for S seconds, with a server that takes all windows. Prints the CPU
time of the agent and of its children as a share of one CPU, and the most memory that
it had. Agents are measured in the same seconds, so that they can be compared, after
they have run for S seconds (5). With --cgroup they measure these processes alone,
which then are in a group of that folder of the second hierarchy: whatever else the
machine does is no work of theirs.
"""
import argparse
import contextlib
import http.server
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time


class Engine(http.server.BaseHTTPRequestHandler):
    def do_PUT(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def idle():
    while True:
        time.sleep(0.5)
        sum(range(3000))


def busy():
    while True:
        sum(range(100000))


def forks(rate):
    while True:
        subprocess.run(["/bin/true"], check=False)
        time.sleep(1 / rate)


def start(group, work, *given):
    child = os.fork()
    if child == 0:
        if group:
            with open(os.path.join(group, "cgroup.procs"), "w",
                      encoding="ascii") as file:
                file.write(str(os.getpid()))
        with contextlib.suppress(KeyboardInterrupt):
            work(*given)
        os._exit(0)
    return child


def seconds_of(pid):
    with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
        words = file.read().rsplit(")", 1)[1].split()
    ticks = [int(word) for word in words[11:15]]
    return [tick / os.sysconf("SC_CLK_TCK") for tick in
            (ticks[0], ticks[1], ticks[2] + ticks[3])]


def peak_of(pid):
    with open("/proc/%d/status" % pid, encoding="latin-1") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("agents", nargs="*")
    parser.add_argument("--seconds", type=float, default=130)
    parser.add_argument("--every", type=int, default=60)
    parser.add_argument("--processes", type=int, default=300)
    parser.add_argument("--forks", type=float, default=20)
    parser.add_argument("--rate", type=int, default=19)
    parser.add_argument("--flat", action="store_true")
    parser.add_argument("--warm", type=float, default=5)
    parser.add_argument("--cgroup")
    options = parser.parse_intermixed_args()
    agents = options.agents or [os.path.join(options.build, "portprof")]
    folder = tempfile.mkdtemp(prefix="portprof-agent.")
    group = None
    if options.cgroup:
        group = os.path.join(options.cgroup, "agent.%d" % os.getpid())
        os.mkdir(group)
    others = [start(group, idle) for _ in range(options.processes)]
    others += [start(group, busy), start(group, forks, options.forks)]
    engine = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Engine)
    threading.Thread(target=engine.serve_forever, daemon=True).start()
    url = "http://127.0.0.1:%d/" % engine.server_address[1]
    running = []
    try:
        for number, agent in enumerate(agents):
            running.append(subprocess.Popen(
                [agent, "record"] + (["--cgroup", group] if group else ["-a"]) +
                ["-F", str(options.rate), "--push", url,
                 "--every", "%ds" % options.every, "--spool",
                 "%s/%d" % (folder, number)] +
                ([] if options.flat else ["-g"])))
        time.sleep(options.warm)  # what it costs to begin is not what it costs
        began = time.monotonic()
        before = [seconds_of(child.pid) for child in running]
        time.sleep(options.seconds)
        took = time.monotonic() - began
        print("of one CPU   user  kernel  children  most memory")
        for agent, child, start_of in zip(agents, running, before):
            now = seconds_of(child.pid)
            spent = [100 * (a - b) / took for a, b in zip(now, start_of)]
            print("%6.2f %%   %5.2f   %5.2f     %5.2f    %6.1f MiB  %s" % (
                sum(spent), *spent, peak_of(child.pid), agent), flush=True)
    finally:
        for child in running:
            child.terminate()
        for child in running:
            child.wait()
        for child in others:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        shutil.rmtree(folder)
        if group:
            time.sleep(1)  # the commands end by themselves
            os.rmdir(group)


if __name__ == "__main__":
    sys.exit(main())
