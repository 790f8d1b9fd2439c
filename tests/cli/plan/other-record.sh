# A record that says nothing of a plan.
echo '{"schema": "weir-record", "version": 1, "command": "study", "time": "t"}' >r.json
weir plan r.json
