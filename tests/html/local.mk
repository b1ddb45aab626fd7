# SPDX-License-Identifier: MIT
# tests/html/: the page of report --html, in a browser and without one.

SCRIPT_TESTS += tests/html/check-page.sh
SCRIPT_TESTS_ALL += tests/html/check-browser.sh
EXTRA_DIST += tests/html/browser.py tests/html/page.py \
	tests/html/reader.py tests/html/try_links.py tests/html/try_owners.py \
	tests/html/try_compare.py tests/html/try_page.py \
	tests/html/write_profile.py
