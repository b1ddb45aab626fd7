#!/bin/sh
# SPDX-License-Identifier: MIT
# nginx in front of a slow server: what each of the two waits for has a name, the
# peer's address in nginx and the sleep in the server behind it.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
PATH=$PATH:/usr/sbin:/sbin
need_command nginx
[ -r /proc/self/schedstat ] || {
	echo "skip: the kernel does not say how long threads waited"
	exit 77
}
python=$(python3 -c 'import sys; print(sys.executable)')
slow='' front='' client=''
at_end=end_all # of tap.sh
# shellcheck disable=SC2317
end_all() {
	# shellcheck disable=SC2086
	kill $client $front $slow 2>/dev/null
}

# It answers nobody before the test has ended.
cat >slow.py <<'END'
import os, socket, time
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
with open("slow.port.new", "w") as out:
    print(server.getsockname()[1], file=out)
os.rename("slow.port.new", "slow.port")
while True:
    peer, _ = server.accept()
    peer.recv(65536)
    open("asked", "w").close()
    time.sleep(600)
END
"$python" slow.py 2>slow.words &
slow=$!
wait_for [ -s slow.port ] || { echo "skip: no server can listen here"; exit 77; }
port=$(cat slow.port)
cat >nginx.conf <<END
daemon off;
master_process off;
pid $tmp/nginx.pid;
error_log $tmp/error.log;
events { }
http {
	access_log off;
	client_body_temp_path $tmp/body;
	proxy_temp_path $tmp/proxy;
	fastcgi_temp_path $tmp/fastcgi;
	uwsgi_temp_path $tmp/uwsgi;
	scgi_temp_path $tmp/scgi;
	server {
		listen unix:$tmp/front.sock;
		location / {
			proxy_pass http://127.0.0.1:$port;
			proxy_read_timeout 600s;
		}
	}
}
END
nginx -p "$tmp" -c "$tmp/nginx.conf" >nginx.words 2>&1 &
front=$!
wait_for [ -S front.sock ] || {
	echo "skip: nginx does not start: $(tail -n 1 nginx.words)"
	exit 77
}
cat "/proc/$front/syscall" >place 2>/dev/null
[ -s place ] || {
	echo "skip: where a thread waits may not be seen here"
	exit 77
}

# ask: a request that nobody answers
ask() {
	rm -f asked
	"$python" -c 'import socket
peer = socket.socket(socket.AF_UNIX)
peer.connect("front.sock")
peer.sendall(b"GET / HTTP/1.0\r\n\r\n")
peer.recv(1)' 2>client.words &
	client="$client $!"
}

# shellcheck disable=SC2317
names_peer() {
	"$portprof" report -q --idle --wait idle -x '|' --sort thread,on \
		front.pb.gz >rows && grep -q "nginx.*tcp 127[.]0[.]0[.]1:$port" rows
}

ask
check "the request has come to the slow server" wait_for [ -e asked ]
record -g --wall -o front.pb.gz -p "$front,$slow" -- sleep 1
same "status" 0 "$status"
check "nginx is idle, and the server that it has asked is named" names_peer
sed 's/^/# /' rows
"$portprof" report -q -x '|' --sort thread,wait front.pb.gz >rows
has "the server behind it sleeps" 'python.*[|]sleep' rows

### A request that comes while nginx is looked at, which waits in the same call then

# shellcheck disable=SC2086 # numbers of processes
kill $client
client=
hex=$(printf %04X "$port")
# shellcheck disable=SC2317
is_connected() {
	grep -q ":$hex 01 " "/proc/$front/net/tcp"
}
# shellcheck disable=SC2317
is_left() {
	! is_connected
}
wait_for is_left
cat >later.sh <<'END'
sleep 1
touch ask
while [ ! -e is_there ]; do sleep 0.1; done
sleep 3
END
record -g --wall -o front.pb.gz -p "$front" -- sh later.sh &
recording=$!
wait_for [ -e ask ]
ask
check "nginx has asked again" wait_for is_connected
touch is_there
wait $recording
check "the server is named in the waits since" names_peer
sed 's/^/# /' rows
"$portprof" report -q --idle -x '|' --sort on front.pb.gz >rows
has "and not in those before" 'front.sock$' rows
tap_end
