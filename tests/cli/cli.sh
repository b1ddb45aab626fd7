# SPDX-License-Identifier: MIT
# For tests of the command: sets $portprof and $burn, says what a report holds.
# Source it after tap.sh.
# shellcheck shell=sh disable=SC2154

portprof=$builddir/portprof
programs=$builddir/tests/cli
burn=$programs/burn
# libtool's wrapper is a shell script that takes longer than the program.
if [ -x "$builddir/.libs/portprof" ] && [ -f "$builddir/.libs/libportprof.so" ]; then
	portprof=$builddir/.libs/portprof
	LD_LIBRARY_PATH=$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
fi

# Nothing of the user's may show through.
unset PORTPROF PORTPROF_SIGNAL PORTPROF_CONFIG LD_PRELOAD NO_COLOR CLICOLOR_FORCE \
	2>/dev/null || :
XDG_CONFIG_HOME=$tmp/config
# and nothing waits for a reader
PORTPROF_PAGER=
# names are whole, but where a test is about that
COLUMNS=2000
export XDG_CONFIG_HOME PORTPROF_PAGER COLUMNS
cd "$tmp" || exit 99

# What a sanitizer changes: it takes memory and system calls of its own, and
# its library cannot be loaded into programs that have none.
is_sanitized() {
	[ "${PP_SANITIZERS:-no}" != no ]
}

# perf_is_filtered: whether perf_event_open is kept from everybody, as by the
# filter of a container; $filtered is how that is told.
# shellcheck disable=SC2034,SC2317
filtered='seccomp.*--cap-add PERFMON|built without perf events'
perf_is_filtered() {
	! "$builddir/tests/cli/deny" ASK
}

# Whether terminals can be made: a container or chroot may have no /dev/pts.
# shellcheck disable=SC2317
has_terminals() {
	python3 -S -c 'import pty; pty.openpty()' 2>/dev/null
}

