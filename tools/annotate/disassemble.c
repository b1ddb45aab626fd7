/* SPDX-License-Identifier: MIT */
/* Instructions of a function, as objdump prints them. */
#include "config.h"

#include "tools/view/code.h"

#include <inttypes.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INSTRUCTIONS_MAX = 20000 };

/* No shell: paths are of others. */
static void become_objdump(const char *path, const char *from, const char *to,
                           const int ends[2])
{
	int nothing = open("/dev/null", O_RDWR);

	dup2(nothing, STDIN_FILENO);
	dup2(ends[1], STDOUT_FILENO);
	dup2(nothing, STDERR_FILENO);
	close(ends[0]);
	close(ends[1]);
	setenv("LC_ALL", "C", 1);
	execlp("objdump", "objdump", "-d", "--no-show-raw-insn", from, to,
	       "--", path, (char *)NULL);
	_exit(127);
}

/* "  401136:\tmov    %rsp,%rbp" */
static bool read_line(char *line, uint64_t *address, char **text)
{
	char *end;

	*address = strtoull(line, &end, 16);
	if (end == line || end[0] != ':' || end[1] != '\t')
		return false;
	*text = end + 2;
	end = *text + strlen(*text);
	while (end > *text && (end[-1] == '\n' || end[-1] == ' '))
		*--end = '\0';
	return true;
}

static size_t read_all(FILE *in, const struct ppi_code *code,
                       struct ppi_instruction **all)
{
	char *line = NULL, *text;
	size_t room = 0, count = 0, part = 0;
	uint64_t address;

	*all = calloc(INSTRUCTIONS_MAX, sizeof(**all));
	while (*all && count < INSTRUCTIONS_MAX &&
	       getline(&line, &room, in) > 0) {
		struct ppi_instruction *one = &(*all)[count];

		if (!read_line(line, &address, &text))
			continue;
		one->text = strdup(text);
		if (!one->text)
			break;
		one->address = address;
		count++;
		while (part < code->address_count &&
		       code->addresses[part].at < address)
			part++;
		if (part < code->address_count &&
		    code->addresses[part].at == address)
			one->weight = code->addresses[part].weight;
	}
	free(line);
	return count;
}

size_t ppi_code_disassemble(const struct ppi_code *code,
                            struct ppi_instruction **instructions,
                            char *why, size_t why_bytes)
{
	uint64_t last, first;
	char from[64], to[64];
	size_t count = 0;
	int ends[2], status = 0;
	pid_t child;
	FILE *in;

	*instructions = NULL;
	snprintf(why, why_bytes, "objdump printed nothing for this file");
	if (!code->address_count || code->path[0] != '/') {
		snprintf(why, why_bytes,
		         "no readable file has this code");
		return 0;
	}
	last = code->addresses[code->address_count - 1].at;
	first = code->start && code->start <= code->addresses[0].at
	                ? code->start
	                : code->addresses[0].at;
	snprintf(from, sizeof(from), "--start-address=0x%" PRIx64, first);
	snprintf(to, sizeof(to), "--stop-address=0x%" PRIx64, last + 32);
	if (pipe(ends) != 0)
		return 0;
	child = fork();
	if (child == 0)
		become_objdump(code->path, from, to, ends);
	close(ends[1]);
	in = child > 0 ? fdopen(ends[0], "r") : NULL;
	if (in) {
		count = read_all(in, code, instructions);
		fclose(in);
	} else {
		close(ends[0]);
	}
	if (child > 0 && waitpid(child, &status, 0) == child &&
	    WIFEXITED(status) && WEXITSTATUS(status) == 127)
		snprintf(why, why_bytes,
		         "objdump is not installed (Debian: binutils)");
	return count;
}

void ppi_code_free_instructions(struct ppi_instruction *instructions,
                                size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(instructions[i].text);
	free(instructions);
}
