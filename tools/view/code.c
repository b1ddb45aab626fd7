/* SPDX-License-Identifier: MIT */
/* One function of a profile, line by line and instruction by instruction,
 * and what of it is shown. */
#include "config.h"

#include "tools/view/code.h"

#include "base/vector.h"
#include "tools/view/short_names.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool add_part(struct ppi_vector *parts, const char *file, uint64_t at,
                     uint64_t weight)
{
	const struct ppi_code_part part = { file, at, weight };

	return ppi_vector_add(parts, sizeof(part), &part, 1);
}

/* Of one function, as samples bring them. */
struct parts {
	struct ppi_vector lines, addresses; /* of struct ppi_code_part */
};

static bool is_in(const struct ppi_symbols_name *name,
                  const struct ppi_code *code)
{
	return strcmp(name->function, code->function) == 0 &&
	       strcmp(name->path, code->path) == 0;
}

/* The place of a sample in the function; NULL: it is elsewhere. Threads wait in
 * the C library and the kernel: of these the call counts. */
static const struct ppi_symbols_name *
find_name(const struct ppi_view *view, const portprof_profile_sample *sample,
          const struct ppi_code *code)
{
	size_t depth = view->has_callees || !sample->depth ? sample->depth : 1;

	for (size_t i = 0; i < depth; i++)
		if (is_in(&view->names[sample->locations[i]], code))
			return &view->names[sample->locations[i]];
	return NULL;
}

static bool add_sample(const struct ppi_view *view, size_t i,
                       const portprof_profile_sample *sample,
                       struct ppi_code *code, struct parts *parts)
{
	const struct ppi_symbols_name *name = find_name(view, sample, code);
	uint64_t weight = ppi_view_weight(view, i, sample);

	if (!name || !weight)
		return true;
	code->weight += weight;
	if (name->start)
		code->start = name->start;
	return (!name->line || add_part(&parts->lines, name->source_file,
	                                name->line, weight)) &&
	       (!name->vaddr || add_part(&parts->addresses, "", name->vaddr,
	                                 weight));
}

static int compare(const void *left, const void *right)
{
	const struct ppi_code_part *a = left, *b = right;
	int order = strcmp(a->file, b->file);

	return order ? order : a->at < b->at ? -1 : a->at > b->at;
}

static void put_together(struct ppi_code_part *parts, size_t *count)
{
	size_t kept = 0;

	if (*count)
		qsort(parts, *count, sizeof(*parts), compare);
	for (size_t i = 0; i < *count; i++)
		if (kept && compare(&parts[kept - 1], &parts[i]) == 0)
			parts[kept - 1].weight += parts[i].weight;
		else
			parts[kept++] = parts[i];
	*count = kept;
}

static int compare_files(const void *left, const void *right)
{
	const struct ppi_code_file *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return strcmp(a->name, b->name);
}

/* Of lines that are sorted by file. */
static bool find_files(struct ppi_code *code)
{
	if (!code->line_count)
		return true;
	code->files = calloc(code->line_count, sizeof(*code->files));
	if (!code->files)
		return false;
	for (size_t i = 0; i < code->line_count; i++) {
		const struct ppi_code_part *line = &code->lines[i];

		if (!i || strcmp(line[-1].file, line->file) != 0)
			code->files[code->file_count++].name = line->file;
		code->files[code->file_count - 1].weight += line->weight;
	}
	qsort(code->files, code->file_count, sizeof(*code->files),
	      compare_files);
	return true;
}

bool ppi_code_of(const struct ppi_view *view, const struct ppi_row *row,
                 struct ppi_code *code)
{
	const portprof_profile_sample *sample;
	struct parts parts = { 0 };
	bool is_good = true;

	*code = (struct ppi_code){ .function = row->function,
		                   .module = row->module,
		                   .path = row->path };
	for (size_t i = 0;
	     is_good &&
	     (sample = portprof_profile_sample_get(view->profile, i)) != NULL;
	     i++)
		if (ppi_view_has(view, i))
			is_good = add_sample(view, i, sample, code, &parts);
	code->lines = parts.lines.data;
	code->line_count = parts.lines.count;
	code->addresses = parts.addresses.data;
	code->address_count = parts.addresses.count;
	put_together(code->lines, &code->line_count);
	put_together(code->addresses, &code->address_count);
	return is_good && find_files(code);
}

static bool find_lines(const struct ppi_view *view,
                       const struct ppi_named *named, const struct ppi_row *row,
                       struct ppi_code *code)
{
	return ppi_name_lines(view->profile, named, row->function, row->path) &&
	       ppi_code_of(view, row, code);
}

