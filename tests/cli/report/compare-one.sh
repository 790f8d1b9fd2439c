# One record cannot be compared.
# SPDX-License-Identifier: Apache-2.0
weir report --compare a.json
