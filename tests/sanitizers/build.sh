# SPDX-License-Identifier: MIT
# Tests again, in a build with sanitizers. Source it after tap.sh, then say
#   sanitize NAME LIST TEST...
# where LIST is what --enable-sanitizers takes; the build is sanitizers/NAME in
# the build folder. In make check-long all tests of make check run there.
# shellcheck shell=sh
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/shell.sh"
: "${CC:=cc}" "${CXX:=c++}" "${MAKE:=make}"

sanitize() {
	sanitize_list=$2
	sanitize_build=$builddir/sanitizers/$1
	shift 2
	if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
		echo "skip: this build is instrumented itself"
		exit 77
	fi
	mkdir -p "$sanitize_build" && cd "$sanitize_build" || exit 1
	# What the outer make told its tests is not for the one below.
	unset MAKEFLAGS MFLAGS MAKELEVEL TESTS PP_SANITIZERS PP_COVERAGE
	configure_sanitized
	if [ "${PORTPROF_SPEED:-check}" = long ]; then
		# shellcheck disable=SC2046
		set -- $("$MAKE" -s list-tests)
		"$MAKE" -j2 "$quick_libtool" all check-programs >make.log 2>&1
	else
		build_some "$@" >make.log 2>&1
	fi || {
		not_ok "the build"
		tail -n 20 make.log
		tap_end
	}
	# A second try is one: make would take the first's log for the result.
	for sanitize_test in "$@"; do
		rm -f "${sanitize_test%.sh}.log" "${sanitize_test%.sh}.trs"
	done
	"$MAKE" test-suite.log TESTS="$*" PORTPROF_SPEED=check >make.log 2>&1
	for sanitize_test in "$@"; do
		judge_sanitized "$sanitize_test"
	done
	tap_end
}

# Once, and again when this build was configured in another way.
configure_sanitized() {
	set -- --enable-sanitizers="$sanitize_list" CC="$CC" \
		CXX="$CXX" CFLAGS='-g1 -O1'
	[ "$*" != "$(cat .configured 2>/dev/null)" ] || return 0
	make_depfiles
	if ! "$srcdir/configure" "$@" >configure.log 2>&1; then
		if grep -q 'cannot link this' configure.log; then
			echo "skip: $CC cannot link -fsanitize=$sanitize_list"
			exit 77
		fi
		tail -n 20 configure.log
		exit 1
	fi
	echo "$*" >.configured
}

# Programs that are tests; for scripts the command and what they run.
build_some() {
	sanitize_programs=
	for sanitize_test in "$@"; do
		case $sanitize_test in
		*.sh) sanitize_programs="$sanitize_programs portprof
			libportprof-preload.la tests/cli/burn
			tests/cli/deny tests/cli/touch" ;;
		*) sanitize_programs="$sanitize_programs $sanitize_test" ;;
		esac
	done
	# shellcheck disable=SC2086
	"$MAKE" -j2 "$quick_libtool" $sanitize_programs
}

# explain_failures LOG: each case that failed, with up to ten lines that it
# printed before its result and ten after it; then what sanitizers had to say.
# Automake's own lines, which repeat the results, stay out.
explain_failures() {
	# shellcheck disable=SC2016
	LC_ALL=C ${AWK:-awk} '
	/^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): / { next }
	/^(not )?ok / {
		rest = 0
		if ($1 == "not") {
			for (i = lines > 10 ? lines - 9 : 1; i <= lines; i++)
				print line[i]
			print
			rest = 10
		}
		lines = 0
		next
	}
	/^# stderr: / {
		if (errors++ < 60)
			print
		next
	}
	/^#/ {
		if (rest > 0) {
			rest--
			print
		} else
			line[++lines] = $0
	}' "$1" | sed 's/^/# /'
}

# judge_sanitized TEST: what its log says; the words of a failure with it
judge_sanitized() {
	judge_log=${1%.sh}
	case $(sed -n 's/^:global-test-result: //p' "$judge_log.trs" 2>/dev/null) in
	PASS) ok "$1" ;;
	SKIP) skip "$1" "$(sed -n 's/.*# SKIP //p' "$judge_log.log" | tail -n 1)" ;;
	'')
		not_ok "$1 was not run"
		;;
	*)
		not_ok "$1"
		explain_failures "$judge_log.log"
		;;
	esac
}
