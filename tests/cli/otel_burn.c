/* SPDX-License-Identifier: MIT */
/*
 * Threads of a program with a tracing library of its own, written from the texts of
 * OTEP 4719 and 4947 alone: each record's function proves the record.
 *   otel_burn THREADS MILLISECONDS [LIE]
 * MILLISECONDS: of CPU time, of all threads together. LIE: a number of what a hostile program's thread shows beside.
 */
#include "../fixtures/spent.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A signal handler of the thread reads it. */
__attribute__((visibility("default"))) _Thread_local void *volatile otel_thread_ctx_v1;

static uint64_t until_ns;
static volatile uint64_t result;
static int lie;

static uint64_t real_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#define WORK(name, factor)                                              \
	__attribute__((noinline)) void name(void);                      \
	__attribute__((noinline)) void name(void)                       \
	{                                                               \
		uint64_t x = factor;                                    \
		for (unsigned i = 0; i < 3000; i++) {                   \
			x = x * factor + i;                             \
			__asm__ volatile("" : "+r"(x));                 \
		}                                                       \
		result = x;                                             \
	}

WORK(work_search, 3)
WORK(work_checkout, 5)
WORK(work_nobody, 11)
WORK(work_hostile, 13)

/* ---- what is published ---- */

static size_t put(unsigned char *at, unsigned field, const void *bytes,
                  size_t count)
{
	at[0] = (unsigned char)(field << 3 | 2);
	at[1] = (unsigned char)count;
	memcpy(at + 2, bytes, count);
	return count + 2;
}

/* Keys 0 and 1: endpoint and tenant. */
static void publish_process(void)
{
	static const char *const keys[] = { "endpoint", "tenant" };
	static const char name[] = "threadlocal.attribute_key_map";
	unsigned char list[100], value[110], pair[120], any[40], *header;
	size_t bytes = 0, any_bytes, pair_bytes;
	uint32_t version = 2, size;
	uint64_t at = real_ns(), payload;
	int fd = (int)syscall(SYS_memfd_create, "OTEL_CTX", 1);

	if (ftruncate(fd, 4096) != 0)
		exit(1);
	header = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	for (int i = 0; i < 2; i++) {
		any_bytes = put(any, 1, keys[i], strlen(keys[i]));
		bytes += put(list + bytes, 1, any, any_bytes);
	}
	bytes = put(value, 5, list, bytes);
	pair_bytes = put(pair, 1, name, sizeof(name) - 1);
	pair_bytes += put(pair + pair_bytes, 2, value, bytes);
	size = (uint32_t)put(header + 64, 1, pair, pair_bytes);
	payload = (uintptr_t)header + 64;
	memcpy(header + 8, &version, 4);
	memcpy(header + 12, &size, 4);
	memcpy(header + 24, &payload, 8);
	memcpy(header + 16, &at, 8);
	memcpy(header, "OTEL_CTX", 8);
}

static _Alignas(8) unsigned char search[640], checkout[640];

static void make_record(unsigned char *record, const char *endpoint)
{
	uint16_t bytes = 0;
	const char *values[] = { "old", endpoint, "acme" };
	const unsigned char keys[] = { 0, 0, 1 }; /* the last of a key counts */

	for (int i = 0; i < 16; i++)
		record[i] = (unsigned char)(i + 1);
	memset(record + 16, 0xab, 8);
	for (int i = 0; i < 3; i++) {
		record[28 + bytes] = keys[i];
		record[29 + bytes] = (unsigned char)strlen(values[i]);
		memcpy(record + 30 + bytes, values[i], strlen(values[i]));
		bytes = (uint16_t)(bytes + 2 + strlen(values[i]));
	}
	memcpy(record + 26, &bytes, 2);
	record[24] = 1;
}

/* What a handler may meet. */
static void *hostile(int number)
{
	static _Alignas(8) unsigned char record[700];
	unsigned char *end;
	uint16_t bytes = 612;

	memset(record, 0, sizeof(record));
	record[24] = 1;
	switch (number) {
	case 1: return (void *)1;
	case 2: return (void *)8;
	case 3: return (void *)UINTPTR_MAX;
	case 4: return (void *)(UINTPTR_MAX - 639);
	case 5: return (void *)(UINT64_C(1) << 63);
	case 6: return record + 1;
	case 7: record[24] = 0; break;
	case 8: record[24] = 255; break;
	case 9: bytes = UINT16_MAX; memcpy(record + 26, &bytes, 2); break;
	case 10: bytes = 613; memcpy(record + 26, &bytes, 2); break;
	case 11: memset(record + 25, 0xff, 600); break;
	case 12: bytes = 1; memcpy(record + 26, &bytes, 2); break;
	case 13: bytes = 3; memcpy(record + 26, &bytes, 2); record[29] = 255; break;
	case 14: memcpy(record + 26, &bytes, 2); memset(record + 28, 0xfe, 612); break;
	case 15: memcpy(record + 26, &bytes, 2); break;
	case 16: /* at the end of what is mapped */
		end = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		munmap(end + 4096, 4096);
		return end + 4096 - 26;
	case 17: return mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	default: break;
	}
	return record;
}

static void *serve(void *unused)
{
	for (unsigned turn = 0; turn % 64 || spent_process_ns() < until_ns; turn++) {
		otel_thread_ctx_v1 = search;
		work_search();
		otel_thread_ctx_v1 = checkout;
		work_checkout();
		otel_thread_ctx_v1 = NULL;
		work_nobody();
		if (!lie)
			continue;
		otel_thread_ctx_v1 = hostile(lie);
		work_hostile();
		otel_thread_ctx_v1 = NULL;
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int count = argc > 2 ? atoi(argv[1]) : 0;

	if (count < 1 || count > 64)
		return 2;
	lie = argc > 3 ? atoi(argv[3]) : 0;
	publish_process();
	make_record(search, "/search");
	make_record(checkout, "/checkout");
	until_ns = spent_process_ns() + (uint64_t)atoi(argv[2]) * 1000000u;
	for (int i = 1; i < count; i++)
		if (pthread_create(&threads[i], NULL, serve, NULL) != 0)
			return 1;
	serve(NULL);
	for (int i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
