# Few descriptors: limited, with the command that mends it; weir still feeds.
prlimit --nofile=32 weir doctor . | grep -A5 '  open files '
