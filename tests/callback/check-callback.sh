#!/bin/sh
# SPDX-License-Identifier: MIT
# A callback that is left by a C++ exception or by pthread_exit leaves a session
# that can be used and closed, and nobody who waits for ever. Destructors of
# <portprof.hpp> keep it quiet, and its members do what they say.
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
for program in leaves scopes members; do
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
		timeout 600 "$tmp/leaves" $backend $how >"$tmp/out" 2>&1
		status=$?
		if [ "$status" -eq 77 ]; then
			skip "$backend, $how" "$(cat "$tmp/out")"
		else
			same "$backend, $how" "0 good" \
				"$status $(tail -n 1 "$tmp/out")"
		fi
	done
	timeout 600 "$tmp/scopes" $backend >"$tmp/out" 2>&1
	status=$?
	if [ "$status" -eq 77 ]; then
		skip "$backend, destructors" "$(cat "$tmp/out")"
	else
		same "$backend, destructors throw nothing" "0 good" \
			"$status $(tail -n 1 "$tmp/out")"
	fi
	timeout 600 "$tmp/members" $backend "$tmp/file" >"$tmp/out" 2>&1
	status=$?
	if [ "$status" -eq 77 ]; then
		skip "$backend, members" "$(cat "$tmp/out")"
	else
		same "$backend, members of config, session and group" "0 good" \
			"$status $(tail -n 1 "$tmp/out")"
	fi
done
# As strict programs compile it.
for compiler in "$CXX" clang++; do
	for standard in c++11 c++14 c++17 c++20 c++23; do
		words="portprof.hpp, $compiler -std=$standard"
		echo 'int main() { return 0; }' >"$tmp/none.cc"
		# shellcheck disable=SC2086
		if ! $compiler -std=$standard -c "$tmp/none.cc" -o "$tmp/none.o" \
			2>/dev/null; then
			skip "$words" "no such compiler"
			continue
		fi
		# shellcheck disable=SC2086
		check "$words" $compiler -std=$standard -Wall -Wextra -Wpedantic \
			-Wold-style-cast -Wconversion -Wshadow -Werror \
			-I"$srcdir/api" -c "$srcdir/tests/callback/members.cc" \
			-o "$tmp/none.o"
	done
done
tap_end
