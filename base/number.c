/* SPDX-License-Identifier: MIT */
/* Reading unsigned numbers and times, strictly: strtoull takes signs, blanks,
 * octal. */
#include "base/number.h"

#include <stdbool.h>
#include <string.h>

static int digit_of(char letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	if (letter >= 'a' && letter <= 'f')
		return letter - 'a' + 10;
	if (letter >= 'A' && letter <= 'F')
		return letter - 'A' + 10;
	return 16;
}

const char *ppi_number_read(const char *text, size_t length, uint64_t *value)
{
	bool is_hex = length > 1 && text[0] == '0' &&
	              (text[1] == 'x' || text[1] == 'X');
	unsigned base = is_hex ? 16 : 10;
	uint64_t sum = 0;

	if (length == 0)
		return "is empty";
	if (text[0] == '-')
		return "is negative";
	if (!is_hex && length > 1 && text[0] == '0')
		return "begins with 0, which could mean octal";
	if (is_hex && length == 2)
		return "ends after 0x";
	for (size_t i = is_hex ? 2 : 0; i < length; i++) {
		unsigned digit = (unsigned)digit_of(text[i]);

		if (digit >= base)
			return "is not a decimal or 0x-hexadecimal number";
		if (sum > (UINT64_MAX - digit) / base)
			return "does not fit in 64 bits";
		sum = sum * base + digit;
	}
	*value = sum;
	return NULL;
}

/* The digits behind a point, of `all` milliseconds. */
static uint64_t read_fraction(const char *text, size_t length, uint64_t all)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < length && all >= 10; i++) {
		all /= 10;
		sum += (uint64_t)digit_of(text[i]) * all;
	}
	return sum;
}

const char *ppi_time_read(const char *text, uint64_t *ms)
{
	static const char digits[] = "0123456789";
	size_t whole = strspn(text, digits), part = 0, end = whole;
	uint64_t number, unit;
	const char *wrong;

	if (text[whole] == '.') {
		part = strspn(text + whole + 1, digits);
		end += 1 + part;
	}
	if (text[0] == '-')
		return "is negative";
	if (whole == 0 || end == whole + 1 || text[end] == '.')
		return "is not a time";
	if (strcmp(text + end, "ms") == 0)
		unit = 1;
	else if (strcmp(text + end, "s") == 0)
		unit = 1000;
	else
		return text[end] ? "has a unit that is neither ms nor s" :
		                   "has no unit";
	wrong = ppi_number_read(text, whole, &number);
	if (wrong)
		return wrong;
	if (number > UINT64_MAX / 1000 - 1)
		return "does not fit in 64 bits";
	*ms = number * unit;
	if (part)
		*ms += read_fraction(text + whole + 1, part, unit);
	return NULL;
}
