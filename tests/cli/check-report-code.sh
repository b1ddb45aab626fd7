#!/bin/sh
# SPDX-License-Identifier: MIT
# Names of code that is hard to name, in real profiles: libraries that come and
# go, code made at run time, stripped programs, the vdso, the kernel, and files
# that are no longer what was measured.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
need_library LIBELF
cc=${CC:-cc}
flags='-O1 -g -fno-omit-frame-pointer -Wl,--build-id=sha1'

# What all subjects share: ms of CPU time in a function of a given name.
cat >spin.h <<'EOF2'
#include <stdlib.h>
#include <time.h>
static inline double used(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
#define SPIN(name) \
	__attribute__((noinline)) unsigned name(double ms) \
	{ \
		volatile unsigned sum = 0; \
		for (double end = used() + ms; used() < end;) \
			for (unsigned i = 0; i < 50000; i++) \
				sum += i; \
		return sum; \
	}
EOF2

share() { # FUNCTION: what the claims call its part of all that was measured
	echo "f('$1') / r['total_weight']"
}

backends=
for backend in perf timer; do
	if can_use "$backend"; then
		backends="$backends $backend"
	else
		skip "$backend" "$(tail -n 1 "$tmp/words" | tr '#' ' ')"
	fi
done

can_use itimer && by_handler=itimer || by_handler=

### Libraries that come and go, at the same place

cat >first.c <<'EOF2'
#include "spin.h"
SPIN(in_first)
EOF2
cat >second.c <<'EOF2'
#include "spin.h"
int before_second(int x) { return x * 3; }
SPIN(in_second)
EOF2
cat >loads.c <<'EOF2'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	static const char *const names[][2] = {
		{ "./first.so", "in_first" }, { "./second.so", "in_second" },
	};
	void *places[2];
	for (int i = 0; i < atoi(argv[argc - 2]); i++) {
		void *library = dlopen(names[i % 2][0], RTLD_NOW);
		unsigned (*spin)(double) =
			(unsigned (*)(double))dlsym(library, names[i % 2][1]);
		if (!spin)
			return 99;
		places[i % 2] = (void *)((unsigned long)spin & ~0xfffful);
		spin(atof(argv[argc - 1]) + i % 3);
		dlclose(library);
	}
	return places[0] == places[1] ? 0 : 3;
}
EOF2
# shellcheck disable=SC2086
if $cc $flags -shared -fPIC -o first.so first.c &&
	$cc $flags -shared -fPIC -o second.so second.c &&
	$cc $flags -o loads loads.c -ldl; then
	# once each between two looks for code, and many times; five standard errors
	# of a half are free, as a busy machine's ticks are few
	for run in "4 150" "300 1"; do for backend in $backends $by_handler; do
		# shellcheck disable=SC2086
		record -q -b "$backend" -F 1000 -o p.pb.gz -- ./loads $run
		case $status in
		0) where="at the same place" ;;
		3) where="at different places" ;;
		*) where="that failed with $status" ;;
		esac
		where="$where, ${run% *} turns"
		for name in first second; do
			claim "$backend: a library that was closed, $where: in_$name" \
				"abs($(share in_$name) - 0.45) < 0.15 + 2.5 / max(r['samples'], 1) ** 0.5"
			claim "$backend: and its module" \
				"[x['module'] for x in r['functions'] if x['name'] == 'in_$name'] == ['$name.so']"
		done
		judge p.pb.gz
	done; done
else
	skip "libraries that come and go" "they cannot be built here"
fi

### A library that loads for long, and then loads another

# The loader holds a lock meanwhile, and takes a second one for the other library. The
# helper thread looks at the loaded libraries each second, under that second lock: it
# must not wait for the first.
cat >slow.c <<'EOF2'
#include <dlfcn.h>
#include "spin.h"
SPIN(in_constructor)
__attribute__((constructor)) static void load(void)
{
	in_constructor(1100);
	if (!dlopen("./second.so", RTLD_NOW))
		exit(99);
}
EOF2
cat >loads_slow.c <<'EOF2'
#include <dlfcn.h>
int main(void) { return !dlopen("./slow.so", RTLD_NOW); }
EOF2
# shellcheck disable=SC2086
if [ -f second.so ] && $cc $flags -shared -fPIC -o slow.so slow.c -ldl &&
	$cc $flags -o loads_slow loads_slow.c -ldl; then
	for backend in $backends $by_handler; do
		timeout -s KILL 300 "$portprof" record -q -b "$backend" -F 250 \
			-o p.pb.gz -- sh -c 'echo $$ >pid; exec ./loads_slow' \
			>words 2>&1
		same "$backend: a library that loads another: the program ends" \
			0 $?
		kill -KILL "$(cat pid)" 2>/dev/null
		claim "$backend: and the time of its constructor" \
			"0.8 < $(share in_constructor)"
		judge p.pb.gz
	done
