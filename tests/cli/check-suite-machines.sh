#!/bin/sh
# SPDX-License-Identifier: MIT
# The fast suite on machines that this one plays: where a filter forbids
# perf_event_open, or all that the usual filter of a container forbids, without
# tracefs, uprobes and memory that processes share, where /proc hides processes of
# others, for somebody without rights, in a chroot (where nobody gets a user
# namespace), beside eight busy loops, with a libpfm4
# that knows another CPU and with one that knows none.
# A case is a test program; the names of machines may be given as arguments, and
# those of programs, as a pattern, in $SUITE_TESTS.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
deny=$builddir/tests/cli/deny
chmod 1777 "$tmp"
cd "$builddir" || exit 99

# The tests must be as fast as in make check, and compilers ask no cache that
# only its owner may write.
PORTPROF_SPEED=check TMPDIR=$tmp CCACHE_DISABLE=1
export PORTPROF_SPEED TMPDIR CCACHE_DISABLE

tests() {
	for test in "$srcdir"/tests/cli/check-*.sh \
		"$srcdir"/tests/dropin/check-*.sh \
		"$srcdir"/tests/conform/check-*.sh \
		"$builddir"/tests/unit/test_* "$builddir"/tests/tools/test_* \
		"$builddir"/tests/exec/test_* \
		"$builddir"/tests/conform/conform_* \
		"$builddir"/tests/dropin/on_*; do
		case $test in
		*.o | *.log | *.trs | */check-suite-machines.sh) continue ;;
		esac
		# shellcheck disable=SC2254 # a pattern
		case ${test##*/} in
		${SUITE_TESTS:-*}) ;;
		*) continue ;;
		esac
		[ ! -f "$test" ] || echo "$test"
	done
}

# suite MACHINE COMMAND...: every test under COMMAND, which runs a command
suite() {
	suite_machine=$1
	shift
	if ! "$@" true 2>/dev/null; then
		skip "$suite_machine" "this machine cannot play it"
		return
	fi
	for suite_test in $(tests); do
		"$@" "${SHELL:-/bin/sh}" "$srcdir/tests/run-test.sh" \
			"$suite_test" >"$tmp/log" 2>&1
		if grep -q '^1\.\.' "$tmp/log" &&
			! grep -q '^not ok' "$tmp/log"; then
			ok "$suite_machine: ${suite_test##*/}"
		else
			not_ok "$suite_machine: ${suite_test##*/}"
			{
				grep -A 12 '^not ok' "$tmp/log" ||
					tail -n 12 "$tmp/log"
			} | sed 's/^/# /' | head -n 60
		fi
	done
}

cat >"$tmp/hidden.sh" <<'EOF2'
mount -t proc -o hidepid=invisible proc /proc || exit 99
exec "$@"
EOF2
# shellcheck disable=SC2317 # called by suite
hidden() {
	unshare -m sh "$tmp/hidden.sh" "$@"
}
# shellcheck disable=SC2317
ordinary() {
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
		env HOME="$tmp" "$@"
}
# shellcheck disable=SC2317
ordinary_hidden() {
	unshare -m sh "$tmp/hidden.sh" setpriv --reuid=65534 --regid=65534 \
		--clear-groups --inh-caps=-all env HOME="$tmp" "$@"
}

cat >"$tmp/bare.sh" <<'EOF2'
mkdir "$TMPDIR/none" 2>/dev/null
for folder in /sys/kernel/tracing /sys/kernel/debug \
	/sys/bus/event_source/devices/uprobe; do
	[ ! -d $folder ] || mount --bind "$TMPDIR/none" $folder || exit 99
done
mount -t tmpfs -o ro none /dev/shm || exit 99
exec "$@"
EOF2
# shellcheck disable=SC2317
bare() {
	unshare -m sh "$tmp/bare.sh" "$@"
}
cat >"$tmp/chroot.sh" <<'EOF2'
mkdir -p "$TMPDIR/root" && mount --rbind / "$TMPDIR/root" || exit 99
exec chroot "$TMPDIR/root" sh -c 'cd "$0" && exec "$@"' "$PWD" "$@"
EOF2
# shellcheck disable=SC2317
in_chroot() {
	unshare -m sh "$tmp/chroot.sh" "$@"
}
# busy COMMAND...: beside eight loops, as somebody without rights
# shellcheck disable=SC2317
busy() {
	busy_loops=
	# shellcheck disable=SC2034
	for busy_loop in 1 2 3 4 5 6 7 8; do
		sh -c "while kill -0 $$ 2>/dev/null; do
			for i in 1 2 3 4 5 6 7 8 9; do :; done; done" &
		busy_loops="$busy_loops $!"
	done
	ordinary_hidden "$@"
	busy_status=$?
	# shellcheck disable=SC2086 # words
	kill -9 $busy_loops
	# shellcheck disable=SC2086
	wait $busy_loops 2>/dev/null
	return "$busy_status"
}

[ $# -gt 0 ] || set -- EPERM ENOSYS container bare hidden ordinary \
	ordinary-hidden chroot busy other-cpu no-cpu
for machine in "$@"; do
	case $machine in
	EPERM | EACCES | ENOSYS) suite "$machine" "$deny" "$machine" ;;
	container) suite "$machine" "$deny" CONTAINER ;;
	hidden | ordinary | bare | busy) suite "$machine" "$machine" ;;
	ordinary-hidden) suite "$machine" ordinary_hidden ;;
	chroot) suite "$machine" in_chroot ;;
	# libpfm4/docs/man3/libpfm.3: one that is not this CPU's, or none
	other-cpu) suite "$machine" env LIBPFM_FORCE_PMU=skl ;;
	no-cpu) suite "$machine" env LIBPFM_FORCE_PMU=perf ;;
	*) not_ok "no machine is called '$machine'" ;;
	esac
done
tap_end
