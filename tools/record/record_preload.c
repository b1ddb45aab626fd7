/* SPDX-License-Identifier: MIT */
/*
 * Recording from inside: each process of the command loads an object that
 * samples it into memory shared with this process, whose session collects the
 * samples and writes the file.
 */
#include "config.h"

#include <portprof/tool.h>

#include "base/foreign_file.h"
#include "base/label_post.h"
#include "tools/record/record.h"
#include "tools/tools.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- why a program does not load what LD_PRELOAD names: ld.so(8) ---- */

/* Fields of an ELF head (System V ABI, chapter 4): where they are in files
 * of either class. */
enum { CLASS_AT = 4, ORDER_AT = 5, MACHINE_AT = 18, CLASS_32 = 1, CLASS_64 = 2,
       INTERPRETER_SEGMENT = 3, HEAD_BYTES = 64 };

enum { LOADER_ROOM = 128 }; /* a longer path is cut */

static uint64_t read_field(const unsigned char *at, size_t bytes,
                           bool is_little)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << 8 * (is_little ? i : bytes - 1 - i);
	return value;
}

/* The name of what loads it, without its folder (PT_INTERP): "" = the program
 * starts without. */
static void read_loader(FILE *file, const unsigned char *head,
                        char name[LOADER_ROOM])
{
	bool is_64 = head[CLASS_AT] == CLASS_64,
	     is_little = head[ORDER_AT] == 1;
	uint64_t offset = read_field(head + (is_64 ? 32 : 28), is_64 ? 8 : 4,
	                             is_little);
	uint64_t bytes = read_field(head + (is_64 ? 54 : 42), 2, is_little);
	uint64_t count = read_field(head + (is_64 ? 56 : 44), 2, is_little);
	unsigned char segment[24];
	uint64_t at = 0;
	char *slash;

	name[0] = '\0';
	for (uint64_t i = 0; i < count && !at; i++)
		if (fseek(file, (long)(offset + i * bytes), SEEK_SET) == 0 &&
		    fread(segment, 1, sizeof(segment), file) ==
			    sizeof(segment) &&
		    read_field(segment, 4, is_little) == INTERPRETER_SEGMENT)
			at = read_field(segment + (is_64 ? 8 : 4),
			                is_64 ? 8 : 4, is_little);
	if (!at)
		return;
	name[LOADER_ROOM - 1] = '\0';
	if (fseek(file, (long)at, SEEK_SET) != 0 ||
	    fread(name, 1, LOADER_ROOM - 1, file) == 0)
		snprintf(name, LOADER_ROOM, "?");
	slash = strrchr(name, '/');
	if (slash)
		memmove(name, slash + 1, strlen(slash));
}

static bool read_head(FILE *file, unsigned char head[HEAD_BYTES])
{
	return fread(head, 1, HEAD_BYTES, file) == HEAD_BYTES &&
	       memcmp(head, "\177ELF", 4) == 0;
}

/* Another one than this program's, which an emulator runs (binfmt_misc). */
static bool is_of_other_machine(const unsigned char *head,
                                const unsigned char *own)
{
	return head[ORDER_AT] != own[ORDER_AT] ||
	       memcmp(head + MACHINE_AT, own + MACHINE_AT, 2) != 0;
}

static const char *judge_elf(FILE *file, const unsigned char *head, FILE *self)
{
	char loader[LOADER_ROOM], own_loader[LOADER_ROOM];
	static char words[2 * LOADER_ROOM];
	unsigned char own[HEAD_BYTES];

	if (!self || !read_head(self, own))
		return NULL;
	if (is_of_other_machine(head, own))
		return "is a program for another kind of processor, so an "
		       "emulator runs it";
	if (head[CLASS_AT] != own[CLASS_AT])
		return "is a program for another word size than portprof";
	read_loader(file, head, loader);
	if (!loader[0])
		return "is linked statically, so nothing can be loaded into it";
	read_loader(self, own, own_loader);
	if (!own_loader[0] || strcmp(loader, own_loader) == 0)
		return NULL;
	snprintf(words, sizeof(words), "belongs to another C library than "
	         "portprof (its loader is %.60s), so nothing is loaded into it",
	         loader);
	return words;
}

