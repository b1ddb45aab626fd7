# SPDX-License-Identifier: MIT
# tests/python/: the Python module, with the library that was built.

SCRIPT_TESTS_ALL += tests/python/check-python.sh
EXTRA_DIST += tests/python/cases.py tests/python/layout.py
