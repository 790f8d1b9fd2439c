# The help explains every column of every table of a report.
# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || {
    echo "no python3 to make records with" >&2
    exit 77
}
make() { python3 "$(dirname "$0")/../../data/records/make.py" "$@"; }
for kind in bench probe train; do
    make $kind >$kind.json
    weir report --json $kind.json >$kind.out
done
make bench --seed 2 >other.json
weir report --json bench.json other.json >compared.out
weir report --help >help.txt
python3 - <<"END"
import json

# Tables that say by themselves what stands in them.
PLAIN = {"Records", "Data sets", "Sizes", "What is not the same",
         "Depth beyond which nothing is gained"}
help = open("help.txt").read()
columns = help[help.index("Columns"):help.index("\nExamples")]
known = {line[2:].split("  ")[0] for line in columns.split("\n")
         if line.startswith("  ") and line[2:3] != " "}
known |= {"p50 us", "p95 us", "p99 us", "p99.9 us", "B", "writes/s",
          "read MB/s", "write MB/s", "pass", "record", "disk", "MB",
          "iteration"}
seen = 0
for name in ("bench", "probe", "train", "compared"):
    for section in json.load(open(name + ".out"))["sections"]:
        for table in section["tables"]:
            if table["title"] in PLAIN:
                continue
            seen += 1
            missing = set(table["columns"]) - known
            assert not missing, (table["title"], missing)
assert seen > 8, seen
END
