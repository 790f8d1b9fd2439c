# JSON, but no record.
echo '{}' >r.json
weir plan r.json
