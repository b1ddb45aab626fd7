#!/bin/sh
# SPDX-License-Identifier: MIT
# An ordinary user on a locked system, in a container, with tight limits, on a
# full disk, in a folder that cannot be written: a right profile, or a refusal
# that names the cause and what to do; never an empty file, never a hang.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
if is_sanitized; then
	echo "skip: sanitizers need the rights that these cases take away"
	exit 77
fi

become_ordinary || { echo "skip: cannot become an ordinary user here"; exit 77; }
deny=$programs/deny
mkdir -m 777 open

### How it must go

# fresh: nothing is there
fresh() {
	rm -rf open/p.pb.gz*
}

# left: what is there, but the profile
left() {
	(cd open && ls -d p.pb.gz?* 2>/dev/null)
}

# right WORDS: the last record made a right profile
right() {
	same "$1: status" 0 "$status"
	same "$1: nothing else was left" "" "$(left)"
	claim "$1: its functions are there" "f('burn_much') > 0"
	closes "$1" 5
}

# reasoned WORDS PATTERN: and it says what stood in perf's way
reasoned() {
	claim "$1: why not by perf, and what to do" \
		"r['backend'] == 'perf' or any(x['backend'] == 'perf' and __import__('re').search(r'$2', x['reason']) for x in r['passed_over'])"
}

# refused WORDS PATTERN: the last record was refused for that
refused() {
	same "$1: status" 125 "$status"
	has "$1: words" "$2" "$tmp/words"
	same "$1: no file" "" "$(cd open && ls -d p.pb.gz* 2>/dev/null)"
}

# poor WORDS PATTERN COMMAND...: record under COMMAND, by what is best and by
# perf alone
poor() {
	poor_words=$1 poor_pattern=$2
	shift 2
	fresh
	ordinary "$@" "$portprof" record -F 1000 -o open/p.pb.gz -- \
		"$burn" 100 2 2>"$tmp/words"
	status=$?
	right "$poor_words"
	reasoned "$poor_words" "$poor_pattern"
	judge open/p.pb.gz
	fresh
	ordinary "$@" "$portprof" record -b perf -F 1000 -o open/p.pb.gz -- \
		"$burn" 100 2 2>"$tmp/words"
	status=$?
	if [ $status -eq 0 ]; then
		right "$poor_words, perf"
		judge open/p.pb.gz
	else
		refused "$poor_words, perf" "$poor_pattern"
	fi
	fresh
	ordinary "$@" "$portprof" record -p $$ --duration 0.1 -o open/p.pb.gz \
		2>"$tmp/words"
	status=$?
	[ $status -eq 0 ] ||
		refused "$poor_words, -p" "$poor_pattern|belongs to another|hidepid"
}

# What stands in the way first: a filter of the whole container's comes before
# what the kernel would refuse.
rights=perf_event_paranoid
few='descriptors.*ulimit -n'
lock='perf_event_mlock_kb|ulimit -l'
backends='perf timer itimer'
if perf_is_filtered; then
	rights=$filtered few=$filtered lock=$filtered
	backends='timer itimer'
fi

### An ordinary user

poor "no rights" "$rights" env

# A home that may not be entered holds no configuration.
mkdir -m 700 closed closed/.config closed/.config/portprof
if [ "$(id -u)" -eq 0 ]; then
	echo "mistake" >closed/.config/portprof/portprof.conf
	fresh
	ordinary env -u XDG_CONFIG_HOME HOME="$tmp/closed" "$portprof" record \
		-F 1000 -o open/p.pb.gz -- "$burn" 100 2>"$tmp/words"
	status=$?
	right "a closed home"
	judge open/p.pb.gz
fi

### Locks and filters

if [ -x "$deny" ] && ordinary "$deny" EPERM true 2>/dev/null; then
	poor "seccomp, EPERM" 'seccomp.*--cap-add PERFMON' "$deny" EPERM
	poor "seccomp, ENOSYS" 'seccomp.*--cap-add PERFMON' "$deny" ENOSYS
	poor "locked" 'locked for ordinary users' "$deny" LOCKED
	# The level that is told, where it can be made to seem so.
	for level in 3 4; do
		echo $level >level
		if ! unshare -m sh -c "mount --bind level \
			/proc/sys/kernel/perf_event_paranoid" 2>/dev/null; then
			skip "perf_event_paranoid $level" "no mount can be made"
			continue
		fi
		cat >locked.sh <<'EOF2'
mount --bind "$1" /proc/sys/kernel/perf_event_paranoid || exit 99
shift
exec "$@"
EOF2
		fresh
		unshare -m sh locked.sh level timeout 600 setpriv --reuid=65534 \
			--regid=65534 --clear-groups "$deny" LOCKED \
			"$portprof" record -b perf -o open/p.pb.gz -- true \
			2>"$tmp/words"
		status=$?
		refused "perf_event_paranoid $level" \
			"perf_event_paranoid is $level.* 2 or less: .*sysctl kernel.perf_event_paranoid=2"
	done
else
	skip "locks and filters" "no system call filter can be set"
fi

### Limits

