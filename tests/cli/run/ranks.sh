# Ranks and accelerators share an epoch: the same samples with the same bytes at
# the same positions, whoever gets them. One result for all.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
digest() {
    "$@" --order shuffle --consume read --digest --json >out.json
    echo "$(of result.samples <out.json) $(of result.digest <out.json)"
}
digest kit reader.batch_size=12 >alone
digest kit reader.batch_size=3 -g 4 | cmp - alone
digest ranks 2 weir run kit.yaml data --no-selftest --monitor 0 \
    reader.batch_size=6 | cmp - alone
digest ranks 4 weir run kit.yaml data --no-selftest --monitor 0 \
    reader.batch_size=3 | cmp - alone
of config.ranks <out.json
of config.accelerators <out.json
cat out.1 out.2 out.3 err
for access in multi shared same collective; do
    ranks 2 weir run kit.yaml data --no-selftest --monitor 0 -g 2 \
        --file-access $access --json >out.json
    echo "$access $(of result.samples <out.json) $(of config.steps <out.json)"
done
