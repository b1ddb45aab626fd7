/* SPDX-License-Identifier: MIT */
/* What is used of <stdio.h> of POSIX.1-2008. */
#ifndef OS_STDIO_H
#define OS_STDIO_H

#include <stdarg.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct os_file FILE;
extern FILE *os_stderr;
#define stderr os_stderr

FILE *fopen(const char *restrict path, const char *restrict mode);
FILE *fdopen(int fd, const char *mode);
FILE *open_memstream(char **text, size_t *bytes);
int fclose(FILE *file);
int fflush(FILE *file);
int ferror(FILE *file);
int fileno(FILE *file);
int fputc(int letter, FILE *file);
int fputs(const char *restrict text, FILE *restrict file);
char *fgets(char *restrict line, int bytes, FILE *restrict file);
size_t fread(void *restrict to, size_t bytes, size_t count,
             FILE *restrict file);
size_t fwrite(const void *restrict from, size_t bytes, size_t count,
              FILE *restrict file);
ssize_t getline(char **restrict line, size_t *restrict room,
                FILE *restrict file);
int snprintf(char *restrict out, size_t bytes, const char *restrict format,
             ...);
int vsnprintf(char *restrict out, size_t bytes, const char *restrict format,
              va_list list);
int fprintf(FILE *restrict file, const char *restrict format, ...);
int fscanf(FILE *restrict file, const char *restrict format, ...);
int sscanf(const char *restrict text, const char *restrict format, ...);

#endif
