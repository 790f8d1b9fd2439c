# Classes of unequal size: what guessing the most common one gets stands beside
# the accuracy, for a network that learned nothing else looks good otherwise.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set 20 2
find set -name '*.jpg' | sort | awk '{ print $0 "," (NR > 18) }' >uneven.csv
tiny uneven.csv -i 2 --holdout 0.5 | grep -o 'of 10 samples .*common class'
tiny uneven.csv -i 2 --holdout 0.5 --json >run.json
result chance <run.json
result most_common <run.json | grep -c '^0.9$\|^0.8$\|^1.0$'
tiny set -i 2 --holdout 0.5 | grep -c 'common class' || :
