#!/bin/sh
# SPDX-License-Identifier: MIT
# An old program that forks while it profiles itself, with the drop-in preloaded,
# linked and linked statically, on each backend, where the C library holds
# NetBSD's lock during a fork and where it does not: nothing hangs, and each
# process has the ticks of its own CPU time.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}" "${CC:=cc}"
. "$srcdir/tests/tools/tap.sh"
if [ "${PP_SANITIZERS:-no}" != no ]; then
	echo "skip: a sanitizer's library must come first, before what is preloaded"
	exit 77
fi
unset PORTPROF_DIALECT PORTPROF_HZ PORTPROF_BACKEND PORTPROF_DEFECTS 2>/dev/null || :
LD_LIBRARY_PATH=$builddir/.libs:$tmp${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

### Programs

build() { # ARGUMENT...: of the compiler
	$CC -O1 -pthread "$@" >>"$tmp/build.words" 2>&1
}
source=$srcdir/tests/dropin/forker.c
lock=$srcdir/tests/dropin/atfork_lock.c
if ! build "$source" -o "$tmp/plain" ||
	! build -shared -fPIC "$lock" -o "$tmp/libatforklock.so" -ldl; then
	echo "skip: the program of old calls needs glibc"
	exit 77
fi
ways=
if [ -f "$builddir/.libs/libportprof-profil.so" ]; then
	ways=preload
	build "$source" -o "$tmp/linked" -L"$builddir/.libs" \
		-lportprof-profil && ways="$ways link"
	build "$source" -o "$tmp/linked-lock" -L"$builddir/.libs" -L"$tmp" \
		-Wl,--no-as-needed -lportprof-profil -latforklock &&
		ways="$ways link-lock"
	ways="$ways preload-lock"
fi

# link_static NAME ARGUMENT...: libtool knows what the archives need
link_static() {
	link_to=$1
	shift
	(cd "$builddir" && ./libtool --tag=CC --mode=link "$CC" -O1 -pthread \
		-all-static "$@" -o "$link_to" libportprof-profil.la) \
		>>"$tmp/build.words" 2>&1
}
build -c "$source" -o "$tmp/forker.o"
build -c -DATFORK_LOCK_LINKED "$lock" -o "$tmp/lock.o"
if [ -f "$builddir/.libs/libportprof-profil.a" ]; then
	link_static "$tmp/static" "$tmp/forker.o" && ways="$ways static"
	link_static "$tmp/static-lock" "$tmp/forker.o" "$tmp/lock.o" \
		-Wl,--wrap=__fork -Wl,--wrap=pthread_create \
		-Wl,--wrap=__register_atfork && ways="$ways static-lock"
fi
[ -n "$ways" ] || { echo "skip: no libportprof-profil was built"; exit 77; }
echo "# ways:$ways" | sed 's/: */: /'
case $ways in
*static*) ;;
*) skip "static programs" "no static C library, or no archive was built" ;;
esac

### Runs

# run WAY BACKEND DIALECT WHAT MILLISECONDS: what it printed becomes got_NAME
run() {
	got_child='' got_parent='' got_grandchild='' got_daemon='' got_status=''
	got_bad='' got_good='' got_childcharged=''
	preload=
	case $1 in
	preload)
		set -- plain "$2" "$3" "$4" "$5"
		preload=$builddir/.libs/libportprof-profil.so
		;;
	preload-lock)
		set -- plain "$2" "$3" "$4" "$5"
		preload="$builddir/.libs/libportprof-profil.so $tmp/libatforklock.so"
		;;
	link) set -- linked "$2" "$3" "$4" "$5" ;;
	link-lock) set -- linked-lock "$2" "$3" "$4" "$5" ;;
	esac
	env ${preload:+"LD_PRELOAD=$preload"} PORTPROF_BACKEND="$2" \
		PORTPROF_DIALECT="$3" timeout -s KILL "$patience" "$tmp/$1" \
		"$4" "$5" >"$tmp/printed" 2>"$tmp/words"
	status=$?
	while IFS='=' read -r name value; do
		case $name$value in
		*[!a-z0-9]*) continue ;;
		esac
		eval "got_$name=\$value"
	done <"$tmp/printed"
}