bool ppi_code_find(const struct ppi_view *view, const struct ppi_named *named,
                   const char *wanted, struct ppi_code *code)
{
	struct ppi_rows rows;
	bool *is_meant, is_good;

	memset(code, 0, sizeof(*code));
	if (!ppi_rows_fold(view, PPI_BY_FUNCTION | PPI_BY_MODULE, &rows))
		return false;
	if (view->has_callees)
		ppi_rows_by_total(&rows);
	is_meant = calloc(rows.count + 1, sizeof(*is_meant));
	is_good = is_meant != NULL;
	if (is_good)
		ppi_functions_meant(wanted, rows.count, ppi_row_function, &rows,
		                    is_meant);
	for (size_t i = 0; is_good && i < rows.count && !code->function; i++)
		if (is_meant[i])
			is_good = find_lines(view, named, &rows.rows[i], code);
	free(is_meant);
	ppi_rows_free(&rows);
	return is_good;
}

void ppi_code_free(struct ppi_code *code)
{
	free(code->lines);
	free(code->addresses);
	free(code->files);
}

/* ---- its instructions, as objdump prints them ---- */

enum { INSTRUCTIONS_MAX = 20000 };

/* An instruction: at most the first `room` from `start` to behind the last
 * that was sampled, as objdump prints them. */
struct instruction {
	uint64_t address, weight;
	char *text;
};

/* This process's environment in the C locale; its strings are not copied. NULL
 * when out of memory. */
static char **plain_environment(void)
{
	static char locale[] = "LC_ALL=C";
	size_t count = 0, kept = 0;
	char **list;

	while (environ[count])
		count++;
	list = calloc(count + 2, sizeof(*list));
	for (size_t i = 0; list && i < count; i++)
		if (strncmp(environ[i], locale, strlen("LC_ALL=")) != 0)
			list[kept++] = environ[i];
	if (list)
		list[kept] = locale;
	return list;
}

/* No shell: paths are of others. Spawned, since a fork copies the page tables of
 * all that was read. Its errno, or 0. */
static int start_objdump(const char *path, const char *from, const char *to,
                         const int ends[2], pid_t *child)
{
	const char *const command[] = { "objdump", "-d", "--no-show-raw-insn",
		                        from, to, "--", path, NULL };
	char **environment = plain_environment();
	posix_spawn_file_actions_t files;
	int problem = posix_spawn_file_actions_init(&files);

	if (problem || !environment) {
		if (!problem)
			posix_spawn_file_actions_destroy(&files);
		free(environment);
		return ENOMEM;
	}
	if (posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO) ||
	    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
	                                     O_RDWR, 0) ||
	    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null",
	                                     O_RDWR, 0))
		problem = ENOMEM;
	if (!problem)
		problem = posix_spawnp(child, command[0], &files, NULL,
		                       (char *const *)(uintptr_t)command,
		                       environment);
	posix_spawn_file_actions_destroy(&files);
	free(environment);
	return problem;
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

/* Into a vector of struct instruction. */
static void read_all(FILE *in, const struct ppi_code *code,
                     struct ppi_vector *found)
{
	char *line = NULL, *text;
	size_t room = 0, part = 0;
	uint64_t address;

	while (found->count < INSTRUCTIONS_MAX &&
	       getline(&line, &room, in) > 0) {
		struct instruction one = { 0 };

		if (!read_line(line, &address, &text))
			continue;
		one.address = address;
		while (part < code->address_count &&
		       code->addresses[part].at < address)
			part++;
		if (part < code->address_count &&
		    code->addresses[part].at == address)
			one.weight = code->addresses[part].weight;
		one.text = strdup(text);
		if (!one.text || !ppi_vector_add(found, sizeof(one), &one, 1)) {
			free(one.text);
			break;
		}
	}
	free(line);
}

/* Both ends close on exec. */
static bool open_pipe(int ends[2])
{
	if (pipe(ends) != 0)
		return false;
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	return true;
}

