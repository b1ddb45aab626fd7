# SPDX-License-Identifier: MIT
# Writes a C program that prints what the headers say of each struct and constant of
# portprof.py, and what portprof.py has of them.
import ctypes
import sys

import portprof

STRUCTS = {"portprof_diag": portprof._Diag, "portprof_stats": portprof._Stats,
           "portprof_count": portprof._Count,
           "portprof_region_info": portprof._RegionInfo}
STATUSES = [name for name in dir(portprof) if name.startswith(("E_", "REASON_"))]

source, own = [], []
for name, struct in STRUCTS.items():
    source.append('printf("%s %%zu\\n", sizeof(%s));' % (name, name))
    own.append("%s %d" % (name, ctypes.sizeof(struct)))
    for field, _ in struct._fields_:
        source.append('printf("%s.%s %%zu %%zu\\n", offsetof(%s, %s), '
                      'sizeof(((%s *)0)->%s));' % (name, field, name, field,
                                                   name, field))
        at = getattr(struct, field)
        own.append("%s.%s %d %d" % (name, field, at.offset, at.size))
for name in STATUSES + ["END", "OK"]:
    source.append('printf("%s %%d\\n", (int)PORTPROF_%s);' % (name, name))
    own.append("%s %d" % (name, getattr(portprof, name)))
with open(sys.argv[1], "w") as file:
    file.write("#include <portprof.h>\n#include <stdio.h>\nint main(void)\n{\n"
               + "\n".join(source) + "\nreturn 0;\n}\n")
with open(sys.argv[2], "w") as file:
    file.write("\n".join(own) + "\n")
