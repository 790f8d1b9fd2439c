command -v bash >/dev/null || { echo "no bash" >&2; exit 77; }
weir completion bash >weir.bash
cat >ask <<'END'
. ./weir.bash
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _weir; echo "$*: ${COMPREPLY[*]}"; }
ask weir cac
ask weir cache w
ask weir cache --meta
ask weir cache drop --color n
ask weir cache drop --color = al
ask weir completion ""
ask weir help compl
END
bash ask
