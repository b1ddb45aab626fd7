#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What recording costs programs that switch threads, beside perf record.

usage: bench/switches.py BUILD_DIRECTORY [--turns N] [--seconds S] [--rates HZ,...]
                         [--ways WAY,...] [--pin CPUS [--beside CPUS]]
                         [--threads N] [--as USER-ID] [-g]

Each turn runs tests/cli/switches bare, under perf record and under portprof by
perf, by timer and with -a, one after the other, and prints for each way and rate
the median rounds as parts in a hundred of the bare ones of the same turn, and
what portprof left unattributed. The ways redis and postgres are servers that the
recorder starts, under redis-benchmark and pgbench (queries a second); they are in no
list by default. With -g call chains are recorded, by perf with
frame pointers and with copies of stacks. --as runs the recorders as another user,
--beside on other CPUs than their program. --threads is for mutex, pool and mmap.
"""
import argparse
import contextlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

PORT = 8481
WAYS = "pipe,socket,futex,mutex,pool,mmap,threads,forks,processes"


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rates", default="101,997,3997")
    parser.add_argument("--ways", default=WAYS)
    parser.add_argument("--pin")
    parser.add_argument("--beside")
    parser.add_argument("--threads", default="4")
    parser.add_argument("--as", dest="user")
    parser.add_argument("-g", dest="chains", action="store_true")
    return parser.parse_args()


class Bench:
    def __init__(self, options):
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="portprof-switches.")
        os.chmod(self.folder, 0o777)
        build = os.path.abspath(options.build)
        self.portprof = os.path.join(build, "portprof")
        self.program = os.path.join(build, "tests/cli/switches")
        self.profile = os.path.join(self.folder, "p.pb.gz")

    @staticmethod
    def on(cpus):
        return ["taskset", "-c", cpus] if cpus else []

    def prefix(self, is_recorder):
        words = self.on(self.options.pin)
        if is_recorder and self.options.beside:
            words = self.on(self.options.beside)
        if is_recorder and self.options.user:
            words += ["setpriv", "--reuid=" + self.options.user,
                      "--clear-groups"]
        return words

    def redis(self):
        server = ["redis-server", "--port", str(PORT), "--save", "",
                  "--dir", self.folder]
        ping = ["redis-cli", "-p", str(PORT), "ping"]

        def measure():
            done = subprocess.run(
                ["redis-benchmark", "-p", str(PORT), "-q", "--csv", "-t",
                 "get", "-c", "20", "-n",
                 str(int(40000 * self.options.seconds))],
                capture_output=True, text=True, check=True)
            return float(done.stdout.splitlines()[-1].split(",")[1].strip('"'))
        return server, ping, measure

    def postgres(self):
        tools = sorted(os.listdir("/usr/lib/postgresql"))[-1]
        tools = "/usr/lib/postgresql/%s/bin/" % tools
        data = os.path.join(self.folder, "data")
        other = ["setpriv", "--reuid=postgres", "--clear-groups"]
        at = ["-h", self.folder, "-p", str(PORT + 1), "-U", "postgres"]
        server = [tools + "postgres", "-D", data, "-k", self.folder, "-p",
                  str(PORT + 1), "-c", "listen_addresses="]
        ping = [tools + "pg_isready", "-q", *at]
        if not self.options.user:
            server = other + server
        if not os.path.exists(data):
            subprocess.run(other + [tools + "initdb", "-D", data], check=True,
                           cwd=self.folder, stdout=subprocess.DEVNULL)
            with self.serve(other + server[len(other) if not
                            self.options.user else 0:], ping):
                subprocess.run([tools + "createdb", *at, "bench"], check=True)
                subprocess.run([tools + "pgbench", *at, "-i", "-q", "-s", "2",
                                "bench"], check=True, cwd=self.folder,
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)

        def measure():
            done = subprocess.run(
                [tools + "pgbench", *at, "-n", "-S", "-c", "4", "-T",
                 str(max(1, int(self.options.seconds))), "bench"],
                capture_output=True, text=True, check=True, cwd=self.folder)
            for line in done.stdout.splitlines():
                if line.startswith("tps = "):
                    return float(line.split()[2])
            sys.exit("pgbench: no tps")
        return server, ping, measure

    @contextlib.contextmanager
    def serve(self, command, ping):
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, cwd=self.folder,
                                  start_new_session=True)
        for _ in range(600):
            if subprocess.run(ping, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL,
                              check=False).returncode == 0:
                break
            time.sleep(0.05)
        else:
            sys.exit("%s: it does not answer" % " ".join(command))
        try:
            yield
        finally:
            os.killpg(server.pid, signal.SIGINT)
            server.wait()

    def rounds(self, recorder, way):
        if way in ("redis", "postgres"):
            command, ping, measure = getattr(self, way)()
            # memory of root's recorder is not for who the server becomes
            if command[0] == "setpriv" and "timer" in recorder:
                recorder, command = command[:3] + recorder, command[3:]
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self.profile)
            with self.serve(self.prefix(bool(recorder)) + recorder + command,
                            ping):
                return measure()
        command = self.prefix(bool(recorder)) + recorder
        if recorder and self.options.beside:
            command += self.on(self.options.pin)
        command += [self.program, way, str(self.options.seconds),
                    self.options.threads]
        done = subprocess.run(command, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        for line in done.stdout.splitlines():
            if line.endswith(" rounds"):
                return int(line.split()[0])
        sys.exit("%s: %s" % (" ".join(command), done.stderr.strip()))

    def recorders(self, rate):
        mode = ":u" if self.options.user else ""
        perf = ["perf", "record", "-q", "-F", rate, "-e", "task-clock" + mode,
                "-o", os.path.join(self.folder, "perf.data")]
        ours = [self.portprof, "record", "-q", "--no-names", "-F", rate,
                "-o", self.profile]
        chains = ["-g"] if self.options.chains else []
        if shutil.which("perf") and self.options.chains:
            yield "perf fp", perf + ["--call-graph", "fp", "--"]
            yield "perf dwarf", perf + ["--call-graph", "dwarf,8192", "--"]
        elif shutil.which("perf"):
            yield "perf", perf + ["--"]
        yield "portprof", ours + chains + ["--"]
        yield "portprof timer", ours + chains + ["-b", "timer", "--"]
        if not self.options.user:
            yield "portprof -a", ours + chains + ["-a", "--"]

    def unattributed(self):
        report = json.loads(subprocess.check_output(
            [self.portprof, "report", "-j", "-i", self.profile]))
        return abs(report["unattributed"]) * 100 / report["total_weight"]

    def table(self, way, rate):
        kept, missing = {}, {}
        for _ in range(self.options.turns):
            bare = self.rounds([], way)
            for name, recorder in self.recorders(rate):
                rounds = self.rounds(recorder, way)
                kept.setdefault(name, []).append(rounds * 100 / bare)
                if name.startswith("portprof") and name != "portprof -a":
                    missing.setdefault(name, []).append(self.unattributed())
        for name, values in kept.items():
            print("%-10s %5s Hz  %-15s %6.1f %% of bare (%.1f to %.1f)%s" % (
                way, rate, name, statistics.median(values), min(values),
                max(values), "" if name not in missing else
                ", unattributed %.1f %%" % statistics.median(missing[name])),
                  flush=True)


def main():
    bench = Bench(arguments())
    try:
        for way in bench.options.ways.split(","):
            for rate in bench.options.rates.split(","):
                bench.table(way, rate)
    finally:
        shutil.rmtree(bench.folder)


main()
