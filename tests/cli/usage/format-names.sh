# The help of --format names every format that there is.
touch x
if weir inspect x --format nonsense 2>err; then
    exit 1
fi
names=$(sed -n "s/.*'nonsense' is not one of //p" err | tr -d ,)
test -n "$names"
for command in inspect bench convert stage; do
    # Wrapped lines are joined; the text ends at the next option.
    help=$(weir "$command" --help | tr '\n' ' ' | sed 's/.*--format//; s/ --.*//')
    for name in $names; do
        case $help in
        *"$name"*) ;;
        *) echo "weir $command --help: --format without '$name'" ;;
        esac
    done
done
