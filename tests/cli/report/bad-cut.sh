# A record that was cut off is refused.
# SPDX-License-Identifier: Apache-2.0
printf '{"schema": "weir-record", "version": 1, "command": "ben' >a.json
weir report a.json
