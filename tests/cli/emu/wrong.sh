mkdir d
printf 'like = hdd\nseek = 5 miles\n' >my.profile
weir inspect emu:d || true
weir inspect emu:tape:d || true
weir inspect emu:none.profile:d || true
weir inspect emu:my.profile:d
