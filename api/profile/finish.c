/* SPDX-License-Identifier: MIT */
/* From many portions to one, when the measurement is over. */
#include "config.h"

#include "api/profile/finish.h"

#include "api/profile/pprof/read.h"

#include <sys/stat.h>
#include <unistd.h>

/* A file of more than this is left in portions: putting it together takes
 * memory that the measured program may need. */
enum { FINISH_BYTES_MAX = 64 << 20 };

/* The draft of the one portion, in the place of them all. */
static void replace(const struct ppi_output *output,
                    const portprof_profile *profile)
{
	struct ppi_atomic_file draft;
	struct stat at;

	if (ppi_atomic_file_open(&draft, output->draft.path, NULL) !=
	    PORTPROF_OK)
		return;
	if (fstat(output->draft.fd, &at) == 0 &&
	    fchmod(draft.fd, at.st_mode & 0777) == 0 &&
	    ppi_profile_write_fd(profile, draft.fd) == 0 &&
	    ppi_output_is_ours(output))
		ppi_atomic_file_place(&draft);
	ppi_atomic_file_close(&draft, true);
}

void ppi_finish(struct ppi_output *output)
{
	portprof_profile *profile;

	if (!ppi_output_is_ours(output) ||
	    !ppi_atomic_file_regain(&output->draft) ||
	    output->size > FINISH_BYTES_MAX ||
	    lseek(output->draft.fd, 0, SEEK_SET) != 0 ||
	    ppi_profile_read_fd(output->draft.fd, output->draft.path, 0,
	                        &profile, NULL) != PORTPROF_OK)
		return;
	if (!portprof_profile_origin_get(profile)->damage)
		replace(output, profile);
	portprof_profile_free(profile);
}
