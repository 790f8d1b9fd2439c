# A trace is shown as records are, too: as JSON for programs.
# SPDX-License-Identifier: Apache-2.0
weir report --json "$(dirname "$0")/../../fuzz/corpus/trace_file/all-kinds" |
    python3 -c 'import json, sys; print(type(json.load(sys.stdin)).__name__)'
