# Ranks share the files of a data set; its bytes do not depend on how many there
# are.
# shellcheck disable=SC1091
. "$(dirname "$0")/ranks.inc"
set -- default dataset.num_files_train=9 dataset.num_files_eval=2
what=$1
shift
weir gen "$what" one "$@" --quiet >/dev/null
for n in 2 4; do
    ranks $n weir gen "$what" many "$@" --json >out
    of out files
    of out made_files
    of out ranks
    diff -r one many
    rm -rf many
done
ranks 2 weir gen "$what" many "$@" | grep -c ' by 2 ranks of '
rm -rf many
start 2 weir gen tensors many
finish
cat err.*
[ ! -e many ]
