#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""portprof beside its peers, on a program whose profile is known.

usage: bench/peers.py BUILD_DIRECTORY [--rounds N] [--millions N] [--rates HZ,...]

Runs bench/split bare and under portprof (perf, timer, itimer), perf record,
gperftools' libprofiler and glibc's profil(3), one after the other in each
round, and prints a table of medians:

  added/sample  CPU time, of tool and program together, beyond the bare run and
                the tool's own start-up, for each sample delivered
  delivered     samples for those asked for: rate times CPU time
  lost weight   what is missing in the profile of the program's CPU time
  error         how far the larger function's share is from the truth
  start-up      wall clock of `tool true` beyond `true`
  file          bytes written

A peer that is not installed is named and left out.
"""
import argparse
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

LIBPROFILER = ["/usr/lib/x86_64-linux-gnu/libprofiler.so.0",
               "/usr/lib/aarch64-linux-gnu/libprofiler.so.0",
               "/usr/lib64/libprofiler.so.0", "/usr/lib/libprofiler.so.0"]
FUNCTIONS = ("spend_much", "spend_little")


def run(argv, env=None):
    """CPU seconds (with all children), wall seconds, standard output."""
    start = time.monotonic()
    child = subprocess.Popen(argv, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL,
                             env={**os.environ, **(env or {})})
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status:
        sys.exit("%s: status %d" % (" ".join(argv), status))
    return usage.ru_utime + usage.ru_stime, time.monotonic() - start, out


class Program:
    """bench/split, and where its functions are."""

    def __init__(self, path, millions):
        self.path = path
        self.argv = [path, str(millions)]
        self.ranges = {}
        self.text = [2 ** 64, 0]
        for line in subprocess.check_output(["nm", "-S", path],
                                            text=True).splitlines():
            part = line.split()
            if len(part) == 4 and part[2] in "tT":
                start, size = int(part[0], 16), int(part[1], 16)
                self.text = [min(start, self.text[0]),
                             max(start + size, self.text[1])]
                if part[3] in FUNCTIONS:
                    self.ranges[part[3]] = (start, start + size)

    def count(self, samples):
        """Samples (address, number): all, and of each function."""
        found = dict.fromkeys(FUNCTIONS, 0)
        total = 0
        for address, number in samples:
            total += number
            for name, (start, end) in self.ranges.items():
                if start <= address < end:
                    found[name] += number
        return total, found


class Portprof:
    unit = "weight"

    def __init__(self, build, backend):
        self.name = "portprof " + backend
        # libtool's wrapper is a shell script that takes longer than we do
        real = build + "/.libs/portprof"
        self.tool = real if os.path.exists(real) else build + "/portprof"
        self.env = {"LD_LIBRARY_PATH": build + "/.libs"}
        self.backend = backend

    def command(self, argv, hz, path):
        return [self.tool, "record", "-q", "-b", self.backend, "-F", str(hz),
                "-o", path, "--", *argv], self.env

    def read(self, program, path, hz):
        report = json.loads(subprocess.check_output(
            [self.tool, "report", "--json", "-i", path],
            env={**os.environ, **self.env}))
        found = {f["name"]: f["self_weight"] / 1e9
                 for f in report["functions"] if f["name"] in FUNCTIONS}
        kept = sum(f["self_weight"] for f in report["functions"]) / 1e9
        return report["samples"], kept, found


class Perf:
    name = "perf record"

    def command(self, argv, hz, path):
        return ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(hz), "-o",
                path, "--", *argv], {}

    def read(self, program, path, hz):
        text = subprocess.check_output(
            ["perf", "script", "-F", "ip", "-i", path], text=True,
            stderr=subprocess.DEVNULL)
        total, found = program.count((int(line.split()[0], 16), 1)
                                     for line in text.splitlines() if line)
        return total, total / hz, {k: v / hz for k, v in found.items()}


class Gperftools:
    name = "gperftools"

    def __init__(self, library):
        self.library = library

    def command(self, argv, hz, path):
        return argv, {"LD_PRELOAD": self.library, "CPUPROFILE": path,
                      "CPUPROFILE_FREQUENCY": str(hz)}

    def read(self, program, path, hz):
        # words: 0, 3, 0, period in us, 0; then count, depth, addresses; the
        # end is 0, 1, 0 (gperftools, docs/cpuprofile-fileformat.html)
        with open(path, "rb") as file:
            data = file.read()
        words = struct.unpack("<%dQ" % (len(data) // 8),
                              data[:len(data) // 8 * 8])
        samples, at = [], 2 + words[1]
        while words[at]:
            samples.append((words[at + 2], words[at]))
            at += 2 + words[at + 1]
        total, found = program.count(samples)
        return total, total / hz, {k: v / hz for k, v in found.items()}


class Profil:
    name = "glibc profil"
    rates = (100,)

    def __init__(self, build, program):
        self.library = build + "/bench/peer_profil.so"
        self.text = program.text

    def command(self, argv, hz, path):
        return argv, {"LD_PRELOAD": self.library, "PEER_PROFIL": path,
                      "PEER_PROFIL_START": "%x" % self.text[0],
                      "PEER_PROFIL_END": "%x" % self.text[1]}

    def read(self, program, path, hz):
        with open(path) as file:
            lines = [line.split() for line in file]
        total, found = program.count((int(a, 16), int(n)) for a, n in lines)
        return total, total / hz, {k: v / hz for k, v in found.items()}


def peers(build, program):
    found = [Portprof(build, name) for name in ("perf", "timer", "itimer")]
    if shutil.which("perf"):
        found.append(Perf())
    else:
        print("left out: perf record (Debian: linux-perf)")
    library = next(filter(os.path.exists, LIBPROFILER), None)
    if library:
        found.append(Gperftools(library))
    else:
        print("left out: gperftools (Debian: libgoogle-perftools4)")
    if os.path.exists(build + "/bench/peer_profil.so"):
        found.append(Profil(build, program))
    return found


def start_up(tool, path, rounds):
    """Median of (wall of true under the tool - wall of true), and the CPU."""
    argv, env = tool.command(["true"], 100, path)
    pairs = [(run(["true"]), run(argv, env)) for _ in range(rounds)]
    return tuple(statistics.median(with_it[i] - bare[i]
                                   for bare, with_it in pairs)
                 for i in (0, 1))


def measure(tool, program, hz, path):
    bare, _, _ = run(program.argv)
    argv, env = tool.command(program.argv, hz, path)
    used, _, out = run(argv, env)
    much, little = (int(word) / 1e9 for word in out.split())
    samples, weight, found = tool.read(program, path, hz)
    share = found.get(FUNCTIONS[0], 0) / (sum(found.values()) or 1)
    return {
        "added": used - bare, "samples": samples,
        "delivered": samples / (hz * (much + little)),
        "missing": 1 - weight / (much + little),
        "error": abs(share - much / (much + little)),
        "file": os.path.getsize(path),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--millions", type=int, default=1000)
    parser.add_argument("--rates", default="100,1000,4000")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    program = Program(build + "/bench/split", options.millions)
    print("%-16s %5s %12s %10s %12s %7s %9s %8s" % (
        "tool", "Hz", "added/sample", "delivered", "lost weight", "error",
        "start-up", "file"))
    with tempfile.TemporaryDirectory(prefix="portprof-peers.") as folder:
        path = folder + "/profile"
        for tool in peers(build, program):
            cpu, wall = start_up(tool, path, options.rounds)
            for hz in map(int, options.rates.split(",")):
                if hz not in getattr(tool, "rates", (hz,)):
                    continue
                rows = [measure(tool, program, hz, path)
                        for _ in range(options.rounds)]
                mid = {key: statistics.median(row[key] for row in rows)
                       for key in rows[0]}
                cost = (mid["added"] - cpu) / max(mid["samples"], 1) * 1e6
                print("%-16s %5d %9.2f us %9.1f%% %11.1f%% %6.2f%% %6.1f ms %8d"
                      % (tool.name, hz, cost, mid["delivered"] * 100,
                         mid["missing"] * 100, mid["error"] * 100, wall * 1e3,
                         mid["file"]), flush=True)


main()
