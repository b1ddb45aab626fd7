/* SPDX-License-Identifier: MIT */
/* Reading gmon.out, of either format. */
#include "api/profile/gmon/gmon.h"

#include "api/profile/gmon/gmon_reader.h"

#include <stdlib.h>
#include <string.h>

static bool has_cookie(const void *bytes, size_t count)
{
	return count >= 4 && memcmp(bytes, "gmon", 4) == 0;
}

bool ppi_gmon_is(const void *bytes, size_t count)
{
	struct ppi_gmon_reader reader = { .bytes = bytes, .count = count };

	return has_cookie(bytes, count) || ppi_gmon_find_bsd(&reader);
}

static bool is_native(const struct ppi_gmon_reader *reader)
{
	static const uint16_t probe = 1;

	return reader->is_little == (*(const unsigned char *)&probe == 1);
}

enum ppi_gmon_status ppi_gmon_parse(const void *bytes, size_t count,
                                    unsigned pointer_bytes,
                                    struct ppi_gmon *gmon,
                                    struct ppi_gmon_why *why)
{
	struct ppi_gmon_reader reader = { .bytes = bytes,
		                          .count = count,
		                          .why = why };
	enum ppi_gmon_status status;

	memset(why, 0, sizeof(*why));
	if (has_cookie(bytes, count))
		status = ppi_gmon_read_tagged(&reader, pointer_bytes);
	else if (ppi_gmon_find_bsd(&reader))
		status = ppi_gmon_read_bsd(&reader);
	else
		status = ppi_gmon_refuse(
			&reader, 0,
			"this is not a gmon.out: it begins neither with "
			"\"gmon\" nor with 4.4BSD's header");
	if (status != PPI_GMON_OK) {
		ppi_gmon_free(&reader.gmon);
		return status;
	}
	reader.gmon.pointer_bytes = reader.pointer_bytes;
	reader.gmon.is_swapped = !is_native(&reader);
	*gmon = reader.gmon;
	return PPI_GMON_OK;
}

void ppi_gmon_free(struct ppi_gmon *gmon)
{
	for (size_t i = 0; i < gmon->histogram_count; i++)
		free(gmon->histograms[i].bins);
	free(gmon->histograms);
	free(gmon->arcs);
	gmon->histograms = NULL;
	gmon->histogram_count = 0;
	gmon->arcs = NULL;
	gmon->arc_count = 0;
}
