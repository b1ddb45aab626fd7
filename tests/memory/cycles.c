/* SPDX-License-Identifier: MIT */
/*
 * Starts and stops one session a thousand times, and opens and closes a
 * hundred, for a tool that watches memory: see check-leaks.sh.
 */
#include <portprof.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STARTS = 1000, OPENS = 100 };

static volatile unsigned long spun;

static void spin(void)
{
	for (int i = 0; i < 1000; i++)
		spun += (unsigned long)i;
}

static void must(portprof_status status, const char *what)
{
	if (status == PORTPROF_OK)
		return;
	fprintf(stderr, "%s: %s\n", what, portprof_last_diag()->words);
	exit(status == PORTPROF_E_DENIED ||
	                     status == PORTPROF_E_UNSUPPORTED ? 77 : 1);
}

static int is_here(const char *backend)
{
	portprof_backend_info info = { .size = sizeof(info) };

	for (size_t i = 0; !portprof_backend_info_get(i, &info); i++)
		if (strcmp(info.name, backend) == 0)
			return 1;
	return 0;
}

static void cycle(const portprof_config *config, int starts)
{
	portprof_session *session;

	must(portprof_session_open(config, &session), "open");
	for (int i = 0; i < starts; i++) {
		must(portprof_session_start(session), "start");
		spin();
		must(portprof_session_stop(session), "stop");
	}
	must(portprof_session_close(session), "close");
}

int main(int argc, char **argv)
{
	static uint32_t bins[256];
	static uint64_t pcs[4096];
	portprof_range region = { 0, 65536, 32, bins, 256 };
	portprof_config *config = portprof_config_new();

	if (!config || argc < 2)
		return 1;
	if (!is_here(argv[1])) {
		fprintf(stderr, "not in this build\n");
		return 77;
	}
	must(portprof_config_set_backend(config, argv[1]), "backend");
	must(portprof_config_add_histogram(config, 0, &region, 1,
	                                   PORTPROF_BINS_TICKS), "histogram");
	must(portprof_config_add_array(config, pcs, 4096), "array");
	cycle(config, STARTS);
	for (int i = 0; i < OPENS; i++)
		cycle(config, 1);
	portprof_config_free(config);
	return 0;
}
