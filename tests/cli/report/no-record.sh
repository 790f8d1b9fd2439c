# Without a record it is wrong usage.
# SPDX-License-Identifier: Apache-2.0
weir report
