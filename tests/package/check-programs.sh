#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs that nobody here wrote, from Debian's source packages, are built with
# libportprof by pkg-config, CMake and Meson, and what it counts and samples of them is
# the CPU time of getrusage(2). With $packaged set it is the installed libportprof-dev
# that they are built with; otherwise this build, installed into a folder. Two more, of
# gperftools and of PAPI, are not changed at all.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
for tool in apt-get dpkg-source pkg-config gcc; do
	command -v $tool >/dev/null || { echo "skip: no $tool here"; exit 77; }
done
if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: a library built with sanitizers or coverage is not for others"
	exit 77
fi
mkdir "$tmp/src"
chmod 755 "$tmp" "$tmp/src"
(cd "$tmp/src" && apt-get source -q bzip2 lua5.4 zlib lz4 libzstd \
	google-perftools papi) >"$tmp/log" 2>&1 || {
	echo "skip: no sources of Debian: $(grep '^E: ' "$tmp/log" | head -n 1)"
	exit 77
}
portprof=portprof
if [ -z "${packaged+set}" ]; then
	MAKEFLAGS='' ${MAKE:-make} -s -C "$builddir" install DESTDIR="$tmp/root" \
		>"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
	mkdir "$tmp/pc"
	find "$tmp/root" -name 'portprof*.pc' -exec cp {} "$tmp/pc/" \;
	sed -i "s|=/|=$tmp/root/|" "$tmp"/pc/*
	PKG_CONFIG_PATH=$tmp/pc
	LD_LIBRARY_PATH=$(dirname "$(find "$tmp/root" -name libportprof.so)")
	export PKG_CONFIG_PATH LD_LIBRARY_PATH
	portprof=$(find "$tmp/root" -path '*/bin/portprof')
fi

### what each program gets

# Their main has another name, and is called by this one.
cat >"$tmp/around.c" <<'C'
#undef main
#include <portprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static portprof_group *around_group;
static portprof_session *around_session;
static double around_counted, around_used;

/* Less the library's own thread, which is in no profile and in no count. */
static double around_rusage(void)
{
	portprof_stats stats = {.size = sizeof(stats)};
	struct rusage self;

	portprof_session_stats(around_session, 0, &stats);
	getrusage(RUSAGE_SELF, &self);
	return self.ru_utime.tv_sec + self.ru_stime.tv_sec +
	       1e-6 * (self.ru_utime.tv_usec + self.ru_stime.tv_usec) -
	       1e-9 * stats.own_cost_ns;
}

static double around_count(void)
{
	portprof_count count = {0};

	portprof_group_read(around_group, &count, 1);
	return 1e-9 * count.scaled;
}

static void around_end(void)
{
	portprof_stats stats = {.size = sizeof(stats)};
	FILE *told = fopen(getenv("AROUND"), "w");

	around_counted = around_count() - around_counted;
	around_used = around_rusage() - around_used;
	portprof_session_stop(around_session);
	portprof_session_stats(around_session, 0, &stats);
	fprintf(told, "%.6f %.6f %.6f %llu\n", around_used, around_counted,
		1e-9 * stats.total_weight, (unsigned long long)stats.lost_samples);
	fclose(told);
	portprof_session_close(around_session);
	portprof_group_close(around_group);
}

int main(int argc, char **argv)
{
	portprof_config *config = portprof_config_new();

	portprof_config_add_event(config, "task-clock:freq=500");
	portprof_config_write_to(config, getenv("AROUND_FILE"));
	if (portprof_session_open(config, &around_session) != PORTPROF_OK ||
	    portprof_group_open("task-clock", &around_group) != PORTPROF_OK ||
	    portprof_session_start(around_session) != PORTPROF_OK) {
		fprintf(stderr, "%s\n", portprof_last_diag()->words);
		return 99;
	}
	portprof_config_free(config);
	around_used = around_rusage();
	around_counted = around_count();
	atexit(around_end);
	exit(around_main(argc, (void *)argv));
}
C
# FILE: what has their main.
patch_main() {
	sed -i '1i #ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n#define main around_main' \
		"$1" && printf '\n#include "%s"\n' "$tmp/around.c" >>"$1"
}

