# Data made, read, repacked and staged on emulated devices are the same data.
weir gen -n 24 -c 3 caltech101 plain >made
weir gen -n 24 -c 3 caltech101 emu:ssd:emulated >made
diff -r plain emulated
weir inspect emu:null:plain | sed 's/^emu:null://; s/, built in.*//' >a
weir inspect plain | sed 's/, built in.*//' >b
diff a b
weir convert --to tfrecord emu:optane:plain emu:nvme:records >made
weir convert --to tfrecord plain other >made
diff records/plain-00000-of-00001.tfrecord other/plain-00000-of-00001.tfrecord
mkdir tier
weir stage emu:lustre:plain emu:optane:tier:10MiB | sed -n 1,2p
printf 'like = ssd # but slower\nread_bandwidth = 50 MB/s\n' >own.profile
weir bench --json --stages read -r 2 --no-limits emu:own.profile:plain >record
grep -q samples_per_s record
