# text_load.py - makes files of text, and reads them as their peers do.
# SPDX-License-Identifier: Apache-2.0
#
# usage: text_load.py csv-make|jsonl-make FILE SAMPLES NUMBERS
#        text_load.py csv|jsonl FILE ROUNDS      prints seconds, one per line
import json
import sys
import time

DISTINCT = 40 # samples; the others repeat them


def make(what, path, samples, count):
    import numpy as np
    rng = np.random.default_rng(3)
    rows = []
    for k in range(min(samples, DISTINCT)):
        values = rng.random(count, dtype=np.float32) * 20
        if what == 'csv-make':
            rows.append(','.join(f'{v:.8g}' for v in values.tolist()))
        else:
            rows.append(', '.join(f'{v:.8g}' for v in values.tolist()))
    with open(path + '.tmp', 'w', encoding='ascii') as f:
        for k in range(samples):
            row = rows[k % len(rows)]
            f.write(f'{k % 2},{row}\n' if what == 'csv-make' else
                    f'{{"label": {k % 10}, "x": [{row}]}}\n')


def read_csv(path):
    import numpy as np
    import pandas as pd
    return pd.read_csv(path, header=None, dtype=np.float32)


def read_jsonl(path):
    with open(path, 'rb') as f:
        return sum(len(json.loads(line)['x']) for line in f)


def main():
    what, path, first = sys.argv[1:4]
    if what.endswith('-make'):
        import os
        make(what, path, int(first), int(sys.argv[4]))
        os.rename(path + '.tmp', path)
        return
    if what == 'csv':
        import numpy
        import pandas # not timed
        assert numpy and pandas
    for _ in range(int(first)):
        start = time.monotonic()
        (read_csv if what == 'csv' else read_jsonl)(path)
        print(time.monotonic() - start, flush=True)


main()
