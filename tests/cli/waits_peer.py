# SPDX-License-Identifier: MIT
"""Chains of waits compared with those of a debugger.

In gdb (gdb -x waits_peer.py -p PID) it prints "CHAIN TID PC..." of each thread, frame
by frame as the machine has them, up to code that is in no file. As a program,
waits_peer.py SNAPSHOTS SCRIPT compares the chains of `portprof export -f
perf-script` with these and prints, in percent of the weight of what can be compared:

equal      a snapshot of the thread has the same chain
longer     ours continues where that of the debugger ends
elsewhere  it waited elsewhere than in the snapshots, and ends at the same root
cut        ours ends where that of the debugger continues
wrong      none of these
compared   of all weight; the rest was in threads or calls that no snapshot has
"""
import sys


def snapshot():
    import gdb
    files = []
    with open("/proc/%d/maps" % gdb.selected_inferior().pid) as maps:
        for words in map(str.split, maps):
            if len(words) > 5 and words[5].startswith(("/", "[vdso")):
                files.append([int(at, 16) for at in words[0].split("-")])
    gdb.execute("set backtrace past-main on")
    gdb.execute("set backtrace past-entry on")
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        chain, frame, newer = [], gdb.newest_frame(), gdb.SIGTRAMP_FRAME
        while frame is not None:
            # in code that a program made the debugger guesses
            if not any(a <= frame.pc() < b for a, b in files):
                break
            # neither of these is on the stack
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                # a return address is behind its call; a signal comes anywhere
                is_call = gdb.SIGTRAMP_FRAME not in (newer, frame.type())
                chain.append("%x" % (frame.pc() - is_call))
                newer = frame.type()
            try:
                frame = frame.older()
            except gdb.error:
                break
        print("CHAIN", thread.ptid[1], *chain)


def samples(path):
    head, chain, has_kernel = None, [], False
    for line in open(path):
        words = line.split()
        if not line[0].isspace() and words:
            at = next(i for i, word in enumerate(words) if "/" in word and
                      word.replace("/", "").isdigit())
            head = words[at].split("/")[1], int(words[at + 2])
        elif words:
            # a debugger sees none of the kernel, and where that was entered not
            # as a caller
            at = int(words[0], 16)
            if not at >> 63:
                chain.append("%x" % (at + (has_kernel and not chain)))
            has_kernel = bool(at >> 63)
        elif head:
            yield head[0], head[1], chain
            head, chain = None, []
    if head:
        yield head[0], head[1], chain


def judge(chain, known):
    if chain in known:
        return "equal"
    if any(chain[:len(one)] == one for one in known):
        return "longer"
    if any(one[:len(chain)] == chain for one in known):
        return "cut"
    if any(one[-1] == chain[-1] for one in known):
        return "elsewhere"
    return "wrong"


def compare(snapshots, script):
    known, sums, all_of_it = {}, {}, 0
    for line in open(snapshots):
        words = line.split()
        if words[:1] == ["CHAIN"] and len(words) > 2:
            known.setdefault((words[1], words[2]), []).append(words[2:])
    for tid, weight, chain in samples(script):
        all_of_it += weight
        like = known.get((tid, chain[0] if chain else ""))
        if like:
            verdict = judge(chain, like)
            sums[verdict] = sums.get(verdict, 0) + weight
            if verdict in ("elsewhere", "cut", "wrong"):
                print(verdict, tid, *chain, file=sys.stderr)
                print("  not", *like[0], file=sys.stderr)
    compared = sum(sums.values())
    for verdict in ("equal", "longer", "elsewhere", "cut", "wrong"):
        print("%s %.2f" % (verdict, 100 * sums.get(verdict, 0) /
                           max(compared, 1)))
    print("compared %.2f" % (100 * compared / max(all_of_it, 1)))


if "gdb" in sys.modules or sys.argv[:1] == [""]:
    snapshot()
else:
    compare(*sys.argv[1:])
