#!/bin/sh
# SPDX-License-Identifier: MIT
# The code of backends/README.md compiles: the toy sampler, the toy counter and
# the fixture, each with no more than what the page leaves to its reader.
set -eu
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
: "${CC:=cc}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/portprof-page.XXXXXX")
trap 'rm -rf "$tmp"' 0
status=0

# Blocks of C go into the file of their heading.
LC_ALL=C ${AWK:-awk} -v to="$tmp/" '
/^##/ { part = "" }
/^## .*The seam/ { part = "seam" }
/^## .*(capabilities|nine functions)/ { part = "sampler" }
/^### A counter/ { part = "counter" }
/^## .*The fixture/ { part = "fixture" }
/^```/ {
	inside = /^```c$/
	blocks += inside
	if (inside && part == "") {
		print "a block of C in line " NR " is of no known heading"
		bad = 1
	}
	next
}
inside && part != "" { print > (to part) }
END {
	print blocks + 0 " blocks of C"
	exit bad
}' "$srcdir/backends/README.md" || status=1

compile() { # NAME LAST-LINE, and its first lines
	{
		cat
		[ "$1" = counter ] || cat "$tmp/seam"
		cat "$tmp/$1"
		echo "$2"
	} >"$tmp/$1.c"
	# shellcheck disable=SC2086
	if ! $CC ${HEADER_CFLAGS-} -Wall -Wextra -Wno-unused-function -Werror \
		-fsyntax-only -DPPI_BACKEND_TOY -I"$builddir" -I"$srcdir" -I"$srcdir/api" \
		"$tmp/$1.c" 2>"$tmp/errors"; then
		echo "the $1 of backends/README.md does not compile"
		sed 's/^/    /' "$tmp/errors" | head -n 20
		status=1
	fi
}

system='#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>'

compile sampler \
	'const uint64_t caps = TOY_CAPS; const void *const real = REAL_KERNEL;' <<EOF
#include "backends/backend.h"
#include "backends/common/cpu_time.h"
#include "backends/common/total.h"
$system
EOF
compile counter '' <<EOF
#include "backends/backend.h"
#include "backends/common/cpu_time.h"
#include "backends/common/total.h"
$system
EOF
compile fixture '' <<EOF
#include "api/core/helper.h"
#include "backends/backend.h"
#include "tests/conform/fixture.h"
#include "tests/sim/clock.h"
#include "tests/sim/faults.h"
#include "tests/sim/program.h"
$system
struct toy_kernel;
extern const struct toy_kernel toy_sim_kernel;
int64_t thread_tid(unsigned thread);
size_t call_count(void);
const char *call_name(size_t call);
bool fail_call(size_t call, unsigned nth, unsigned variant);
int fault_errno(void);
size_t held(void);
EOF
exit $status