else
	skip "a library that loads another" "none can be built here"
fi

### Started by the loader; and where /proc is of other numbers

cat >led.c <<'EOF2'
#include "spin.h"
static SPIN(led_work)
int main(void) { return led_work(600) == 1; }
EOF2
# shellcheck disable=SC2086
$cc $flags -o led led.c
loader=$(readelf -l led 2>/dev/null | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
# On a busy machine starting a program takes some 30 ms, and so does the way from the
# last tick to the end, of which there is no sample.
for backend in $backends $by_handler; do
	if [ -x "$loader" ]; then
		record -q -b "$backend" -F 1000 -o p.pb.gz -- "$loader" ./led
		claim "$backend: what the loader was told to run" \
			"0.7 < $(share led_work)"
		claim "$backend: and its module" \
			"[x['module'] for x in r['functions'] if x['name'] == 'led_work'] == ['led']"
		judge p.pb.gz
	else
		skip "$backend: a program started by the loader" "no loader was found"
	fi
	if unshare -p -f true 2>/dev/null; then
		record -q -b "$backend" -F 1000 -o p.pb.gz -- unshare -p -f ./led
		claim "$backend: in a PID namespace with the old /proc" \
			"0.7 < $(share led_work)"
		judge p.pb.gz
	else
		skip "$backend: in a PID namespace" "none can be made here"
	fi
done

### Stripped, with its symbols elsewhere; then not the file that was measured

cat >plain.c <<'EOF2'
#include "spin.h"
static SPIN(secret_work)
int main(void) { return secret_work(400) == 1; }
EOF2
# shellcheck disable=SC2086
$cc $flags -fPIE -pie -o plain plain.c
id=$(readelf -n plain 2>/dev/null | sed -n 's/.*Build ID: *//p')
if [ "$id" ] && command -v objcopy >/dev/null; then
	rest=${id#??}
	folder=debug/.build-id/${id%"$rest"}
	mkdir -p "$folder" copy/.build-id/"${id%"$rest"}"
	cp plain "copy/.build-id/${id%"$rest"}/$rest"
	objcopy --only-keep-debug plain "$folder/$rest.debug"
	objcopy --strip-all plain
	first=${backends# }
	first=${first%% *}
	record -q -b "$first" -F 1000 -o p.pb.gz -- ./plain
	report -i p.pb.gz
	has_not "stripped: no name" 'secret_work' "$tmp/report"
	has "stripped: the report says what would help" \
		'^plain has no symbols for [0-9.]+ % of the total: keep the symbol table' \
		"$tmp/report"
	# of what is shown where that is not all, and -q prints rows alone
	report -i p.pb.gz --module plain
	has "stripped: of what" \
		'^plain has no symbols for [0-9.]+ % of what is shown: ' "$tmp/report"
	"$portprof" report -i p.pb.gz -q >"$tmp/report"
	has "-q: the rows" ' plain +plain' "$tmp/report"
	has_not "-q: nothing else" 'has no symbols' "$tmp/report"
	report -i p.pb.gz -q --debug-dir debug
	has "stripped: a debug file by build-id gives the name" \
		' plain +secret_work$' "$tmp/report"
	report -i p.pb.gz -q --debug-dir copy
	has "stripped: so does a copy that is not" \
		' plain +secret_work$' "$tmp/report"
	# shellcheck disable=SC2086
	$cc $flags -DOTHER -O2 -fPIE -pie -o plain plain.c
	report -i p.pb.gz
	has_not "replaced: no name is guessed" ' plain +(secret_work|main)$' "$tmp/report"
	has "replaced: and the report says why" \
		'^  note .*/plain is not the file that was measured: its build-id is .*, recorded was '"$id" \
		"$tmp/report"
	rm plain
	report -i p.pb.gz
	has "deleted: the report says so" \
		'^  note .*/plain cannot be read: ' "$tmp/report"
	has "deleted: module and address are left" ' plain +plain\+0x[0-9a-f]+$' \
		"$tmp/report"
else
	skip "stripped, replaced and deleted programs" \
		"no build-id or no objcopy here"
fi

# Of a package: the command, in a line of its own and with the profile's name.
head -c 6000000 /dev/urandom >noise
record -q -F 1000 -o gzip.pb.gz -- gzip -9 -c noise
report -i gzip.pb.gz
if grep -q '^gzip has no symbols for [0-9.]* % of the total\.$' "$tmp/report"; then
	has "a package's program: what brings its names can be copied" \
		'^  (apt install [a-z0-9.+-]+-dbgsym|dnf debuginfo-install \$\(rpm -qf /[^ ]+\)|.*DEBUGINFOD_URLS=https://[^ ]+ portprof report --debuginfod gzip.pb.gz)$' \
		"$tmp/report"
else
	skip "a package's program" "gzip is no stripped program here"
fi

# Deleted while it ran, and another file put in its place: what names do that were
# not written while it was there (check-names-held.sh has those that were).
cat >await-fly <<'EOF2'
#!/bin/sh
# Until that process has executed it, which a busy machine may put off.
for _ in $(seq 3000); do
	case $(readlink "/proc/$1/exe") in
	*/fly) exit ;;
	esac
	sleep 0.01
done
EOF2
chmod +x await-fly
# shellcheck disable=SC2086
if $cc $flags -fPIE -pie -o mayfly plain.c && cp first.so other; then
	for backend in $backends; do
		cp mayfly fly
		# shellcheck disable=SC2016
		record -q -b "$backend" -F 1000 --no-names -o p.pb.gz -- sh -c \
			'./fly & "$0" $!; rm fly; wait' "$PWD/await-fly"
		claim "$backend, deleted while it ran: module and address" \
			'any(x["module"] == "fly" and not x["named"] for x in r["functions"])'
		judge p.pb.gz
		cp other fly
		claim "$backend, another file in its place: no name is guessed" \
			'f("in_first") == 0 and f("secret_work") == 0'
		judge p.pb.gz
		cp mayfly fly
		# A busy machine deletes it before its build-id is read.
		claim "$backend, the same file again: named, or why not" \
			"$(share secret_work) > 0.5 or 'build-id' in text"
		judge p.pb.gz
	done
fi

### C++

cat >names.cc <<'EOF2'
#include "spin.h"
namespace ns {
template <typename T> struct Box {
	__attribute__((noinline)) unsigned run(T ms, const char *) const
	{
		volatile unsigned sum = 0;
		for (double end = used() + ms; used() < end;)
			for (unsigned i = 0; i < 50000; i++)
				sum = sum + i;
		return sum;
	}
};
}
int main() { return ns::Box<double>().run(100, "") == 1; }
EOF2
# shellcheck disable=SC2086
if ${CXX:-c++} $flags -o names names.cc 2>/dev/null &&
	grep -q 'define HAVE_LIBIBERTY 1' "$builddir/config.h"; then
	record -q -F 1000 -o p.pb.gz -- ./names
	claim "C++: names as people write them" \
		'f("ns::Box<double>::run(double, char const*) const") > r["total_weight"] / 2'
	judge p.pb.gz
else
	skip "C++" "cannot be built, or not be demangled, here"
fi

### D and Ada, whose compilers write such names

cat >coded.c <<'EOF2'
#include "spin.h"
unsigned d_work(double) __asm__("_D3app4workFiZv");
unsigned ada_work(double) __asm__("pack__hot_work");
SPIN(d_work)
SPIN(ada_work)
#ifdef IS_ADA
void adainit(void) {}
#endif
int main(void) { return d_work(200) + ada_work(200) == 1; }
EOF2
# shellcheck disable=SC2086
if $cc $flags -o coded coded.c && $cc $flags -DIS_ADA -o coded_ada coded.c &&
	grep -q 'define HAVE_LIBIBERTY 1' "$builddir/config.h"; then
	for one in coded=pack__hot_work coded_ada=pack.hot_work; do
		record -q -F 1000 -o p.pb.gz -- "./${one%=*}"
		claim "D: names as people write them" \
			'f("app.work(int)") > r["total_weight"] / 4'
		claim "Ada, in ${one%=*}: so" \
			"f('${one#*=}') > r['total_weight'] / 4"
		judge p.pb.gz
	done
else
	skip "D and Ada" "they cannot be built, or not be demangled, here"
fi

### Code made at run time

cat >made.c <<'EOF2'
#define _GNU_SOURCE
#include "spin.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>
/* Calls nothing and knows no address, so that a copy works as well. */
__attribute__((noinline, aligned(64))) unsigned pure(unsigned n)
{
	volatile unsigned sum = 0;
	for (unsigned i = 0; i < n; i++)
		sum += i;
	return sum;
}
static void *memory_of(const char *kind)
{
	int all = PROT_READ | PROT_WRITE | PROT_EXEC, fd = -1;
	char *heap, path[] = "./ffiXXXXXX";
	switch (kind ? kind[0] : 'p') {
	case 's': /* shared */
		return mmap(0, 4096, all, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	case 'm': /* memfd */
		fd = memfd_create("double", 0);
		return fd < 0 || ftruncate(fd, 4096) != 0 ? MAP_FAILED :
		       mmap(0, 4096, all, MAP_SHARED, fd, 0);
	case 'z': /* zero */
		fd = open("/dev/zero", O_RDWR);
		return mmap(0, 4096, all, MAP_PRIVATE, fd, 0);
	case 'u': /* unlinked, as libffi has it */
		fd = mkstemp(path);
		return fd < 0 || unlink(path) || ftruncate(fd, 4096) != 0
		       ? MAP_FAILED : mmap(0, 4096, all, MAP_SHARED, fd, 0);
	case 'i': /* ipc */
		fd = shmget(IPC_PRIVATE, 4096, 0700 | IPC_CREAT);
		heap = shmat(fd, 0, SHM_EXEC);
		shmctl(fd, IPC_RMID, 0);
		return heap;
	case 'h': /* heap */
		heap = (char *)(((unsigned long)malloc(8192) + 4095) & ~4095ul);
		return mprotect(heap, 4096, all) ? MAP_FAILED : heap;
	default:
		return mmap(0, 4096, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
}
int main(int argc, char **argv)
{
	char *code = memory_of(getenv("MADE_IN"));
	char name[64];
	FILE *map;
	if (code == MAP_FAILED)
		return 99;
	/* so that samples have many addresses */
	for (int i = 0; i < 8; i++)
		memcpy(code + i * 256, (void *)pure, 256);
	__builtin___clear_cache(code, code + 2048);
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	map = argc > 1 && argv[1][0] ? fopen(name, "w") : 0;
	if (map) {
		fprintf(map, "%lx %x %s\n", (unsigned long)code, 2048, argv[1]);
		fclose(map);
		puts(name);
		fflush(stdout);
	}
	if (argc > 2 && (fork() < 0 || fork() < 0))
		return 99;
	for (double end = used() + 400; used() < end;)
		for (int i = 0; i < 8; i++)
			((unsigned (*)(unsigned))(code + i * 256))(10000);
	while (argc > 2 && wait(0) > 0)
		;
	return 0;
}
EOF2
# shellcheck disable=SC2086
if $cc $flags -o made made.c 2>/dev/null && ./made; then
	for backend in $backends; do
		record -q -b "$backend" -F 1000 -o p.pb.gz -- ./made 'jit::work(int)'
		claim "$backend: code made at run time, by the map of its process" \
			"$(share 'jit::work(int)') > 0.5"
		claim "$backend: in a module without the process's number" \
			"[(x['module'], x['path']) for x in r['functions'] if x['name'] == 'jit::work(int)'] == [('[generated code]', '[generated code]')]"
		"$portprof" export -q -f perf-script -o "$tmp/script" p.pb.gz
		has "$backend: perf-script has its map" \
			"jit::work\\(int\\) \\($(cat "$tmp/printed")\\)" "$tmp/script"
		judge p.pb.gz
		rm -f "$(cat "$tmp/printed")"

		# timers learn late of memory that is new; until then it is [unknown]
		[ "$backend" = perf ] || continue
		record -q -g -b "$backend" -F 1000 -o p.pb.gz -- ./made
		mine='[x for x in r["functions"] if x["module"] == "[anonymous]"]'
		claim "$backend: without a map, one row for the process" \
			"len($mine) == 1 and ', PID ' in ${mine}[0]['name'] and not ${mine}[0]['named']"
		claim "$backend: with all of it" \
			"${mine}[0]['self_weight'] > 0.5 * r['total_weight']"
		judge p.pb.gz
		for kind in shared memfd zero ipc unlinked heap; do
			MADE_IN=$kind record -q -b "$backend" -F 1000 \
				-o p.pb.gz -- ./made
			if [ "$status" -eq 99 ]; then
				skip "$backend: code in memory of the kind $kind" \
					"it may not be executed here"
				continue
			fi
			claim "$backend: code in memory of the kind $kind, one row" \
				"len($mine) == 1 and ', PID ' in ${mine}[0]['name']"
			claim "$backend: with all of it" \
				"${mine}[0]['self_weight'] > 0.5 * r['total_weight']"
			judge p.pb.gz
		done
		MADE_IN=unlinked record -q -b "$backend" -F 1000 -o p.pb.gz -- \
			./made 'jit::work(int)'
		claim "$backend: its map names what lies in a file that is gone" \
			"$(share 'jit::work(int)') > 0.5"
		judge p.pb.gz
		rm -f "$(cat "$tmp/printed")"
		unset MADE_IN
		record -q -g -b "$backend" -F 1000 -o p.pb.gz -- ./made
		report -i p.pb.gz
		has "$backend: and what would name it" 'perf-PID\.map' "$tmp/report"
		report -i p.pb.gz -q --tree
		has "$backend: the tree has that row" 'PID [0-9]+\)' "$tmp/report"
		has_not "$backend: and no addresses" '\[anonymous\]\+0x' \
			"$tmp/report"
		for key in address line; do
			report -i p.pb.gz -q --sort "$key"
			has "$backend: by $key, addresses are shown" \
				'\[anonymous\]\+0x' "$tmp/report"
		done
		for runtime in node=--perf-basic-prof \
			java='-XX:\+UnlockDiagnosticVMOptions -XX:\+DumpPerfMapAtExit' \
			python3=PYTHONPERFSUPPORT dotnet=DOTNET_PerfMapEnabled \
			php=opcache.jit_debug beam.smp=JPperf; do
			cp made "${runtime%%=*}"
			record -q -b "$backend" -F 1000 -o p.pb.gz -- "./${runtime%%=*}"
			report -i p.pb.gz
			has "$backend: what ${runtime%%=*} needs" "${runtime#*=}" \
				"$tmp/report"
		done
		record -q -b "$backend" -F 1000 -o p.pb.gz -- ./made '' fork
		claim "$backend: forked: a row for each process, one for what they share" \
			"1 <= len($mine) <= 5 and any('several' in x['name'] for x in $mine)"
		judge p.pb.gz
	done
else
	skip "code made at run time" "such memory is not to be had here"
fi

### Functions of Python

cat >loop.txt <<'EOF2'
main;_PyEval_EvalFrameDefault;PyLong_FromLong 5
main;_PyEval_EvalFrameDefault 4
EOF2
report -i loop.txt
has "functions of Python have no names: the flag" \
	'100\.0 % .*3\.12 or later.* -X perf' "$tmp/report"
echo 'main;_PyEval_EvalFrameDefault;py::work:/srv/app.py 1' >>loop.txt
report -i loop.txt
has_not "they have: no hint" '-X perf' "$tmp/report"

### The vdso and the kernel

cat >clock.c <<'EOF2'
#include "spin.h"
int main(void)
{
	for (double end = used() + 200; used() < end;) {
		struct timespec now;
		for (int i = 0; i < 20000; i++)
			clock_gettime(CLOCK_MONOTONIC, &now);
	}
	return 0;
}
EOF2
# shellcheck disable=SC2086
$cc $flags -o clock clock.c
record -q -F 1000 -o p.pb.gz -- ./clock
report -i p.pb.gz --json
if grep -q '"module":"\[vdso\]"' "$tmp/report"; then
	has "functions of the vdso" \
		'"name":"(__vdso_)?clock_gettime[^"]*","module":"\[vdso\]"' \
		"$tmp/report"
	has_not "all of it has names" '"name":"\[vdso\]' "$tmp/report"
else
	skip "functions of the vdso" "this clock needs none"
fi
case $backends in
*perf*)
	record -q --no-names -b perf -F 1000 -o p.pb.gz -- sh -c \
		'dd if=/dev/zero of=/dev/null bs=1M count=1500 2>/dev/null'
	report -i p.pb.gz
	if ! grep -q '\[kernel\]' "$tmp/report"; then
		: # this user may not sample it
	elif ! grep -q '^0*[1-9a-f].* T ' /proc/kallsyms; then
		! become_ordinary || cp p.pb.gz hidden.pb.gz
	elif [ "$(id -u)" -eq 0 ] && become_ordinary; then
		claim "code of the kernel is named" \
			'any(x["module"] == "[kernel]" and x["named"] for x in r["functions"])'
		judge p.pb.gz
		cp p.pb.gz hidden.pb.gz
		chmod 755 "$tmp"
	fi
	if [ -e hidden.pb.gz ] && ordinary sh -c \
		'! grep -q "^0*[1-9a-f].* T " /proc/kallsyms' 2>/dev/null; then
		ordinary "$portprof" report -i hidden.pb.gz >"$tmp/report" 2>&1
		has "hidden kernel addresses: one row" ' \[kernel\] +\[unknown\]$' \
			"$tmp/report"
		has_not "and not one for each address" '\[kernel\]\+0x' "$tmp/report"
		has "and what to change" \
			'^  note .*kernel code is not named: .*kptr_restrict=0' \
			"$tmp/report"
	else
		skip "hidden kernel addresses" "cannot be enabled here"
	fi
	;;
esac
tap_end
