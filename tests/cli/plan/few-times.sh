# One batch explains nothing.
echo "1, 40" >log
weir plan --stalls log
