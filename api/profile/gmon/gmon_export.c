/* SPDX-License-Identifier: MIT */
/*
 * What a profile says of one executable, as gmon.out. Addresses become those
 * of the file, as gprof reads them there.
 */
#include "config.h"

#include "api/profile/gmon/gmon_export.h"

#include <portprof/gmon.h>

#include "api/profile/atomic_file.h"
#include "api/profile/gmon/gmon_arcs.h"
#include "api/profile/model.h"
#include "api/core/diag.h"

#include <errno.h>

/* ---- samples ---- */

/* How many bytes of code a sample stands for. */
static uint64_t span_of(const portprof_profile *profile,
                        const struct ppi_sample *sample)
{
	size_t count;
	const struct ppi_label *labels =
		ppi_profile_label_set(profile, sample->labels, &count);

	for (size_t i = 0; i < count; i++)
		if (labels[i].number > 0 && labels[i].number <= INT32_MAX &&
		    strcmp(ppi_profile_string(profile, labels[i].key),
		           "span") == 0)
			return (uint64_t)labels[i].number;
	return 1;
}

static bool add_arcs(struct ppi_gmon_export *exporting,
                     const portprof_profile_sample *sample, uint64_t samples)
{
	for (size_t i = 0; i + 1 < sample->depth; i++) {
		uint64_t self, from;

		/* whoever calls from another file is no caller here, and the
		 * next one in this file did not call by itself */
		if (ppi_gmon_module_at(&exporting->module, exporting->profile,
		                       sample->locations[i], &self) &&
		    ppi_gmon_module_at(&exporting->module, exporting->profile,
		                       sample->locations[i + 1], &from) &&
		    !ppi_gmon_arcs_add(&exporting->arcs, from, self, samples))
			return false;
	}
	return true;
}

static portprof_status add_samples(struct ppi_gmon_export *exporting)
{
	const portprof_profile *profile = exporting->profile;
	const struct ppi_sample *all = profile->samples.data;
	portprof_gmon_written *written = &exporting->written;

	for (size_t i = 0; i < profile->samples.count; i++) {
		const portprof_profile_sample *sample = &all[i].shown;
		uint64_t weight = sample->weights[exporting->wanted.event];
		uint64_t samples = sample->samples[exporting->wanted.event];
		uint64_t address;

		if (weight == 0)
			continue;
		if (exporting->wanted.with_chains &&
		    !add_arcs(exporting, sample, samples ? samples : 1))
			return ppi_gmon_export_memory(exporting);
		if (sample->depth == 0 ||
		    !ppi_gmon_module_at(&exporting->module, profile,
		                        sample->locations[0], &address)) {
			written->outside_weight =
				ppi_add(written->outside_weight, weight);
			continue;
		}
		written->kept_weight = ppi_add(written->kept_weight, weight);
		ppi_gmon_export_spread(exporting, address,
		                       span_of(profile, &all[i]), weight);
	}
	ppi_gmon_arcs_fold(&exporting->arcs);
	exporting->gmon.arcs = exporting->arcs.data;
	written->arcs = exporting->gmon.arc_count = exporting->arcs.count;
	return PORTPROF_OK;
}

static portprof_status check(struct ppi_gmon_export *exporting)
{
	const portprof_profile_event *event = ppi_gmon_export_event(exporting);

	if (!event)
		return ppi_fail(exporting->why, PORTPROF_E_INVALID, 0,
		                "write gmon.out",
		                "the profile has no event number %zu",
		                exporting->wanted.event);
	if (exporting->wanted.rate_hz > PPI_GMON_MOST_RATE)
		return ppi_fail(exporting->why, PORTPROF_E_INVALID, 0,
		                "write gmon.out",
		                "%u ticks a second exceed the maximum, %d",
		                (unsigned)exporting->wanted.rate_hz,
		                PPI_GMON_MOST_RATE);
	if (exporting->wanted.rate_hz &&
	    event->unit != PORTPROF_UNIT_NANOSECONDS)
		return ppi_fail(exporting->why, PORTPROF_E_INVALID, 0,
		                "write gmon.out",
		                "a rate needs an event of time, not '%s'",
		                event->name);
	return PORTPROF_OK;
}

