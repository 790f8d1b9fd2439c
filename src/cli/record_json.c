/* record_json.c - results of commands as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/record_json.h"

#include <unistd.h>

#include "base/error.h"
#include "record/result.h"

static int print(const struct wr_cli *cli, json_t *root, size_t flags)
{
    int r = root ? wr_record_dump(root,
                                  flags | JSON_PRESERVE_ORDER |
                                      JSON_REAL_PRECISION(6),
                                  cli->out)
                 : -1;

    json_decref(root);
    if (r < 0)
        return wr_cli_fail(cli, "cannot print the result as JSON");
    wr_cli_put(cli, "\n");
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

int wr_cli_give_record(const struct wr_cli *cli, json_t *record, bool json,
                       const char *path, weir_err *err)
{
    const struct wr_doc_text_style style = {.width = cli->width,
                                            .utf8 = cli->utf8,
                                            .colour = cli->color,
                                            .whole = !isatty(fileno(cli->out))};
    int r = 0;

    if (!record)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (json)
        (void)wr_record_print(record, cli->out); /* checked at the end */
    else
        r = wr_result_print(record, style, cli->out, err);
    if (r == 0 && path)
        r = wr_record_write(record, path, err);
    json_decref(record);
    return r;
}