/* Why a program cannot have been preloaded, by its file; NULL if nothing
 * there speaks against it. */
static const char *why_not_preloaded(const char *program)
{
	unsigned char head[HEAD_BYTES];
	const char *why = NULL;
	FILE *file, *self;

	if (ppi_has_other_rights(program))
		return "runs with other rights than this user (set-user-id or "
		       "file capabilities), so the system lets nothing be "
		       "loaded into it";
	file = ppi_foreign_stream(program, PPI_FOREIGN_FILE);
	if (!file)
		return NULL;
	self = fopen("/proc/self/exe", "rbe");
	if (read_head(file, head))
		why = judge_elf(file, head, self);
	if (self)
		fclose(self);
	fclose(file);
	return why;
}

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

extern char **environ;

#define OBJECT "libportprof-preload.so"

/* ---- where the object is ---- */

static bool is_there(char *path)
{
	return access(path, R_OK) == 0;
}

/* Beside this program in a build tree, as installed, or where the whole
 * installation was moved to. */
static bool find_object(char *path, size_t bytes)
{
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (length > 0) {
		self[length] = '\0';
		slash = strrchr(self, '/');
		*slash = '\0';
		snprintf(path, bytes, "%s/" OBJECT, self);
		if (slash - self > 6 && strcmp(slash - 6, "/.libs") == 0 &&
		    is_there(path))
			return true;
	}
	snprintf(path, bytes, "%s/" OBJECT, PPI_PKGLIBDIR);
	if (is_there(path))
		return true;
	if (length <= 0)
		return false;
	snprintf(path, bytes, "%s/../lib/portprof/" OBJECT, self);
	return is_there(path);
}

static void say_missing(void)
{
#ifdef PPI_PRELOAD
	ppi_say("cannot find " OBJECT ", which profiles from inside; it "
	        "belongs to %s", PPI_PKGLIBDIR);
#elif !defined(PPI_FILE)
	ppi_say("portprof was built without profile files");
	ppi_say("install libprotobuf-c-dev, protobuf-c-compiler and "
	        "zlib1g-dev and build it again");
#else
	ppi_say("portprof was built without " OBJECT ", which profiles from "
	        "inside");
	ppi_say("build it without --disable-shared, or use -b perf");
#endif
}

/* In LD_PRELOAD a space or a colon ends a path. The file by another name, then:
 * open in this process, which waits for the command. */
static bool avoid_separators(char *path, size_t bytes)
{
	char name[64];
	int fd;

	if (!strpbrk(path, " \t\n:"))
		return true;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(name, sizeof(name), "/proc/%ld/fd/%d", (long)getpid(), fd);
	if (fd < 0 || !is_there(name)) {
		ppi_say("'%s' cannot be preloaded: its path has a space or a "
		        "colon", path);
		ppi_say("install portprof under a path without, or use -b "
			"perf");
		return false;
	}
	snprintf(path, bytes, "%s", name);
	return true;
}

/*
 * Only glibc's loader knows $LIB in LD_PRELOAD (ld.so(8)), whose folders lead back
 * to the root. The loader of musl finds no such file and continues, where it would
 * end a program for symbols that its C library lacks.
 */
#define GLIBC_ALONE "/$LIB/../../../../../.."

static bool is_glibc_alone_possible(void)
{
#ifdef RTLD_NOLOAD
	void *symbol = dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), *library;
	char path[4160];
	Dl_info libc;

	if (!symbol || !dladdr(symbol, &libc) || libc.dli_fname[0] != '/')
		return false;
	snprintf(path, sizeof(path), GLIBC_ALONE "%s", libc.dli_fname);
	library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (library)
		dlclose(library);
	return library != NULL;