static portprof_status fill(struct ppi_gmon_export *exporting)
{
	portprof_status status = check(exporting);

	if (status == PORTPROF_OK)
		status = ppi_gmon_module_find(
			&exporting->module, exporting->profile,
			exporting->wanted.module, exporting->wanted.file,
			exporting->why);
	if (status == PORTPROF_OK)
		status = ppi_gmon_export_lay(exporting);
	if (status == PORTPROF_OK)
		status = add_samples(exporting);
	if (status != PORTPROF_OK)
		return status;
	exporting->gmon.pointer_bytes = exporting->module.image.pointer_bytes;
	exporting->gmon.is_swapped = exporting->module.image.is_swapped;
	return ppi_gmon_export_ticks(exporting);
}

static portprof_status put(const struct ppi_gmon_export *exporting,
                           const char *path)
{
	struct ppi_gmon_why words;
	struct ppi_atomic_file draft;
	portprof_status status =
		ppi_atomic_file_open(&draft, path, exporting->why);
	enum ppi_gmon_status wrote;
	int error = 0;

	if (status != PORTPROF_OK)
		return status;
	errno = EFBIG;
	wrote = PPI_GMON_SYSTEM;
	if (!ppi_file_is_limited(exporting->bytes + 21 * exporting->arcs.count))
		wrote = ppi_gmon_write(&exporting->gmon, draft.fd, &words);
	if (wrote == PPI_GMON_SYSTEM)
		error = errno;
	else if (wrote == PPI_GMON_OK)
		error = ppi_atomic_file_place(&draft);
	else
		status =
			ppi_fail(exporting->why, PORTPROF_E_FORMAT, 0,
		                 "write gmon.out", "cannot describe '%s': %s",
		                 exporting->module.path, words.words);
	if (error)
		status = ppi_fail(exporting->why, ppi_file_status(error), error,
		                  "write gmon.out",
		                  "cannot write '%s': %s; nothing was changed",
		                  path, strerror(error));
	ppi_atomic_file_close(&draft, true);
	return status;
}

static void free_all(struct ppi_gmon_export *exporting)
{
	for (size_t i = 0; i < exporting->gmon.histogram_count; i++)
		free(exporting->histograms[i].bins);
	ppi_vector_free(&exporting->arcs);
}

portprof_status portprof_gmon_write(const portprof_profile *profile,
                                    const portprof_gmon_wanted *wanted,
                                    const char *path,
                                    portprof_gmon_written *written)
{
	struct ppi_diag why = { 0 };
	struct ppi_gmon_export exporting = { .profile = profile, .why = &why };
	portprof_status status;

	if (!profile)
		return ppi_refuse_null("portprof_gmon_write", "profile");
	if (!wanted)
		return ppi_refuse_null("portprof_gmon_write", "wanted");
	if (!path)
		return ppi_refuse_null("portprof_gmon_write", "path");
	if (wanted->size < sizeof(wanted->size) ||
	    (written && written->size < sizeof(written->size)))
		return ppi_refuse(PORTPROF_E_INVALID, "write gmon.out",
		                  "set the structures' size fields to their "
		                  "sizeof before the call");
	memcpy(&exporting.wanted, wanted,
	       wanted->size < sizeof(exporting.wanted)
	               ? wanted->size
	               : sizeof(exporting.wanted));
	status = fill(&exporting);
	if (status == PORTPROF_OK)
		status = put(&exporting, path);
	free_all(&exporting);
	if (status != PORTPROF_OK)
		return ppi_report(&why);
	return written ? ppi_sized_copy(written, &exporting.written,
	                                sizeof(exporting.written),
	                                "write gmon.out")
	               : PORTPROF_OK;
}
