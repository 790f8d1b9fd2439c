/* record_json.c - results of commands as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/record_json.h"

#include <unistd.h>

#include "base/error.h"
#include "report/result.h"

/* With `digits` in numbers; 0: all that they have. */
static int print_json(const struct wr_cli *cli, json_t *root, size_t flags,
                      size_t digits)
{
    int r = root ? wr_record_dump(root,
                                  flags | JSON_PRESERVE_ORDER |
                                      JSON_REAL_PRECISION(digits),
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
    return print_json(cli, root, JSON_INDENT(2), 6);
}

int wr_json_print_line(const struct wr_cli *cli, json_t *root)
{
    return print_json(cli, root, JSON_COMPACT, 6);
}

static struct wr_doc_text_style style_of(const struct wr_cli *cli)
{
    return (struct wr_doc_text_style){.width = cli->width,
                                      .utf8 = cli->utf8,
                                      .colour = cli->color,
                                      .whole = !isatty(fileno(cli->out))};
}

int wr_cli_answer(const struct wr_cli *cli, const struct wr_answer *a,
                  const void *values, bool json)
{
    weir_err err;

    if (json)
        return print_json(cli, wr_answer_json(a, values), JSON_INDENT(2),
                          a->exact ? 0 : 6);
    return wr_answer_print(a, values, style_of(cli), cli->out, &err) < 0
               ? wr_cli_fail(cli, "%s", err.msg)
               : WR_EXIT_DONE;
}

int wr_cli_list(const struct wr_cli *cli, struct wr_doc_table *t,
                unsigned indent, weir_err *err)
{
    const struct wr_doc_text_style style = style_of(cli);

    return wr_doc_print_list(t, indent, &style, cli->out, err);
}

int wr_cli_give_record(const struct wr_cli *cli, json_t *record, bool json,
                       const char *path, weir_err *err)
{
    int r = 0;

    if (!record)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (json)
        (void)wr_record_print(record, cli->out); /* checked at the end */
    else
        r = wr_result_print(record, style_of(cli), cli->out, err);
    if (r == 0 && path)
        r = wr_record_write(record, path, err);
    json_decref(record);
    return r;
}