# become_ordinary: from then on `ordinary COMMAND...` runs it as somebody
# without rights, and ends it when it hangs; false where there is no other user. What was
# built may lie where only its owner may go, such as root's own folder: then
# $portprof, $programs and $burn become copies that everybody can run.
# shellcheck disable=SC2317
become_ordinary() {
	if [ "$(id -u)" -ne 0 ]; then
		ordinary() {
			timeout 600 "$@"
		}
		return 0
	fi
	command -v setpriv >/dev/null || return 1
	ordinary() {
		timeout 600 setpriv --reuid=65534 --regid=65534 --clear-groups \
			--inh-caps=-all "$@"
	}
	chmod 711 "$tmp"
	! ordinary "$portprof" --version >/dev/null 2>&1 || return 0
	mkdir -p "$tmp/built/.libs"
	chmod 755 "$tmp/built" "$tmp/built/.libs"
	cp "$portprof" "$builddir"/.libs/*.so* "$tmp/built/.libs/" &&
		find "$programs" -maxdepth 1 -type f -perm -100 \
			-exec cp {} "$tmp/built/" \; || return 1
	programs=$tmp/built
	burn=$programs/burn
	portprof=$programs/.libs/portprof
	LD_LIBRARY_PATH=$programs/.libs:$LD_LIBRARY_PATH
	ordinary "$portprof" --version >/dev/null 2>&1
}

# Where no file can be written there is nothing to test.
if grep -q '#undef PPI_FILE' "$builddir/config.h"; then
	echo "skip: built without profile files"
	exit 77
fi

# record ARGUMENT...: runs portprof record; words go to $tmp/words, what the
# command prints to $tmp/printed, the status to $status
record() {
	"$portprof" record "$@" >"$tmp/printed" 2>"$tmp/words"
	status=$?
}

# report ARGUMENT...: the same for portprof report, with $tmp/report and all that
# it can say of how it was measured
report() {
	"$portprof" report -v "$@" >"$tmp/report" 2>"$tmp/words"
	status=$?
}

# not_under FILE NAME FUNCTION SHARE: FUNCTION has less than that below it; a sample
# may fall before the work begins.
not_under() {
	"$portprof" report -j -i "$1" >"$tmp/under.json" 2>"$tmp/words"
	check "$2" python3 -S -c '
import json, sys
report = json.load(open(sys.argv[1]))
below = sum(x["total_weight"] for x in report["functions"] if x["name"] == sys.argv[2])
weight = report["chains"]["weight"]
assert weight > 0 and below * 100 < weight * float(sys.argv[3]), below
' "$tmp/under.json" "$3" "$4"
}

# can_use BACKEND: whether it works here at all; the words tell why not. In a
# shell, too: a library with a sanitizer in it cannot be loaded into programs
# that have none.
can_use() {
	record -q -b "$1" -o "$tmp/try.pb.gz" -- sh -c "'$burn' 1"
	[ "$status" -eq 0 ]
}

# need_command NAME, need_backend NAME, need_library NAME: the whole test is skipped
# where there is none
need_command() {
	command -v "$1" >/dev/null || { echo "skip: no $1 here"; exit 77; }
}
need_backend() {
	can_use "$1" || { echo "skip: $(tail -n 1 "$tmp/words")"; exit 77; }
}
need_library() {
	grep -q "define HAVE_$1 1" "$builddir/config.h" ||
		{ echo "skip: built without $1"; exit 77; }
}

# need_waits: the whole test is skipped where the system shows no places of waits, or no
# memory of programs, in which chains and holders of locks stand
need_waits() {
	[ -r /proc/self/schedstat ] || {
		echo "skip: the kernel does not say how long threads waited"
		exit 77
	}
	cat >can_read.c <<'END'
#define _GNU_SOURCE
#include <sys/uio.h>
#include <unistd.h>
int main(void)
{
	char from = 1, to;
	struct iovec local = { &to, 1 }, remote = { &from, 1 };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != 1;
}
END
	if ${CC:-cc} -o can_read can_read.c 2>cc.words && ! ./can_read; then
		echo "skip: a filter of system calls forbids process_vm_readv(2)"
		exit 77
	fi
}

# some_of BACKEND...: all of them, but in make check the first that works
some_of() {
	[ "$(by_speed one all all)" = all ] || for some in "$@"; do
		! can_use "$some" || { echo "$some"; return; }
	done
	echo "$@"
}

# wait_for COMMAND...: until it succeeds; false after five minutes, for hangs
wait_for() {
	wait_left=3000
	until "$@"; do
		[ $wait_left -gt 0 ] || return 1
		wait_left=$((wait_left - 1))
		sleep 0.1
	done
}

# claim WORDS EXPRESSION: something that judge will look at
claim() {
	printf '%s\t%s\n' "$2" "$1" >>"$tmp/claims"
}

# closes WORDS PERCENT: weights, outside and unattributed together are the CPU
# time that wait4 told, and nothing is hidden. 20 ms may be missing of short
# runs: the system's own clocks differ by a tick.
closes() {
	claim "$1: parts make the total" \
		'weights + r["outside"] + r["unattributed"] == r["total_weight"]'
	claim "$1: threads make the same" 'threads == weights'
	claim "$1: the total is what wait4 says" \
		"abs(r['total_weight'] - r['cpu_time_ns']) <= r['cpu_time_ns'] * $2 / 100 + 20 * ms"
}

# judge FILE: a case for each claim about the report of a profile. In Python,
# which holds the report to being JSON as well. r is the object, f(name) the
# sum of a function's self weights, weights and threads the sums of all.
judge() {
	"$portprof" report --json -i "$1" >"$tmp/json" 2>"$tmp/words"
	python3 -S -c '
import json, sys
text = open(sys.argv[1], encoding="utf-8").read()
try:
    r = json.loads(text)
    weights = sum(x["self_weight"] for x in r["functions"])
    threads = sum(x["weight"] for x in r["threads"])
except Exception:
    r = None
def f(name):
    return sum(x["self_weight"] for x in r["functions"] if x["name"] == name)
ms = 1000000
bad = 0
for line in open(sys.argv[2]):
    claim, words = line.rstrip("\n").split("\t")
    try:
        holds = bool(eval(claim))
    except Exception:
        holds = False
    print("holds" if holds else "fails", claim, words, sep="\t")
    bad += not holds
if bad:
    if r:
        r["functions"] = r["functions"][:6]
        text = json.dumps(r, indent=1)
    print(*["#\t" + line for line in text.split("\n")[:90]], sep="\n")
' "$tmp/json" "$tmp/claims" >"$tmp/verdicts" 2>&1 ||
		not_ok "judge $1: the claims could be read"
	rm -f "$tmp/claims"
	while IFS='	' read -r cli_verdict cli_claim cli_words; do
		case $cli_verdict in
		holds) ok "$cli_words" ;;
		fails)
			not_ok "$cli_words"
			echo "# fails: $cli_claim"
			;;
		*) echo "# $cli_verdict $cli_claim $cli_words" ;;
		esac
	done <"$tmp/verdicts"
}
