/* SPDX-License-Identifier: MIT */
/* An array that grows, for any element type; depends on the C library only. */
#ifndef PPI_VECTOR_H
#define PPI_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct ppi_vector {
	void *data;
	size_t count, room; /* elements, all of one size */
};

/* Room for `more` elements behind the last. False when out of memory. */
static inline bool ppi_vector_reserve(struct ppi_vector *vector,
                                      size_t element_bytes, size_t more)
{
	size_t room = vector->room ? vector->room : 16;
	void *data;

	if (more <= vector->room - vector->count)
		return true;
	if (more > SIZE_MAX / element_bytes / 2 - vector->count)
		return false;
	while (room < vector->count + more)
		room *= 2;
	data = realloc(vector->data, room * element_bytes);
	if (!data)
		return false;
	vector->data = data;
	vector->room = room;
	return true;
}

/* Append `more` elements; `from` NULL appends zeros. */
static inline bool ppi_vector_add(struct ppi_vector *vector,
                                  size_t element_bytes, const void *from,
                                  size_t more)
{
	char *end;

	if (!ppi_vector_reserve(vector, element_bytes, more))
		return false;
	if (more == 0) /* and there may be no memory to point into */
		return true;
	end = (char *)vector->data + vector->count * element_bytes;
	if (from)
		memcpy(end, from, more * element_bytes);
	else
		memset(end, 0, more * element_bytes);
	vector->count += more;
	return true;
}

static inline void ppi_vector_free(struct ppi_vector *vector)
{
	free(vector->data);
	memset(vector, 0, sizeof(*vector));
}

/* The elements of a vector, as an array of `type`. */
#define PPI_AT(vector, type) ((type *)(vector)->data)

#endif
