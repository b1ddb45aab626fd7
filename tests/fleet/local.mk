# SPDX-License-Identifier: MIT
# tests/fleet/: pushing to servers and fetching from them. They wait for servers that
# do not answer, and unpack a database.

check_PROGRAMS += tests/fleet/day tests/fleet/pulse
tests_fleet_day_LDADD = libportprof.la -lpthread
tests_fleet_pulse_LDADD =
SCRIPT_TESTS += tests/fleet/check-day.sh
SCRIPT_TESTS_ALL += \
	tests/fleet/check-agents.sh \
	tests/fleet/check-clickhouse.sh \
	tests/fleet/check-clickhouse-now.sh \
	tests/fleet/check-fetch.sh \
	tests/fleet/check-protos.sh \
	tests/fleet/check-push.sh \
	tests/fleet/check-reload.sh \
	tests/fleet/check-service.sh \
	tests/fleet/check-windows.sh
EXTRA_DIST += tests/fleet/chdb.js tests/fleet/clickhouse.sh tests/fleet/fleet.sh \
	tests/fleet/protos.js tests/fleet/proxy.py tests/fleet/push.py tests/fleet/server.py
