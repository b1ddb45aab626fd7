#!/bin/sh
# SPDX-License-Identifier: MIT
# run-guest does what it says: with an ssh and a qemu of our own, which run
# what they are told here, and a tarball that is done at once.
set -eu
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/portprof-vm.XXXXXX")
trap 'rm -rf "$tmp"' 0
failed=0

fail() {
	echo "$*"
	sed 's/^/    /' "$tmp/out"
	failed=1
}

# has FILE TEXT
has() {
	grep -qF -- "$2" "$1" || fail "no '$2' in $(basename "$1"): $what"
}

has_not() {
	! grep -qF -- "$2" "$1" || fail "'$2' in $(basename "$1"): $what"
}

### The guest: a folder

mkdir "$tmp/bin" "$tmp/guest" "$tmp/portprof-9"
cat >"$tmp/bin/ssh" <<'FAKE'
#!/bin/sh
# A guest that answers at the third knock, when it was started.
echo "ssh $*" >>"$FAKE_LOG"
for command; do :; done
if [ "${FAKE_REFUSALS:-0}" -gt 0 ]; then
	count=$(cat "$FAKE_LOG" | grep -c ^ssh)
	[ "$count" -gt "$FAKE_REFUSALS" ] || exit 255
fi
[ "${FAKE_DOWN:-no}" = no ] || exit 255
TMPDIR=$FAKE_GUEST PATH=${FAKE_PATH:-$PATH} exec /bin/sh -c "$command"
FAKE
cat >"$tmp/bin/qemu-system-x86_64" <<'FAKE'
#!/bin/sh
echo "qemu $*" >>"$FAKE_LOG"
echo $$ >"$FAKE_GUEST/../qemu.pid"
exec sleep 60
FAKE
chmod +x "$tmp/bin/ssh" "$tmp/bin/qemu-system-x86_64"

# A release whose make check-all says what $FAKE_RESULT wants.
cat >"$tmp/portprof-9/configure" <<'FAKE'
#!/bin/sh
echo "configured with $*" | tee config.log
cat >Makefile <<MAKEFILE
all:
	@echo made
install:
	mkdir -p $(cd ../.. && pwd)/inst/bin
	printf '#!/bin/sh\necho selftest of %s\necho clocks  by sand\n' "the guest" \
		>$(cd ../.. && pwd)/inst/bin/portprof
	chmod +x $(cd ../.. && pwd)/inst/bin/portprof
check-all:
	@echo '# TOTAL: 3'
	@echo every clause >test-suite.log
	@echo 'ok 1 - life_4_stop_twice_is_ok' >one.log
	@echo 'ok 2 - life_9_children # SKIP lacks children' >>one.log
	@echo 'not ok 3 - life_5_start_after_stop' >>one.log
	@exit \$\${FAKE_RESULT:-0}
MAKEFILE
FAKE
chmod +x "$tmp/portprof-9/configure"
(cd "$tmp" && tar -cf - portprof-9 | gzip >portprof-9.tar.gz)
: >"$tmp/disk.img"

FAKE_LOG=$tmp/calls FAKE_GUEST=$tmp/guest
export FAKE_LOG FAKE_GUEST
PATH=$tmp/bin:$PATH

# guest STATUS WHAT ARGUMENT...
guest() {
	wanted=$1
	what=$2
	shift 2
	rm -rf "$tmp/logs"
	: >"$FAKE_LOG"
	status=0
	/bin/sh "$srcdir/tests/vm/run-guest" -t "$tmp/portprof-9.tar.gz" \
		-o "$tmp/logs" "$@" >"$tmp/out" 2>&1 || status=$?
	[ "$status" -eq "$wanted" ] || fail "status $status: $what"
	if [ -n "$(ls "$tmp/guest")" ]; then
		fail "something was left there: $what"
		rm -rf "$tmp/guest"/*
	fi
}

### Cases

guest 0 'a machine where all passes' -c '--enable-werror' someone@box
has "$tmp/out" 'all passed on someone@box'
has "$tmp/out" '# TOTAL: 3'
has "$tmp/out" 'selftest of the guest'
has "$tmp/calls" '-p 22 '
has "$tmp/calls" 'someone@box'
has_not "$tmp/calls" 'qemu'
has "$tmp/logs/config.log" '--enable-werror'
has "$tmp/logs/test-suite.log" 'every clause'
has "$tmp/logs/check.log" '# TOTAL: 3'
has "$tmp/logs/selftest.log" 'selftest of the guest'
has "$tmp/logs/page.md" "$(uname -srm)"
has "$tmp/logs/page.md" 'portprof-9'
has "$tmp/logs/page.md" '1 cases passed, 1 skipped, 1 failed.'
has "$tmp/logs/page.md" 'Clocks: by sand'
has "$tmp/logs/page.md" 'failed: life_5_start_after_stop'
has "$tmp/logs/page.md" '1 skipped: lacks children'

FAKE_RESULT=2 export FAKE_RESULT
guest 1 'a machine where a test fails' -p 2200 -i key box
unset FAKE_RESULT
has "$tmp/out" 'tests failed on box'
has "$tmp/logs/test-suite.log" 'every clause'
has "$tmp/calls" '-i key -p 2200'

FAKE_DOWN=yes export FAKE_DOWN
guest 2 'a machine that does not answer' box
unset FAKE_DOWN
has "$tmp/out" 'cannot reach box'

mkdir "$tmp/poor"
for tool in sh cat mktemp rm uname ls; do
	ln -s "$(command -v $tool)" "$tmp/poor/$tool"
done
FAKE_PATH=$tmp/poor export FAKE_PATH
guest 2 'a machine without tools' box
unset FAKE_PATH
has "$tmp/out" 'missing here:'
has "$tmp/out" 'gmake'
has "$tmp/out" 'as root:'

FAKE_REFUSALS=3 export FAKE_REFUSALS
guest 0 'an image' -u tester "$tmp/disk.img"
unset FAKE_REFUSALS
has "$tmp/calls" "file=$tmp/disk.img,snapshot=on"
has "$tmp/calls" 'hostfwd=tcp:127.0.0.1:2222-:22'
has "$tmp/calls" 'tester@127.0.0.1'
has "$tmp/out" 'all passed on'
! kill -0 "$(cat "$tmp/qemu.pid")" 2>/dev/null || fail "qemu was left running"

guest 2 'an image that is not there' "$tmp/nothing.img"
has "$tmp/out" 'there is no image'

guest 0 'a dry run' -n "$tmp/disk.img"
has "$tmp/out" 'would: qemu-system-x86_64'
has "$tmp/out" 'sh guest-steps.sh check'
[ ! -s "$tmp/calls" ] || fail "a dry run called something"
[ ! -d "$tmp/logs" ] || fail "a dry run made a folder"

[ $failed -eq 0 ] && echo "check-run-guest: 7 runs"
