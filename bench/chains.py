#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What whole call chains cost, beside those by frame pointers and beside
perf's: medians of rounds in which each way has its turn, as ratios.

usage: chains.py BUILD [ROUNDS [WORK]]

WORK is how much the program does: 400 is about 0.6 s. It is C++ -O2 as it is shipped: no frame pointers, no debug sections.
CPU time is the program's and the recorder's together, less the program's alone.
"""
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = r"""
#include <algorithm>
#include <string>
#include <vector>
static volatile unsigned kept;
__attribute__((noinline)) static void sort_strings(unsigned seed)
{
	std::vector<std::string> words;
	for (int i = 0; i < 3000; i++) {
		seed = seed * 1103515245 + 12345;
		words.push_back(std::to_string(seed) + std::to_string(seed * 7));
	}
	std::sort(words.begin(), words.end(),
	          [](const std::string &a, const std::string &b) {
		          return a.substr(1) < b.substr(1);
	          });
	kept = kept + words[0].size();
}
__attribute__((noinline)) static void nest(int depth)
{
	if (depth == 0)
		sort_strings(kept);
	else
		nest(depth - 1);
	kept = kept + 1;
}
int main(int argc, char **argv)
{
	int work = argc > 1 ? std::stoi(argv[1]) : 400;
	for (int i = 0; i < work; i++)
		nest(10);
}
"""

build = os.path.abspath(sys.argv[1])
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
subject = ["./subject", sys.argv[3] if len(sys.argv) > 3 else "400"]
portprof = os.path.join(build, ".libs", "portprof")
environment = dict(os.environ, LD_LIBRARY_PATH=os.path.join(build, ".libs"),
                   LC_ALL="C")


def run(command):
    """CPU seconds of the command and all below it, and seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            time.monotonic() - began)


def main():
    if not shutil.which("c++"):
        print("no C++ compiler")
        return
    with open("subject.cc", "w") as file:
        file.write(PROGRAM)
    subprocess.run(["c++", "-O2", "-fomit-frame-pointer", "-s", "-o", "subject",
                    "subject.cc"], check=True)
    has_perf = shutil.which("perf") and subprocess.run(
        ["perf", "record", "-q", "-o", "try.data", "true"],
        stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode == 0
    ours = [portprof, "record", "-q", "-b", "perf", "-o", "own.pb.gz"]
    for hz in ("1000", "4000"):
        ways = {"alone": subject,
                "fp": ours + ["-F", hz, "--call-graph", "fp", "--"] + subject,
                "auto": ours + ["-F", hz, "-g", "--"] + subject}
        if has_perf:
            ways["perf dwarf"] = ["perf", "record", "-q", "-F", hz, "-e",
                                  "cpu-clock", "--call-graph", "dwarf", "-o",
                                  "perf.data"] + subject
        cpu = {name: [] for name in ways}
        for _ in range(rounds):
            for name, command in ways.items():
                cpu[name].append(run(command)[0])
        alone = statistics.median(cpu["alone"])
        added = {name: statistics.median(
            [x - y for x, y in zip(cpu[name], cpu["alone"])])
            for name in ways if name != "alone"}
        words = ", ".join("%s +%.1f %%" % (name, 100 * extra / alone)
                          for name, extra in added.items())
        print("%s Hz, %.2f s alone: %s" % (hz, alone, words))
        print("  auto to fp, program and recorder: %.3f; what is added: %.2f" %
              ((alone + added["auto"]) / (alone + added["fp"]),
               added["auto"] / added["fp"]))
        if not has_perf:
            continue
        run(ways["auto"])
        read = [run([portprof, "report", "-i", "own.pb.gz"])[1]
                for _ in range(3)]
        theirs = run(["perf", "report", "--stdio", "-i", "perf.data"])[1]
        sizes = [os.path.getsize(x) for x in ("own.pb.gz", "perf.data")]
        total = [added["auto"] + statistics.median(read),
                 added["perf dwarf"] + theirs]
        print("  to perf's dwarf: %.2f of its CPU while recording; %d to %d "
              "bytes: %.4f; recording and report %.2f to %.2f s: %.3f" %
              (added["auto"] / added["perf dwarf"], *sizes,
               sizes[0] / sizes[1], *total, total[0] / total[1]))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
