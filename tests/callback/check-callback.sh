#!/bin/sh
# SPDX-License-Identifier: MIT
# A callback that is left by a C++ exception or by pthread_exit leaves a session
# that can be used and closed, and nobody who waits for ever. Destructors of
# <portprof.hpp> keep it quiet.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
: "${CXX:=c++}"
if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: a library built with sanitizers or coverage is not for others"
	exit 77
fi
LD_LIBRARY_PATH=$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
for program in leaves scopes; do
	# shellcheck disable=SC2086 # a command and its flags
	$CXX -std=c++11 -I"$srcdir/api" "$srcdir/tests/callback/$program.cc" \
		-o "$tmp/$program" -L"$builddir/.libs" -lportprof -lpthread \
		2>"$tmp/words" || {
		echo "skip: no C++ compiler: $(head -n 1 "$tmp/words")"
		exit 77
	}
done
for backend in perf timer itimer; do
	for how in throw exit helper; do
		timeout 60 "$tmp/leaves" $backend $how >"$tmp/out" 2>&1
		status=$?
		if [ "$status" -eq 77 ]; then
			skip "$backend, $how" "$(cat "$tmp/out")"
		else
			same "$backend, $how" "0 good" \
				"$status $(tail -n 1 "$tmp/out")"
		fi
	done
	timeout 60 "$tmp/scopes" $backend >"$tmp/out" 2>&1
	status=$?
	if [ "$status" -eq 77 ]; then
		skip "$backend, destructors" "$(cat "$tmp/out")"
	else
		same "$backend, destructors throw nothing" "0 good" \
			"$status $(tail -n 1 "$tmp/out")"
	fi
done
tap_end
