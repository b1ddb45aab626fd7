# SPDX-License-Identifier: MIT
# tests/mutation/: the cases fail when the guards are away.

if HAVE_CMOCKA
SCRIPT_TESTS_ALL += tests/mutation/check-mutation.sh
endif
EXTRA_DIST += tests/mutation/guards.txt tests/mutation/check-mutation.sh

# Without optimization and without what debuggers read: each is run once or twice, and
# compiling was most of the time.
AM_TESTS_ENVIRONMENT += \
	MUTATION_COMPILE='$(CC) $(DEFS) $(AM_CPPFLAGS) $(PATH_CPPFLAGS) $(PP_LIB_CFLAGS) $(CPPFLAGS) $(CFLAGS) -O0 -g0'; \
	MUTATION_LIBS='$(CMOCKA_LIBS) $(PP_LIB_LIBS) $(LIBS)'; \
	MUTATION_WRAP='$(WRAP_LDFLAGS)'; \
	MUTATION_WRAP_RING='$(WRAP_RING_LDFLAGS)'; \
	export MUTATION_COMPILE MUTATION_LIBS MUTATION_WRAP MUTATION_WRAP_RING;

# The table alone, or the guards whose words have GUARD.
check-mutation: $(PROFIL_TESTS)
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) \
		$(srcdir)/tests/mutation/check-mutation.sh $(GUARD)
.PHONY: check-mutation
