# A folder with something in it stays as it is.
mkdir d
echo precious > d/thesis.tex
weir gen caltech101 d -n 2
