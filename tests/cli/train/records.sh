# Labels inside records: classes.txt beside them says how many classes there are,
# or --classes does; what is learned is what the pictures teach.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
weir convert set records --to tfrecord --quiet >/dev/null
tiny set -i 3 --json | result weights_digest >pictures
tiny records -i 3 --json | result weights_digest | cmp - pictures
mv records/classes.txt .
try() {
    code=0
    tiny records -i 3 "$@" >out 2>err || code=$?
    sed 's/: sample [0-9]* has label [0-9]/: sample N has label N/' err
    echo "exit $code"
}
try
try --classes 2
tiny records -i 3 --classes 4 --json | result weights_digest | cmp - pictures
# Where nothing is computed, nothing has to be known of them.
try --accelerator none
