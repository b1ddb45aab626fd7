# SPDX-License-Identifier: MIT
# doc/: manual pages (mdoc) are installed; the rest is for reading in the tree.

dist_man_MANS += \
	doc/man/libportprof.3 \
	doc/man/portprof.1 \
	doc/man/portprof-annotate.1 \
	doc/man/portprof-browse.1 \
	doc/man/portprof-backends.7 \
	doc/man/portprof-compat.7 \
	doc/man/portprof-config.1 \
	doc/man/portprof-diff.1 \
	doc/man/portprof-doctor.1 \
	doc/man/portprof-events.7 \
	doc/man/portprof-export.1 \
	doc/man/portprof-fetch.1 \
	doc/man/portprof-list.1 \
	doc/man/portprof-profil.3 \
	doc/man/portprof-push.1 \
	doc/man/portprof-merge.1 \
	doc/man/portprof-names.1 \
	doc/man/portprof-record.1 \
	doc/man/portprof-report.1 \
	doc/man/portprof-top.1 \
	doc/man/portprof-selftest.1 \
	doc/man/portprof-stat.1 \
	doc/man/portprof-waiting.7 \
	doc/man/portprof.conf.5 \
	doc/man/portprof_backend.3 \
	doc/man/portprof_catalogue.3 \
	doc/man/portprof_config.3 \
	doc/man/portprof_event.3 \
	doc/man/portprof_exec.3 \
	doc/man/portprof_gmon.3 \
	doc/man/portprof_group.3 \
	doc/man/portprof_label.3 \
	doc/man/portprof_label_only.3 \
	doc/man/portprof_profile.3 \
	doc/man/portprof_record.3 \
	doc/man/portprof_region.3 \
	doc/man/portprof_session.3 \
	doc/man/portprof_sink.3 \
	doc/man/portprof_status.3 \
	doc/man/portprof_tool.3 \
	doc/man/portprof_version.3
EXTRA_DIST += doc/page.png doc/page-dark.png doc/architecture.md doc/beside-peers.md \
	doc/ci.md doc/contract.md doc/cpp.md doc/file-format.md doc/fleet.md doc/fortran.md \
	doc/labels.md doc/moving.md doc/packaging.md doc/perf-event-open.md doc/python.md doc/runtimes.md \
	doc/waits.md \
	doc/platforms/dragonfly.md doc/platforms/freebsd.md doc/platforms/glibc.md \
	doc/platforms/linux.md doc/platforms/netbsd.md doc/platforms/openbsd.md \
	doc/platforms/solaris.md doc/security.md doc/walks.md

# man finds each function by its name, too: a file of one line leads to the page
# of its header, whose NAME section lists it.
MAN_LINKS = for page in $(srcdir)/doc/man/portprof_*.3; do \
	for name in `$(SED) -n '/^\.Sh SYNOPSIS/q; \
			s/^\.Nm \(portprof_[a-z0-9_]*\).*/\1/p' $$page`; do \
		to=`basename $$page`; link="$(DESTDIR)$(man3dir)/$$name.3"; \
		test $$name.3 = $$to ||

install-data-hook:
	@$(MAN_LINKS) { echo ".so man3/$$to" >"$$link" && chmod 644 "$$link"; } || \
		exit 1; done; done

uninstall-hook:
	@$(MAN_LINKS) rm -f "$$link"; done; done
