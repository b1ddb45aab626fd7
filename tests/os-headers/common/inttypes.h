/* SPDX-License-Identifier: MIT */
/* Formats of C11's <inttypes.h>, as clang has them for the system. */
#ifndef OS_INTTYPES_H
#define OS_INTTYPES_H

#include <stdint.h>

#define PRIu32 __UINT32_FMTu__
#define PRId64 __INT64_FMTd__
#define PRIu64 __UINT64_FMTu__
#define PRIx64 __UINT64_FMTx__
#define SCNu64 __UINT64_FMTu__

#endif
