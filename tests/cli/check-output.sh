#!/bin/sh
# SPDX-License-Identifier: MIT
# Every verb writes its file in one way: whole or not at all, to what a link
# leads to, as it comes to pipes and devices, and by no name that others know.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"

"$portprof" record -q -g -F 997 -o in.pb.gz -- "$burn" 200 2>err ||
	{ cat err; exit 1; }
i=0
while [ $((i += 1)) -lt 100 ]; do
	echo "main;function_$i $i"
done >in.folded
events=cpu-clock,task-clock,page-faults,context-switches,cpu-migrations
program=$(readlink -f "$burn")

# write VERB PATH: its file at that path.
write() {
	case $1 in
	record) "$portprof" record -q -o "$2" -- "$burn" 50 ;;
	stat) "$portprof" stat -j -r 2 -e "$events" -o "$2" -- true ;;
	stat-interval)
		"$portprof" stat -I 20 -e "$events" -o "$2" -- "$burn" 200 ;;
	names) "$portprof" names -o "$2" in.pb.gz ;;
	merge) "$portprof" merge -q -o "$2" in.pb.gz in.pb.gz ;;
	report) "$portprof" report --html "$2" in.pb.gz ;;
	diff) "$portprof" diff --html "$2" in.pb.gz in.pb.gz ;;
	gmon)
		"$portprof" export -q -f gmon --module "$program" -o "$2" \
			in.pb.gz ;;
	folded) "$portprof" export -q -f folded -o "$2" in.folded ;;
	*) "$portprof" export -q -f "$1" -o "$2" in.pb.gz ;;
	esac
}

verbs="record stat names merge report diff gmon pprof folded speedscope callgrind \
perf-script gperftools"
# what perf alone can count, others cannot
if "$portprof" stat -I 20 -e "$events" -- true >out 2>err; then
	verbs="$verbs stat-interval"
else
	skip "stat-interval" "$(head -n 1 err | tr '#' ' ')"
fi
if "$portprof" export -q -f otlp -o otlp.out in.pb.gz 2>err ||
	! grep -q 'built without' err; then
	verbs="$verbs otlp"
fi

# What a user keeps beside the file, and others may have put there.
lay_out() {
	rm -rf place
	mkdir place
	echo OLD >place/file
	chmod 600 place/file
	ln -s file place/link
	ln -s ../place/link place/far
	echo NOTES >place/file.part
	mkfifo place/link.part
}

for verb in $verbs; do
	lay_out
	write "$verb" place/far >out 2>err
	same "$verb: exit status" 0 $?
	same "$verb: links stay" "file ../place/link" \
		"$(readlink place/link) $(readlink place/far)"
	check "$verb: what they lead to was written" \
		test "$(head -c 4 place/file)" != OLD -a -s place/file
	same "$verb: it is no more readable than it was" "-rw-------" \
		"$(stat -c %A place/file)"
	rm -f place/file.old
	same "$verb: nothing else was touched" \
		"far file file.part link link.part NOTES" \
		"$(cd place && echo * "$(cat file.part)")"
done

# ---- a full disk: here, a limit of the size of files ----

# To fill a block, whatever the verb writes.
(ulimit -f 1 && trap '' XFSZ && head -c 4096 /dev/zero >full) 2>err
if [ "$(wc -c <full)" -eq 512 ]; then
	for verb in $verbs; do
		lay_out
		(trap '' XFSZ && ulimit -f 1 && write "$verb" place/link) \
			>out 2>&1
		check "$verb: a disk that is full is a failure" test $? -ne 0
		has "$verb: the reason is named" 'File too large' out
		# what is there from the first interval on is of whole ones
		[ "$verb" != stat-interval ] || grep -q OLD place/file ||
			[ -n "$(tail -c 1 place/file)" ] || echo OLD >place/file
		# record keeps what was there beside a file that has begun
		[ ! -e place/file.old ] || mv place/file.old place/file
		same "$verb: the old file stays, and nothing else" \
			"far file file.part link link.part OLD" \
			"$(cd place && echo * "$(cat file)")"
	done
else
	skip "full disks" "this shell cannot limit the size of files"
fi

# ---- streams ----

for verb in $verbs; do
	mkfifo "$verb.pipe"
	ln -s "$verb.pipe" "$verb.way"
	cat "$verb.pipe" >"$verb.got" &
	write "$verb" "$verb.way" >out 2>err
	same "$verb: exit status with a pipe" 0 $?
	wait
	check "$verb: the pipe is one, and was written to" \
		test -p "$verb.pipe" -a -s "$verb.got"

	# not from the beginning of the file, which may be somebody's log
	{ echo HEAD && write "$verb" -; } >"$verb.out" 2>err
	check "$verb: - is standard output" \
		test "$(head -c 5 "$verb.out")" = HEAD -a \
		"$(wc -c <"$verb.out")" -gt 100
	ln -s /dev/stdout "$verb.link"
	{ echo HEAD && write "$verb" "$verb.link"; } >"$verb.out2" 2>err
	check "$verb: so is a link that leads to it" \
		test "$(head -c 5 "$verb.out2")" = HEAD -a -h "$verb.link" -a \
		"$(wc -c <"$verb.out2")" -gt 100
	write "$verb" /dev/full >out 2>&1
	check "$verb: a device that is full is a failure" test $? -ne 0
	has "$verb: its reason is named" 'No space left' out
done
tail -c +6 pprof.out >passed
check "a profile passes through whole" \
	cmp -s passed pprof.got
"$portprof" record -o - -- sh -c "echo WORDS; '$burn' 100" >profile 2>err
has "what a command prints goes to standard error, if its own is the profile" \
	'^WORDS$' err
"$portprof" report profile >out 2>&1
has "and the profile is one with samples" 'burn' out
if ! has_terminals; then
	skip "a terminal gets no profile" "no terminal can be made here"
else
	python3 -c 'import pty, sys
sys.exit(pty.spawn(sys.argv[1:]) >> 8)' \
		"$portprof" merge -o - in.pb.gz >out 2>&1 </dev/null
	check "a terminal gets no profile" test $? -ne 0
	has "and the refusal says why" 'is a terminal' out
fi

# ---- links of others ----

if [ "$(id -u)" -eq 0 ] && command -v chown >/dev/null; then
	mkdir shared && chmod 1777 shared
	echo VICTIM >victim
	ln -s ../victim shared/trap
	chown -h 65534 shared/trap
	for verb in record report folded stat; do
		write "$verb" shared/trap >out 2>&1
		check "$verb: a link of another user in a shared folder" \
			test $? -ne 0 -a "$(cat victim)" = VICTIM
		has "$verb: is refused by that reason" \
			'shared/trap.*another user' out
	done
else
	skip "links of others" "only root can make them"
fi
tap_end
