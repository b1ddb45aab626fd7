# SPDX-License-Identifier: MIT
# tests/rust/: the Rust example, with the library that was built.

SCRIPT_TESTS_ALL += tests/rust/check-rust.sh
