# A trace is known by its first bytes, and shown in four forms.
# SPDX-License-Identifier: Apache-2.0
trace="$(dirname "$0")/../../fuzz/corpus/trace_file/all-kinds"
weir report "$trace" | grep -e "^Program" -e "^I/O takes"
weir report --as csv "$trace" | head -1
weir report --as chrome "$trace" --output t.json
tail -1 t.json
weir report --as darshan "$trace" | grep -c "<module>"
ls
