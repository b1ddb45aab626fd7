#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What measuring waits costs programs that switch threads, beside perf.

usage: bench/waits.py BUILD_DIRECTORY [--turns N] [--seconds S] [--ways WAY,...]
                      [--pin CPUS]

Each turn runs tests/cli/switches bare, under portprof record --wall and --off-cpu,
with and without chains, and, where they work, under perf trace -s and perf sched
record, one after the other. It prints for each way the median rounds as parts in a
hundred of the bare ones of the same turn, and the CPU time of the recorder, as a
part of a CPU: all that was charged, less what the bare run needs for as many
rounds.
"""
import argparse
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--ways", default="pipe,futex,mutex,pool,threads")
    parser.add_argument("--pin")
    return parser.parse_args()


def charged():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Bench:
    def __init__(self, options):
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="portprof-waits.")
        build = os.path.abspath(options.build)
        self.portprof = os.path.join(build, "portprof")
        self.program = os.path.join(build, "tests/cli/switches")

    def run(self, recorder, way):
        """Rounds, CPU seconds, seconds; None where it does not run."""
        words = ["taskset", "-c", self.options.pin] if self.options.pin else []
        before, begun = charged(), time.monotonic()
        done = subprocess.run(
            words + recorder + [self.program, way,
                                str(self.options.seconds)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        took = time.monotonic() - begun
        for line in done.stdout.splitlines():
            if line.endswith(" rounds"):
                return int(line.split()[0]), charged() - before, took
        return None

    def recorders(self):
        ours = [self.portprof, "record", "-q", "--no-names", "-o",
                os.path.join(self.folder, "p.pb.gz")]
        data = os.path.join(self.folder, "perf.data")
        yield "portprof --wall", ours + ["--wall", "--"]
        yield "portprof --wall -g", ours + ["--wall", "-g", "--"]
        yield "portprof --off-cpu", ours + ["--off-cpu", "--"]
        if shutil.which("perf"):
            yield "perf trace -s", ["perf", "trace", "-s", "-o",
                                    os.path.join(self.folder, "t"), "--"]
            yield "perf sched", ["perf", "sched", "record", "-o", data, "--"]

    def table(self, way):
        kept, costs = {}, {}
        for _ in range(self.options.turns):
            bare = self.run([], way)
            if not bare:
                return
            for name, recorder in self.recorders():
                got = self.run(recorder, way)
                if not got:
                    continue
                own = got[1] - bare[1] * got[0] / bare[0]
                kept.setdefault(name, []).append(got[0] * 100 / bare[0])
                costs.setdefault(name, []).append(own * 100 / got[2])
        for name, values in kept.items():
            print("%-8s %-19s %6.1f %% of bare (%.1f to %.1f), "
                  "%5.1f %% of a CPU" % (
                      way, name, statistics.median(values), min(values),
                      max(values), statistics.median(costs[name])),
                  flush=True)


def main():
    bench = Bench(arguments())
    try:
        for way in bench.options.ways.split(","):
            bench.table(way)
    finally:
        shutil.rmtree(bench.folder)


main()
