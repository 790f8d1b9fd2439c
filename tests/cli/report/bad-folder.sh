# A folder is no record.
# SPDX-License-Identifier: Apache-2.0
mkdir a.json
weir report a.json
