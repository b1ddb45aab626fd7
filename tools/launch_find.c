/* SPDX-License-Identifier: MIT */
/* Which file a command is, and whether it can be executed: found out before
 * anything else happens, so that a mistyped name touches no profile. */
#include "config.h"

#include "tools/launch.h"

#include "base/foreign_file.h"
#include "tools/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#ifdef HAVE_LINUX_XATTR_H
#include <sys/xattr.h>
#endif
#include <unistd.h>

/* 0, or the errno that execve would give for this path. */
static int check_file(const char *path)
{
	struct stat at;

	if (stat(path, &at) != 0)
		return errno;
	if (S_ISDIR(at.st_mode))
		return EISDIR;
	if (!S_ISREG(at.st_mode))
		return EACCES;
	if (access(path, X_OK) != 0)
		return errno;
	return 0;
}

bool ppi_is_elf(const char *path)
{
	char magic[4] = "";
	FILE *file = ppi_foreign_stream(path, PPI_FOREIGN_FILE);
	size_t got = file ? fread(magic, 1, sizeof(magic), file) : 0;

	if (file)
		fclose(file);
	return got == sizeof(magic) && memcmp(magic, "\177ELF", 4) == 0;
}

/* Whether the interpreter that a script names is there; 0 or an errno, and
 * the interpreter's name. */
static int check_interpreter(const char *path, char *interpreter,
                             size_t bytes)
{
	char line[256];
	FILE *file = ppi_foreign_stream(path, PPI_FOREIGN_FILE);
	size_t got = file ? fread(line, 1, sizeof(line) - 1, file) : 0;
	char *name;

	if (file)
		fclose(file);
	line[got] = '\0';
	if (strncmp(line, "#!", 2) != 0)
		return 0;
	name = line + 2 + strspn(line + 2, " \t");
	name[strcspn(name, " \t\r\n")] = '\0';
	snprintf(interpreter, bytes, "%s", name);
	return check_file(name);
}

/* As execvp(3) searches: the first that can be executed; what cannot is
 * remembered, for a better message than "not found". A folder that this user
 * may not search has nothing for them. */
static char *search(const char *name, int *error)
{
	const char *path = getenv("PATH");
	size_t bytes = (path ? strlen(path) : 32) + strlen(name) + 2;
	char *full = malloc(bytes);

	*error = ENOENT;
	if (!path)
		path = "/usr/local/bin:/bin:/usr/bin";
	while (full && *path) {
		size_t length = strcspn(path, ":");
		int now;

		snprintf(full, bytes, "%.*s%s%s", (int)length, path,
		         length ? "/" : "", name);
		now = check_file(full);
		if (now == 0) {
			*error = 0;
			return full;
		}
		if (now == EACCES && access(full, F_OK) == 0)
			*error = now;
		path += length;
		path += *path == ':';
	}
	free(full);
	return NULL;
}

char *ppi_search_program(const char *name)
{
	int error;

	return search(name, &error);
}

/* What to do with a file that is no program, by its name; "" unknown. */
static const char *remedy_of(const char *name)
{
	static const struct {
		const char *end, *words;
	} kinds[] = {
		{ ".c", "it is a source file: compile it and run what comes "
		        "out (cc -g -O2)" },
		{ ".cc", "it is a source file: compile it and run what comes "
		         "out (c++ -g -O2)" },
		{ ".cpp", "it is a source file: compile it and run what comes "
		          "out (c++ -g -O2)" },
		{ ".rs", "it is a source file: compile it and run the "
		         "program" },
		{ ".go", "it is a source file: compile it and run the "
		         "program" },
		{ ".py", "run it with its interpreter: -- python3 FILE" },
		{ ".pl", "run it with its interpreter: -- perl FILE" },
		{ ".sh", "make it executable (chmod +x), or: -- sh FILE" },
	};
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t end = strlen(kinds[i].end);

		if (length > end &&
		    strcmp(name + length - end, kinds[i].end) == 0)
			return kinds[i].words;
	}
	return "is it executable (chmod +x)?";
}

static int refuse(const char *name, int error, const char *interpreter)
{
	bool is_here = !strchr(name, '/') && access(name, F_OK) == 0;

	if (interpreter[0]) {
		ppi_say("cannot run '%s': its first line names '%s': %s", name,
		        interpreter, strerror(error));
		return PPI_EXIT_CANNOT_RUN;
	}
	if (name[0] == '-') {
		ppi_say("there is no command '%s' in $PATH; if it is an "
		        "option, put it before --", name);
		return PPI_EXIT_NOT_FOUND;
	}
	if (error == ENOENT || error == ENOTDIR) {
		ppi_say("there is no command '%s'%s%s%s", name,
		        strchr(name, '/') ? "" : " in $PATH",
		        is_here ? "; run it as ./" : "",
		        is_here ? name : "");
		return PPI_EXIT_NOT_FOUND;
	}
	ppi_say("cannot run '%s': %s%s%s", name, strerror(error),
	        error == EACCES ? "; " : "",
	        error == EACCES ? remedy_of(name) : "");
	return PPI_EXIT_CANNOT_RUN;
}

int ppi_find_program(const char *name, char **path)
{
	char interpreter[256] = "";
	int error;
	char *found;

	if (strchr(name, '/')) {
		error = check_file(name);
		found = error ? NULL : strdup(name);
	} else {
		found = search(name, &error);
	}
	if (!found)
		return refuse(name, error ? error : ENOMEM, "");
	error = check_interpreter(found, interpreter, sizeof(interpreter));
	if (error) {
		free(found);
		return refuse(name, error, interpreter);
	}
	*path = found;
	return 0;
}

/* An administrator's rights are changed by none of it to more. */
bool ppi_has_other_rights(const char *program)
{
	struct stat at;

	if (geteuid() == 0 || stat(program, &at) != 0)
		return false;
#ifdef HAVE_LINUX_XATTR_H
	/* capabilities(7): where a file keeps its own */
	if (getxattr(program, "security.capability", NULL, 0) > 0)
		return true;
#endif
	return (at.st_mode & S_ISUID && at.st_uid != geteuid()) ||
	       (at.st_mode & S_ISGID && at.st_gid != getegid());
}
