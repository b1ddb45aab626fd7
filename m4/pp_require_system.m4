# SPDX-License-Identifier: MIT
# What the C library and the kernel must have.

# PP_REQUIRE_SYSTEM(FUNCTIONS, CONSTANTS OF <fcntl.h>)
# -----------------------------------------------------
# Ends configure with the systems that work when one is missing.
AC_DEFUN([PP_REQUIRE_SYSTEM], [
pp_missing=
m4_foreach_w([pp_name], [$1], [
AC_CHECK_FUNC(pp_name, [], [pp_missing="$pp_missing pp_name"])])
m4_foreach_w([pp_name], [$2], [
AC_CHECK_DECL(pp_name, [], [pp_missing="$pp_missing pp_name"],
  [[#include <fcntl.h>]])])
AS_IF([test -n "$pp_missing"],
  [AC_MSG_ERROR([this system lacks$pp_missing: use Linux, FreeBSD 10, NetBSD 6, OpenBSD 7, DragonFly 6, illumos, or what is newer (doc/platforms)])])
])
