# SPDX-License-Identifier: MIT
# doc/: manual pages (mdoc) are installed; the rest is for reading in the tree.

dist_man_MANS += \
	doc/man/libportprof.3 \
	doc/man/portprof.1 \
	doc/man/portprof-backends.7 \
	doc/man/portprof-doctor.1 \
	doc/man/portprof-events.7 \
	doc/man/portprof-list.1 \
	doc/man/portprof-record.1 \
	doc/man/portprof-report.1 \
	doc/man/portprof-selftest.1 \
	doc/man/portprof-stat.1 \
	doc/man/portprof.conf.5
EXTRA_DIST += doc/architecture.md doc/contract.md \
	doc/file-format.md doc/platforms/bsd.md doc/platforms/glibc.md \
	doc/platforms/solaris.md
