# SPDX-License-Identifier: MIT
# examples/: programs that use the library as a user would; built by make.
# They include <portprof.h> only and link libportprof.la only.

noinst_PROGRAMS += \
	examples/01_wordcount \
	examples/02_range \
	examples/03_count \
	examples/04_regions \
	examples/05_events \
	examples/06_event_loop \
	examples/07_adopt_thread \
	examples/08_group_values \
	examples/09_waits \
	examples/10_labels_pool
examples_01_wordcount_LDADD =
examples_02_range_LDADD = libportprof.la
examples_03_count_LDADD = libportprof.la
examples_04_regions_LDADD = libportprof.la
examples_05_events_LDADD = libportprof.la
examples_06_event_loop_LDADD = libportprof.la
examples_07_adopt_thread_LDADD = libportprof.la
examples_08_group_values_LDADD = libportprof.la
examples_09_waits_LDADD = libportprof.la -lpthread
examples_10_labels_pool_LDADD = libportprof.la -lpthread

# Built by tests/tools/check-examples.sh, where libevent, libmicrohttpd and a
# C++ compiler are.
EXTRA_DIST += examples/http_labels.c examples/libevent_loop.c examples/otel_threads.cc

# Built by tests/tools/check-bindings.sh and tests/fortran/check-fortran.sh, where there
# is such a compiler.
EXTRA_DIST += examples/cpp_scopes.cc \
	examples/fortran_profile.f90 examples/fortran_regions.f90

# Built by tests/rust/check-rust.sh, where cargo is.
EXTRA_DIST += \
	examples/rust/Cargo.toml \
	examples/rust/README.md \
	examples/rust/portprof/Cargo.toml \
	examples/rust/portprof/examples/count.rs \
	examples/rust/portprof/src/lib.rs \
	examples/rust/portprof/tests/promises.rs \
	examples/rust/portprof-sys/Cargo.toml \
	examples/rust/portprof-sys/build.rs \
	examples/rust/portprof-sys/examples/layout.rs \
	examples/rust/portprof-sys/src/lib.rs
