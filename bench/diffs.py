#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What portprof diff says of equal runs, and of a function that became 5 % slower.

usage: bench/diffs.py BUILD_DIRECTORY [--pairs N] [--slow N] [--runs N] [--hz HZ]
                      [--seconds S] [--slow-seconds S] [--only NAME,...]
                      [--backend NAME] [--show]

Programs in C, Python, node and Java run twelve functions of different weight, for the
same number of rounds each time. They are recorded one after the other; a pair is --runs
runs and the next as many, as diff --base a1 a2 a3 -- b1 b2 b3 has them. "shown" is how
many of the pairs have a row that changed beyond noise, "total" how many have such a
total. Then part_0, which has four tenths of the weight, does 5 % more, in longer runs
that alternate with equal ones: "first" is how often it is the first row, "beyond" how
often it is beyond noise as well. Runtimes are told not to inline the parts. Functions of Python have their weight with all that
they called, as -i --function 'py::part_*' compares it.
"""
import argparse
import contextlib
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

PARTS = [int(4000 / (k + 1) ** 1.3) for k in range(12)]
SLOWER = 1.05

C = """#include <stdlib.h>
static unsigned long x = 1;
%s
int main(int argc, char **argv)
{
	double slower = atof(argv[2]);
	for (long i = atol(argv[1]); i; i--) {
		%s
	}
	return argc == 9 && x == 0;
}
"""
PYTHON = """import sys
%s
def main(rounds, slower):
    for i in range(rounds):
        %s
