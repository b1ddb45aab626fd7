/* SPDX-License-Identifier: MIT */
/* Reading unsigned numbers, strictly: strtoull takes signs, blanks, octal. */
#include "api/internal/number.h"

#include <stdbool.h>

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
