/* SPDX-License-Identifier: MIT */
/* A library that is loaded when it is first needed. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "config.h"

#include "base/library.h"

#include "base/elf.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif
#include <unistd.h>

/* The program itself comes first; a loader is named in it, or it needs none. */
static int find_loader(struct dl_phdr_info *info, size_t size, void *is_there)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_INTERP)
			*(bool *)is_there = true;
	return 1;
}

bool ppi_library_is_static(void)
{
	bool has_loader = false;

	dl_iterate_phdr(find_loader, &has_loader);
	return !has_loader;
}

/* Where the kernel has put the loader; 0 where that is the program (execve(2) in
 * linux/fs/binfmt_elf.c), which no loader changes. */
bool ppi_library_has_loader(void)
{
#ifdef AT_BASE
	return getauxval(AT_BASE) != 0;
#else
	return false;
#endif
}

bool ppi_library_load(const char *file, const char *const names[],
                      size_t count, void *functions)
{
	void *library;
	char *to = functions;
	void *found;

	if (ppi_library_is_static())
		return false;
	library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!dlsym(library, names[i]))
			goto close;
	for (size_t i = 0; i < count; i++) {
		/* POSIX lets a pointer to data hold one to a function; C does
		 * not */
		found = dlsym(library, names[i]);
		memcpy(to + i * sizeof(found), &found, sizeof(found));
	}
	return true;

close:
	dlclose(library);
	return false;
}

bool ppi_library_is_beside(void *code, const char *file)
{
	char path[4096];
	Dl_info library;
	const char *slash;

	if (!dladdr(code, &library) || !library.dli_fname)
		return false;
	slash = strrchr(library.dli_fname, '/');
	if (!slash)
		return false;
	snprintf(path, sizeof(path), "%.*s/%s",
	         (int)(slash - library.dli_fname), library.dli_fname, file);
	return access(path, R_OK) == 0;
}

/* By a handle that nobody closes. The program itself is found by no name, and
 * stays anyway. */
void ppi_library_stay(void)
{
#ifdef RTLD_NOLOAD
	static atomic_flag is_done = ATOMIC_FLAG_INIT;
	Dl_info own;

	if (atomic_flag_test_and_set(&is_done))
		return;
	if (dladdr((void *)(size_t)ppi_library_stay, &own) && own.dli_fname)
		dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
#endif
}
