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
# shellcheck disable=SC2016
has "ExecReload has it read again" '^ExecReload=/bin/kill -HUP \$MAINPID$' "$unit"
same "capabilities: these alone" \
	"CAP_PERFMON CAP_SYS_PTRACE CAP_DAC_READ_SEARCH" \
	"$(sed -n 's/^CapabilityBoundingSet=//p' "$unit")"
same "capabilities: no more are given" \
	"$(sed -n 's/^CapabilityBoundingSet=//p' "$unit")" \
	"$(sed -n 's/^AmbientCapabilities=//p' "$unit")"

### Of other systems

# rc(8) as far as it can be here: what the script hands to rc.subr.
rc=$srcdir/service/portprofd.rc.in
check "rc.d: a shell reads it" sh -n "$rc"
cat >rc.subr <<'EOF2'
load_rc_config() { portprofd_runs="/bin/run --port 80" portprofd_options="--push $url/"; }
err() { shift; echo "err: $*"; exit 1; }
run_rc_command() {
	echo "$1 $name: $command $command_args"
	portprofd_runs= && "$start_precmd"
}
EOF2
# shellcheck disable=SC2016
sed 's|@bindir@|/usr/local/bin|; s|/etc/rc\.subr|./rc.subr|' "$rc" >script
url=http://fleet sh ./script start >said 2>&1
has "rc.d: what daemon(8) runs" \
	'^start portprofd: /usr/sbin/daemon -f -p [^ ]* /usr/local/bin/portprof record --spool [^ ]* --push http://fleet/ -- /bin/run --port 80$' said
has "rc.d: no program, no start" 'err: portprofd_runs names no program' said
for word in PROVIDE REQUIRE KEYWORD; do
	has "rc.d: rcorder(8) finds $word" "^# $word: " "$rc"
done

# The order of elements, and who holds whom, of service_bundle.dtd.1.
cat >manifest.py <<'EOF2'
import sys
import xml.etree.ElementTree as tree
HOLDS = {
    "service_bundle": "service",
    "service": "create_default_instance single_instance restarter dependency "
               "dependent method_context exec_method notification_parameters "
               "property_group instance stability template",
    "dependency": "service_fmri stability propval property",
    "exec_method": "method_context stability propval property",
    "method_context": "method_profile method_credential method_environment",
    "property_group": "stability propval property",
    "template": "common_name description documentation",
    "common_name": "loctext", "documentation": "doc_link manpage",
}
NEEDS = {
    "service_bundle": "type name", "service": "name type version",
    "create_default_instance": "enabled", "service_fmri": "value",
    "dependency": "name grouping restart_on type",
    "exec_method": "name type exec timeout_seconds",
    "method_credential": "user", "property_group": "name type",
    "propval": "name", "stability": "value", "manpage": "title section",
}


def look(element):
    order = HOLDS.get(element.tag, "").split()
    found = [order.index(child.tag) for child in element]
    assert found == sorted(found), element.tag
    missing = set(NEEDS.get(element.tag, "").split()) - set(element.attrib)
    assert not missing, (element.tag, missing)
    for child in element:
        look(child)


root = tree.parse(sys.argv[1]).getroot()
assert root.tag == "service_bundle"
look(root)
known = {group.get("name") + "/" + value.get("name")
         for group in root.iter("property_group") for value in group}
for method in root.iter("exec_method"):
    for part in method.get("exec").split("%{")[1:]:
        assert part.split("}")[0] in known, part
    print(method.get("name"), method.get("exec"))
EOF2
python3 manifest.py "$srcdir/service/portprofd.xml.in" >methods
same "SMF: the manifest has the form of its DTD" 0 $?
has "SMF: what is started" '^start @bindir@/portprof record --push .* &$' methods
"$portprof" record --help >printed
# shellcheck disable=SC2013
for option in $(sed -n 's/.*portprof record \(.*\) -- .*/\1/p' said methods |
	tr ' ' '\n' | grep '^--'); do
	has "rc.d and SMF: there is $option" "^ +(-., )?$option( |\$)| $option( |,|\$)" \
		printed
done

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
if "$portprof" record -q -o own.pb.gz --duration 10ms -p $$ 2>words; then
	STATE_DIRECTORY=$PWD/state python3 manager.py "$portprof" record \
		--push "$url/" --every 1s -p $$ >said 2>words
	same "what it says" "READY=1
STATUS=recording
WATCHDOG=1
STOPPING=1" "$(uniq said)"
	check "the spool is in STATE_DIRECTORY" [ -d state/spool ]
else
	skip "what it says" "$(head -n 1 words | tr '#' ' ')"
fi

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
