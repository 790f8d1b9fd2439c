#!/usr/bin/python3
# text_vs_pandas.py - CSV and JSON that other programs write and weir reads.
# SPDX-License-Identifier: Apache-2.0
"""usage: text_vs_pandas.py TEXT_DUMP TEXT_WRITE

What a pipeline delivers of files that pandas, numpy and json write must be,
bit by bit, what they read themselves, for any number of threads and with
either way of reading; and they must read what weir's writers write. Exit code
1: something differs."""

import gzip
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import pandas as pd
except ImportError:
    print("numpy or pandas is not installed")
    sys.exit(77)

DUMP, WRITE = sys.argv[1:3]
failures = 0
checks = 0


def check(what, good, *more):
    global failures, checks
    checks += 1
    if not good:
        failures += 1
        print("FAIL", what, *more)


def run(dataset, schema, threads, io, *fields):
    return subprocess.run([DUMP, dataset, schema, str(threads), io, *fields],
                          capture_output=True, text=True).stdout


def dump(dataset, schema="-", *fields):
    """{(id, field): bytes}, {id: label}, other lines; the same for all."""
    first = run(dataset, schema, 1, "uring", *fields)
    for threads, io in ((3, "uring"), (2, "blocking")):
        check(f"{dataset}: {threads} threads, {io}",
              run(dataset, schema, threads, io, *fields) == first)
    got, labels, other = {}, {}, []
    for line in first.splitlines():
        words = line.split(" ")
        if len(words) == 3 and words[1] == "labels":
            labels[int(words[0])] = int(words[2])
        elif len(words) == 3 and words[0].isdigit():
            got[int(words[0]), words[1]] = bytes.fromhex(words[2])
        else:
            other.append(line)
    return got, labels, other


def compare(what, got, name, want):
    for i, row in enumerate(want):
        row = np.ascontiguousarray(row)
        if got.get((i, name)) != row.tobytes():
            check(f"{what}: sample {i}", False, got.get((i, name)), row)
            return
    check(what, len(want) > 0)


def numbers(rng, shape):
    """Floats of every size, with what is odd among them."""
    bits = rng.integers(0, 2**64, shape, dtype=np.uint64)
    values = bits.view(np.float64)
    values[~np.isfinite(values)] = 0
    values[0, :5] = 0.1, -0.0, 5e-324, 1.7976931348623157e308, 1e22
    return values


def csv_files(rng, folder):
    values = numbers(rng, (50, 7))
    path = os.path.join(folder, "a.csv")
    pd.DataFrame(values).to_csv(path, index=False)
    got, _, other = dump(path + "#header=yes", "x=tensor:f64")
    compare("pandas to_csv, f64", got, "x", values)
    check("no complaints", not other, other)
    read = pd.read_csv(path, float_precision="round_trip").to_numpy()
    check("as pandas reads it", read.tobytes() == values.tobytes())
    single = rng.standard_normal((50, 9)).astype(np.float32)
    np.savetxt(os.path.join(folder, "b.tsv"), single, delimiter="\t")
    got, _, other = dump(os.path.join(folder, "b.tsv"))
    compare("savetxt, f32", got, "x", single)
    whole = rng.integers(-2**63, 2**63, (20, 4), dtype=np.int64)
    pd.DataFrame(whole).to_csv(os.path.join(folder, "c.csv"), index=False,
                               sep=";")
    got, _, other = dump(os.path.join(folder, "c.csv#header=yes"),
                         "x=tensor:i64")
    compare("integers", got, "x", whole)


def csv_words(rng, folder):
    texts = ['plain', 'a,b', 'say "hi"', 'two\nlines', ' blanks ', 'caf\u00e9',
             '', 'x' * 300, "'", '"""']
    frame = pd.DataFrame({"a": rng.random(10), "kind": list("cabcabcaba"),
                          "b": [None if k == 3 else k / 4 for k in range(10)],
                          "text": texts})
    path = os.path.join(folder, "words.csv")
    for ending in ("\n", "\r\n"):
        frame.to_csv(path, index=False, lineterminator=ending)
        got, labels, other = dump(path + "#label=kind", "-", "x,text")
        compare("columns of numbers", got, "x",
                frame[["a", "b"]].to_numpy(np.float32))
        check("words as classes",
              [labels[k] for k in range(10)] ==
              [ord(c) - ord("a") for c in frame["kind"]], labels)
        check("texts", [got[k, "text"].decode() for k in range(10)] == texts)
        check("no complaints", not other, other)
    with open(path, "rb") as f, gzip.open(path + ".gz", "wb") as z:
        z.write(f.read())
    packed = dump(path + ".gz#label=kind", "-", "x,text")
    check("gzip", packed[:2] == (got, labels), packed[2])


