# SPDX-License-Identifier: MIT
"""slow_pipe.py FILE PATTERN COMMAND...: runs a command on a terminal of its own, with
a pipe as its standard input that gets FILE once PATTERN is printed; prints what came, and
last "seen" or "not seen". Its status is the command's."""
import os
import pty
import re
import select
import sys
import time

path, pattern, command = sys.argv[1], sys.argv[2], sys.argv[3:]
take, give = os.pipe()
os.set_inheritable(take, True)
pid, terminal = pty.fork()
if pid == 0:
    os.close(give)
    os.dup2(take, 0)
    os.execvp(command[0], command)
os.close(take)
printed, is_seen = b"", False
give_up = time.monotonic() + 120
while True:
    if select.select([terminal], [], [], 0.1)[0]:
        try:
            got = os.read(terminal, 65536)
        except OSError:
            got = b""
        if not got:
            break
        printed += got
    is_seen = is_seen or re.search(pattern.encode(), printed) is not None
    if give is not None and (is_seen or time.monotonic() > give_up):
        os.write(give, open(path, "rb").read())
        os.close(give)
        give = None
sys.stdout.buffer.write(printed)
print("\nseen" if is_seen else "\nnot seen")
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status))
