# An epoch that was resumed ends as the others do: with a validation, and after as
# many iterations, although samples are broken and others came twice; and what
# is learned is the same.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
for broken in set/class_0001/*[13579].jpg; do
    echo broken >"$broken"
done
validations() {
    python3 -c '
import json, sys
record = json.load(sys.stdin)
print(record["result"]["iterations"], *(v["iteration"] for v in record["validations"]))
print(record["result"]["weights_digest"], file=open(sys.argv[1], "w"))' "$1"
}
tiny set --epochs 3 --json | validations whole
for at in 2 5 8; do
    tiny set -i "$at" --ckpt "run$at" >/dev/null
    tiny set -i "$((at + 1))" --ckpt "run$at" --resume >/dev/null
    tiny set --epochs 3 --ckpt "run$at" --resume --json | validations digest
    cmp digest whole
done
