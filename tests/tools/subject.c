/* SPDX-License-Identifier: MIT */
/* Functions of all kinds, to be named by the symbolizer. Never run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int subject_visible(int x);
int subject_alias(int x) __attribute__((alias("subject_visible")));
int _subject_plain(int x);
int subject_weak(int x) __attribute__((weak));

__attribute__((noinline)) static int hidden(int x)
{
	puts("hidden");
	return x * 3 + (int)strlen(getenv("HOME"));
}

__attribute__((noinline)) int subject_visible(int x)
{
	return hidden(x) + hidden(x + 1);
}

__attribute__((noinline)) int _subject_plain(int x)
{
	return subject_visible(x) - x / 7;
}

__attribute__((noinline)) int subject_weak(int x)
{
	return _subject_plain(x) + printf("%d\n", x);
}

int main(int argc, char **argv)
{
	(void)argv;
	return subject_weak(argc) + subject_alias(argc);
}
