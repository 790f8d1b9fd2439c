# Kinds are told by their bytes; a name that says another one is noted.
mkdir -p d/a
printf 'P6 2 1 255\nabcdef' >d/a/1.ppm
printf 'P2 2 1 9\n3 4\n' >d/a/2.pgm
printf 'P4 2 1\n\100' >d/a/3.pbm
printf 'P5 1 1 255\nx' >d/a/4.webp
printf 'BM\76\0\0\0\0\0\0\0\66\0\0\0\50\0\0\0\1\0\0\0\1\0\0\0\1\0\30\0\0\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0abc\0' >d/a/5.bmp
weir inspect d --verify | grep 'formats\|misnamed\|broken'
