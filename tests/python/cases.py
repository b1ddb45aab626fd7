# SPDX-License-Identifier: MIT
# What portprof.py promises, each as a line "ok" or "not ok"; run by check-python.sh.
# Times are held to time.process_time(), the kernel's clock of the same process.
import gc
import mmap
import os
import sys
import threading
import time
import warnings

import portprof

folder = sys.argv[1]
warnings.simplefilter("ignore", DeprecationWarning)  # fork in a threaded program


def case(words, is_good, got=""):
    print("%s %s%s" % ("ok" if is_good else "not ok", words,
                       "" if is_good else " # got %r" % (got,)), flush=True)


def spin(ms):
    end = time.process_time() + ms / 1000
    while time.process_time() < end:
        sum(range(200))


def refused(function):
    try:
        function()
    except portprof.Error as error:
        return error
    return None


case("version", portprof.version().count(".") == 2, portprof.version())

def stolen():
    """What other machines took from this one, in ns so far: task-clock counts it."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            return int(file.readline().split()[8]) * 10_000_000
    except (OSError, IndexError):
        return 0


# counters
taken = stolen()
before = time.process_time_ns()
with portprof.Counters("task-clock,page-faults") as counters:
    inner = time.process_time_ns()
    spin(100)
    inner = time.process_time_ns() - inner
outer = time.process_time_ns() - before
taken = stolen() - taken
count = counters["task-clock"]
case("a block counts what the process's own clock says",
     inner - 2e6 <= count.value <= outer + taken + 2e6,
     (inner, count, outer, taken))
case("it is a mapping in the order of the list",
     list(counters) == ["task-clock", "page-faults"], list(counters))
again = counters["task-clock"]
spin(20)
case("after the block nothing is counted", counters["task-clock"] == again)
with counters:
    spin(30)
case("a second block counts itself alone",
     counters["task-clock"].value < count.value, counters["task-clock"])
with counters:
    pages = mmap.mmap(-1, mmap.PAGESIZE * 64)
    for page in range(64):
        pages[page * mmap.PAGESIZE] = 1
case("page faults are counted", counters["page-faults"].value >= 1,
     counters["page-faults"])
case("an unknown key is a KeyError", "cycles" not in counters)
with portprof.Counters("task-clock", thread=True) as own:
    other = threading.Thread(target=spin, args=(100,))
    other.start()
    other.join()
case("thread=True leaves other threads out", own["task-clock"].value < 80e6,
     own["task-clock"])

# refusals
error = refused(lambda: portprof.Counters("task-clokc"))
case("a wrong event is refused with its neighbour", error is not None and
     error.status == portprof.E_NOTFOUND and error.suggestions == ["task-clock"]
     and "task-clokc" in str(error), error)
error = refused(lambda: portprof.Counters("task-clock,,"))
case("a malformed list is refused with its column", error is not None and
     error.status == portprof.E_INVALID and error.column > 0,
     error and vars(error))
error = refused(lambda: portprof.Profile(os.path.join(folder, "none", "x")))
case("a file that cannot be made is refused", error is not None and
     "none" in str(error), error)
error = refused(lambda: portprof.Profile(frequence=5))
case("an unknown setting is refused", error is not None and
     "frequency" in str(error), error)

# profiles
path = os.path.join(folder, "run.pb.gz")
before = time.process_time_ns()
with portprof.Profile(path, frequency=500) as profile:
    spin(300)
    profile.stop()
    spent = time.process_time_ns() - before
    stats = profile.stats()
    case("a backend is named", profile.backend in ("perf", "timer", "itimer"),
         profile.backend)
    case("notes are sentences", all(isinstance(n, str) for n in profile.notes))
case("the account closes", stats.delivered_samples == stats.kept_samples +
     stats.outside_samples + stats.lost_samples and
     stats.total_weight == stats.kept_weight + stats.outside_weight +
     stats.unattributed_weight - stats.excess_weight, stats)
case("the total is CPU time", 250e6 <= stats.total_weight <= spent + 20e6,
     (stats.total_weight, spent))
case("the file is there", os.path.getsize(path) > 100)
try:
    profile.stats()
    case("a closed profile refuses", False)
except ValueError:
    case("a closed profile refuses", True)
profile.close()


@portprof.profiled(os.path.join(folder, "decorated.pb.gz"), frequency=500)
def decorated(depth):
    spin(50)
    return depth and decorated(depth - 1)


decorated(2)
spin(400)
case("a decorated function answers as it did", decorated(0) == 0)

# a child's copies are inert
profile = portprof.Profile()
profile.start()
child = os.fork()
if child == 0:
    error = refused(profile.stop)
    os._exit(0 if error and error.status == portprof.E_FORKED else 1)
case("in a forked child a profile is inert", os.waitpid(child, 0)[1] == 0)
spin(20)
profile.stop()
case("and its parent's goes on", profile.stats().total_weight > 0)
del profile
gc.collect()

# regions
with portprof.Regions("task-clock") as regions:
    @portprof.region("fib")
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    case("a function with a region answers as it did", fib(10) == 55)
    with portprof.region("spin"):
        spin(50)
    rows = {row.name: row for row in regions.read()}
case("calls are counted", rows["fib"].calls == 177, rows["fib"])
case("a region has its time", 45e6 <= rows["spin"].counts["task-clock"].value,
     rows["spin"])
with portprof.region("nobody counts"):
    pass
