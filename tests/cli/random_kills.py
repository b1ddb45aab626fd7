# SPDX-License-Identifier: MIT
"""Ends recorder or target by a signal at random moments, again and again.

usage: random_kills.py PORTPROF BURN COUNT SEED BACKEND...

COUNT times on each backend, by SIGKILL, SIGTERM, SIGINT or SIGHUP, half of them in
the first second. After each the profile opens or was never begun, the exit
status says which signal it was, and neither a file nor shared memory is left.
When the target ended, or the recorder was asked to, every sample is there; when
the recorder was killed all but the last second. Prints a line for each that is
not so, and a summary.
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
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
LAST_S = 1.0  # what may be missing of a recorder that was killed
GRAIN_S = 0.05  # a few periods and ticks
SETTLED_S = 0.05  # by then the one late tick of a stopped machine is taken
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


def send(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        pass


def wait_until_gone(pid):
    for _ in range(3000):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rsplit(")", 1)[1].split()[0] in "ZX":
                    return
        except OSError:
            return
        time.sleep(0.01)


def segments_of(pid):
    """Shared memory that a process made and that is still there."""
    try:
        with open("/proc/sysvipc/shm") as file:
            lines = [line.split() for line in file][1:]
    except OSError:
        return 0
    return sum(line[4] == str(pid) for line in lines)


def leftovers(recorder):
    """What is there that should not be; a moment is given to the system."""
    found = []
    for _ in range(300):
        found = [x for x in glob.glob(OUTPUT + "*") if x != OUTPUT]
        if segments_of(recorder):
            found.append("shared memory")
        if not found:
            break
        time.sleep(0.01)
    return found


def clear():
    for path in glob.glob(OUTPUT + "*"):
        shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


def look(must_be):
    """Weight in the profile in seconds, and what is wrong with it."""
    if not os.path.exists(OUTPUT):
        return 0.0, "there is no file" if must_be else None
    ran = subprocess.run([portprof, "report", "--json", "-i", OUTPUT],
                         capture_output=True, text=True)
    if ran.returncode != 0:
        return 0.0, f"the file cannot be read: {ran.stderr.strip()}"
    report = json.loads(ran.stdout)
    weight = sum(x["self_weight"] for x in report["functions"])
    parts = weight + report["outside"] + report["unattributed"]
    if parts != report["total_weight"]:
        return 0.0, f"parts make {parts}, total is {report['total_weight']}"
    # what a program does before our object is loaded in it has its own place
    return (weight + (report["not_attached"] or 0)) / 1e9, None


def as_in_a_terminal():
    """A shell's background ignores some."""
    for number in SIGNALS[1:]:
        signal.signal(number, signal.SIG_DFL)


def used_by_target_of(recorder):
    target = child_of(recorder.pid)
    return (cpu_of(target) or 0.0) if target else 0.0


def wait_and_see(recorder, nap):
    """Sleep; what the target had used LAST_S and SETTLED_S before the end, and
    whether the machine let us be in time."""
    begun = time.monotonic()
    used = []
    for before in LAST_S, SETTLED_S:
        time.sleep(max(0.0, begun + nap - before - time.monotonic()))
        used.append(used_by_target_of(recorder) if nap > before else 0.0)
    time.sleep(max(0.0, begun + nap - time.monotonic()))
    return *used, time.monotonic() - begun - nap < LAG_S


def judge(number, victim, status, used_before, used, is_running, is_in_time):
    """What is wrong, or None. A command that is still being loaded when it ends
    is not measured, and leaves no file."""
    weight, wrong = look(is_running)
    what = (f"{used_before:.3f} s used a second before, {used:.3f} s just before "
            f"the signal, {weight:.3f} s in the profile")
    if wrong:
        return f"{what}: {wrong}"
    was_killed = victim == "recorder" and number == signal.SIGKILL
    # before it catches signals a recorder ends by one, with nothing begun
    if status != 128 + number and (is_running or status != -number):
        if not was_killed:
            return f"{what}: the recorder ended with {status}"
    least = used_before if was_killed else used
    if (is_in_time or not was_killed) and weight < least - GRAIN_S:
        return f"{what}: too little is there"
    judged[0] += least > GRAIN_S
    return None


def run_once(backend):
    clear()
    recorder = subprocess.Popen(
        [portprof, "record", "-q", "-b", backend, "-F", "1000", "-o", OUTPUT,
         "--", burn, "60000"], preexec_fn=as_in_a_terminal,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    nap = chance.uniform(0, 1) if chance.random() < 0.5 else (
        chance.uniform(LAST_S, 2 * LAST_S + 0.2))
    number = chance.choice(SIGNALS)
    used_before, used, is_in_time = wait_and_see(recorder, nap)
    target = child_of(recorder.pid)
    is_running = target and (cpu_of(target) or 0.0) > GRAIN_S
    victim = "target" if target and chance.random() < 0.5 else "recorder"
    send(target if victim == "target" else recorder.pid, number)
    if victim == "recorder" and number == signal.SIGKILL and target:
        send(target, number)
    status = recorder.wait()
    if target:
        wait_until_gone(target)
    wrong = judge(number, victim, status, used_before, used, is_running,
                  is_in_time)
    left = leftovers(recorder.pid)
    if left and not wrong:
        wrong = "left behind: " + ", ".join(left)
    return wrong and (f"{backend}, {victim}, {number.name} after {nap:.3f} s, "
                      f"status {status}; {wrong}")


judged = [0]
bad = 0
for turn in range(count * len(backends)):
    complaint = run_once(backends[turn % len(backends)])
    if complaint:
        bad += 1
        print("bad:", complaint, flush=True)
clear()
print(f"{count} signals each on {', '.join(backends)} (seed {seed}), {bad} bad; "
      f"{judged[0]} of a target of which something had to be there")
sys.exit(bad > 0)
