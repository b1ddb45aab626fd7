#!/bin/sh
# SPDX-License-Identifier: MIT
# --debuginfod asks a server for debug files; without it nobody is asked.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
need_command objcopy
need_command strip
grep -q 'define HAVE_LIBDW ' "$builddir/config.h" ||
	{ echo "skip: built without libdw"; exit 77; }
python3 -c 'import ctypes; ctypes.CDLL("libdebuginfod.so.1")' 2>/dev/null ||
	{ echo "skip: no libdebuginfod.so.1"; exit 77; }

cat >subject.c <<'EOF2'
#include <time.h>
static volatile unsigned long kept;
__attribute__((noinline)) static void known_to_the_server(void)
{
	for (int i = 0; i < 100000; i++)
		kept += (unsigned)i;
}
int main(void)
{
	struct timespec now = { 0 };
	while (now.tv_sec == 0 && now.tv_nsec < 200000000) {
		known_to_the_server();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	}
	return 0;
}
EOF2
${CC:-cc} -O1 -g -Wl,--build-id -o subject subject.c 2>/dev/null ||
	{ echo "skip: no compiler"; exit 77; }
id=$(readelf -n subject | sed -n 's/.*Build ID: //p')
mkdir -p "served/buildid/$id"
objcopy --only-keep-debug subject "served/buildid/$id/debuginfo"
strip subject
cat >server.py <<'EOF2'
import http.server, os, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, form, *values):
        with open("../asked", "a") as log:
            log.write(self.path + "\n")
os.chdir("served")
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open("../port.new", "w") as file:
    file.write(str(server.server_address[1]))
os.rename("../port.new", "../port")
server.serve_forever()
EOF2
: >asked
python3 server.py 2>/dev/null &
server=$!
at_end="kill $server 2>/dev/null"
wait_for test -s port
DEBUGINFOD_URLS=http://127.0.0.1:$(cat port)/
DEBUGINFOD_CACHE_PATH=$PWD/cache
export DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH
unset DEBUGINFOD_PROGRESS

record -F 500 --no-names -o nameless.pb.gz -- ./subject
same "recorded" 0 "$status"
report nameless.pb.gz
has_not "without the option it has no name" known_to "$tmp/report"
same "and nobody is asked" "" "$(cat asked)"
report --debuginfod nameless.pb.gz
has "with it the server's" 'subject  *known_to_the_server' "$tmp/report"
has "which was asked by the build-id" "^/buildid/$id/debuginfo" asked
: >asked
"$portprof" report --debuginfod -s line nameless.pb.gz >"$tmp/report" 2>"$tmp/words"
has "lines, too" 'subject\.c:[0-9]' "$tmp/report"
same "and what is in the cache is not asked for again" "" \
	"$(grep "$id" asked)"
cp nameless.pb.gz named.pb.gz
"$portprof" names --debuginfod named.pb.gz 2>"$tmp/words"
"$portprof" report named.pb.gz >"$tmp/report" 2>"$tmp/words"
has "names writes it down" known_to_the_server "$tmp/report"
record --debuginfod -F 500 -o recorded.pb.gz -- ./subject
"$portprof" report recorded.pb.gz >"$tmp/report" 2>"$tmp/words"
has "record --debuginfod, too" known_to_the_server "$tmp/report"

rm -rf cache
PORTPROF_DEBUGINFOD=1 "$portprof" report nameless.pb.gz >"$tmp/report" \
	2>"$tmp/words"
has "the environment asks for it, too" known_to_the_server "$tmp/report"
rm -rf cache
: >asked
PORTPROF_DEBUGINFOD=0 "$portprof" report nameless.pb.gz >"$tmp/report" \
	2>"$tmp/words"
has_not "and does not with 0" known_to_the_server "$tmp/report"
same "which asks nobody" "" "$(cat asked)"

unset DEBUGINFOD_URLS
PORTPROF_DEBUGINFOD=1 "$portprof" report nameless.pb.gz >"$tmp/report" \
	2>"$tmp/words"
same "the environment alone: the report is there" 0 $?
has "the environment alone: what is missing" \
	'PORTPROF_DEBUGINFOD: DEBUGINFOD_URLS names no server' "$tmp/words"
"$portprof" report --debuginfod nameless.pb.gz >"$tmp/report" 2>"$tmp/words"
same "no server is named: status" 1 $?
has "no server is named: words" 'DEBUGINFOD_URLS names no server' "$tmp/words"
same "no server is named: nothing is printed" "" "$(cat "$tmp/report")"
tap_end
