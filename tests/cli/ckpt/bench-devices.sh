# Two folders are what they are: no device is played in them unnoticed.
mkdir a b
weir ckpt bench a b --slow-device hdd --state small
