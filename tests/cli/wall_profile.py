# SPDX-License-Identifier: MIT
"""wall_profile.py KIND FILE: a profile of waits, of known numbers, with the account
that portprof writes.

wall      three threads: 0.13 s running, 0.02 s ready, 5.95 s blocked, of which
          0.03 s were not seen
idle      the same, and a pool of two threads that wait for work for 8 s
other     another run of it: 1 s more of disk, nothing else
cpu       a program that ran for 128 ms in 2 s; its waits were not measured
busy      one that ran for 1.9 s in 2 s
latency   300 ms of one thread alone, then 100 ms of four at once, then 100 ms of two
          that run for half of each slice; in slices of 10 ms
times     one thread that runs, waits for a disk, then for a lock, a second each, in
          slices of 100 ms
held      one thread that waits for the same lock in three seconds; its holder was in
          two functions, and then nobody saw where
woken     one thread that waits twice for a lock, which its holder has in one function
          and gives back in two others; for a pipe, whose data come in an interrupt; and
          sleeps, which nobody was seen to end
unknown   wall, and 0.30 s of which the kernel said nothing
evil      wall, with a kind, a lock and a holder that mean harm
plain     wall without an account, as after another tool
"""
import gzip
import struct
import sys

MS = 1000000
EXACT = 1


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n) if n else b""


def message(field, body):
    body = body.encode() if isinstance(body, str) else body
    return varint(field << 3 | 2) + varint(len(body)) + body


def double(field, value):
    return varint(field << 3 | 1) + struct.pack("<d", value)


class Profile:
    """Events are names of nanoseconds; chains are outermost first."""

    def __init__(self, events, timeline=0):
        self.strings, self.body = {"": 0}, []
        self.places, self.modules = {}, {}
        self.events, self.timeline = events, timeline
        self.sums = {event: [0, 0] for event in events}
        self.life, self.has_account = None, True
        self.duration, self.cpu_time = 2000 * MS, 0
        self.unseen = (None, "(wait not seen)")

    def text(self, word):
        return self.strings.setdefault(word, len(self.strings))

    def place(self, function):
        if function in self.places:
            return self.places[function]
        name, module = function
        i = self.places[function] = len(self.places) + 1
        body = number(1, i)
        if module and module not in self.modules:
            m = self.modules[module] = len(self.modules) + 1
            self.body.append(message(3, number(1, m) + number(
                2, m << 32) + number(3, (m << 32) + (1 << 31)) + number(
                    5, self.text(module)) + number(7, 1)))
        if module:
            m = self.modules[module]
            body += number(2, m) + number(3, (m << 32) + 16 * i)
        if name:
            self.body.append(message(5, number(1, i) +
                                     number(2, self.text(name))))
            body += message(4, number(1, i))
        self.body.append(message(4, body))
        return i

    def add(self, event, chain, thread, count, weight, at=None, **labels):
        places = b"".join(varint(self.place(f)) for f in reversed(chain))
        n, which = len(self.events), self.events.index(event)
        values = [0] * (2 * n)
        values[which], values[2 * n - 1 - which] = count, weight
        self.sums[event][0] += count
        self.sums[event][1] += weight
        name, pid, tid = thread
        body = message(1, places) + message(2, b"".join(map(varint, values)))
        for key, value in (("pid", pid), ("tid", tid)):
            body += message(3, number(1, self.text(key)) + number(3, value))
        if at is not None:
            body += message(3, number(1, self.text("time")) +
                            number(3, 1000 + at) +
                            number(4, self.text("unix_ms")))
        for key, value in dict(labels, thread=name).items():
            body += message(3, number(1, self.text(key)) + (
                number(3, value) if isinstance(value, int)
                else number(2, self.text(value))))
        self.body.append(message(2, body))

    def account(self):
        body = number(1, 1) + message(3, "perf")
        for i, event in enumerate(self.events):
            count, weight = self.sums[event]
            cpu = self.cpu_time if i == 0 else 0
            total = weight if i or not cpu else max(weight, cpu)
            stats = (number(1, count) + number(2, count) + number(5, total) +
                     number(6, weight) + number(8, total - weight) +
                     number(11, cpu) + number(13, EXACT) +
                     number(14, EXACT) + double(15, 1000) + double(16, 1000))
            body += message(6, message(1, event) + number(4, 1) +
                            number(5, i) +
                            number(6, 2 * len(self.events) - 1 - i) +
                            message(7, stats) + number(8, i == 0))
        body += message(7, "./server") + number(8, 1)
        body += number(10, self.timeline) + number(11, 127)
        if self.life:
            threads, unknown = self.life
            states = [self.sums[event][1] for event in self.events[:3]]
            body += message(14, number(1, threads) +
                            number(2, sum(states) + unknown) + b"".join(
                                number(3 + i, ns)
                                for i, ns in enumerate(states)) +
                            number(6, unknown))
        return message(1000, body)

    def write(self, path):
        types = [("samples" if i == 0 else "samples:" + e, "count")
                 for i, e in enumerate(self.events)]
        types += [("cpu" if e == self.events[0] else e, "nanoseconds")
                  for e in reversed(self.events)]
        head = b"".join(message(1, number(1, self.text(kind)) +
                                number(2, self.text(unit)))
                        for kind, unit in types)
        head += number(9, 1000 * MS) + number(10, self.duration)
        account = self.account() if self.has_account else b""
        strings = b"".join(message(6, s) for s in self.strings)
        with open(path, "wb") as out:
            out.write(gzip.compress(head + b"".join(self.body) + strings +
                                    account))