/* None, and a sentence in `why`, when objdump cannot be asked. */
static void disassemble(const struct ppi_code *code,
                        struct ppi_vector *instructions, char *why,
                        size_t why_bytes)
{
	uint64_t last, first;
	char from[64], to[64];
	int ends[2], problem;
	pid_t child = 0;
	FILE *in;

	snprintf(why, why_bytes, "objdump printed nothing for this file");
	if (!code->address_count || code->path[0] != '/') {
		snprintf(why, why_bytes,
		         "no readable file has this code");
		return;
	}
	last = code->addresses[code->address_count - 1].at;
	first = code->start && code->start <= code->addresses[0].at
	                ? code->start
	                : code->addresses[0].at;
	snprintf(from, sizeof(from), "--start-address=0x%" PRIx64, first);
	snprintf(to, sizeof(to), "--stop-address=0x%" PRIx64, last + 32);
	if (!open_pipe(ends))
		return;
	problem = start_objdump(code->path, from, to, ends, &child);
	close(ends[1]);
	in = problem ? NULL : fdopen(ends[0], "r");
	if (in) {
		read_all(in, code, instructions);
		fclose(in);
	} else {
		close(ends[0]);
	}
	if (problem == ENOENT)
		snprintf(why, why_bytes,
		         "objdump is not installed (Debian: binutils)");
	while (!problem && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

static void free_instructions(struct instruction *instructions, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(instructions[i].text);
	free(instructions);
}

/* ---- what of them is shown: the hot parts ---- */

enum { LINES_MAX = 20000 };

static bool add_line(struct ppi_vector *lines, uint64_t at, uint64_t weight,
                     const char *text, bool has_gap)
{
	const struct ppi_shown_line line = { at, weight, strdup(text),
		                             has_gap };

	if (line.text && ppi_vector_add(lines, sizeof(line), &line, 1))
		return true;
	free(line.text);
	return false;
}

/* A debug file names any path: only a regular file is read. */
static FILE *open_source(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat at;
	FILE *in = NULL;

	if (fd >= 0 && fstat(fd, &at) == 0 && S_ISREG(at.st_mode))
		in = fdopen(fd, "r");
	if (fd >= 0 && !in)
		close(fd);
	return in;
}

/* Whether a line with weight is near; `part` follows the lines. */
static bool is_near(const struct ppi_code *code, const char *file,
                    uint64_t number, unsigned around, size_t *part)
{
	while (*part < code->line_count &&
	       (strcmp(code->lines[*part].file, file) != 0 ||
	        code->lines[*part].at + around < number))
		++*part;
	return *part < code->line_count &&
	       strcmp(code->lines[*part].file, file) == 0 &&
	       code->lines[*part].at <= number + around;
}

static uint64_t weight_of(const struct ppi_code *code, const char *file,
                          uint64_t number)
{
	for (size_t i = 0; i < code->line_count; i++)
		if (code->lines[i].at == number &&
		    strcmp(code->lines[i].file, file) == 0)
			return code->lines[i].weight;
	return 0;
}

/* Then lines may have moved. A program that was installed later is no sign of
 * that, nor is one of another file system. */
static bool is_newer(FILE *source, const char *program)
{
	struct stat at, built;

	return fstat(fileno(source), &at) == 0 && program &&
	       stat(program, &built) == 0 && S_ISREG(built.st_mode) &&
	       at.st_mtime > built.st_mtime;
}

void ppi_listing_source(const struct ppi_code *code, const char *file,
                        unsigned around, struct ppi_listing *listing)
{
	FILE *in = file ? open_source(file) : NULL;
	struct ppi_vector lines = { 0 };
	uint64_t last = 0, number = 0;
	size_t room = 0, part = 0;
	ssize_t length;
	char *line = NULL;

	*listing = (struct ppi_listing){ 0 };
	if (!in) {
		snprintf(listing->why, sizeof(listing->why), "%s",
		         !file
		                 ? "no line numbers: compile it with -g"
		                 : "the source file is not on this machine");
		return;
	}
	while (lines.count < LINES_MAX &&
	       (length = getline(&line, &room, in)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		if (!is_near(code, file, ++number, around, &part))
			continue;
		if (!add_line(&lines, number, weight_of(code, file, number),
		              line, last && number != last + 1))
			break;
		last = number;
	}
	free(line);
	if (is_newer(in, code->path))
		snprintf(listing->why, sizeof(listing->why),
		         "this file is newer than the program: its lines may "
		         "have changed");
	fclose(in);
	listing->lines = lines.data;
	listing->count = lines.count;
	if (!listing->count)
		snprintf(listing->why, sizeof(listing->why),
		         "the source file has changed: it has no such lines");
}

void ppi_listing_instructions(const struct ppi_code *code, unsigned around,
                              struct ppi_listing *listing)
{
	struct ppi_vector lines = { 0 }, instructions = { 0 };
	struct instruction *all;
	size_t count, last = 0;

	*listing = (struct ppi_listing){ 0 };
	disassemble(code, &instructions, listing->why, sizeof(listing->why));
	all = instructions.data;
	count = instructions.count;
	if (count)
		listing->why[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		size_t from = i > around ? i - around : 0;
		bool is_shown = false;

		for (size_t k = from; k < count && k <= i + around; k++)
			is_shown |= all[k].weight > 0;
		if (!is_shown)
			continue;
		if (!add_line(&lines, all[i].address, all[i].weight,
		              all[i].text, lines.count && i != last + 1))
			break;
		last = i;
	}
	listing->lines = lines.data;
	listing->count = lines.count;
	free_instructions(all, count);
}

void ppi_listing_free(struct ppi_listing *listing)
{
	for (size_t i = 0; i < listing->count; i++)
		free(listing->lines[i].text);
	free(listing->lines);
}
