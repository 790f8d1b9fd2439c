# A record that is not there.
# SPDX-License-Identifier: Apache-2.0
weir report a.json
