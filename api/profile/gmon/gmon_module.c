/* SPDX-License-Identifier: MIT */
/* The one program or library of a profile that a gmon.out describes: chooses it,
 * opens its file, checks its build-id and maps its addresses. */
#include "api/profile/gmon/gmon_module.h"

#include "api/profile/model.h"
#include "api/profile/path.h"

#include <stdio.h>
#include <string.h>

/* "app, libc.so.6": the files that may be meant, as many as there is room. */
static void list_files(const portprof_profile *profile, char *out, size_t room)
{
	const portprof_profile_mapping *mapping;
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0;
	     (mapping = portprof_profile_mapping_get(profile, i)) != NULL;
	     i++) {
		const char *slash = strrchr(mapping->path, '/');
		const char *name = slash ? slash + 1 : mapping->path;
		bool is_new = ppi_is_shared_file(mapping->path);

		for (size_t k = 0; k < i && is_new; k++)
			is_new = strcmp(portprof_profile_mapping_get(profile, k)
			                        ->path,
			                mapping->path) != 0;
		if (!is_new)
			continue;
		if (used + strlen(name) + 8 > room) {
			snprintf(out + used, room - used, ", ...");
			return;
		}
		used += (size_t)snprintf(out + used, room - used, "%s%s",
		                         used ? ", " : "", name);
	}
}

static bool is_meant(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return strcmp(path, name) == 0 ||
	       (slash && strcmp(slash + 1, name) == 0);
}

static portprof_status find_named(struct ppi_gmon_module *module,
                                  const portprof_profile *profile,
                                  const char *name, struct ppi_diag *why)
{
	const portprof_profile_mapping *mapping;
	char files[160];

	for (size_t i = 0;
	     (mapping = portprof_profile_mapping_get(profile, i)) != NULL;
	     i++) {
		if (!is_meant(mapping->path, name))
			continue;
		if (module->path &&
		    (strcmp(module->path, mapping->path) != 0 ||
		     strcmp(module->build_id, mapping->build_id) != 0))
			return ppi_fail(why, PORTPROF_E_INVALID, 0,
			                "find module",
			                "'%s' may be '%s' (build-id %.12s) or "
			                "'%s' (%.12s): give a full path, and a "
			                "profile of one build",
			                name, module->path, module->build_id,
			                mapping->path, mapping->build_id);
		module->path = mapping->path;
		module->build_id = mapping->build_id;
	}
	if (module->path)
		return PORTPROF_OK;
	list_files(profile, files, sizeof(files));
	return ppi_fail(why, PORTPROF_E_INVALID, 0, "find module",
	                "the profile has no file '%s'; its files: %s", name,
	                files[0] ? files : "none");
}

/* The first mapping, where the profile says so or has no other file. */
static portprof_status find_main(struct ppi_gmon_module *module,
                                 const portprof_profile *profile,
                                 struct ppi_diag *why)
{
	const portprof_profile_mapping *mapping =
		portprof_profile_mapping_get(profile, 0);
	char files[160];

	list_files(profile, files, sizeof(files));
	if (!mapping || !files[0])
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "find module",
		                "the profile does not name the files of its "
		                "samples, and gmon.out holds one file");
	if (!profile->has_main && strchr(files, ','))
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "find module",
		                "the profile does not say which file is the "
		                "program: name one of %s",
		                files);
	module->path = mapping->path;
	module->build_id = mapping->build_id;
	return PORTPROF_OK;
}

portprof_status ppi_gmon_module_find(struct ppi_gmon_module *module,
                                     const portprof_profile *profile,
                                     const char *name, const char *file,
                                     struct ppi_diag *why)
{
	portprof_status status;

	memset(module, 0, sizeof(*module));
	status = name ? find_named(module, profile, name, why)
	              : find_main(module, profile, why);
	if (status == PORTPROF_OK)
		status = ppi_image_read(file ? file : module->path,
		                        &module->image, why);
	if (status != PORTPROF_OK)
		return status;
	if (module->build_id[0] && module->image.build_id[0] &&
	    strcmp(module->build_id, module->image.build_id) != 0)
		return ppi_fail(why, PORTPROF_E_FORMAT, 0, "find module",
		                "'%s' is another build than the one that was "
		                "measured (build-id %.12s, not %.12s): use the "
		                "measured build, or record again",
		                file ? file : module->path,
		                module->image.build_id, module->build_id);
	return PORTPROF_OK;
}

bool ppi_gmon_module_at(const struct ppi_gmon_module *module,
                        const portprof_profile *profile, size_t location,
                        uint64_t *address)
{
	const portprof_profile_location *at =
		portprof_profile_location_get(profile, location);
	const portprof_profile_mapping *mapping =
		at ? portprof_profile_mapping_get(profile, at->mapping) : NULL;
	const struct ppi_image_code *code;
	uint64_t offset;

	if (!mapping || strcmp(mapping->path, module->path) != 0 ||
	    strcmp(mapping->build_id, module->build_id) != 0)
		return false;
	offset = at->address - mapping->start + mapping->file_offset;
	code = ppi_image_at(&module->image, offset);
	if (!code)
		return false;
	*address = offset - code->offset + code->address;
	return true;
}
