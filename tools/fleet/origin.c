/* SPDX-License-Identifier: MIT */
/*
 * What a process belongs to: a unit of systemd, a container, a pod of Kubernetes, by
 * the path of its cgroup; and what it says of itself by OpenTelemetry's
 * variables (opentelemetry.io, "OTEL_SERVICE_NAME"), of which nothing else is
 * looked at.
 */
#include "config.h"

#include "tools/fleet/fleet.h"

#include "base/foreign_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 4096, ENVIRONMENT_BYTES = 1 << 20, HEX_BYTES = 64 };

/* ---- the path of a cgroup ---- */

static bool is_hex(const char *text, size_t bytes)
{
	return strspn(text, "0123456789abcdef") >= bytes;
}

/* "docker-HEX.scope", "cri-containerd-HEX.scope", "HEX" and their like. */
static bool take_container(const char *part, size_t bytes, char *id)
{
	for (size_t at = 0; at + HEX_BYTES <= bytes; at++) {
		bool begins = at == 0 || part[at - 1] == '-' ||
		              part[at - 1] == ':';

		if (!begins || !is_hex(part + at, HEX_BYTES))
			continue;
		memcpy(id, part + at, HEX_BYTES);
		id[HEX_BYTES] = '\0';
		return true;
	}
	return false;
}

/* "pod8a9b..." or "kubepods-burstable-pod8a9b_....slice": 36 characters, where
 * systemd writes _ for -. */
static bool take_pod(const char *part, size_t bytes, char *id)
{
	static const char hex[] = "0123456789abcdef-_";
	enum { UID_BYTES = 36 };

	for (size_t at = 0; at + 3 + UID_BYTES <= bytes; at++) {
		if (strncmp(part + at, "pod", 3) != 0 ||
		    (at > 0 && part[at - 1] != '-') ||
		    strspn(part + at + 3, hex) < UID_BYTES)
			continue;
		memcpy(id, part + at + 3, UID_BYTES);
		id[UID_BYTES] = '\0';
		for (char *letter = id; *letter; letter++)
			if (*letter == '_')
				*letter = '-';
		return true;
	}
	return false;
}

/* "NAME.service"; the number of a user's session says nothing. */
static bool take_unit(const char *part, size_t bytes, char *name)
{
	static const char service[] = ".service", scope[] = ".scope";
	size_t end = sizeof(service) - 1;
	bool is_service = bytes > end &&
	                  strncmp(part + bytes - end, service, end) == 0;

	if (!is_service) {
		end = sizeof(scope) - 1;
		if (bytes <= end ||
		    strncmp(part + bytes - end, scope, end) != 0)
			return false;
		if (strncmp(part, "session-", 8) == 0)
			end = bytes - 7;
	}
	snprintf(name, 256, "%.*s", (int)(bytes - end), part);
	return true;
}

bool ppi_origin_of_cgroup(const char *path, struct ppi_origin *origin)
{
	char container[HEX_BYTES + 1] = "", pod[40] = "", unit[256] = "";
	char name[64];

	while (*path) {
		size_t bytes = strcspn(path, "/");

		if (!take_container(path, bytes, container) &&
		    !take_pod(path, bytes, pod))
			take_unit(path, bytes, unit);
		path += bytes;
		path += *path == '/';
	}
	ppi_tags_set(&origin->tags, "container_id", container);
	ppi_tags_set(&origin->tags, "k8s_pod_uid", pod);
	ppi_tags_set(&origin->tags, "unit", unit);
	snprintf(name, sizeof(name), "container-%.12s", container);
	free(origin->service);
	/* the unit around a container is the one that starts all of them */
	if (container[0])
		origin->service = strdup(name);
	else
		origin->service = unit[0] ? strdup(unit) : NULL;
	return origin->service != NULL;
}

/* The line of cgroup v2, else the one of systemd's own hierarchy, else the first
 * (cgroups(7)). */
static bool read_cgroup(const char *folder, struct ppi_origin *origin)
{
	char path[128], line[LINE_BYTES], best[LINE_BYTES] = "";
	int best_rank = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/cgroup", folder);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		char *names = strchr(line, ':');
		char *at = names ? strchr(names + 1, ':') : NULL;
		int rank = 1;

		if (!at)
			continue;
		at[strcspn(at, "\n")] = '\0';
		if (strncmp(names, ":name=systemd:", 14) == 0)
			rank = 2;
		else if (at == names + 1 && at[1] && at[2])
			rank = 3;
		if (rank > best_rank && at[1] && at[2]) {
			best_rank = rank;
			snprintf(best, sizeof(best), "%s", at + 1);
		}
	}
	if (file)
		fclose(file);
	return ppi_origin_of_cgroup(best, origin);
}

/* ---- what it says of itself ---- */

