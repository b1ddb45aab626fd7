#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real services under load: the shares that portprof sees beside those of perf.

usage: bench/services.py BUILD_DIRECTORY [--seconds N] [--rate HZ] [--in-turn TURNS]
                         [SERVICE...]

Starts nginx (with wrk), PostgreSQL (pgbench, with a connection for each query and
with lasting ones) and redis (redis-benchmark), whichever is installed, each on a
port of its own, and records it twice in the same seconds: by `perf record -a`,
restricted to its processes afterwards, or by `perf record -p`, and by portprof
with --name, -p of its master and --unit of a cgroup made for it. With --in-turn
they record one after the other, TURNS times each, so that neither serves the
other's timer.

Prints how far the ten hottest functions are apart, in points of a percent; with
--in-turn also the standard error of that, and how far perf is from itself. Code
without names counts by its module, as both tell it. What perf would call [unknown]
twice over is one row here.
"""
import argparse
import collections
import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

PORT = 8471


def plain(name):
    """Compilers' parts of functions are told apart by few readers; the vdso has
    two names for each of its functions."""
    return re.sub(r"^__vdso_", "", re.sub(
        r"\.(isra|part|constprop|cold)\b.*$", "", name))


def of_perf(data, comm):
    text = subprocess.run(
        ["perf", "script", "-i", data, "-F", "comm,ip,sym,dso", "--comms",
         comm], capture_output=True, text=True, check=False).stdout
    count = collections.Counter()
    for line in text.splitlines():
        found = re.match(r"\s*.*?\s+[0-9a-f]{6,}\s+(.*) \((.*)\)$", line)
        if found:
            name, module = found.groups()
            count[plain(name) if name != "[unknown]" else
                  "? in " + os.path.basename(module)] += 1
    return count


def of_portprof(command, path):
    report = json.loads(subprocess.run(
        [command, "report", "--json", "-i", path], capture_output=True,
        text=True, check=True).stdout)
    count = collections.Counter()
    for row in report["functions"]:
        name = row["name"]
        if re.search(r"\+0x[0-9a-f]+$", name):
            name = "? in " + name.rsplit("+", 1)[0]
        count[plain(name)] += row["self_weight"]
    return count, report["lost"]


def shares(count):
    whole = sum(count.values()) or 1
    return {name: 100.0 * weight / whole for name, weight in count.items()}


def furthest(one, other):
    hot = sorted(set(one) | set(other), key=lambda n: -max(
        one.get(n, 0), other.get(n, 0)))[:10]
    worst = max(hot, key=lambda n: abs(one.get(n, 0) - other.get(n, 0)),
                default="")
    return "%s %.2f and %.2f %%" % (worst, one.get(worst, 0),
                                    other.get(worst, 0))


def mean_and_error(values):
    """Of the rounds, each of which has a phase and a load of its own."""
    error = statistics.stdev(values) / len(values) ** 0.5
    return statistics.mean(values), error


def compare_in_turn(options, what, comm, ours, theirs, kind):
    command = os.path.join(options.build, "portprof")
    rate, span = str(options.rate), ["--", "sleep", str(options.seconds)]
    perf, own, lost = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        data, out = (os.path.join(folder, n) for n in ("perf.data", "o.pb.gz"))
        for turn in range(2 * options.in_turn):
            if turn % 2 == 0:
                subprocess.run(["perf", "record", "-q", *theirs, "-F", rate,
                                "-o", data, *span], check=True,
                               stderr=subprocess.DEVNULL)
                perf.append(shares(of_perf(data, comm)))
            else:
                subprocess.run([command, "record", "-q", "-F", rate, "-o", out,
                                *ours, *span], check=True)
                more, more_lost = of_portprof(command, out)
                own.append(shares(more))
                lost += more_lost
    rows = []
    for name in set().union(*perf, *own):
        their, their_error = mean_and_error([s.get(name, 0) for s in perf])
        our, our_error = mean_and_error([s.get(name, 0) for s in own])
        itself = statistics.mean([s.get(name, 0) for s in perf[::2]]) - \
            statistics.mean([s.get(name, 0) for s in perf[1::2]])
        rows.append((max(their, our), name, their, our,
                     (their_error ** 2 + our_error ** 2) ** 0.5, itself))
    rows = sorted(rows, reverse=True)[:10]
    _, name, their, our, error, _ = max(rows, key=lambda r: abs(r[2] - r[3]))
    itself = max(rows, key=lambda r: abs(r[5]))
    print("%-34s perf %s, %d turns, %d lost by portprof; furthest apart: %s "
          "%.2f and %.2f %%, standard error %.2f; perf from itself: %s %.2f" % (
              what, kind, options.in_turn, lost, name, their, our, error,
              itself[1], abs(itself[5])), flush=True)


def compare(options, what, comm, ours, theirs, kind):
    if options.in_turn:
        compare_in_turn(options, what, comm, ours, theirs, kind)
        return
    command = os.path.join(options.build, "portprof")
    with tempfile.TemporaryDirectory() as folder:
        data, out = (os.path.join(folder, n) for n in ("perf.data", "o.pb.gz"))
        rate, span = str(options.rate), ["--", "sleep", str(options.seconds)]
        # at the same rate one timer may always be due while the other's
        # interrupt is served, and is sampled where that ends
        perf = subprocess.Popen(
            ["perf", "record", "-q", *theirs, "-F", str(options.rate - 8),
             "-o", data, *span], stderr=subprocess.DEVNULL)
        subprocess.run([command, "record", "-q", "-F", rate, "-o", out, *ours,
                        *span], check=True)
        perf.wait()
        raw = of_perf(data, comm)
        their, (our, lost) = shares(raw), of_portprof(command, out)
        our = shares(our)
    print("%-34s perf %s: %6d samples; %d lost by portprof; furthest apart: "
          "%s" % (what, kind, sum(raw.values()), lost, furthest(their, our)),
          flush=True)


def both(options, what, comm, ours):
    compare(options, what, comm, ours, ["-a", "-e", "cpu-clock"], "-a")
    if options.in_turn:     # its clocks of threads change what is measured
        return
    pids = subprocess.run(["pgrep", "-x", comm], capture_output=True,
                          text=True, check=False).stdout.split()
    compare(options, what, comm, ours,
            ["-p", ",".join(pids), "-e", "task-clock"], "-p")


def by_unit(options, what, comm):
    """All processes of that name in a cgroup of their own, as systemd has it;
    those that they create are born in it."""
    unit = None
    for mount in ("perf_event", "unified", "."):
        mount = os.path.join("/sys/fs/cgroup", mount)
        if os.access(os.path.join(mount, "cgroup.procs"), os.W_OK):
            unit = os.path.join(mount, "portprof%d.service" % os.getpid())
            os.mkdir(unit)
            break
    if not unit:
        print("%s: left out, no cgroup can be made here" % what)
        return
    procs = os.path.join(unit, "cgroup.procs")
    try:
        for pid in subprocess.run(["pgrep", "-x", comm], capture_output=True,
                                  text=True, check=False).stdout.split():
            with contextlib.suppress(ProcessLookupError), \
                    open(procs, "w", encoding="ascii") as file:
                file.write(pid)
        compare(options, what, comm, ["--unit", os.path.basename(unit)],
                ["-a", "-e", "cpu-clock"], "-a")
    finally:
        above = os.path.join(os.path.dirname(unit), "cgroup.procs")
        for _ in range(100):
            with open(procs, encoding="ascii") as file:
                left = file.read().split()
            for pid in left:
                with contextlib.suppress(OSError), \
                        open(above, "w", encoding="ascii") as file:
                    file.write(pid)
            try:
                os.rmdir(unit)
                break
            except OSError:     # one was born meanwhile, or is a zombie
                time.sleep(0.05)


@contextlib.contextmanager
def load(command, **words):
    """Something that makes work, until it is over."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, **words)
    time.sleep(1)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def nginx(options, folder):
    with open(os.path.join(folder, "file"), "wb") as file:
        file.write(os.urandom(200000))
    config = os.path.join(folder, "nginx.conf")
    with open(config, "w", encoding="utf-8") as file:
        file.write(
            "worker_processes 2; pid %s/pid; error_log %s/log;\n"
            "events { worker_connections 512; }\n"
            "http { access_log off; gzip on; gzip_types *;\n"
            "server { listen 127.0.0.1:%d; root %s; } }\n" % (
                folder, folder, PORT, folder))
    subprocess.run(["nginx", "-c", config], check=True)
    with open(os.path.join(folder, "pid"), encoding="utf-8") as file:
        master = file.read().strip()
    try:
        with load(["wrk", "-t1", "-c16", "-d", "600", "-H",
                   "Accept-Encoding: gzip",
                   "http://127.0.0.1:%d/file" % PORT]):
            both(options, "nginx --name", "nginx", ["--name", "nginx"])
            both(options, "nginx -p MASTER", "nginx", ["-p", master])
            by_unit(options, "nginx --unit", "nginx")
    finally:
        subprocess.run(["nginx", "-c", config, "-s", "stop"], check=False)


