/* SPDX-License-Identifier: MIT */
/* A plugin that measures its host: see host.c. */
#include <portprof.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

int plugin_measure(const char *backend, bool is_to_close);

static portprof_session *session;

static portprof_status open_session(const char *backend)
{
	uint64_t *pcs = calloc(10000, sizeof(*pcs));
	portprof_config *config = portprof_config_new();
	portprof_status status = PORTPROF_E_NOMEM;

	if (config && pcs)
		status = portprof_config_set_backend(config, backend);
	if (status == PORTPROF_OK)
		status = portprof_config_set_frequency(config, 1000);
	if (status == PORTPROF_OK)
		status = portprof_config_add_array(config, pcs, 10000);
	if (status == PORTPROF_OK)
		status = portprof_session_open(config, &session);
	if (status == PORTPROF_OK)
		status = portprof_session_start(session);
	portprof_config_free(config);
	return status;
}

/* Regions leave something for when the thread ends; where nothing counts they
 * are refused. */
int plugin_measure(const char *backend, bool is_to_close)
{
	portprof_status status = open_session(backend);
	volatile double x = 1;

	for (long i = 0; i < 20000000; i++)
		x *= 1.00001;
	(void)x;
	if (!is_to_close)
		return status;
	portprof_session_stop(session);
	portprof_session_close(session);
	if (portprof_regions_open(NULL, NULL) == PORTPROF_OK) {
		portprof_region_begin(NULL, "plugin");
		portprof_region_end(NULL, "plugin");
		portprof_regions_close(NULL);
	}
	return status;
}
