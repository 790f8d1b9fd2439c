# What zsh itself offers, asked through a terminal of its own.
command -v zsh >/dev/null || { echo "no zsh" >&2; exit 77; }
mkdir functions
weir completion zsh >functions/_weir
touch file-a file-b
cat >child <<'END'
fpath=($PWD/functions $fpath)
autoload -Uz compinit && compinit -u -D
print -r -- "for weir: $_comps[weir]" >>answers
# Words are written down instead of shown; what only fills a variable is not.
compadd() {
    local -a words
    if [[ " $* " != *' -'[OAD]' '* ]]; then
        builtin compadd -A words "$@"
        (( $#words )) && print -rl -- $words >>answers
    fi
    builtin compadd "$@"
}
leave() { exit; }
comppostfuncs=(leave)
bindkey '^I' complete-word
END
cat >ask <<'END'
zmodload zsh/zpty
for line in "$@"; do
    print -r -- "$line:" >>answers
    zpty child zsh -f -i
    zpty -w child ". ./child"
    zpty -w -n child "$line"$'\t'
    while zpty -r child dump; do :; done
    zpty -d child
done
END
zsh -f ./ask 'weir cac' 'weir cache w' 'weir cache --meta' \
    'weir cache drop --color n' 'weir completion ' 'weir help compl' \
    'weir cache drop file-'
sed '/^for weir/d' answers
[ "$(grep -c '^for weir: _weir$' answers)" -eq 7 ]
