# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# Sourced by quickstart and by tests that build the tree once more; $srcdir is the tree.
#
# configure and libtool, which is run for each file that is compiled, take half of the time
# in a small shell, where there is one. What CONFIG_SHELL says already stays.
if [ -z "${CONFIG_SHELL-}" ] && command -v dash >/dev/null; then
	CONFIG_SHELL=$(command -v dash)
	export CONFIG_SHELL
fi

# An argument of make, for builds that only tests use and that have shared libraries:
# libtool.sh in front of libtool, where PIC objects have the flags that it knows.
# shellcheck disable=SC2034
quick_libtool="LIBTOOL=${CONFIG_SHELL:-\$(SHELL)} \$(top_builddir)/libtool"
# shellcheck disable=SC2034,SC2154
[ "$(uname -s)" != Linux ] ||
	quick_libtool="LIBTOOL=${CONFIG_SHELL:-sh} $srcdir/tests/tools/libtool.sh ${quick_libtool#*=}"

# make_depfiles: before configure, in the build's folder, the thousand files in which
# compilers will say what they read. It would make each with a shell and a mkdir.
make_depfiles() {
	# shellcheck disable=SC2016,SC2154
	sed -n '/^am__depfiles_remade =/,/[^\\]$/p' "$srcdir/Makefile.in" | tr '[:blank:]' '[\n*]' |
		sed -n 's,^\([^=]*\)\$(DEPDIR)/\(.*\.P[lo]*\)$,\1.deps/\2,p' >depfiles
	[ ! -s depfiles ] || {
		sed 's,/[^/]*$,,' depfiles | sort -u | xargs mkdir -p
		xargs touch <depfiles
	}
	rm -f depfiles
}