def postgres(options, folder):
    tools = sorted(os.listdir("/usr/lib/postgresql"))[-1]
    tools = "/usr/lib/postgresql/%s/bin/" % tools
    data = os.path.join(folder, "data")
    shutil.chown(folder, "postgres")
    at = ["-h", folder, "-p", str(PORT + 1)]

    def run(name, *words):
        subprocess.run(["setpriv", "--reuid=postgres", "--clear-groups",
                        tools + name, *words], check=True, cwd=folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    run("initdb", "-D", data)
    run("pg_ctl", "-w", "-D", data, "-o", "-k %s -p %d" % (folder, PORT + 1),
        "-l", os.path.join(folder, "log"), "start")
    try:
        run("createdb", *at, "bench")
        run("pgbench", *at, "-i", "-s", "5", "bench")
        with open(os.path.join(data, "postmaster.pid"),
                  encoding="utf-8") as file:
            master = file.readline().strip()
        for what, more in (("lasting", []), ("one a query", ["-C"])):
            with load([tools + "pgbench", *at, "-S", "-c", "4", "-T", "600",
                       *more, "-U", "postgres", "bench"]):
                both(options, "postgres -p MASTER, " + what, "postgres",
                     ["-p", master])
                by_unit(options, "postgres --unit, " + what, "postgres")
    finally:
        run("pg_ctl", "-D", data, "-m", "fast", "stop")


def redis(options, folder):
    with load(["redis-server", "--port", str(PORT + 2), "--save", "", "--dir",
               folder]):
        with load(["redis-benchmark", "-p", str(PORT + 2), "-n", "1000000000",
                   "-q", "-t", "set,get", "-P", "16"]):
            both(options, "redis --name", "redis-server",
                 ["--name", "redis-server"])
            by_unit(options, "redis --unit", "redis-server")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rate", type=int, default=999)
    parser.add_argument("--in-turn", type=int, default=0, metavar="TURNS")
    parser.add_argument("service", nargs="*")
    options = parser.parse_intermixed_args()
    for service, needs in ((nginx, ("nginx", "wrk")),
                           (postgres, ("pg_ctlcluster",)),
                           (redis, ("redis-server", "redis-benchmark"))):
        if options.service and service.__name__ not in options.service:
            continue
        missing = [n for n in (*needs, "perf") if not shutil.which(n)]
        if missing:
            print("%s: left out, no %s" % (service.__name__,
                                           ", ".join(missing)))
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            service(options, folder)


main()
