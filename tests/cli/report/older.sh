# B is older than A: said, with the command that compares them the right way.
# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || {
    echo "no python3 to make records with" >&2
    exit 77
}
make() { python3 "$(dirname "$0")/../../data/records/make.py" "$@"; }
make bench --no-monitor >new.json
sed 's/"time": "[0-9]*/"time": "2001/' new.json >old.json
weir report new.json old.json >shown
tr -s ' \n' ' ' <shown >line
grep -q "B is older than A" line
grep -q "weir report old.json new.json" line
weir report old.json new.json >shown
if grep -q 'is older' shown; then
    cat shown >&2
    exit 1
fi
