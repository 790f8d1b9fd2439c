# What fish itself offers.
command -v fish >/dev/null || { echo "no fish" >&2; exit 77; }
HOME=$PWD
export HOME
weir completion fish >weir.fish
touch file-a file-b
cat >ask.fish <<'END'
source weir.fish
for line in $argv
    echo $line:
    complete -C $line | string replace -r '\t.*' '' | sort
end
END
fish --no-config ask.fish 'weir cac' 'weir cache w' 'weir cache --meta' \
    'weir cache drop --color n' 'weir completion ' 'weir help compl' \
    'weir cache drop file-'