main(int(sys.argv[1]), float(sys.argv[2]))
"""
NODE = """let x = 1;
%s
function main(rounds, slower) { for (let i = 0; i < rounds; i++) { %s } }
main(Number(process.argv[2]), Number(process.argv[3]));
if (x === 0.5) console.log(x);
"""
JAVA = """public class M {
    static long x = 1;
    %s
    public static void main(String[] a) {
        long rounds = Long.parseLong(a[0]);
        double slower = Double.parseDouble(a[1]);
        for (long i = 0; i < rounds; i++) { %s }
        if (x == 0) System.out.println(x);
    }
}
"""


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--slow", type=int, default=10)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--hz", default="3999")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--slow-seconds", type=float, default=1.5)
    parser.add_argument("--only", default="C,Python,node,Java")
    parser.add_argument("--backend")
    parser.add_argument("--show", action="store_true")
    return parser.parse_args()


def each(text, join, scale=1):
    """A text for each part; part 0 does what `slower` says."""
    return join.join(text.format(k=k, n=max(1, n // scale),
                                 more=" * slower" if k == 0 else "")
                     for k, n in enumerate(PARTS))


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


def is_done(*words):
    return subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def python_312():
    found = [shutil.which("python3.12"), *sorted(glob.glob(os.path.expanduser(
        "~/.pyenv/versions/3.12*/bin/python3")))]
    return next((one for one in found if one and is_done(one, "-c", "pass")), None)


def programs(wanted):
    """(name, command, options of record, options of diff, part 0's name begins so)"""
    if "C" in wanted:
        write("m.c", C % (each(
            "static __attribute__((noinline)) void part_{k}(long n)\n"
            "{{ while (n--) x = x * 6364136223846793005u + {k} + 1; }}", "\n"),
            each("part_{k}((long)({n} * 10{more}));", "\n\t\t")))
        if is_done(os.environ.get("CC", "cc").split()[-1], "-O1", "-g", "-o", "m", "m.c"):
            yield "C", ["./m"], [], [], "part_0"
    if "Python" in wanted and python_312():
        write("m.py", PYTHON % (each(
            "def part_{k}(n):\n    s = 0\n    for i in range(n):\n"
            "        s += i * {k} % 7\n    return s", "\n"),
            each("part_{k}(int({n}{more}))", "; ")))
        yield ("Python", [python_312(), "-X", "perf", "m.py"], ["-g"],
               ["-i", "--function", "py::part_*"], "py::part_0:")
    if "node" in wanted and shutil.which("node"):
        write("m.js", NODE % (each(
            "function part_{k}(n) {{ for (let i = 0; i < n; i++) "
            "x = (x * 31 + i + {k}) % 1000003 }}", "\n"),
            each("part_{k}({n}{more});", " ")))
        yield ("node", ["node", "--perf-basic-prof", "--no-turbo-inlining", "m.js"], [], [], "JS:*part_0 ")
    if "Java" in wanted and shutil.which("javac"):
        write("M.java", JAVA % (each(
            "static void part_{k}(long n) {{ for (long i = 0; i < n; i++) "
            "x = x * 6364136223846793005L + {k} + 1; }}", "\n    "),
            each("part_{k}((long)({n} * 10{more}));", " ")))
        if is_done("javac", "M.java"):
            yield ("Java", ["java", "-XX:+UnlockDiagnosticVMOptions",
                            "-XX:+DumpPerfMapAtExit",
                            "-XX:CompileCommand=quiet",
                            "-XX:CompileCommand=dontinline,M.part_*", "-cp", ".", "M"],
                   [], [],
                   "void M.part_0(")


def cpu_seconds(command, rounds):
    before = os.times()
    if subprocess.run([*command, str(rounds), "1"], check=False,
                      stdout=subprocess.DEVNULL).returncode:
        sys.exit(f"{command} failed")
    after = os.times()
    return (after.children_user + after.children_system -
            before.children_user - before.children_system)


def rounds_for(command, seconds):
    """How many take that long: the start of a runtime is no part of it."""
    few = 64
    while cpu_seconds(command, few) < seconds / 2:
        few *= 2
    half = cpu_seconds(command, few // 2)
    whole = cpu_seconds(command, few)
    return max(1, int((few // 2) * seconds / max(whole - half, 1e-3)))


class Bench:
    def __init__(self, options):
        self.options = options
        self.portprof = os.path.join(os.path.abspath(options.build), "portprof")

    def record(self, one, rounds, slower, path):
        _, command, more, _, _ = one
        backend = ["-b", self.options.backend] if self.options.backend else []
        done = subprocess.run(
            [self.portprof, "record", "-q", "-F", self.options.hz, *backend, *more,
             "-o", path, "--", "sh", "-c", 'echo $$ >pid; exec "$@"', "sh", *command,
             str(rounds), str(slower)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        with open("pid", encoding="utf-8") as file, contextlib.suppress(OSError):
            os.remove(f"/tmp/perf-{file.read().strip()}.map")
        if done.returncode:
            sys.exit(f"{' '.join(command)}: {done.stderr}")

    def diff(self, one, before, after):
        done = subprocess.run(
            [self.portprof, "diff", "-j", *one[3], "--base", *before, "--", *after],
            capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        return json.loads(done.stdout)

    def runs(self, one, name, rounds, count, is_alternating=False):
        """Files of equal runs; and, alternating with them, of slower ones."""
        equal, slow = [], []
        for i in range(count):
            equal.append(f"{name}-{i}.pb.gz")
            self.record(one, rounds, 1, equal[-1])
            if is_alternating:
                slow.append(f"{name}-slow-{i}.pb.gz")
                self.record(one, rounds, SLOWER, slow[-1])
        return equal, slow

    def say(self, what, found):
        if not self.options.show:
            return
        rows = [f"{r['function'][:40]} {r['before']:.0f} {r['after']:.0f} "
                f"± {r['error']:.0f}" for r in found["rows"][:4]
                if r["verdict"] != "noise"]
        print(f"# {what}: {found['total']['percent']:+.1f} %, runs differ by "
              f"{found['spread_of_runs']:.1f} %: {'; '.join(rows)}")

    def measure(self, one):
        runs, pairs, turns = self.options.runs, self.options.pairs, self.options.slow
        rounds = rounds_for(one[1], self.options.seconds)
        equal, _ = self.runs(one, "equal", rounds, pairs + 2 * runs - 1)
        shown = totals = first = beyond = 0
        for i in range(pairs):
            found = self.diff(one, equal[i:i + runs], equal[i + runs:i + 2 * runs])
            rows = [r for r in found["rows"] if r["verdict"] != "noise"]
            shown += bool(rows)
            totals += found["total"]["verdict"] != "noise"
            if rows:
                self.say(f"{one[0]} equal {i}", found)
        rounds = int(rounds * self.options.slow_seconds / self.options.seconds)
        equal, slow = self.runs(one, "base", rounds, turns + runs - 1, True)
        for i in range(turns):
            found = self.diff(one, equal[i:i + runs], slow[i:i + runs])
            is_first = found["rows"][:1] and found["rows"][0]["function"].startswith(one[4])
            first += bool(is_first)
            beyond += bool(is_first and found["rows"][0]["verdict"] == "grown")
            if not is_first:
                self.say(f"{one[0]} slower {i}", found)
        return (f"| {one[0]} | {shown} of {pairs} | {totals} of {pairs} | "
                f"{first} of {turns} | {beyond} of {turns} |")


def main():
    options = arguments()
    bench = Bench(options)
    load = os.getloadavg()[1]
    with tempfile.TemporaryDirectory(prefix="portprof-diffs.") as folder:
        os.chdir(folder)
        began = time.monotonic()
        print("| Program | shown | total | slower: first | beyond noise |\n"
              "|---|---|---|---|---|", flush=True)
        for one in programs(options.only.split(",")):
            print(bench.measure(one), flush=True)
            for path in glob.glob("*.pb.gz"):
                os.remove(path)
        print(f"# {time.monotonic() - began:.0f} s, load {load:.1f} to "
              f"{os.getloadavg()[1]:.1f}")
        os.chdir("/")


main()
