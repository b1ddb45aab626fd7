/* SPDX-License-Identifier: MIT */
/* The set of byte strings that profiles rest on, against a plain list. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/profile/memory.h"

enum { KEYS = 600, KEY_BYTES = 24 };

/* What the pool should hold: keys by number. */
struct model {
	char keys[KEYS][KEY_BYTES];
	size_t bytes[KEYS];
	uint32_t count;
};

static uint32_t state;

static uint32_t draw(uint32_t below)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % below;
}

static uint32_t model_find(const struct model *model, const char *key,
                           size_t bytes)
{
	for (uint32_t i = 0; i < model->count; i++)
		if (model->bytes[i] == bytes &&
		    memcmp(model->keys[i], key, bytes) == 0)
			return i;
	return PPI_NONE;
}

/* Keys of a few letters, so that many are drawn again, and of all lengths. */
static size_t draw_key(char *key)
{
	size_t bytes = draw(KEY_BYTES);

	for (size_t i = 0; i < bytes; i++)
		key[i] = (char)(i < 2 ? draw(9) : 0);
	return bytes;
}

static void check_all(const struct ppi_pool *pool, const struct model *model)
{
	assert_int_equal(ppi_pool_count(pool), model->count);
	for (uint32_t i = 0; i < model->count; i++) {
		size_t bytes;
		const char *key = ppi_pool_key(pool, i, &bytes);

		assert_int_equal(bytes, model->bytes[i]);
		assert_memory_equal(key, model->keys[i], bytes);
		assert_int_equal(key[bytes], 0);
		assert_int_equal((uintptr_t)key % 8, 0);
		assert_int_equal(ppi_pool_find(pool, key, bytes), i);
	}
}

static void enter(struct ppi_pool *pool, struct model *model)
{
	char key[KEY_BYTES];
	size_t bytes = draw_key(key);
	uint32_t known = model_find(model, key, bytes);

	assert_int_equal(ppi_pool_find(pool, key, bytes), known);
	if (known == PPI_NONE && model->count == KEYS)
		return;
	if (known == PPI_NONE) {
		memcpy(model->keys[model->count], key, bytes);
		model->bytes[model->count] = bytes;
		known = model->count++;
	}
	assert_int_equal(ppi_pool_enter(pool, key, bytes), known);
}

static void agrees_with_a_list(void **unused)
{
	static struct model model;

	(void)unused;
	for (uint32_t seed = 1; seed <= 20; seed++) {
		struct ppi_pool pool = { 0 };

		state = seed;
		model.count = 0;
		for (int step = 0; step < 3000; step++) {
			uint32_t kind = draw(1000);

			if (kind < 2) {
				ppi_pool_clear(&pool);
				model.count = 0;
			} else if (kind < 400 && model.count) {
				ppi_pool_drop_last(&pool);
				model.count--;
			} else {
				enter(&pool, &model);
			}
			if (step % 100 == 0)
				check_all(&pool, &model);
		}
		check_all(&pool, &model);
		ppi_pool_free(&pool);
	}
}

static void an_empty_one_has_nothing(void **unused)
{
	struct ppi_pool pool = { 0 };

	(void)unused;
	assert_int_equal(ppi_pool_find(&pool, "a", 1), PPI_NONE);
	assert_int_equal(ppi_pool_enter(&pool, NULL, 0), 0);
	assert_int_equal(ppi_pool_find(&pool, NULL, 0), 0);
	assert_int_equal(ppi_pool_enter(&pool, NULL, 0), 0);
	ppi_pool_clear(&pool);
	assert_int_equal(ppi_pool_find(&pool, NULL, 0), PPI_NONE);
	ppi_pool_free(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_a_list),
		cmocka_unit_test(an_empty_one_has_nothing),
	};

	return cmocka_run_group_tests_name("file pool", tests, NULL, NULL);
}
