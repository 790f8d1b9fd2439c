# JSON of another kind is refused.
# SPDX-License-Identifier: Apache-2.0
echo '{"version": 1, "runs": []}' >a.json
weir report a.json
