#!/bin/sh
# SPDX-License-Identifier: MIT
# The service: systemd takes the unit and calls its sandbox tight, the user and its
# folders can be made, and what runs says when it is ready and that it lives.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
. "$srcdir/tests/fleet/fleet.sh"
need_fleet

### What it runs

unit=$srcdir/service/portprofd.service.in
command=$(sed -n 's/^ExecStart=@bindir@\/portprof record //p' "$unit")
for option in $(echo "$command" | tr ' ' '\n' | grep '^-'); do
	"$portprof" record --help >printed
	same "the command line: $option" 0 $?
	has "there is $option" "^ +(-., )?$option( |\$)|^ +$option( |,|\$)" printed
done
# All of it, with what is only proposed; it is read before that the target is missing.
sed 's/^#--/--/; s|/etc/portprof/headers|/dev/null|' "$srcdir/service/portprofd.conf" >conf
check "portprofd.conf proposes something" [ "$(grep -c '^--' conf)" -gt 5 ]
"$portprof" record --options conf -- true >printed 2>words
has "portprofd.conf: each option" 'options is for -a and --push' words
has "ExecStart reads it" '^ExecStart=.* -a --options /etc/portprof/portprofd.conf ' "$unit"
has "ExecReload has it read again" '^ExecReload=/bin/kill -HUP \$MAINPID$' "$unit"
same "capabilities: these alone" \
	"CAP_PERFMON CAP_SYS_PTRACE CAP_DAC_READ_SEARCH" \
	"$(sed -n 's/^CapabilityBoundingSet=//p' "$unit")"
same "capabilities: no more are given" \
	"$(sed -n 's/^CapabilityBoundingSet=//p' "$unit")" \
	"$(sed -n 's/^AmbientCapabilities=//p' "$unit")"

### What it says

cat >manager.py <<'EOF2'
import os, socket, subprocess, sys
path = os.path.abspath("notify")
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(path)
listener.settimeout(60)
child = subprocess.Popen(sys.argv[1:], env=dict(os.environ, NOTIFY_SOCKET=path))
seen = ""
try:
    while "WATCHDOG=1" not in seen:
        seen += listener.recv(4096).decode() + "\n"
    child.terminate()
    while "STOPPING=1" not in seen:
        seen += listener.recv(4096).decode() + "\n"
except socket.timeout:
    seen += "no more\n"
    child.kill()
child.wait()
sys.stdout.write(seen)
EOF2
server_begin web
mkdir state
STATE_DIRECTORY=$PWD/state python3 manager.py "$portprof" record --push "$url/" \
	--every 1s -p $$ >said 2>words
same "what it says" "READY=1
STATUS=recording
WATCHDOG=1
STOPPING=1" "$(uniq said)"
check "the spool is in STATE_DIRECTORY" [ -d state/spool ]

### What systemd says

if ! command -v systemd-analyze >/dev/null; then
	skip "the unit" "no systemd-analyze here"
	tap_end
fi
sed "s|@bindir@/portprof|/bin/true|" "$unit" >portprofd.service
systemd-analyze verify --man=no "$PWD/portprofd.service" >words 2>&1
has_not "the unit: nothing is wrong" 'portprofd.service' words
systemd-analyze security --offline=yes "$PWD/portprofd.service" >words 2>&1
exposure=$(sed -n 's/.*Overall exposure level[^:]*: \([0-9]*\)\..*/\1/p' words)
if [ -n "$exposure" ]; then
	check "the sandbox: exposure $exposure" [ "$exposure" -le 3 ]
else
	skip "the sandbox" "systemd-analyze cannot look at files"
fi
tap_end
