# A folder with other things in it is left alone.
mkdir s
echo mine >s/letter.txt
if weir study s --images 4 --only fig5 --quiet; then exit 1; fi
if weir study s --clean; then exit 1; fi
mkdir colon
if weir study colon/a:b --images 4 --only fig5 --quiet; then exit 1; fi
[ "$(find . | sort | tr '\n' ' ')" = ". ./colon ./s ./s/letter.txt " ]
exit 1
