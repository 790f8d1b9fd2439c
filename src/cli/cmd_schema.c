/* cmd_schema.c - weir __schema: JSON Schemas of run records, for the build.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include "cli/record_json.h"
#include "result/cases.h"

static int schema_run(struct wr_cli *cli)
{
    return wr_json_print(cli, wr_record_schemas());
}

const struct wr_command wr_cmd_schema = {
    .name = "__schema",
    .group = WR_GROUP_HIDDEN,
    .summary = "print the schemas of run records",
    .description = "Prints a JSON Schema made from the tables of values.",
    .ranks = WR_RANKS_FIRST,
    .run = schema_run,
};
