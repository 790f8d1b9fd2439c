mkdir set
weir bench set --no-limits --min-of-read 0.5
