/* SPDX-License-Identifier: MIT */
/* Profile files in a build without protobuf-c: each function refuses, and says
 * what to install. */
#include <portprof/profile.h>
#include <portprof/tool.h>

#include "api/common/diag.h"

static portprof_status left_out(const char *step, const char *path)
{
	return ppi_refuse(PORTPROF_E_UNSUPPORTED, step,
	                  "'%s': pprof files were left out when portprof was "
	                  "built; install libprotobuf-c-dev, "
	                  "protobuf-c-compiler and zlib1g-dev and build again",
	                  path);
}

portprof_status portprof_profile_read(const char *path, uint64_t memory_max,
                                      portprof_profile **profile)
{
	(void)memory_max;
	if (!path)
		return ppi_refuse_null("portprof_profile_read", "path");
	if (!profile)
		return ppi_refuse_null("portprof_profile_read", "profile");
	return left_out("read profile", path);
}

portprof_status portprof_profile_write(const portprof_profile *profile,
                                       const char *path)
{
	if (!profile)
		return ppi_refuse_null("portprof_profile_write", "profile");
	if (!path)
		return ppi_refuse_null("portprof_profile_write", "path");
	return left_out("write profile", path);
}

portprof_status portprof_follow_open(const char *path, uint64_t memory_max,
                                     portprof_follow **follow)
{
	(void)memory_max;
	if (!path)
		return ppi_refuse_null("portprof_follow_open", "path");
	if (!follow)
		return ppi_refuse_null("portprof_follow_open", "follow");
	return left_out("follow profile", path);
}

portprof_status portprof_follow_read(portprof_follow *follow,
                                     portprof_profile **profile,
                                     bool *is_anew)
{
	(void)profile;
	(void)is_anew;
	(void)follow;
	return ppi_refuse_null("portprof_follow_read", "follow");
}

void portprof_follow_close(portprof_follow *follow)
{
	(void)follow;
}