# Within what a process may use between two samples, and a tenth.
near() { # WORDS TICKS MILLISECONDS
	near_room=$(($3 / 100 + 5))
	if [ "${2:--1}" -ge $(($3 / 10 - near_room)) ] &&
		[ "${2:--1}" -le $(($3 / 10 + near_room)) ]; then
		ok "$1"
	else
		not_ok "$1"
		echo "# ${2:-nothing} ticks for $3 ms at 100 Hz; status $status"
		sed 's/^/# > /' "$tmp/words"
	fi
}

patience=${PP_FORKS_PATIENCE:-300}
ms=200

# each_state WAY: on the best backend
each_state() {
	on="$1:"
	run "$1" '' bsd before $ms
	near "$on a fork before: the child" "$got_child" $ms
	near "$on a fork before: the parent" "$got_parent" $ms
	run "$1" '' bsd off $ms
	near "$on a fork when it is off again: the child" "$got_child" $ms
	near "$on a fork when it is off again: the parent" "$got_parent" $ms
	for how in vfork spawn; do
		run "$1" '' bsd $how $ms
		near "$on $how: the parent" "$got_parent" $((2 * ms))
		same "$on $how: the program ends well" 0 "$got_status"
	done
	run "$1" '' bsd clone $ms
	near "$on clone, without handlers: the child, from its call on" \
		"$got_child" $ms
}

# each_backend WAY BACKEND: where a backend itself may hang
each_backend() {
	on="$1, ${2:-auto}:"
	run "$1" "$2" bsd on $ms
	near "$on a fork while it is on: the child" "$got_child" $ms
	near "$on a fork while it is on: the parent" "$got_parent" $((2 * ms))
	run "$1" "$2" bsd again $ms
	near "$on a child's child" "$got_grandchild" $ms
	near "$on the child between" "$got_child" $ms
	near "$on their parent" "$got_parent" $ms
	run "$1" "$2" bsd threads 20
	same "$on forks while threads begin and change it: none hangs" \
		"0 0" "$status ${got_bad:-none}"
	run "$1" "$2" bsd bad-buffers $ms
	same "$on bad buffers: the program lives" "0 4" \
		"$status ${got_good:-none}"
	near "$on bad buffers: a good one counts" "$got_parent" $ms
}

for way in $ways; do
	each_state "$way"
	each_backend "$way" ''
	case $way in
	preload-lock | static-lock)
		for backend in perf timer itimer; do
			run "$way" $backend bsd on 20
			[ "$(cat "$tmp/words")" = '' ] || {
				skip "$way, $backend" "it does not sample here"
				continue
			}
			each_backend "$way" $backend
		done
		;;
	esac
	case $way in
	*static*) ;;
	*)
		run "$way" '' bsd daemon $ms
		near "$way: a daemon has its ticks" "$got_daemon" $ms
		run "$way" profil bsd on $ms
		near "$way, profil: the child, of what it was charged" \
			"$got_child" "${got_childcharged:-$ms}"
		;;
	esac
	run "$way" '' solaris on $ms
	near "$way, solaris: the child" "$got_child" $ms
	run "$way" '' glibc on $ms
	same "$way, glibc: a child is not profiled" 0 "$got_child"
	near "$way, glibc: its parent is" "$got_parent" $((2 * ms))
done

### Nobody calls itself

# The backend calls the system by the name that the drop-in has: in a static
# program there is no other function of that name.
for way in $ways; do
	case $way in
	*static*) ;;
	*) continue ;;
	esac
	run "$way" profil bsd on 20
	same "$way: profil is refused, and the program runs on" 0 "$status"
	has "$way: and why, with what to do" 'static.*itimer' "$tmp/words"
	same "$way: said once" 1 "$(grep -c '^portprof: ' "$tmp/words")"
done
tap_end
