/* cmd_schema.c - weir __schema: JSON Schemas of records and results, for the build.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include "base/mem.h"
#include "cli/answers.h"
#include "cli/record_json.h"
#include "result/schema.h"

static const struct wr_answer *const answers[] = {
#define ENTRY(name) &wr_answer_##name,
    WR_ANSWER_MAP(ENTRY)
#undef ENTRY
};

/* What commands print with --json that make no record. */
static json_t *answer_schemas(void)
{
    json_t *defs = json_object();

    for (size_t k = 0; k < WR_ARRAY_LEN(answers); k++)
        json_object_set_new(defs, answers[k]->name,
                            wr_answer_schema(answers[k]));
    return json_pack("{s:s, s:s, s:o}", "$schema",
                     "https://json-schema.org/draft/2020-12/schema", "title",
                     "Results of weir as JSON", "$defs", defs);
}

static int schema_run(struct wr_cli *cli)
{
    return wr_json_print(cli, cli->operand_count ? answer_schemas()
                                                 : wr_record_schemas());
}

static const struct wr_choice choices[] = {
    {"results", 0, "of what commands print with --json"}, {NULL, 0, NULL}};

static const struct wr_operand operands[] = {
    {WR_ARGUMENT("OF", WR_OPERAND_OPTIONAL), .choices = choices,
     .help = "without it: of run records"},
    {.name = NULL}};

const struct wr_command wr_cmd_schema = {
    .name = "__schema",
    .group = WR_GROUP_HIDDEN,
    .summary = "print the schemas of run records, or of results",
    .description = "Prints a JSON Schema made from the tables of values.",
    .operands = operands,
    .ranks = WR_RANKS_FIRST,
    .run = schema_run,
};
