/* SPDX-License-Identifier: MIT */
/*
 * Labels as OpenTelemetry's readers find them: by a reader that was written from the
 * texts of OTEP 4719, with processcontext.proto of opentelemetry-proto, and OTEP 4947 alone, and
 * shares nothing with the library.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include <portprof.h>

#if defined(SYS_memfd_create) && defined(__ELF__)

extern _Thread_local const void *otel_thread_ctx_v1;

/* ---- the process context ---- */

enum { KEYS = 256 };
static struct {
	int contexts; /* mappings of that name */
	char keys[KEYS][300];
	int key_count;
	char service[300], schema[300];
} seen;

struct part {
	const unsigned char *at, *end;
};

static uint64_t number(struct part *part)
{
	uint64_t value = 0;

	for (int shift = 0;; shift += 7) {
		assert_true(part->at < part->end);
		value |= (uint64_t)(*part->at & 127) << shift;
		if (*part->at++ < 128)
			return value;
	}
}

/* All fields of what is written here have a length. */
static unsigned next(struct part *message, struct part *field)
{
	uint64_t tag = number(message), length = number(message);

	assert_int_equal(tag & 7, 2);
	assert_true(length <= (uint64_t)(message->end - message->at));
	field->at = message->at;
	field->end = message->at += length;
	return (unsigned)(tag >> 3);
}

static void text(struct part part, char *out)
{
	assert_true(part.end - part.at < 300);
	memcpy(out, part.at, (size_t)(part.end - part.at));
	out[part.end - part.at] = '\0';
}

static void read_attribute(struct part attribute)
{
	struct part field, value = { 0 }, list = { 0 };
	char key[300] = "";

	while (attribute.at < attribute.end)
		if (next(&attribute, &field) == 1)
			text(field, key);
		else
			value = field;
	while (value.at < value.end)
		if (next(&value, &field) == 5)
			list = field;
		else if (strcmp(key, "service.name") == 0)
			text(field, seen.service);
		else if (strcmp(key, "threadlocal.schema_version") == 0)
			text(field, seen.schema);
	if (strcmp(key, "threadlocal.attribute_key_map") != 0)
		return;
	while (list.at < list.end) {
		struct part any;

		assert_int_equal(next(&list, &any), 1);
		assert_int_equal(next(&any, &field), 1);
		text(field, seen.keys[seen.key_count++]);
	}
}

static void read_context(const unsigned char *header)
{
	uint32_t version, bytes;
	uint64_t at, payload;
	struct part context, resource, field;

	memcpy(&version, header + 8, 4);
	memcpy(&bytes, header + 12, 4);
	memcpy(&at, header + 16, 8);
	memcpy(&payload, header + 24, 8);
	assert_memory_equal(header, "OTEL_CTX", 8);
	assert_int_equal(version, 2);
	assert_true(at != 0);
	/* ProcessContext: a Resource (1), and attributes beside it (2) */
	context.at = (const unsigned char *)(uintptr_t)payload;
	context.end = context.at + bytes;
	while (context.at < context.end) {
		if (next(&context, &resource) == 2) {
			read_attribute(resource);
			continue;
		}
		while (resource.at < resource.end) {
			assert_int_equal(next(&resource, &field), 1);
			read_attribute(field);
		}
	}
}

static void read_process(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[600];

	memset(&seen, 0, sizeof(seen));
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		unsigned long start;

		if (!strstr(line, "/memfd:OTEL_CTX") &&
		    !strstr(line, "[anon_shmem:OTEL_CTX"))
			continue;
		seen.contexts++;
		assert_int_equal(sscanf(line, "%lx", &start), 1);
		read_context((const unsigned char *)start);
	}
	fclose(maps);
}

/* ---- the thread's ---- */

/* "key=value ...", the last of a key. */
static const char *read_thread(unsigned char trace[16], unsigned char span[8])
{
	static char out[1024];
	const unsigned char *record = otel_thread_ctx_v1;
	uint16_t bytes;
	size_t used = 0;

	if (!record)
		return NULL;
	assert_int_equal((uintptr_t)record % 2, 0);
	memcpy(trace, record, 16);
	memcpy(span, record + 16, 8);
	assert_int_equal(record[24], 1);
	memcpy(&bytes, record + 26, 2);
	assert_true(28 + bytes <= 640);
	out[0] = '\0';
	for (unsigned at = 28; at + 2 <= 28u + bytes;) {
		unsigned key = record[at], length = record[at + 1];

		assert_true((int)key < seen.key_count);
		used += (size_t)snprintf(out + used, sizeof(out) - used,
		                         "%s%s=%.*s", used ? " " : "",
		                         seen.keys[key], (int)length,
		                         (const char *)record + at + 2);
		at += 2 + length;
	}
	return out;
}

static const char *labels(void)
{
	unsigned char trace[16], span[8];

	read_process();
	return read_thread(trace, span);
}

/* ---- cases ---- */

