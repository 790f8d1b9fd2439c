# Help, man page and completion scripts mention every option of every command.
weir completion bash >bash.txt
weir completion zsh >zsh.txt
weir completion fish >fish.txt
weir __options >options.txt
[ -s options.txt ]
missing=0
while read -r cmd option; do
    name=${option#--}
    [ -f "$cmd.help" ] || weir "$cmd" --help >"$cmd.help"
    [ -f "$cmd.man" ] || weir __man "$cmd" | sed 's/\\-/-/g' >"$cmd.man"
    for file in "$cmd.help" "$cmd.man"; do
        grep -qE -e "--(no-)?$name([^a-z-]|\$)" "$file" ||
            { echo "$file: no $option" >&2; missing=1; }
    done
    grep -qE -e "-\*:$cmd\) words=.* ${option}[ \"]" bash.txt ||
        { echo "bash: $cmd: no $option" >&2; missing=1; }
    sed -n "/^    $cmd)/,/;;/p" zsh.txt | grep -qE -e "${option}[]=['}[]" ||
        { echo "zsh: $cmd: no $option" >&2; missing=1; }
    grep -q "from $cmd' -l $name " fish.txt ||
        { echo "fish: $cmd: no $option" >&2; missing=1; }
done <options.txt
exit "$missing"
