# SPDX-License-Identifier: MIT
# service/: portprof record --push as a service of systemd. Installed to be copied:
# nothing runs that nobody has asked for (doc/fleet.md).

servicedir = $(pkgdatadir)/systemd
dist_service_DATA = service/portprofd.conf service/portprof.sysusers \
	service/portprof.tmpfiles
nodist_service_DATA = service/portprofd.service
EXTRA_DIST += service/portprofd.service.in
CLEANFILES += service/portprofd.service
service/portprofd.service: service/portprofd.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) service && \
	$(SED) 's|@bindir[@]|$(bindir)|g' $(srcdir)/service/portprofd.service.in >$@
