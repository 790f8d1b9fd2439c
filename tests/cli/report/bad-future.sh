# A record of a later version is refused.
# SPDX-License-Identifier: Apache-2.0
echo '{"schema": "weir-record", "version": 7}' >a.json
weir report a.json
