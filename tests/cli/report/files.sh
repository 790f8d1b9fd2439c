# Output and page go to files; stdout stays empty.
# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || {
    echo "no python3 to make records with" >&2
    exit 77
}
make() { python3 "$(dirname "$0")/../../data/records/make.py" "$@"; }
make bench >a.json
weir report a.json --output a.txt --html a.html || {
    weir report a.json --html x.html 2>&1 | grep -q "built without" || exit 1
    echo "built without pages" >&2
    exit 77
}
head -1 a.txt
grep -c "</html>" a.html
ls
