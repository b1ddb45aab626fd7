/* SPDX-License-Identifier: MIT */
/* C11's <inttypes.h>; formats as clang has them for the system. */
#ifndef OS_INTTYPES_H
#define OS_INTTYPES_H

#include <stdint.h>

#define PRIu32 __UINT32_FMTu__
#define PRId64 __INT64_FMTd__
#define PRIu64 __UINT64_FMTu__
#define PRIx64 __UINT64_FMTx__
#define SCNu64 __UINT64_FMTu__
#define SCNx64 __UINT64_FMTx__
#define PRId32 __INT32_FMTd__
#define PRIx32 __UINT32_FMTx__
#define PRIX64 __UINT64_FMTX__
#define PRIu16 __UINT16_FMTu__
#define PRIx16 __UINT16_FMTx__
#define PRIuMAX __UINTMAX_FMTu__
#define PRIdMAX __INTMAX_FMTd__
#define PRIxMAX __UINTMAX_FMTx__
#define PRIxPTR __UINTPTR_FMTx__
#define PRIuPTR __UINTPTR_FMTu__
#define PRIu8 __UINT8_FMTu__
#define SCNu32 __UINT32_FMTu__
#define SCNd64 __INT64_FMTd__
#define SCNx32 __UINT32_FMTx__

intmax_t strtoimax(const char *restrict text, char **restrict end, int base);
uintmax_t strtoumax(const char *restrict text, char **restrict end, int base);
#define SCNxPTR __UINTPTR_FMTx__

#endif
