# An empty file.
# SPDX-License-Identifier: Apache-2.0
: >a.json
weir report a.json
