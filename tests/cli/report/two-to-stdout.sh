# Page and text cannot both go to stdout.
# SPDX-License-Identifier: Apache-2.0
weir report --html - --as csv a.json
