# SPDX-License-Identifier: MIT
"""public_files.py PORTPROF FOLDER TABLE: a verdict on each test file of other tools."""
import json
import os
import re
import subprocess
import sys

portprof, top, table = sys.argv[1:]
LOST = "their script leaves out the last sample of a text without an empty line at its end"
REASON = (r"pprof -proto|scripts|ends with a space and a number|XML|JSON|is empty|"
          r"neither a sample nor a frame|has callers|no sample|callgrind_annotate|"
          r"zip archive|Java Flight Recorder: convert")


def read(path):
    """{event: (samples, weight)}, or why not."""
    def report(*more):
        done = subprocess.run([portprof, "report", "-n", "0", "-j", *more, path],
                              capture_output=True, text=True, errors="replace",
                              timeout=600, check=False)
        return (json.loads(done.stdout), "") if not done.returncode else (
            None, " ".join(done.stderr.split()))
    all_events, why = report()
    if not all_events:
        return None, why
    sums = {}
    for event in all_events["events"]:
        functions = report("-e", event["event"])[0]["functions"]
        sums[event["event"]] = (sum(f["samples"] for f in functions),
                                sum(f["self_weight"] for f in functions))
    return sums, ""


def folded(path):
    """The sum of the numbers at the ends of lines."""
    with open(path, encoding="utf-8", errors="replace") as text:
        ends = [re.search(r" (\d+(?:\.\d*)?)$", line.rstrip()) for line in text]
    return sum(float(end.group(1)) for end in ends if end)


def pprof_string(path):
    """The sums that pprof's own test has of a file."""
    sums, is_in = [0, 0], False
    with open(path, encoding="utf-8", errors="replace") as text:
        for line in text:
            if line.startswith("Samples:"):
                is_in = True
            elif line.startswith("Locations"):
                is_in = False
            found = is_in and re.match(r"\s+(\d+)\s+(\d+):", line)
            if found:
                sums = [sums[0] + int(found.group(1)), sums[1] + int(found.group(2))]
    return sums


def expected(path):
    """What their tools make of a file: weights or samples; None: nobody says."""
    folder, name = os.path.split(path)
    stem = re.sub(r"\.(txt|prof|xml|csv)(\.gz)?$", "", name)
    if os.path.exists(path + ".string"):
        return pprof_string(path + ".string")
    for result in (f"{stem}-collapsed-all.txt", f"{stem}-collapsed.txt"):
        result = os.path.join(folder, "results", result)
        if os.path.exists(result):
            return [folded(result)]
    return None


def files():
    wanted = {"pprof": r"(profile|internal/driver)/testdata/(?!pprof\.)[^/]*$",
              "FlameGraph": r"test/[^/]*\.txt$|example-.*stacks.*$",
              "speedscope": r"sample/profiles/.*[^/]*$",
              "inferno": r"tests/data/.*[^/]*$"}
    for repository, pattern in wanted.items():
        for folder, _, names in os.walk(os.path.join(top, repository)):
            for name in sorted(names):
                path = os.path.join(folder, name)
                within = os.path.relpath(path, os.path.join(top, repository))
                if not (re.match(pattern, within) and "/results/" not in within
                        and not re.search(r"\.(string|src|svg|md)$|^\.DS_Store$", name)):
                    continue
                yield f"{repository}/{within}", path


def judge(path):
    """(is good, words)"""
    sums, why = read(path)
    if sums is None:
        return bool(re.search(REASON, why)), "refused: " + re.sub(
            r"portprof: |\S*/", "", why)[:150]
    theirs = expected(path)
    ours = "; ".join(f"{name} {s} samples, {w}" for name, (s, w) in sums.items())
    if theirs is None or not any(theirs):
        return True, f"read: {ours}"
    numbers = [n for pair in sums.values() for n in pair]
    numbers.append(sum(weight for _, weight in sums.values()))
    if all(any(abs(t - n) < 1 for n in numbers) for t in theirs):
        return True, f"read, as theirs: {ours}"
    with open(path, encoding="utf-8", errors="replace") as text:
        is_cut = not text.read().endswith("\n\n")
    samples, weight = list(sums.values())[0]
    part = weight / samples if samples else 0
    if is_cut and abs(weight - theirs[0] - part) < 1:
        return True, f"read: {ours}; {LOST}"
    return False, f"ours: {ours}; theirs: {theirs}"


with open(table, "w", encoding="utf-8") as out:
    for shown, path in files():
        is_good, words = judge(path)
        print("ok" if is_good else "not ok", shown + ":", words)
        print(f"| {shown} | {words} |", file=out)