/* "service.version" as a label has it. */
static void set_attribute(struct ppi_origin *origin, const char *key,
                          size_t key_bytes, const char *value, size_t bytes)
{
	static const char *const known[][2] = {
		{ "service.version", "version" },
		{ "service.namespace", "service_namespace" },
		{ "deployment.environment.name", "environment" },
		{ "deployment.environment", "environment" },
		{ "k8s.namespace.name", "k8s_namespace" },
		{ "k8s.pod.name", "k8s_pod" },
		{ "k8s.container.name", "k8s_container" },
	};
	char *text = strndup(value, bytes);

	if (text && key_bytes == 12 && strncmp(key, "service.name", 12) == 0 &&
	    text[0]) {
		free(origin->service);
		origin->service = text;
		return;
	}
	for (size_t i = 0; text && i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i][0]) == key_bytes &&
		    strncmp(known[i][0], key, key_bytes) == 0)
			ppi_tags_set(&origin->tags, known[i][1], text);
	free(text);
}

/* "key=value,key=value" */
static void take_attributes(struct ppi_origin *origin, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, ",");
		const char *equals = memchr(text, '=', length);

		if (equals)
			set_attribute(origin, text, (size_t)(equals - text),
			              equals + 1,
			              length - (size_t)(equals + 1 - text));
		text += length;
		text += *text == ',';
	}
}

static void read_environment(const char *folder, struct ppi_origin *origin)
{
	static const char name[] = "OTEL_SERVICE_NAME=";
	static const char attributes[] = "OTEL_RESOURCE_ATTRIBUTES=";
	const char *service = NULL;
	char path[128], *text = malloc(ENVIRONMENT_BYTES + 1);
	size_t got = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/environ", folder);
	file = text ? fopen(path, "re") : NULL;
	if (file) {
		got = fread(text, 1, ENVIRONMENT_BYTES, file);
		fclose(file);
	}
	if (text)
		text[got] = '\0';
	for (size_t at = 0; at < got; at += strlen(text + at) + 1) {
		if (strncmp(text + at, name, sizeof(name) - 1) == 0)
			service = text + at + sizeof(name) - 1;
		else if (strncmp(text + at, attributes,
		                 sizeof(attributes) - 1) == 0)
			take_attributes(origin,
			                text + at + sizeof(attributes) - 1);
	}
	/* it goes before service.name of the attributes */
	if (service)
		set_attribute(origin, "service.name", 12, service,
		              strlen(service));
	free(text);
}

/* ---- all of it ---- */

static void read_program(const char *folder, struct ppi_origin *origin)
{
	static const char deleted[] = " (deleted)";
	char path[128], program[LINE_BYTES];
	ssize_t got;

	snprintf(path, sizeof(path), "%s/exe", folder);
	got = readlink(path, program, sizeof(program) - 1);
	program[got > 0 ? got : 0] = '\0';
	/* its file was replaced; what runs is what it was */
	if (got > (ssize_t)sizeof(deleted) &&
	    strcmp(program + got - (sizeof(deleted) - 1), deleted) == 0)
		program[got - (ssize_t)(sizeof(deleted) - 1)] = '\0';
	origin->program = strdup(program);
}

/* Nothing around it has a name: then it is the program. */
static void name_by_program(const char *folder, struct ppi_origin *origin)
{
	char path[128], name[64] = "";
	const char *slash = origin->program ? strrchr(origin->program, '/')
	                                    : NULL;
	FILE *file;

	/* of what was written into memory only the process has a name */
	if (slash && slash[1] && strncmp(slash, "/memfd:", 7) != 0) {
		origin->service = strdup(slash + 1);
		return;
	}
	snprintf(path, sizeof(path), "%s/comm", folder);
	file = fopen(path, "re");
	if (file && fgets(name, sizeof(name), file))
		name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
	/* the kernel's own threads, "kworker/0:1" by the dozen, are one */
	origin->service = name[0] ? strdup(slash ? name : "kernel") : NULL;
}

bool ppi_origin_read(const char *root, uint32_t pid, struct ppi_origin *origin)
{
	char folder[96];

	memset(origin, 0, sizeof(*origin));
	origin->pid = pid;
	snprintf(folder, sizeof(folder), "%.60s/proc/%lu", root,
	         (unsigned long)pid);
	if (access(folder, F_OK) != 0)
		return false;
	read_program(folder, origin);
	read_cgroup(folder, origin);
	read_environment(folder, origin);
	if (!origin->service)
		name_by_program(folder, origin);
	if (origin->service && origin->program && !origin->tags.is_short)
		return true;
	ppi_origin_free(origin);
	return false;
}

void ppi_origin_free(struct ppi_origin *origin)
{
	free(origin->service);
	free(origin->program);
	ppi_tags_free(&origin->tags);
	memset(origin, 0, sizeof(*origin));
}
