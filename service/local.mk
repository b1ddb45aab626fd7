# SPDX-License-Identifier: MIT
# service/: portprof record --push as a service of systemd, of FreeBSD's rc(8) and of
# SMF. Installed to be copied: nothing runs that nobody has asked for (doc/fleet.md).

servicedir = $(pkgdatadir)/systemd
dist_service_DATA = service/portprofd.conf service/portprof.sysusers \
	service/portprof.tmpfiles
nodist_service_DATA = service/portprofd.service
rcdir = $(pkgdatadir)/rc.d
nodist_rc_SCRIPTS = service/portprofd
smfdir = $(pkgdatadir)/smf
nodist_smf_DATA = service/portprofd.xml
EXTRA_DIST += service/portprofd.rc.in service/portprofd.service.in \
	service/portprofd.xml.in
CLEANFILES += service/portprofd service/portprofd.service service/portprofd.xml
in_place = $(AM_V_GEN)$(MKDIR_P) service && $(SED) 's|@bindir[@]|$(bindir)|g'
service/portprofd.service: service/portprofd.service.in Makefile
	$(in_place) $(srcdir)/service/portprofd.service.in >$@
service/portprofd: service/portprofd.rc.in Makefile
	$(in_place) $(srcdir)/service/portprofd.rc.in >$@
service/portprofd.xml: service/portprofd.xml.in Makefile
	$(in_place) $(srcdir)/service/portprofd.xml.in >$@
