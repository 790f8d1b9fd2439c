#!/usr/bin/env python3
# schema.py - compares JSON with its schema in docs/formats.
# SPDX-License-Identifier: Apache-2.0
"""Usage: schema.py NAME [SCHEMAS] <output: exits with 1 and says what does not fit."""
import json
import pathlib
import sys

import jsonschema

PATH = pathlib.Path(__file__).resolve().parents[2] / 'docs/formats/results.schema.json'


def main():
    path = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else PATH
    whole = json.loads(path.read_text())
    name = sys.argv[1]
    if name not in whole['$defs']:
        sys.exit(f'{name}: no such schema')
    schema = {'$ref': f'#/$defs/{name}', '$defs': whole['$defs']}
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(
        json.load(sys.stdin)))
    for e in errors[:5]:
        print(f'{name}: {"/".join(map(str, e.absolute_path))}: {e.message}')
    sys.exit(bool(errors))


main()
