#!/bin/sh
# SPDX-License-Identifier: MIT
# Every command that the manual pages show after a "$" is run, in the order of
# the page and in a folder of its own, and must succeed.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"

need_backend perf
need_command python3

# What pages that only read a profile find: two of a program "burn" with call
# chains from main.
mkdir read read/debug
cat >burn.c <<'EOF'
volatile unsigned long sum;
static void __attribute__((noinline)) work(void)
{
	for (unsigned long i = 0; i < 50000000; i++)
		sum += i;
}
int main(void)
{
	work();
	return 0;
}
EOF
${CC:-cc} -O0 -fno-omit-frame-pointer -o read/burn burn.c || exit 99
cd read || exit 99
"$portprof" record -q -g -F 1000 -- ./burn
"$portprof" record -q -g -F 1000 -- ./burn
cd "$tmp" || exit 99

mkdir bin
ln -s "$portprof" bin/portprof
PATH=$tmp/bin:$PATH
export PATH

found=0
for page in "$srcdir"/doc/man/*.[1-8]; do
	name=$(basename "$page")
	cp -R read "$name"
	cd "$name" || exit 99
	# that page is about a profile of waits
	[ "$name" != portprof-waiting.7 ] ||
		python3 "$srcdir/tests/cli/wall_profile.py" wall portprof.pb.gz
	# a text that not every system has, and beside which nothing is written
	cp "$srcdir/COPYING" GPL-3
	sed -n 's/\\&//g; s/\\e/\\/g; s/^\$ //p' "$page" |
		sed 's|/usr/share/common-licenses/GPL-3|GPL-3|g' >"$tmp/commands"
	while IFS= read -r command; do
		found=$((found + 1))
		if sh -c "$command" >"$tmp/printed" 2>"$tmp/words" </dev/null; then
			ok "$name: $command"
		elif grep -q 'there are no self-tests' "$tmp/words" ||
			! command -v "${command%% *}" >/dev/null; then
			skip "$name: $command" "not installed"
		elif is_sanitized && grep -q 'loaded libportprof-preload' "$tmp/words"; then
			skip "$name: $command" "needs a library without sanitizers"
		else
			not_ok "$name: $command"
			sed 's/^/# /' "$tmp/words" | head -n 20
		fi
	done <"$tmp/commands"
	cd "$tmp" || exit 99
done
check "there are examples" [ "$found" -ge 4 ]
tap_end