printf '#!/bin/sh\nulimit -n 32 && exec "$@"\n' >few-files
printf '#!/bin/sh\nulimit -l 0 && exec "$@"\n' >no-lock
printf '#!/bin/sh\nulimit -n 32 && ulimit -l 0 && exec "$@"\n' >both
chmod 755 few-files no-lock both
poor "RLIMIT_NOFILE 32" "$few" ./few-files
poor "RLIMIT_MEMLOCK 0" "$lock" ./no-lock
poor "both" "$few|$lock" ./both

### Disks and folders

if [ "$(id -u)" -eq 0 ]; then
	mkdir -m 755 fixed
	ordinary "$portprof" record -o fixed/p.pb.gz -- true 2>"$tmp/words"
	same "a folder of somebody else: status" 125 $?
	has "a folder of somebody else: words" \
		"fixed.*Permission denied; choose a folder that you may write" \
		"$tmp/words"
	same "a folder of somebody else: nothing is left" "" "$(ls fixed)"
fi
# on_disk SIZE[,OPTION] COMMAND...: in a folder `disk` that is a disk
cat >on-disk.sh <<'EOF2'
mount -t tmpfs -o "size=$1,mode=777" tmpfs disk || exit 99
shift
exec "$@"
EOF2
on_disk() {
	unshare -m sh on-disk.sh "$@"
}
mkdir disk
if on_disk 64k true 2>/dev/null; then
	# shellcheck disable=SC2016
	cat >full.sh <<'EOF2'
dd if=/dev/zero of=disk/fill bs=4k 2>/dev/null
timeout 600 setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
echo "status $?"
ls disk
mount -o remount,ro disk 2>/dev/null || exit 0
timeout 600 setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
echo "read-only status $?"
ls disk
EOF2
	for backend in $backends; do
		on_disk 64k sh full.sh "$portprof" record -b "$backend" \
			-o disk/p.pb.gz -- true >printed 2>"$tmp/words"
		same "$backend, a full disk: nothing but the refusal" \
			"status 125 fill read-only status 125 fill " \
			"$(tr "\n" " " <printed)"
		has "$backend, a full disk: words" \
			'No space left on device; make room' "$tmp/words"
		has "$backend, a read-only disk: words" \
			'Read-only file system; choose a folder' "$tmp/words"
	done

	# It fills while recording: what was written before is there. What
	# comes then needs more than the rest of a page however few samples the
	# system grants: programs with long names that cannot be compressed.
	mkdir many
	for i in $(seq 60); do
		cp "$burn" "many/$i-$(head -c 110 /dev/urandom |
			od -An -tx1 | tr -d ' \n')"
	done
	cat >fills.sh <<EOF2
'$burn' 1500
dd if=/dev/zero of=disk/fill bs=1k 2>/dev/null
for program in many/*; do
	\$program 10
done
exit \$1
EOF2
	# shellcheck disable=SC2016
	cat >during.sh <<'EOF2'
timeout 600 setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
echo "status $?"
profile=$(ls -d disk/p.pb.gz disk/p.pb.gz.parts-* 2>/dev/null | head -n 1)
cp -R "$profile" found.pb.gz
EOF2
	for backend in ${backends% itimer}; do
		for code in 0 3; do
			rm -rf found.pb.gz
			on_disk 96k sh during.sh "$portprof" record -b "$backend" \
				-F 10000 -o disk/p.pb.gz -- sh fills.sh $code \
				>printed 2>"$tmp/words"
			want=$code
			[ $code -ne 0 ] || want=125
			same "$backend, the disk fills up: status" \
				"status $want" "$(cat printed)"
			has "$backend, the disk fills up: words" \
				'No space left on device' "$tmp/words"
			has "$backend, the disk fills up: what there is" \
				'(written before can be read|the parts, .* are left in).*portprof report -i' \
				"$tmp/words"
			claim "$backend, the disk fills up: what was before is there" \
				"f('burn_much') > 500 * ms"
			judge found.pb.gz
		done
	done
else
	skip "full disks" "no disk can be made here"
fi

# A limit of file sizes is a full disk for a process that has it; nobody dies of it.
printf '#!/bin/sh\nulimit -f 1 && exec "$@"\n' >small-files
chmod 755 small-files
for backend in $backends; do
	fresh
	ordinary ./small-files "$portprof" record -b "$backend" -F 10000 \
		-o open/p.pb.gz -- "$burn" 1500 2>"$tmp/words"
	status=$?
	[ $status -eq 0 ] ||
		has "$backend, small files: words" 'File too large' "$tmp/words"
	check "$backend, small files: nobody was killed" \
		[ $status -eq 0 -o $status -eq 125 ]
	# Nor when words would go past the limit, or to nobody.
	head -c 2000 /dev/zero >"$tmp/words"
	chmod 666 "$tmp/words"
	fresh
	ordinary ./small-files "$portprof" record -b "$backend" -F 10000 \
		-o open/p.pb.gz -- "$burn" 800 2>>"$tmp/words"
	status=$?
	check "$backend, small files and words: nobody was killed" \
		[ $status -eq 0 -o $status -eq 125 ]
	fresh
	{
		ordinary ./small-files "$portprof" record -b "$backend" -F 10000 \
			-o open/p.pb.gz -- "$burn" 800 2>&1
		echo $? >"$tmp/ended"
	} | :
	status=$(cat "$tmp/ended")
	check "$backend, nobody listens: nobody was killed" \
		[ "$status" -eq 0 -o "$status" -eq 125 ]
done
tap_end
