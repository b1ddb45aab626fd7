/* SPDX-License-Identifier: MIT */
/* How a function of the library is marked as visible to callers. */

#ifndef PORTPROF_EXPORT_H
#define PORTPROF_EXPORT_H

/*
 * Stands before every function of the public interface. The library is
 * compiled with hidden visibility, so what lacks this mark cannot be called
 * from outside; tests/lint/check-exports.sh holds the marks, portprof.map
 * and the built library together.
 */
#if defined(__GNUC__) || defined(__clang__)
#define PORTPROF_API __attribute__((visibility("default")))
#else
#define PORTPROF_API
#endif

/* A function that is called every few nanoseconds: the call goes straight to it, not
 * through the stub of late binding, which is a jump more. */
#ifdef __has_attribute
#if __has_attribute(noplt)
#define PORTPROF_NO_STUB __attribute__((noplt))
#endif
#endif
#ifndef PORTPROF_NO_STUB
#define PORTPROF_NO_STUB
#endif

/* A cast in an inline function of these headers: C++ warns of C's own. */
#ifdef __cplusplus
#define PORTPROF_CAST(type, value) static_cast<type>(value)
#else
#define PORTPROF_CAST(type, value) ((type)(value))
#endif

#endif /* PORTPROF_EXPORT_H */
