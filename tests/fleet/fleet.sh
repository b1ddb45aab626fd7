# SPDX-License-Identifier: MIT
# For tests of push and fetch. Source it after cli.sh.
#   need_fleet          skips the test where nothing can be sent
#   server_begin NAME   starts server.py on the folder NAME; sets $url
#   server_says MODE... what it does with the next requests
#   count_of PATTERN... how many files there are
# shellcheck shell=sh disable=SC2154

need_fleet() {
	need_command python3
	need_library CURL
	unset http_proxy https_proxy all_proxy ALL_PROXY HTTPS_PROXY \
		PORTPROF_PUSH_TOKEN PORTPROF_PUSH_USER 2>/dev/null || :
}

# shellcheck disable=SC2034
server_begin() {
	mkdir -p "$1"
	python3 "$srcdir/tests/fleet/server.py" "$1" &
	at_end="$at_end; kill $! 2>/dev/null"
	server=$1
	wait_for test -f "$1/port" || { echo "skip: no server"; exit 77; }
	url=http://127.0.0.1:$(cat "$1/port")
}

count_of() {
	find "$@" -maxdepth 0 -type f 2>/dev/null | wc -l
}

server_says() {
	echo "$*" >"$server/mode"
}
