# Only a record of weir probe says what storage can give, and only of a trace.
# SPDX-License-Identifier: Apache-2.0
cat >bench.json <<'JSON'
{"schema": "weir-record", "version": 1, "command": "bench", "time": "2026-01-01T00:00:00Z", "weir": "0.1.0", "host": {}}
JSON
weir report --probe missing.json bench.json && exit 9
sed 's/"bench"/"probe", "tests": []/' bench.json >probe.json
code=0
weir report --probe probe.json bench.json || code=$?
[ $code -eq 2 ] || exit 9
weir report --probe bench.json bench.json