def json_files(rng, folder):
    values = numbers(rng, (40, 6)).reshape(40, 2, 3)
    samples = [{"id": i, "data": {"x": v.tolist()}, "label": i % 5,
                "text": f"caf\u00e9 \U0001F600 \"{i}\"\n\\"}
               for i, v in enumerate(values)]
    path = os.path.join(folder, "a")
    with open(path + ".jsonl", "w") as f:
        f.writelines(json.dumps(s) + "\n" for s in samples)
    with open(path + ".json", "w") as f:
        json.dump(samples, f, indent=2, ensure_ascii=False)
    with gzip.open(path + ".ndjson.gz", "wt") as f:
        f.writelines(json.dumps(s, separators=(",", ":")) + "\n"
                     for s in samples)
    for name in (".jsonl", ".json", ".ndjson.gz"):
        got, labels, other = dump(
            f"{path}{name}#x=/data/x,label=/label,text=/text", "x=tensor:f64",
            "x,label,text")
        compare(name, got, "x", values)
        check(name + " labels", [labels[k] for k in range(40)] ==
              [s["label"] for s in samples])
        check(name + " texts", [got[k, "text"].decode() for k in range(40)] ==
              [s["text"] for s in samples])
        check(name + " no complaints", not other, other)
    plain = rng.standard_normal((40, 6))
    pd.DataFrame({"x": [v.tolist() for v in plain],
                  "y": np.arange(40)}).to_json(
        path + "2.jsonl", orient="records", lines=True, double_precision=15)
    got, labels, _ = dump(path + "2.jsonl", "x=tensor:f64")
    with open(path + "2.jsonl") as f:
        want = [json.loads(line)["x"] for line in f]
    compare("pandas to_json", got, "x", np.array(want))
    check("y", [labels[k] for k in range(40)] == list(range(40)))


def odd_first(rng, folder):
    """Files whose first samples are not as the others."""
    x = rng.standard_normal((90, 3)).astype(np.float32)
    frame = pd.DataFrame({"caf\u00e9": [v.tolist() for v in x],
                          "t": ["N/A"] + [k / 4 for k in range(1, 90)],
                          "label": [None] + list("cab" * 30)[1:]})
    path = os.path.join(folder, "odd.jsonl")
    frame.to_json(path, orient="records", lines=True, double_precision=15)
    with open(path) as f:
        check("pandas escapes names", "caf\\u00e9" in f.readline())
    got, labels, other = dump(path, "-", "x")
    compare("a name with an escape", got, "x", x)
    check("a first label that is missing", [labels.get(k) for k in range(90)] ==
          [-1] + [ord(c) - ord("a") for c in ("cab" * 30)[1:]], labels)
    got, _, other = dump(path + "#t=/t", "-", "t")
    check("a word for a number", len(got) == 89 and got[5, "t"] ==
          np.float32(1.25).tobytes() and len(other) >= 1, other)
    for first in ([-1] * 70, [-1, 1] * 35):
        path = os.path.join(folder, "late.csv")
        kinds = first + [k % 3 for k in range(20)]
        pd.DataFrame({"a": x[:, 0], "label": kinds}).to_csv(path, index=False)
        _, labels, other = dump(path)
        check("classes after -1", [labels.get(k) for k in range(90)] == kinds,
              labels, other)


def written(folder):
    """TEXT_WRITE writes 1,000 samples: x (f32, 2x3), d (f64), label, text."""
    for name in ("csv", "jsonl"):
        path = os.path.join(folder, "w." + name)
        raw = subprocess.run([WRITE, name, path], capture_output=True).stdout
        x = np.frombuffer(raw[:24000], np.float32).reshape(1000, 6)
        d = np.frombuffer(raw[24000:], np.float64)
        if name == "csv":
            frame = pd.read_csv(path, float_precision="round_trip",
                                keep_default_na=False,
                                na_values={f"x{k}": "nan" for k in range(6)})
            read = frame[[f"x{k}" for k in range(6)]].to_numpy()
            rest = frame["d"].to_numpy(), list(frame["text"]), frame["label"]
        else:
            with open(path) as f:
                rows = [json.loads(line) for line in f]
            read = np.array([np.ravel(r["x"]) for r in rows])
            rest = (np.array([r["d"] for r in rows]),
                    [r["text"] for r in rows], [r["label"] for r in rows])
        same = read.astype(np.float32)
        check(name + ": x is read back",
              np.array_equal(same, x, equal_nan=True))
        check(name + ": d is read back", rest[0].tobytes() == d.tobytes())
        check(name + ": text", rest[1] == [f'a "{k}",\nb' for k in range(1000)])
        check(name + ": label", list(rest[2]) == [k % 7 for k in range(1000)])
        check(name + ": f64 would be the same f32",
              np.array_equal(read.astype(np.float32), x, equal_nan=True))
        got, labels, other = dump(path, "x=tensor:f64")
        check(name + ": weir reads it", not other and len(labels) == 1000, other)


def main():
    rng = np.random.default_rng(5)
    with tempfile.TemporaryDirectory() as folder:
        csv_files(rng, folder)
        csv_words(rng, folder)
        json_files(rng, folder)
        odd_first(rng, folder)
        written(folder)
    print(f"{checks} checks, {failures} failures")
    sys.exit(failures > 0)


main()
