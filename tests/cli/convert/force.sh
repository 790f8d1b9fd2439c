# --force replaces what weir convert made, and nothing else.
weir gen caltech101 in -n 4 -c 2 -q > /dev/null
weir convert in out --to tar > /dev/null
weir convert in out --to jpeg --force > /dev/null
test "$(cd out && echo *)" = "class_0000 class_0001 classes.txt"
for mine in out/thesis.tex out/class_0000/mine.jpg; do
    echo precious > "$mine"
    weir convert in out --to tar --force 2> said && exit 9
    grep -q "weir convert\( did not make\| made\)" said
    test "$(cat "$mine")" = precious
    rm "$mine"
done
weir convert in out --to tar --force > /dev/null
test "$(find . -mindepth 1 -maxdepth 1 | wc -l)" -eq 3
