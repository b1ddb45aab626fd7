# SPDX-License-Identifier: MIT
"""perf_script.py FILE: text of perf script as lines "outermost;...;innermost
WEIGHT", by the rules of FlameGraph's stackcollapse-perf.pl as its comments
tell them: a line that does not begin with a space opens a sample (command,
pid or pid/tid, [cpu], time, period, event), each line below is a frame, leaf
first, "ADDRESS SYMBOL+OFFSET (FILE)", and an empty line ends it. A symbol that
begins with a bracket is taken for a process's name, and passed by."""
import re
import sys


def read(lines):
    folded, stack, period = {}, None, 0
    for line in lines:
        line = line.rstrip("\n")
        if not line:
            if stack:
                key = ";".join(reversed(stack))
                folded[key] = folded.get(key, 0) + period
            stack = None
        elif not line[0].isspace():
            head = re.match(r"(\S.*?)\s+(\d+)/?(\d+)?\s+(\[\d+\]\s+)?"
                            r"(\d+\.\d+):\s+(\d+)\s+(\S+):\s*$", line)
            assert head and stack is None, line
            stack, period = [], int(head.group(6))
        else:
            frame = re.match(r"\s*([0-9a-f]+)\s+(.+) \((.*)\)$", line)
            assert frame and stack is not None, line
            if frame.group(2).startswith("("):
                continue
            name = re.sub(r"\+0x[0-9a-f]+$", "", frame.group(2))
            stack.append(name.replace(";", ":"))
    assert stack is None, "the last sample has no end"
    return folded


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        for key, weight in sorted(read(file).items()):
            print(key, weight)