#else
	return false;
#endif
}

static void spare_other_loaders(char *path, size_t bytes)
{
	size_t before = strlen(GLIBC_ALONE), length = strlen(path);

	if (before + length >= bytes || !is_glibc_alone_possible())
		return;
	memmove(path + before, path, length + 1);
	memcpy(path, GLIBC_ALONE, before);
}

/* ---- the environment of the command ---- */

static char *setting_of(const char *name, const char *value,
                        const char *more)
{
	size_t bytes = strlen(name) + strlen(value) + strlen(more) + 3;
	char *text = malloc(bytes);

	if (text)
		snprintf(text, bytes, "%s=%s%s%s", name, value,
		         more[0] ? ":" : "", more);
	return text;
}

static bool has_name(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

struct environment {
	char **list;
	char *preload, *settings;
};

static void free_environment(struct environment *environment)
{
	free(environment->list);
	free(environment->preload);
	free(environment->settings);
}

/* This process's own, with two entries added or replaced. */
static bool make_environment(struct environment *environment,
                             const char *object, const char *text,
                             bool has_waits)
{
	const char *before = getenv("LD_PRELOAD");
	size_t count = 0, kept = 0;

	/* handlers know each sample's set, and need no times of changes; those
	 * of waits are read from here */
	unsetenv(PPI_LABELS_TIMES);
	if (has_waits)
		ppi_record_ask_for_labels(PPI_LABELS_NOW);
	while (environ[count])
		count++;
	environment->list = calloc(count + 3, sizeof(*environment->list));
	environment->preload =
		setting_of("LD_PRELOAD", object, before ? before : "");
	environment->settings = setting_of("PORTPROF", text, "");
	if (!environment->list || !environment->preload ||
	    !environment->settings)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!has_name(environ[i], "LD_PRELOAD") &&
		    !has_name(environ[i], "PORTPROF"))
			environment->list[kept++] = environ[i];
	environment->list[kept++] = environment->preload;
	environment->list[kept] = environment->settings;
	return true;
}

/* ---- the run ---- */

void ppi_say_nobody(const struct ppi_record *record)
{
	const char *why = why_not_preloaded(record->program);

	if (why)
		ppi_say("nothing was recorded: '%s' %s", record->program, why);
	else
		ppi_say("nothing was recorded: no process of the command loaded "
		        OBJECT "; did it clear its environment, or was it "
		        "killed in its first moments?");
	ppi_say("only perf measures such a program: portprof record -b perf "
	        "says what it needs");
}

static int run(const struct ppi_record *record, const char *object)
{
	portprof_config *config = ppi_settings_config(&record->settings);
	struct environment environment = { 0 };
	const char *share;
	char *text = NULL;
	int status = PPI_EXIT_RECORD;

	if (!config)
		return PPI_EXIT_RECORD;
	if (portprof_config_collect(config, &share)) {
		ppi_say_failure(NULL);
		portprof_config_free(config);
		return PPI_EXIT_RECORD;
	}
	text = ppi_settings_text(&record->settings, share);
	if (text && make_environment(&environment, object, text,
	                             ppi_settings_waits(&record->settings))) {
		status = ppi_record_command(record, config, environment.list);
	} else {
		ppi_say("out of memory");
		portprof_config_free(config);
	}
	if (status < 0) {
		ppi_say_refusal(record);
		status = PPI_EXIT_RECORD;
	}
	free_environment(&environment);
	free(text);
	return status;
}

int ppi_record_preload(const struct ppi_record *record)
{
	char object[4160];

	if (!find_object(object, sizeof(object))) {
		say_missing();
		return PPI_EXIT_RECORD;
	}
	if (!avoid_separators(object, sizeof(object)))
		return PPI_EXIT_RECORD;
	spare_other_loaders(object, sizeof(object));
	return run(record, object);
}