# NAME HOW FUNCTION COMMAND...: counted, sampled, and named
counts() {
	name=$1 how=$2 function=$3
	shift 3
	AROUND=$tmp/told AROUND_FILE=$tmp/own.pb.gz "$@" >"$tmp/out" 2>"$tmp/words" || {
		not_ok "$name, by $how: it runs"
		sed 's/^/# /' "$tmp/words"
		return
	}
	read -r used counted sampled lost <"$tmp/told"
	echo "# $name: getrusage $used s, counted $counted s, sampled $sampled s, $lost lost"
	check "$name, by $how: as much is counted as getrusage says" near "$counted"
	check "$name: as much is sampled" near "$sampled"
	"$portprof" report -q -n 5 "$tmp/own.pb.gz" >"$tmp/report" 2>&1
	has "$name: its hottest functions are named" "$function" "$tmp/report"
}
# Both are read one after the other, and an event's clock counts interrupts and stolen
# time, too: on a busy machine they differed by up to 1.2 %.
# shellcheck disable=SC2317 # check calls it
near() {
	awk -v got="$1" -v used="$used" 'BEGIN {
		off = got - used
		exit !(used > 0.2 && (off < 0 ? -off : off) < 0.02 + 0.02 * used)
	}'
}
quietly() {
	"$@" >"$tmp/log" 2>&1 || { tail -n 30 "$tmp/log"; return 1; }
}
# Text that compresses neither well nor badly.
awk 'BEGIN { srand(7); for (i = 0; i < 4000000; i++) print int(1e5 * rand() * rand()) }' \
	>"$tmp/text"
flags=$(pkg-config --cflags --libs portprof)
cd "$tmp/src" || exit 99

### pkg-config

cd "$tmp"/src/bzip2-* || exit 99
patch_main bzip2.c
# shellcheck disable=SC2086 # words
if quietly make -s libbz2.a && quietly gcc -O2 -g bzip2.c libbz2.a $flags -o own; then
	counts bzip2 pkg-config 'mainSort|mainGtU|BZ2_' ./own -9ck "$tmp/text"
else
	not_ok "bzip2 is built by pkg-config"
fi
cd "$tmp"/src/lua5.4-*/src || exit 99
patch_main lua.c
cat >"$tmp/queens.lua" <<'LUA'
local function queens(n, row, columns, up, down)
  if row > n then return 1 end
  local count = 0
  for c = 1, n do
    if not (columns[c] or up[row + c] or down[row - c]) then
      columns[c], up[row + c], down[row - c] = true, true, true
      count = count + queens(n, row + 1, columns, up, down)
      columns[c], up[row + c], down[row - c] = nil, nil, nil
    end
  end
  return count
end
print(queens(13, 1, {}, {}, {}))
LUA
rm -f luac.c # the compiler's main
# Debian's rules make it.
echo '#define DEB_HOST_MULTIARCH "none"' >lua5.4-deb-multiarch.h
# shellcheck disable=SC2086
if quietly gcc -O2 -g -w ./*.c $flags -lm -o own; then
	counts lua5.4 pkg-config luaV_execute ./own "$tmp/queens.lua"
	has "lua5.4: its answer is right" '^73712$' "$tmp/out"
else
	not_ok "lua5.4 is built by pkg-config"
fi

### CMake

if command -v cmake >/dev/null; then
	cd "$tmp"/src/zlib-* || exit 99
	patch_main test/minigzip.c
	# Debian leaves it out, and it is of Windows.
	mkdir -p win32 && : >win32/zlib1.rc
	cat >>CMakeLists.txt <<'CMAKE'
find_package(PkgConfig REQUIRED)
pkg_check_modules(PORTPROF REQUIRED IMPORTED_TARGET portprof)
target_link_libraries(minigzip PkgConfig::PORTPROF)
CMAKE
	if quietly cmake -S . -B own -DCMAKE_C_FLAGS='-O2 -g' &&
		quietly make -s -C own minigzip; then
		counts minigzip CMake 'deflate|longest_match' \
			own/minigzip -9 -c "$tmp/text"
	else
		not_ok "minigzip is built by CMake"
	fi
	cd "$tmp"/src/libzstd-*/build/cmake || exit 99
	patch_main ../../programs/zstdcli.c
	cat >>programs/CMakeLists.txt <<'CMAKE'
