# SPDX-License-Identifier: MIT
# doc/: manual pages (mdoc) are installed; the rest is for reading in the tree.

dist_man_MANS +=
EXTRA_DIST += doc/contract.md
