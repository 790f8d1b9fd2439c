# Plans as text: the answer first, the life of a batch, what-if; several stand
# side by side, and are not compared.
# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || {
    echo "no python3 to make records with" >&2
    exit 77
}
make() { python3 "$(dirname "$0")/../../data/records/make.py" "$@"; }
for kind in plan plan-tensor plan-one plan-scale plan-explain; do
    make $kind >$kind.json
done
for record in plan plan-scale plan-explain; do
    echo "--- $record"
    LC_ALL=C weir report $record.json
done
for locale in C C.UTF-8; do
    echo "--- $locale"
    LC_ALL=$locale weir report plan-one.json | sed -n '/^The life/,/Hatched/p'
done
echo "--- several"
LC_ALL=C weir report plan.json plan-tensor.json
weir report --compare plan.json plan-tensor.json 2>&1 || echo "exit $?"
weir report --as csv plan-one.json | grep -c ',lanes,'
