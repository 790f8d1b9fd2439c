/* schema.c - JSON Schemas of run records, from the tables of their values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/schema.h"

#include "base/mem.h"
#include "result/bench.h"
#include "result/cases.h"
#include "result/head.h"
#include "result/record.h"

/* What all records begin with, and what those of several commands have. */
static json_t *head_schema(const char *command)
{
    static const struct {
        const char *key;
        const struct wr_vals *of;
    } parts[] = {{"host", &wr_host_vals},
                 {"dataset", &wr_dataset_vals},
                 {"cores", &wr_cores_vals},
                 {"monitor", &wr_monitor_vals}};
    json_t *head = json_pack(
        "{s:s, s:{s:{s:s}, s:{s:i}, s:{s:s}}, s:[s, s, s, s, s]}", "type",
        "object", "properties", "schema", "const", WR_RECORD_SCHEMA, "version",
        "const", WR_RECORD_VERSION, "command", "const", command, "required",
        "schema", "version", "command", "time", "weir");
    json_t *all = json_object_get(head, "properties");

    json_object_set_new(all, "time", json_pack("{s:s}", "type", "string"));
    json_object_set_new(all, "weir", json_pack("{s:s}", "type", "string"));
    for (size_t k = 0; k < WR_ARRAY_LEN(parts); k++)
        json_object_set_new(all, parts[k].key,
                            wr_vals_schema(parts[k].of, WR_FOR_RECORD));
    return head;
}

/* Rows stand in a list of the record, or it is one itself. */
static json_t *record_schema(const struct wr_cases_spec *spec)
{
    json_t *head = head_schema(spec->command);
    json_t *row = wr_vals_schema(spec->of, WR_FOR_RECORD);
    json_t *all = json_object_get(head, "properties");
    json_t *needed = json_object_get(head, "required");

    if (spec->rows) {
        json_object_set_new(
            all, spec->rows,
            json_pack("{s:s, s:O}", "type", "array", "items", row));
        json_array_append_new(needed, json_string(spec->rows));
    } else {
        json_object_update_missing(all, json_object_get(row, "properties"));
        json_array_extend(needed, json_object_get(row, "required"));
    }
    json_decref(row);
    return head;
}

json_t *wr_record_schemas(void)
{
    json_t *defs = json_object();
    int bad = 0;

    for (size_t i = 0; wr_cases_specs[i]; i++)
        bad |= json_object_set_new(defs, wr_cases_specs[i]->command,
                                   record_schema(wr_cases_specs[i]));
    if (bad) {
        json_decref(defs);
        return NULL;
    }
    return json_pack("{s:s, s:s, s:o}", "$schema",
                     "https://json-schema.org/draft/2020-12/schema", "title",
                     "Run records of weir", "$defs", defs);
}