static void readers_find_sets(void **state)
{
	const portprof_label list[] = { { "endpoint", "/checkout" },
		                        { "tenant", "acme" } };
	const portprof_label_set *set = portprof_label_set_new(list, 2);

	(void)state;
	assert_null(labels());
	assert_int_equal(seen.contexts, 1);
	assert_string_equal(seen.schema, "tlsdesc_v1_dev");
	assert_string_equal(seen.service, "of the test");
	{
		PORTPROF_LABEL_SCOPE(set);
		assert_string_equal(labels(), "endpoint=/checkout tenant=acme");
		/* a key that is new is in the map before it is in a record */
		portprof_label_push("query", "q1");
		assert_string_equal(labels(), "endpoint=/checkout query=q1 "
		                              "tenant=acme");
		portprof_label_pop();
		assert_string_equal(labels(), "endpoint=/checkout tenant=acme");
	}
	assert_null(labels());
	assert_int_equal(seen.contexts, 1);
}

static void ids_of_spans_have_their_places(void **state)
{
	static const unsigned char trace_id[16] = { 0x0a, 0xf7, 0x65, 0x19, 0x16,
		0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c };
	static const unsigned char span_id[8] = { 0xb7, 0xad, 0x6b, 0x71, 0x69,
		0x20, 0x33, 0x31 };
	const portprof_label list[] = {
		{ "trace_id", "0af7651916cd43dd8448eb211c80319c" },
		{ "span_id", "b7ad6b7169203331" }, { "endpoint", "/a" } };
	const portprof_label wrong = { "span_id", "no such" };
	unsigned char trace[16], span[8];

	(void)state;
	portprof_label_enter(portprof_label_set_new(list, 3));
	read_process();
	assert_string_equal(read_thread(trace, span), "endpoint=/a");
	assert_memory_equal(trace, trace_id, 16);
	assert_memory_equal(span, span_id, 8);
	portprof_label_enter(portprof_label_set_new(&wrong, 1));
	read_process();
	assert_string_equal(read_thread(trace, span), "span_id=no such");
	portprof_label_leave(NULL);
}

static void what_is_large_is_cut(void **state)
{
	char value[2000], key[100];
	portprof_label list[PORTPROF_LABELS_MAX];

	(void)state;
	memset(value, 'v', sizeof(value));
	value[sizeof(value) - 1] = '\0';
	list[0] = (portprof_label){ "large", value };
	portprof_label_enter(portprof_label_set_new(list, 1));
	assert_int_equal(strlen(labels()), strlen("large=") + 255);
	memset(key, 'k', sizeof(key));
	key[sizeof(key) - 1] = '\0';
	value[300] = '\0';
	for (size_t i = 0; i < 10; i++)
		list[i] = (portprof_label){ i ? value + 290 - 10 * i : key,
			                    value };
	portprof_label_enter(portprof_label_set_new(list, 10));
	assert_non_null(labels());
	portprof_label_leave(NULL);
}

static int check_child(void)
{
	read_process();
	return seen.contexts != 1 || strcmp(labels(), "endpoint=/a") != 0;
}

static void a_child_publishes_its_own(void **state)
{
	const portprof_label a = { "endpoint", "/a" };
	int status;
	pid_t child;

	(void)state;
	PORTPROF_LABEL_SCOPE(portprof_label_set_new(&a, 1));
	child = fork();
	if (child == 0)
		_exit(check_child());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* In a child that has not made a set yet. */
static int another_library_has_it(void)
{
	static const char signature[] = "OTEL_CTX";
	const portprof_label a = { "endpoint", "/a" };
	int fd = (int)syscall(SYS_memfd_create, "OTEL_CTX", 0);
	unsigned char *header;
	uint32_t version = 2, bytes = 2;
	uint64_t at = 1, payload;

	if (ftruncate(fd, 4096) != 0)
		return 1;
	header = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	payload = (uintptr_t)header + 64;
	memcpy(header + 64, "\012\0", 2); /* a resource of nothing */
	memcpy(header + 8, &version, 4);
	memcpy(header + 12, &bytes, 4);
	memcpy(header + 16, &at, 8);
	memcpy(header + 24, &payload, 8);
	memcpy(header, signature, 8);
	portprof_label_enter(portprof_label_set_new(&a, 1));
	return otel_thread_ctx_v1 != NULL;
}

static void another_librarys_context_is_left_alone(void **state)
{
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(another_library_has_it());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}
#endif

int main(void)
{
#if defined(SYS_memfd_create) && defined(__ELF__)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_librarys_context_is_left_alone),
		cmocka_unit_test(readers_find_sets),
		cmocka_unit_test(ids_of_spans_have_their_places),
		cmocka_unit_test(what_is_large_is_cut),
		cmocka_unit_test(a_child_publishes_its_own),
	};

	setenv("OTEL_RESOURCE_ATTRIBUTES",
	       "service.name=of the test,service.version=7", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
#else
	return 77;
#endif
}
