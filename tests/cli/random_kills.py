# SPDX-License-Identifier: MIT
"""Kills recorder or target with SIGKILL at random moments, again and again.

usage: random_kills.py PORTPROF BURN COUNT SEED BACKEND...

After each the profile must open, and hold all but the last second of what the
target had used. Prints a line for each that does not, and a summary.
"""
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

portprof, burn, count, seed = (
    sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
backends = sys.argv[5:]
chance = random.Random(seed)
OUTPUT = "p.pb.gz"
LAST_S = 1.0  # what may be missing
GRAIN_S = 0.03  # a few periods and ticks
LAG_S = 0.1  # a machine that lets us oversleep so long is too busy to judge


def cpu_of(pid):
    """Seconds of CPU time of a process that runs burn; None if it does not."""
    try:
        with open(f"/proc/{pid}/comm") as file:
            if file.read().strip() != "burn":
                return None
        with open(f"/proc/{pid}/schedstat") as file:
            return int(file.read().split()[0]) / 1e9
    except (OSError, IndexError, ValueError):
        return None


def child_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return int(file.read().split()[0])
    except (OSError, IndexError, ValueError):
        return None


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def wait_until_gone(pid):
    for _ in range(500):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rsplit(")", 1)[1].split()[0] in "ZX":
                    return
        except OSError:
            return
        time.sleep(0.01)


def clear():
    for path in glob.glob(OUTPUT + "*"):
        shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


def look(must_be):
    """Weight in the profile in seconds, and what is wrong with it."""
    found = ([OUTPUT] if os.path.exists(OUTPUT) else
             glob.glob(OUTPUT + ".parts-*") + glob.glob(OUTPUT + ".*.part"))
    if not found:
        return 0.0, "there is no file" if must_be else None
    if os.path.isdir(found[0]) and not os.listdir(found[0]):
        return 0.0, None
    ran = subprocess.run([portprof, "report", "--json", "-i", found[0]],
                         capture_output=True, text=True)
    if ran.returncode != 0:
        return 0.0, f"{found[0]} cannot be read: {ran.stderr.strip()}"
    report = json.loads(ran.stdout)
    weight = sum(x["self_weight"] for x in report["functions"])
    parts = weight + report["outside"] + report["unattributed"]
    if parts != report["total_weight"]:
        return 0.0, f"parts make {parts}, total is {report['total_weight']}"
    return weight / 1e9, None


def wait_and_see(recorder, nap):
    """Sleep; what the target had used LAST_S before the end, and whether the
    machine let us be in time."""
    begun = time.monotonic()
    time.sleep(max(0.0, nap - LAST_S))
    target = child_of(recorder.pid)
    used = (cpu_of(target) or 0.0) if target and nap > LAST_S else 0.0
    time.sleep(max(0.0, begun + nap - time.monotonic()))
    return used, time.monotonic() - begun - nap < LAG_S


def run_once(backend):
    clear()
    recorder = subprocess.Popen(
        [portprof, "record", "-q", "-b", backend, "-F", "1000", "-o", OUTPUT,
         "--", burn, "20", "1", "trap"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    nap = chance.uniform(0, 0.3) if chance.random() < 0.5 else (
        chance.uniform(LAST_S, 2 * LAST_S + 0.2))
    used, is_in_time = wait_and_see(recorder, nap)
    target = child_of(recorder.pid)
    is_running = target and cpu_of(target) is not None
    victim = "target" if target and chance.random() < 0.5 else "recorder"
    kill(target if victim == "target" else recorder.pid)
    if victim == "recorder" and target:
        kill(target)
    status = recorder.wait()
    if target:
        wait_until_gone(target)
    weight, wrong = look(is_running)
    what = (f"{backend}, {victim} killed after {nap:.3f} s, {used:.3f} s used "
            f"a second before, {weight:.3f} s in the profile")
    if wrong:
        return f"{what}: {wrong}"
    if victim == "target" and is_running and status != 137:
        return f"{what}: the recorder ended with {status}"
    if is_in_time and weight < used - GRAIN_S:
        return f"{what}: more than the last second is missing"
    judged[0] += is_in_time and used > GRAIN_S
    return None


judged = [0]
bad = 0
for turn in range(count):
    complaint = run_once(backends[turn % len(backends)])
    if complaint:
        bad += 1
        print("bad:", complaint)
clear()
print(f"{count} kills (seed {seed}), {bad} bad; {judged[0]} of a target that had "
      "used CPU time a second before")
sys.exit(bad > 0)