WALL = ["task-clock", "ready-time", "blocked-time"]
WAKING = "sched:sched_waking"
MAIN, START = ("main", "/x/server"), ("start_thread", "/lib/libc.so.6")
LOCK = ("pthread_mutex_lock", "/lib/libc.so.6")
COMMIT, APPEND = ("commit", "/x/server"), ("append_log", "/x/server")
FLUSH, WORK = ("flush_log", "/x/server"), ("work", "/x/server")
FIRST, WORKER = ("server", 100, 100), ("worker", 100, 101)
FLUSHER = ("flusher", 100, 102)


def blocked(profile, chain, thread, count, ms, wait, **more):
    profile.add("blocked-time", chain, thread, count, ms * MS,
                state="blocked", wait=wait, **more)


def wall(profile):
    profile.life = (3, 0)
    profile.cpu_time = 130 * MS
    profile.add("task-clock", [MAIN, WORK], FIRST, 130, 130 * MS)
    profile.add("ready-time", [MAIN, WORK], FIRST, 2, 20 * MS,
                state="ready")
    blocked(profile, [START, APPEND, LOCK], WORKER, 39, 3900, "lock",
            on="futex 0x7f01", holder="flush_log in thread flusher")
    blocked(profile, [MAIN, COMMIT, LOCK], FIRST, 4, 200, "lock")
    blocked(profile, [MAIN, ("pause_a_bit", "/x/server"),
                      ("nanosleep", "/lib/libc.so.6")], FIRST, 16, 1600,
            "sleep")
    blocked(profile, [START, FLUSH, ("fsync", "/lib/libc.so.6")], FLUSHER,
            20, 200, "disk", on="/var/log/server")
    blocked(profile, [START, APPEND, LOCK], WORKER, 2, 20, "lock",
            estimate="1")
    profile.add("blocked-time", [profile.unseen], WORKER, 1, 30 * MS,
                state="blocked")


def idle(profile):
    wall(profile)
    profile.life = (5, 0)
    for tid in (103, 104):
        blocked(profile, [START, ("take_work", "/x/server"),
                          ("pthread_cond_wait", "/lib/libc.so.6")],
                ("pool", 100, tid), 1, 4000, "idle")


def other(profile):
    wall(profile)
    blocked(profile, [START, FLUSH, ("fsync", "/lib/libc.so.6")], FLUSHER,
            100, 1000, "disk", on="/var/log/server")


