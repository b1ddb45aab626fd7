# SPDX-License-Identifier: MIT
"""Runs a command on a terminal of its own and types to it.

usage: terminal.py PATTERN SECONDS TYPED COMMAND...

When PATTERN (a regular expression) has been printed, or a file of that name
exists if it begins with '/', and SECONDS more have passed, TYPED is typed:
'^C' is Ctrl-C, and '^Hangup' closes the terminal. Everything printed goes to
standard output; the exit status is the command's, 128 + N for signal N.
"""
import os
import pty
import re
import select
import signal
import sys
import time

pattern, seconds, typed, command = (
    sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4:])
pid, terminal = pty.fork()
if pid == 0:
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    os.execvp(command[0], command)

printed = b""
due = None
give_up = time.monotonic() + 600
while time.monotonic() < give_up:
    ready, _, _ = select.select([terminal], [], [], 0.1)
    if ready:
        try:
            got = os.read(terminal, 65536)
        except OSError:
            break
        if not got:
            break
        printed += got
    if due is None:
        seen = (os.path.exists(pattern) and os.path.getsize(pattern) > 0
                if pattern.startswith("/")
                else re.search(pattern.encode(), printed))
        if seen:
            due = time.monotonic() + seconds
    elif due and time.monotonic() >= due and typed == "^Hangup":
        os.close(terminal)
        break
    elif due and time.monotonic() >= due:
        os.write(terminal, typed.replace("^C", "\x03").encode())
        due = 0
else:
    os.kill(pid, signal.SIGKILL)
sys.stdout.buffer.write(printed)
sys.stdout.flush()
_, status = os.waitpid(pid, 0)
sys.exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status)
         else os.WEXITSTATUS(status))
