/* SPDX-License-Identifier: MIT */
/*
 * Assertions of the suite, by the names that CMocka has for them. The suite is
 * installed (portprof selftest), and so needs no test framework: what is
 * installed is the same with and without one.
 */
#ifndef CONFORM_ASSERT_H
#define CONFORM_ASSERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* End the case: it failed, for the reason given, or asked for what is not there. */
_Noreturn void cf_fail(const char *file, int line, const char *words, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 3, 4)))
#endif
	;
_Noreturn void cf_end_skipped(void);

void cf_assert_number(const char *file, int line, const char *claim, bool holds,
                      uintmax_t value, uintmax_t other);
void cf_assert_string(const char *file, int line, const char *value,
                      const char *other);

#define skip() cf_end_skipped()
#define fail_msg(...) cf_fail(__FILE__, __LINE__, __VA_ARGS__)
#define print_message printf

#define assert_true(claim) \
	((claim) ? (void)0 : cf_fail(__FILE__, __LINE__, "%s", #claim))
#define assert_false(claim) \
	((claim) ? cf_fail(__FILE__, __LINE__, "not: %s", #claim) : (void)0)
#define assert_null(pointer) assert_true((pointer) == NULL)
#define assert_non_null(pointer) assert_true((pointer) != NULL)
#define assert_ptr_equal(a, b) assert_true((const void *)(a) == (const void *)(b))
#define assert_memory_equal(a, b, bytes) assert_true(memcmp(a, b, bytes) == 0)
#define assert_string_equal(a, b) cf_assert_string(__FILE__, __LINE__, a, b)

/* Numbers of any type: those below 0 keep their bits, as in CMocka. */
#define CF_ASSERT_NUMBER(claim, relation, a, b) do { \
		uintmax_t cf_a = (uintmax_t)(a), cf_b = (uintmax_t)(b); \
		cf_assert_number(__FILE__, __LINE__, claim, \
		                 cf_a relation cf_b, cf_a, cf_b); \
	} while (0)
#define assert_int_equal(a, b) CF_ASSERT_NUMBER(#a " == " #b, ==, a, b)
#define assert_int_not_equal(a, b) CF_ASSERT_NUMBER(#a " != " #b, !=, a, b)
#define assert_in_range(value, least, most) do { \
		CF_ASSERT_NUMBER(#value " >= " #least, >=, value, least); \
		CF_ASSERT_NUMBER(#value " <= " #most, <=, value, most); \
	} while (0)

/* Run a case, and print its line of TAP. True unless it failed. */
bool cf_run_case(size_t number, const char *name, void (*run)(const void *one),
            void (*clean_up)(void), const void *one);

#endif
