# What is no JSON is refused with its line.
# SPDX-License-Identifier: Apache-2.0
printf '{\n"a":\n}' >a.json
weir report a.json
