/* SPDX-License-Identifier: MIT */
/* What is used of <stdio.h> of POSIX.1-2008, and vasprintf(3), which each of the
 * systems has. */
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
extern FILE *os_stdin, *os_stdout;
#define stdin os_stdin
#define stdout os_stdout
#define EOF (-1)
#define BUFSIZ 1024
#define _IOLBF 1
#define _IONBF 2
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2

FILE *freopen(const char *restrict path, const char *restrict mode,
              FILE *restrict file);
FILE *tmpfile(void);
FILE *fmemopen(void *restrict text, size_t bytes, const char *restrict mode);
FILE *popen(const char *command, const char *mode);
int pclose(FILE *file);
int feof(FILE *file);
void clearerr(FILE *file);
int fgetc(FILE *file);
int getc(FILE *file);
int getchar(void);
int ungetc(int letter, FILE *file);
int putc(int letter, FILE *file);
int putchar(int letter);
int puts(const char *text);
void perror(const char *words);
int fseek(FILE *file, long offset, int whence);
long ftell(FILE *file);
int fseeko(FILE *file, off_t offset, int whence);
off_t ftello(FILE *file);
void rewind(FILE *file);
int remove(const char *path);
int rename(const char *before, const char *after);
int setvbuf(FILE *restrict file, char *restrict room, int mode, size_t bytes);
ssize_t getdelim(char **restrict line, size_t *restrict room, int end,
                 FILE *restrict file);
int printf(const char *restrict format, ...);
int sprintf(char *restrict out, const char *restrict format, ...);
int vfprintf(FILE *restrict file, const char *restrict format, va_list list);
int vprintf(const char *restrict format, va_list list);
int dprintf(int fd, const char *restrict format, ...);
int vasprintf(char **out, const char *restrict format, va_list list);

#endif
