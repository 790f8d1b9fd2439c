# CSV: one line a number, quoted where it must be.
# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || {
    echo "no python3 to make records with" >&2
    exit 77
}
make() { python3 "$(dirname "$0")/../../data/records/make.py" "$@"; }
make bench --no-monitor --kernel "Linux, \"own\"" >run.json
weir report --as csv --title x run.json >out.csv
python3 - <<"END"
import csv

rows = list(csv.DictReader(open("out.csv", newline="")))
assert set(rows[0]) == {"section", "kind", "name", "series", "x", "y",
                        "marked", "low", "high"}, rows[0]
host = [r["y"] for r in rows if r["kind"] == "fact" and r["name"] == "Host"]
assert host == ["host, Linux, \"own\""], host
bars = {(r["series"], r["x"]): float(r["y"]) for r in rows
        if r["name"] == "Samples per second by threads"}
assert set(bars) == {("prefetch 0", "1"), ("prefetch 0", "2"),
                     ("prefetch 2", "1"), ("prefetch 2", "2")}, bars
assert 990 < bars["prefetch 0", "1"] < 1010, bars
stalls = [r for r in rows if r["marked"] == "1"]
assert len(stalls) == 16, len(stalls)
numbers = [r for r in rows if r["series"] == "samples/s"
           and r["name"].startswith("Cases")]
assert len(numbers) == 4 and all(float(r["y"]) > 900 for r in numbers)
END
