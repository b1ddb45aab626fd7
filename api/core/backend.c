/* SPDX-License-Identifier: MIT */
/*
 * The public list of backends, and examining one (portprof doctor); what a backend
 * calls to report a finding or leave a note.
 */
#include <portprof/backend.h>
#include "backends/backend.h"

#include "api/core/diag.h"
#include "api/core/select.h"
#include "api/core/sized.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t portprof_backend_count(void)
{
	size_t count = 0;

	while (ppi_backend_at(count))
		count++;
	return count;
}

/* What the calling thread heard last. */
static _Thread_local char last_reason[sizeof(((struct ppi_probe *)0)->reason)];

static void describe(const struct ppi_backend_ops *ops,
                     portprof_backend_info *info)
{
	const void *kernel = ppi_backend_kernel(ops);
	struct ppi_probe probe = { 0 };

	if (kernel) {
		ops->probe(kernel, &probe);
	} else {
		probe.status = PORTPROF_E_UNSUPPORTED;
		snprintf(probe.reason, sizeof(probe.reason),
		         "this operating system does not have it");
	}
	info->is_usable = probe.is_usable;
	info->rank = ppi_backend_rank(ops);
	info->caps = probe.is_usable ? probe.caps : ops->caps;
	info->status = probe.is_usable ? PORTPROF_OK : probe.status;
	info->os_errno = probe.os_errno;
	info->name = ops->name;
	info->summary = ops->summary;
	memcpy(last_reason, probe.reason, sizeof(last_reason));
	info->reason = last_reason;
}

portprof_status portprof_backend_info_get(size_t index,
                                          portprof_backend_info *info)
{
	const struct ppi_backend_ops *ops = ppi_backend_at(index);
	portprof_backend_info full = { 0 };

	if (!info)
		return ppi_refuse_null("portprof_backend_info_get", "info");
	if (!ops)
		return ppi_refuse(PORTPROF_E_INVALID, "backend info",
		                  "no backend number %zu: there are %zu",
		                  index, portprof_backend_count());
	describe(ops, &full);
	return ppi_sized_copy(info, &full, sizeof(full), "backend info");
}

/* ---- examining ---- */

/* Who asked, and whose findings these are. */
struct examination {
	portprof_finding_fn take;
	void *context;
	const char *backend;
	bool is_over;
};

static int pass_on(const portprof_finding *finding, void *context)
{
	struct examination *examination = context;
	portprof_finding full = *finding;

	full.backend = examination->backend;
	if (!examination->is_over)
		examination->is_over = examination->take(
			&full, examination->context) != 0;
	return examination->is_over;
}

void ppi_probe_report(struct ppi_probe *probe, const char *topic,
                      const char *name, portprof_verdict verdict,
                      const char *remedy, const char *words, ...)
{
	portprof_finding finding = { .size = sizeof(finding),
		                     .verdict = verdict,
		                     .backend = "",
		                     .topic = topic,
		                     .name = name,
		                     .remedy = remedy ? remedy : "" };
	char text[480];
	va_list values;

	if (!probe->take)
		return;
	va_start(values, words);
	vsnprintf(text, sizeof(text), words, values);
	va_end(values);
	finding.words = text;
	probe->take(&finding, probe->context);
}

static void examine(const struct ppi_backend_ops *ops,
                    struct examination *examination)
{
	const void *kernel = ppi_backend_kernel(ops);
	struct ppi_probe probe = { .take = pass_on, .context = examination };

	examination->backend = ops->name;
	if (kernel)
		ops->probe(kernel, &probe);
}

portprof_status portprof_backend_examine(const char *backend,
                                         portprof_finding_fn take,
                                         void *context)
{
	struct examination examination = { .take = take, .context = context };
	const struct ppi_backend_ops *ops;
	struct ppi_diag why;

	if (!backend || !take)
		return ppi_refuse_null("portprof_backend_examine",
		                       backend ? "take" : "backend");
	if (strcmp(backend, "auto") != 0) {
		ops = ppi_backend_find(backend);
		if (!ops) {
			ppi_select_unknown(backend, &why);
			return ppi_report(&why);
		}
		examine(ops, &examination);
		return PORTPROF_OK;
	}
	for (size_t i = 0; (ops = ppi_backend_at(i)) && !examination.is_over;
	     i++)
		examine(ops, &examination);
	return PORTPROF_OK;
}

void ppi_note(struct ppi_backend_session *bs, const char *words, ...)
{
	char note[PPI_NOTE_BYTES];
	va_list values;

	va_start(values, words);
	vsnprintf(note, sizeof(note), words, values);
	va_end(values);
	for (size_t i = 0; i < bs->note_count; i++)
		if (strcmp(bs->notes[i], note) == 0)
			return;
	if (bs->note_count < bs->note_room)
		memcpy(bs->notes[bs->note_count++], note, sizeof(note));
}
