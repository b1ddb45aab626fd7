#!/bin/sh
# SPDX-License-Identifier: MIT
# nginx in front of a slow server: it waits for the server that it has asked, by the
# peer's address, and is idle when that has answered, though connections stay open.
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

# When a connection was used last is asked as the recorder asks it (sock_diag(7)).
"$python" -c 'import socket, struct, sys
to = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 4)
to.settimeout(10)
to.send(struct.pack("=IHHII", 72, 20, 0x301, 1, 0) +
        struct.pack("=BBBBI", socket.AF_INET, 6, 2, 0, 0xffffffff) + bytes(48))
sys.exit(struct.unpack("=IH", to.recv(65536)[:6])[1] == 2)' 2>probe.words || {
	echo "skip: the kernel does not say when connections were used"
	exit 77
}

# It answers nobody before there is a file "answer", and keeps its connections.
cat >slow.py <<'END'
import os, socket, threading, time
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
with open("slow.port.new", "w") as out:
    print(server.getsockname()[1], file=out)
os.rename("slow.port.new", "slow.port")
def serve(peer):
    while peer.recv(65536):
        open("asked", "w").close()
        while not os.path.exists("answer"):
            time.sleep(0.1)
        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")
while True:
    peer, _ = server.accept()
    threading.Thread(target=serve, args=(peer,), daemon=True).start()
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
	keepalive_timeout 600s;
	upstream slow {
		server 127.0.0.1:$port;
		keepalive 4;
		keepalive_timeout 600s;
	}
	server {
		listen unix:$tmp/front.sock;
		location / {
			proxy_pass http://slow;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
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

# ask: a request, whose connection stays when it is answered
ask() {
	rm -f asked answered
	"$python" -c 'import socket, time
peer = socket.socket(socket.AF_UNIX)
peer.connect("front.sock")
peer.sendall(b"GET / HTTP/1.1\r\nHost: slow\r\n\r\n")
peer.recv(1)
open("answered", "w").close()
time.sleep(600)' 2>client.words &
	client="$client $!"
}

# rows ARGUMENT...: threads, kinds and what they waited for
rows() {
	"$portprof" report -q -n 0 -x '|' --sort thread,wait,on "$@" front.pb.gz \
		>rows
	sed 's/^/# /' rows
}

ask
check "the request has come to the slow server" wait_for [ -e asked ]
record -g --wall -o front.pb.gz -p "$front,$slow" -- sleep 1
same "status" 0 "$status"
rows
has "nginx waits for the server that it has asked" \
	"nginx.*[|]network[|]tcp 127[.]0[.]0[.]1:$port" rows
has "the server behind it sleeps" 'python.*[|]sleep' rows
rows --idle
has_not "nginx is not idle" 'nginx.*[|]idle' rows

### It answers: all connections stay open, and nobody waits for anybody

touch answer
check "it was answered" wait_for [ -e answered ]
record -g --wall -o front.pb.gz -p "$front" -- sleep 1
rows --idle
has "nginx is idle, and named is to whom it is connected" \
	"nginx.*[|]idle[|].*front.sock, tcp 127[.]0[.]0[.]1:$port" rows
has_not "it waits for nobody" 'nginx.*[|]network' rows
"$portprof" report front.pb.gz >report.txt
has "the sum of what is idle says how to see that" 'idle -s on' report.txt

### A request that comes while nginx is looked at, which waits in the same call then

cat >later.sh <<'END'
sleep 1
touch ask
while [ ! -e is_there ]; do sleep 0.1; done
sleep 3
END
rm answer
record -g --wall -o front.pb.gz -p "$front" -- sh later.sh &
recording=$!
wait_for [ -e ask ]
ask
check "nginx has asked again" wait_for [ -e asked ]
touch is_there
wait $recording
rows --idle
has "it waits for the server since" \
	"nginx.*[|]network[|]tcp 127[.]0[.]0[.]1:$port" rows
has "and did not before" 'nginx.*[|]idle[|].*front.sock' rows
tap_end
