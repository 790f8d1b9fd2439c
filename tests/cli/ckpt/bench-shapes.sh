# The state from a list of shapes; a wrong line is named.
mkdir d
printf 'a F32 100x10\n# a remark\nb BF16 7\nstep I64 scalar\n' >shapes
weir ckpt bench d --state shapes --moments 0 --saves 1 --warmups 0 --ways fast | head -1
printf 'a F32 100x10\nb F33 7\n' >shapes
weir ckpt bench d --state shapes
