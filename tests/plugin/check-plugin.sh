#!/bin/sh
# SPDX-License-Identifier: MIT
# A plugin with the library may be unloaded at any time: what threads, signals
# and forks run afterwards is still there.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
host=$builddir/tests/plugin/host
LD_LIBRARY_PATH=$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

for kind in linked inside; do
	plugin=$builddir/tests/plugin/.libs/$kind.so
	[ -f "$plugin" ] || {
		skip "$kind" "no plugin was built"
		continue
	}
	for backend in perf timer itimer; do
		for how in closed running; do
			timeout 600 "$host" "$plugin" $backend $how \
				>"$tmp/out" 2>&1
			status=$?
			if grep -q '^begun 0' "$tmp/out"; then
				skip "$kind, $backend, $how" "it cannot be used here"
				continue
			fi
			same "$kind, $backend, $how: alive" "0 alive" \
				"$status $(tail -n 1 "$tmp/out")"
			sed 's/^/# /' "$tmp/out"
		done
	done
done
tap_end
