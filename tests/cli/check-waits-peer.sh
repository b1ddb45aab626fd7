#!/bin/sh
# SPDX-License-Identifier: MIT
# Chains of waits in programs of others, found from a stack pointer and a program
# counter alone, are those that a debugger finds with all registers.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
need_command gdb
[ -r /proc/self/schedstat ] || {
	echo "skip: the kernel does not say how long threads waited"
	exit 77
}
python=$(python3 -c 'import sys; print(sys.executable)')
seconds=$(by_speed 2 2 5)
started=
at_end=end_all
# shellcheck disable=SC2317
end_all() {
	# shellcheck disable=SC2086
	[ -z "$started" ] || kill $started 2>/dev/null
}

# Half of the snapshots before and half behind: none is in what is recorded.
take_snapshots() {
	for pid in $(echo "$1 $1" | tr , ' '); do
		timeout 120 gdb -nx -batch -p "$pid" \
			-x "$srcdir/tests/cli/waits_peer.py" 2>>gdb.words |
			grep '^CHAIN' >>snapshots
	done
}

# Expressions of awk stand in single quotes.
# shellcheck disable=SC2016
# equal NAME PID[,PID...]: their chains are the debugger's
equal() {
	name=$1
	: >snapshots
	take_snapshots "$2"
	if ! [ -s snapshots ]; then
		skip "$name" "gdb cannot look at it: $(tail -n 1 gdb.words)"
		return
	fi
	record -g --wall -o peer.pb.gz -p "$2" -- sleep "$seconds"
	same "$name: status" 0 "$status"
	take_snapshots "$2"
	"$portprof" export -q -f perf-script -e blocked-time --idle -i peer.pb.gz \
		-o script || return
	python3 "$srcdir/tests/cli/waits_peer.py" snapshots script >verdicts 2>differ
	echo "# $name: $(tr '\n' ' ' <verdicts)"
	sed 's/^/# /' differ | head -n 12
	check "$name: something was compared" awk \
		'/^compared/ { seen = $2 > 0 } END { exit !seen }' verdicts
	check "$name: no chain is wrong" awk '/^wrong/ { bad = $2 > 0 } END { exit bad }' \
		verdicts
	check "$name: 95 of 100 are whole, by weight" awk \
		'/^cut/ { bad = $2 > 5 } END { exit bad }' verdicts
}

# start COMMAND...: in $pid; false when there is none
start() {
	command -v "$1" >/dev/null || {
		skip "$1" "not here"
		return 1
	}
	"$@" >"program.words" 2>&1 &
	pid=$!
	started="$started $pid"
	sleep 3
	kill -0 $pid 2>/dev/null || {
		skip "$1" "it does not run: $(tail -n 1 program.words)"
		return 1
	}
}

cat >pointers.c <<'END'
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static void *wait_for_work(void *unused)
{
	pthread_mutex_lock(&lock);
	for (;;)
		pthread_cond_wait(&never, &lock);
	return unused;
}
static void wait_long(void)
{
	for (;;)
		sleep(1000);
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, wait_for_work, NULL);
	wait_long();
	return 0;
}
END
cat >queue.cc <<'END'
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>
struct queue {
	std::mutex lock;
	std::condition_variable some;
	std::vector<int> items;
	int take()
	{
		std::unique_lock<std::mutex> held(lock);
		some.wait(held, [this] { return !items.empty(); });
		return items.back();
	}
};
int main()
{
	queue work;
	std::thread one([&] { work.take(); }), two([&] { work.take(); });
	one.join();
	two.join();
}
END
cat >waits.js <<'END'
setInterval(() => {}, 100);
END
cat >Waits.java <<'END'
public class Waits {
	public static void main(String[] words) throws Exception {
		synchronized (words) { words.wait(); }
	}
}
END
cat >nginx.conf <<END
daemon off;
master_process off;
pid $tmp/nginx.pid;
error_log $tmp/error.log;
events { }
http { access_log off; server { listen unix:$tmp/nginx.sock; }
	client_body_temp_path $tmp/body; proxy_temp_path $tmp/proxy;
	fastcgi_temp_path $tmp/fastcgi; uwsgi_temp_path $tmp/uwsgi;
	scgi_temp_path $tmp/scgi; }
END

if ${CC:-cc} -O0 -fno-omit-frame-pointer -pthread -o pointers pointers.c \
	2>cc.words; then
	start ./pointers && equal "frame pointers, -O0" "$pid"
else
	skip "frame pointers" "nothing can be compiled here"
fi
if ${CXX:-c++} -O2 -pthread -o queue queue.cc 2>cc.words; then
	start ./queue && equal "C++, condition variables" "$pid"
else
	skip "C++" "nothing can be compiled here"
fi
start redis-server --port 0 --unixsocket "$tmp/redis.sock" --save '' &&
	equal redis "$pid"
PATH=$PATH:/usr/sbin:/sbin
start nginx -p "$tmp" -c "$tmp/nginx.conf" && equal nginx "$pid"
start "$python" -c 'import http.server as h
h.HTTPServer(("127.0.0.1", 0), h.SimpleHTTPRequestHandler).serve_forever()' &&
	equal python3 "$pid"
start node waits.js && equal node "$pid"

# the server refuses to be the administrator's
PATH=$PATH:$(echo /usr/lib/postgresql/*/bin | tr ' ' :)
as=
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	chmod 755 "$tmp"
fi
mkdir pg
[ -z "$as" ] || chown 65534 pg
# shellcheck disable=SC2086 # words of a command
if command -v initdb >/dev/null && $as initdb -D "$tmp/pg" >initdb.words 2>&1; then
	start $as postgres -D "$tmp/pg" -k "$tmp/pg" -h '' && {
		wait_for [ -S pg/.s.PGSQL.5432 ]
		equal postgres "$pid,$(pgrep -d, -P "$pid")"
	}
else
	skip "postgres" "no database can be made here"
fi
if command -v javac >/dev/null && javac Waits.java 2>cc.words; then
	start java -cp . Waits && equal java "$pid"
else
	skip "java" "no compiler for it"
fi
tap_end
