/* record_json.c - results of commands as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/record_json.h"

static int print(const struct wr_cli *cli, json_t *root, size_t flags)
{
    int r = root ? json_dumpf(root, cli->out,
                              flags | JSON_PRESERVE_ORDER |
                                  JSON_REAL_PRECISION(6))
                 : -1;

    json_decref(root);
    if (r < 0)
        return wr_cli_fail(cli, "cannot print the result as JSON");
    fputc('\n', cli->out);
    return WR_EXIT_DONE;
}

int wr_json_print(const struct wr_cli *cli, json_t *root)
{
    return print(cli, root, JSON_INDENT(2));
}

int wr_json_print_line(const struct wr_cli *cli, json_t *root)
{
    return print(cli, root, JSON_COMPACT);
}