find_package(PkgConfig REQUIRED)
pkg_check_modules(PORTPROF REQUIRED IMPORTED_TARGET portprof)
target_link_libraries(zstd PkgConfig::PORTPROF)
CMAKE
	if quietly cmake -S . -B own -DZSTD_BUILD_TESTS=OFF -DZSTD_LEGACY_SUPPORT=OFF \
		-DCMAKE_BUILD_TYPE=RelWithDebInfo && quietly make -s -C own zstd; then
		counts "zstd with two workers" CMake ZSTD_ \
			own/programs/zstd -qc -T2 -9 "$tmp/text"
	else
		not_ok "zstd is built by CMake"
	fi
else
	skip "minigzip and zstd, by CMake" "no cmake here"
fi

### Meson

if command -v meson >/dev/null; then
	cd "$tmp"/src/lz4-*/contrib/meson || exit 99
	patch_main ../../programs/lz4cli.c
	sed -i "s/dependencies: \[liblz4_internal_dep\],/dependencies: [liblz4_internal_dep, dependency('portprof')],/" \
		meson/programs/meson.build
	if quietly meson setup own -Dprograms=true --buildtype=debugoptimized &&
		quietly meson compile -C own; then
		counts lz4 Meson LZ4 "$(find own -name lz4 -type f | head -n 1)" \
			-9cf "$tmp/text"
	else
		not_ok "lz4 is built by Meson"
	fi
else
	skip "lz4, by Meson" "no meson here"
fi

### unchanged

# NAME COMMAND...: its CPU time, as the shell has it, is in $used
use() {
	name=$1
	shift
	used=$("${SHELL:-sh}" -c '"$@" >&2; times' sh "$@" 2>"$tmp/words" | awk '
		NR == 2 {
			gsub(/[ms]/, " ")
			print 60 * $1 + $2 + 60 * $3 + $4
		}')
}
cd "$tmp"/src/google-perftools-* || exit 99
printf '#define HAVE_UNISTD_H 1\n#define HAVE_PTHREAD 1\n#define PERFTOOLS_DLL_DECL\n' \
	>src/config.h
# shellcheck disable=SC2046 # words
if quietly g++ -O1 -g -w $(pkg-config --cflags portprof-gperftools) -Isrc \
	src/tests/profiler_unittest.cc src/tests/testutil.cc -o own -pthread \
	$(pkg-config --libs portprof-gperftools); then
	use gperftools ./own 200 2 "$tmp/own.pb.gz"
	sampled=$("$portprof" report --json "$tmp/own.pb.gz" |
		sed -n 's/^ "total_weight": \([0-9]*\),$/\1/p' | sed -n '1s/.\{9\}$/.&/p')
	echo "# gperftools: getrusage $used s, sampled $sampled s"
	check "a program of gperftools, in three threads: as much is sampled as the shell says" \
		near "${sampled:-0}"
	"$portprof" report -q -n 3 "$tmp/own.pb.gz" >"$tmp/report"
	has "and it is named" 'test_other_thread' "$tmp/report"
else
	not_ok "a program of gperftools is built"
fi
cd "$tmp"/src/papi-*/src || exit 99
# shellcheck disable=SC2046 # words
if quietly gcc -O0 -w -I. -Itestlib ctests/serial_hl.c testlib/test_utils.c \
	testlib/do_loops.c -o own $(pkg-config --libs portprof-papi); then
	PAPI_OUTPUT_DIRECTORY=$tmp PAPI_EVENTS=perf::TASK-CLOCK use papi ./own
	counted=$(tr , '\n' <"$(echo "$tmp"/papi_hl_output/rank_*)" |
		sed -n 's/.*"perf::TASK-CLOCK": *"\([0-9]*\)".*/\1/p' |
		awk '{ sum += $1 } END { print sum / 1e9 }')
	echo "# papi: getrusage $used s, counted $counted s"
	has "a program of PAPI's regions passes" PASSED "$tmp/words"
	# what runs before and after its regions is not in them
	check "its regions have no more than its time, and half of it" awk -v got="$counted" \
		-v used="$used" 'BEGIN { exit !(got > used / 2 && got < used + 0.02) }'
else
	not_ok "a program of PAPI's regions is built"
fi
tap_end
