# --force replaces what was generated, and nothing else.
weir gen caltech101 d -n 4 -c 4 > /dev/null
weir gen caltech101 d -n 2 -c 2 --force > /dev/null
test "$(cd d && echo *)" = "class_0000 class_0001"
echo precious > d/thesis.tex
weir gen caltech101 d -n 2 --force 2> said && exit 9
grep -q "holds 'thesis.tex'" said
test "$(cat d/thesis.tex)" = precious
test "$(find . -mindepth 1 -maxdepth 1 | wc -l)" -eq 2
