# SPDX-License-Identifier: MIT
# For tests: servers of ClickHouse from Debian's packages, unpacked, not installed.
# The old version there is a peer that can be had, no advice. Source it after tap.sh.
#   clickhouse_get           unpacks it into $tmp/clickhouse, or skips the test
#   clickhouse_begin N       starts server number N, on 127.0.0.1
#   clickhouse_end N [KILL]  ends it
#   clickhouse N QUERY       asks it
#   clickhouse_schema N      the tables, in the database portprof
#   clickhouse_both          the database fleet, of both servers' tables
# A folder with the .deb files may be named by PORTPROF_CLICKHOUSE.
# shellcheck shell=sh disable=SC2154

clickhouse_packages='clickhouse-server clickhouse-common libjemalloc2
	libpocofoundation80 libpoconet80 libpoconetssl80 libpocoutil80
	libpocoxml80 libpocodata80 libpocodataodbc80 libpocomongodb80
	libpococrypto80 libpocojson80 libre2-9 libboost-filesystem1.74.0
	libboost-program-options1.74.0 libcapnp-0.9.2 libcctz2 libcpuinfo0
	libdouble-conversion3 libfarmhash0 libicu72 liblz4-1 libmariadb3
	libmetrohash1 librdkafka1 libodbc2 libltdl7'
clickhouse_root=$tmp/clickhouse
clickhouse_base=$((20000 + $$ % 20000))

clickhouse_skip() {
	echo "skip: $1"
	exit 77
}

clickhouse_get() {
	command -v dpkg-deb >/dev/null || clickhouse_skip "no dpkg-deb here"
	mkdir -p "$tmp/deb" "$clickhouse_root"
	if [ -n "${PORTPROF_CLICKHOUSE-}" ]; then
		cp "$PORTPROF_CLICKHOUSE"/*.deb "$tmp/deb"
	else
		command -v apt-get >/dev/null || clickhouse_skip "no apt-get here"
		# shellcheck disable=SC2086
		(cd "$tmp/deb" && timeout 300 apt-get download $clickhouse_packages) \
			>"$tmp/apt" 2>&1 ||
			clickhouse_skip "no packages of ClickHouse: $(tail -n 1 "$tmp/apt")"
	fi
	for clickhouse_deb in "$tmp"/deb/*.deb; do
		dpkg-deb -x "$clickhouse_deb" "$clickhouse_root"
	done
	clickhouse_server=$clickhouse_root/usr/sbin/clickhouse-server
	clickhouse_libraries=$(find "$clickhouse_root/usr/lib" \
		-name 'libclickhouse.so*' -print)
	clickhouse_libraries=${clickhouse_libraries%%/libclickhouse*}
	LD_LIBRARY_PATH=$clickhouse_libraries ldd "$clickhouse_server" |
		grep 'not found' >"$tmp/missing" &&
		clickhouse_skip "ClickHouse lacks $(head -n 1 "$tmp/missing")"
	return 0
}

# clickhouse_port N KIND: 0 http, 1 tcp, 2 between servers
clickhouse_port() {
	echo $((clickhouse_base + $1 * 8 + $2))
}

clickhouse_configure() {
	clickhouse_home=$tmp/node$1
	mkdir -p "$clickhouse_home/data" "$clickhouse_home/tmp"
	cat >"$clickhouse_home/users.xml" <<'EOF2'
<yandex>
<profiles><default><max_memory_usage>4000000000</max_memory_usage></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></default></users>
<quotas><default></default></quotas>
</yandex>
EOF2
	cat >"$clickhouse_home/config.xml" <<EOF2
<yandex>
<logger><level>warning</level><log>$clickhouse_home/log</log>
<errorlog>$clickhouse_home/errors</errorlog></logger>
<listen_host>127.0.0.1</listen_host>
<http_port>$(clickhouse_port "$1" 0)</http_port>
<tcp_port>$(clickhouse_port "$1" 1)</tcp_port>
<interserver_http_port>$(clickhouse_port "$1" 2)</interserver_http_port>
<path>$clickhouse_home/data/</path><tmp_path>$clickhouse_home/tmp/</tmp_path>
<users_config>$clickhouse_home/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>536870912</mark_cache_size>
<remote_servers><both>
<shard><replica><host>127.0.0.1</host><port>$(clickhouse_port 1 1)</port></replica></shard>
<shard><replica><host>127.0.0.1</host><port>$(clickhouse_port 2 1)</port></replica></shard>
</both></remote_servers>
</yandex>
EOF2
}

clickhouse_answers() {
	[ "$(clickhouse "$1" 'SELECT 1' 2>/dev/null)" = 1 ]
}

clickhouse_begin() {
	clickhouse_home=$tmp/node$1
	[ -f "$clickhouse_home/config.xml" ] || clickhouse_configure "$1"
	LD_LIBRARY_PATH=$clickhouse_libraries "$clickhouse_server" \
		--config-file="$clickhouse_home/config.xml" \
		>>"$clickhouse_home/words" 2>&1 &
	echo $! >"$clickhouse_home/pid"
	at_end="$at_end; kill -9 $! 2>/dev/null"
	wait_for clickhouse_answers "$1"
}

clickhouse_end() {
	clickhouse_pid=$(cat "$tmp/node$1/pid")
	kill "${2:--TERM}" "$clickhouse_pid" 2>/dev/null
	wait "$clickhouse_pid" 2>/dev/null
	return 0
}

clickhouse() {
	python3 -c '
import sys, urllib.request, urllib.error
url = "http://127.0.0.1:%s/?database=%s" % (sys.argv[1], sys.argv[3])
try:
    sys.stdout.write(urllib.request.urlopen(
        url, sys.argv[2].encode(), timeout=3600).read().decode())
except urllib.error.HTTPError as error:
    sys.exit(error.read().decode())
except OSError as error:
    sys.exit(str(error))
' "$(clickhouse_port "$1" 0)" "$2" "${3-default}"
}

# clickhouse_schema N: the tables, in the database portprof
clickhouse_schema() {
	clickhouse "$1" 'CREATE DATABASE portprof' &&
		sed 's/--.*//' "$srcdir/share/portprof/clickhouse/schema.sql" |
		tr '\n' ' ' | tr ';' '\n' >"$tmp/statements"
	while IFS= read -r clickhouse_statement; do
		[ -z "$(echo "$clickhouse_statement" | tr -d ' ')" ] ||
			clickhouse "$1" "$clickhouse_statement" portprof || return 1
	done <"$tmp/statements"
}

clickhouse_both() {
	for clickhouse_node in 1 2; do
		clickhouse $clickhouse_node 'CREATE DATABASE fleet' || return 1
		for clickhouse_table in 'stacks stack' \
			'samples cityHash64(batch)' 'batches cityHash64(batch)' \
			'tries cityHash64(batch)'; do
			clickhouse $clickhouse_node "CREATE TABLE fleet.${clickhouse_table%% *}
				AS portprof.${clickhouse_table%% *} ENGINE = Distributed(both,
				portprof, ${clickhouse_table%% *}, ${clickhouse_table#* })" ||
				return 1
		done
	done
}