def latency(profile):
    for at in range(0, 300, 10):
        profile.add("task-clock", [MAIN, ("serial", "/x/server")], FIRST, 10,
                    10 * MS, at)
    for at in range(300, 400, 10):
        for tid in range(100, 104):
            profile.add("task-clock", [START, ("parallel", "/x/server")],
                        ("worker", 100, tid), 10, 10 * MS, at)
    for at in range(400, 500, 10):
        for tid in (100, 101):
            profile.add("task-clock", [START, ("half", "/x/server")],
                        ("worker", 100, tid), 5, 5 * MS, at)
    profile.cpu_time = 800 * MS


def times(profile):
    profile.life = (1, 0)
    for at in range(0, 1000, 100):
        profile.add("task-clock", [MAIN, WORK], FIRST, 100, 100 * MS, at)
        blocked(profile, [MAIN, FLUSH], FIRST, 1, 100, "disk",
                at=at + 1000)
    # told at its end
    blocked(profile, [MAIN, COMMIT, LOCK], FIRST, 1, 1000, "lock", at=2900)
    profile.duration = 3000 * MS


def held(profile):
    profile.life = (2, 0)
    for at, chain in ((0, [START, FLUSH, ("fsync", "/lib/libc.so.6")]),
                      (1000, [START, ("rotate_log", "/x/server")]),
                      (2000, [profile.unseen])):
        profile.add("blocked-time", chain, FLUSHER, 0, 0, at,
                    state="blocked", holds="futex 0x7f01")
        for more in (0, 500):
            blocked(profile, [START, APPEND, LOCK], WORKER, int(not more),
                    500 + at // 100, "lock", at=at + more,
                    on="futex 0x7f01", holder="thread flusher (102)")


def woken(profile):
    profile.life = (2, 0)
    waker = "thread flusher (102)"
    for at, ms, function in ((1000, 500, "rotate_log"), (2000, 700, "end_log")):
        profile.add("blocked-time", [START, FLUSH, ("fsync", "/lib/libc.so.6")],
                    FLUSHER, 0, 0, at - 400, state="blocked",
                    holds="futex 0x7f01")
        profile.add(WAKING, [START, (function, "/x/server")], FLUSHER, 1, MS, at,
                    event_pid=WORKER[2])
        blocked(profile, [START, APPEND, LOCK], WORKER, 1, ms, "lock", at=at,
                on="futex 0x7f01", holder=waker, waker=waker)
    blocked(profile, [START, ("take", "/x/server")], WORKER, 3, 300, "pipe",
            at=2500, on="pipe:[1]", waker="(interrupt)")
    blocked(profile, [START, ("nap", "/x/server")], WORKER, 2, 200, "sleep",
            at=2700)
    profile.duration = 3000 * MS


def make(kind):
    if kind in ("cpu", "busy"):
        profile = Profile(["task-clock"])
        ms = 128 if kind == "cpu" else 1900
        profile.add("task-clock", [MAIN, WORK], FIRST, ms, ms * MS)
        profile.cpu_time = ms * MS
        return profile
    if kind == "latency":
        profile = Profile(["task-clock"], 10 * MS)
    else:
        profile = Profile(WALL + [WAKING] * (kind == "woken"),
                          100 * MS if kind in ("times", "held", "woken")
                          else 0)
    fill = {"wall": wall, "plain": wall, "evil": wall, "unknown": wall,
            "idle": idle, "other": other,
            "latency": latency, "times": times, "held": held,
            "woken": woken}[kind]
    profile.has_account = kind != "plain"
    if kind == "plain":
        profile.unseen = ("(wait not seen)", "")
    if kind == "evil":
        blocked(profile, [MAIN, COMMIT], FIRST, 1, 500, 'di"sk\\\x1b[2J',
                on="</script>\x1b]0;\x07", holder="\u202eflush\n")
    fill(profile)
    if kind == "unknown":
        profile.life = (3, 300 * MS)
    return profile


if __name__ == "__main__":
    make(sys.argv[1]).write(sys.argv[2])
