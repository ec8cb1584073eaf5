# SPDX-License-Identifier: Apache-2.0
"""validate_records.py SCHEMA RECORDS: every line of RECORDS against the JSON Schema; says what is wrong, exit 1."""

import json
import sys

import jsonschema


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
faults = []
count = 0
with open(sys.argv[2], encoding="utf-8") as file:
    for count, line in enumerate(file, start=1):
        for fault in validator.iter_errors(json.loads(line, parse_constant=refuse)):
            faults.append(f"line {count}: {list(fault.absolute_path)}: {fault.message}")
print("\n".join(faults) or f"{count} records are valid")
sys.exit(1 if faults or count == 0 else 0)
