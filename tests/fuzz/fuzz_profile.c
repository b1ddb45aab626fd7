/* SPDX-License-Identifier: MIT */
/* Profiles: read, looked at, written, read again, merged with itself. */
#include "tests/fuzz/fuzz.h"

#include <portprof.h>

#include "api/profile/pprof/pprof.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEMORY_MAX = 256 << 20 };

/* Every string and number that a caller can reach. */
static size_t look(const portprof_profile *profile)
{
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(profile);
	size_t sum = strlen(origin->backend) + strlen(origin->command);

	for (size_t i = 0; i < origin->note_count; i++)
		sum += strlen(origin->notes[i]);
	for (size_t i = 0; i < portprof_profile_event_count(profile); i++)
		sum += strlen(portprof_profile_event_get(profile, i)->name);
	for (size_t i = 0; i < portprof_profile_mapping_count(profile); i++)
		sum += strlen(portprof_profile_mapping_get(profile, i)->path);
	for (size_t i = 0; i < portprof_profile_thread_count(profile); i++)
		sum += strlen(portprof_profile_thread_get(profile, i)->name);
	for (size_t i = 0; i < portprof_profile_location_count(profile); i++)
		for (size_t l = 0;
		     l < portprof_profile_line_count(profile, i); l++)
			sum += strlen(portprof_profile_line_get(profile, i, l)
			                      ->function);
	for (size_t i = 0; i < portprof_profile_sample_count(profile); i++) {
		const portprof_profile_sample *sample =
			portprof_profile_sample_get(profile, i);

		for (size_t d = 0; d < sample->depth; d++)
			if (sample->locations[d] >=
			    portprof_profile_location_count(profile))
				abort();
	}
	return sum;
}

static portprof_profile *again(const portprof_profile *profile)
{
	portprof_profile *other = NULL;
	int fd = open(fuzz_file((const uint8_t *)"", 0), O_RDWR);

	if (fd < 0 || ppi_profile_write_fd(profile, fd) != 0 ||
	    lseek(fd, 0, SEEK_SET) != 0 ||
	    ppi_profile_read_fd(fd, "again", UINT64_MAX, &other, NULL))
		abort(); /* what was read can be written, and read */
	close(fd);
	return other;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	portprof_profile *profile, *other;

	if (portprof_profile_read(fuzz_file(bytes, count), MEMORY_MAX,
				  &profile) != PORTPROF_OK)
		return 0;
	look(profile);
	other = again(profile);
	look(other);
	if (portprof_profile_sample_count(profile) !=
	    portprof_profile_sample_count(other))
		abort();
	portprof_profile_merge(profile, other);
	look(profile);
	portprof_profile_free(other);
	portprof_profile_free(profile);
	return 0;
}
