/* SPDX-License-Identifier: MIT */
/* A plugin that puts its caller into a set of labels whose texts are its own, and is
 * unloaded: see tests/cli/label_burn.c. */
#include <portprof.h>

int plugin_enter(void);

int plugin_enter(void)
{
	static char endpoint[] = "/checkout";
	const portprof_label labels[] = { { "endpoint", endpoint },
		                          { "tenant", "acme" } };
	const portprof_label_set *set = portprof_label_set_new(labels, 2);

	portprof_label_enter(set);
	return set && portprof_label_push("step", "last") == PORTPROF_OK;
}
