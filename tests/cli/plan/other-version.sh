# A record of another version.
echo '{"schema": "weir-record", "version": 9, "command": "bench", "time": "t"}' >r.json
weir plan r.json
