/* SPDX-License-Identifier: MIT */
/* portprof record: samples a command or a running target into a profile. */
#include "config.h"

#include "tools/record/record.h"

#include "tools/backends.h"
#include "tools/symbols/symbols_held.h"
#include "tools/tools.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether a backend is known to work only inside the process it measures. */
static bool is_inside_only(const char *name)
{
	portprof_backend_info info;

	return ppi_backend_find_info(name, &info) &&
	       !(info.caps & PORTPROF_CAP_ATTACH);
}

static bool has_several_events(const struct ppi_record *record)
{
	portprof_config *config = ppi_settings_config(&record->settings);
	char list[512], event[256];
	bool is_one = !config ||
	              portprof_config_get(config, "event", 0, list,
	                                  sizeof(list)) ||
	              (portprof_config_get(config, "event", 1, event,
	                                   sizeof(event)) &&
	               portprof_event_list_get(list, 1, event, sizeof(event),
	                                       NULL));

	portprof_config_free(config);
	return !is_one;
}

/*
 * From outside where that can be, because then nothing runs in the program;
 * else by the preloaded object, if the user leaves us the choice, or has named
 * what works only inside. That is asked last: it probes backends. Of several
 * events it can have one, so then what is said is what was missing outside.
 */
static int run(struct ppi_record *record)
{
	const char *backend = ppi_settings_get(&record->settings, "backend");
	bool has_several = has_several_events(record);
	int status;

	if (record->options.targets.scope != PPI_SCOPE_COMMAND)
		return ppi_record_attach(record);
	status = ppi_record_outside(record);
	if (status >= 0)
		return status;
	if ((!backend || strcmp(backend, "auto") == 0) && !has_several)
		return ppi_record_preload(record);
	if (portprof_last_diag()->status == PORTPROF_E_UNSUPPORTED &&
	    is_inside_only(backend))
		return ppi_record_preload(record);
	ppi_say_refusal(record);
	return PPI_EXIT_RECORD;
}

int ppi_record_live(struct ppi_record_options *options, struct ppi_live *live)
{
	struct ppi_record record = { .live = live, .options = *options };
	int status = PPI_EXIT_RECORD;

	if (!ppi_settings_read(&record.options, &record.settings))
		goto free;
	if (record.options.command) {
		status = ppi_find_program(record.options.command[0],
		                          &record.program);
		if (status)
			goto free;
	}
	status = PPI_EXIT_RECORD;
	if (!ppi_spool_begin(&record.spool, record.settings.output, true))
		goto free;
	ppi_catch_signals();
	if (!record.options.is_nameless || live)
		record.held = ppi_held_new();
	if (live)
		live->held = record.held;
	status = run(&record);
	if (!ppi_spool_end(&record.spool, access(record.spool.path, F_OK) == 0))
		status = status ? status : PPI_EXIT_RECORD;
free:
	ppi_held_free(record.held);
	free(record.program);
	ppi_targets_free(&record.options.targets);
	ppi_settings_free(&record.settings);
	return status;
}

int ppi_record_main(int argc, char **argv)
{
	struct ppi_record_options options = { 0 };
	struct ppi_line line = ppi_record_line();
	int status = ppi_record_read_options(&line, argc, argv, &options);

	return status >= 0 ? status : ppi_record_live(&options, NULL);
}
