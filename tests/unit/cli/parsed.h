/* parsed.h - a command line, parsed into the args of one table of options.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_CLI_PARSED_H
#define TEST_CLI_PARSED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

#define PARSED_WORDS 32

struct parsed {
    char line[512], *argv[PARSED_WORDS]; /* argv points into the line */
    struct wr_cli cli;
};

/* `args` is set up already; a line that cannot be parsed fails the test. */
static inline const struct wr_cli *parsed(struct parsed *p,
                                          const struct wr_option *table,
                                          void *args, const char *line)
{
    char *save = NULL, *word;
    weir_err err;
    int argc = 0;

    *p = (struct parsed){.cli = {.args = args, .own = {table, args, 0}}};
    assert_true(strlen(line) < sizeof(p->line));
    strcpy(p->line, line);
    for (word = strtok_r(p->line, " ", &save); word;
         word = strtok_r(NULL, " ", &save)) {
        assert_true(argc < PARSED_WORDS);
        p->argv[argc++] = word;
    }
    if (wr_options_defaults(&p->cli.own, &err) < 0 ||
        wr_options_parse(&p->cli.own, 1, argc, p->argv, &p->cli.operand_count,
                         &err) < 0)
        fail_msg("'%s': %s", line, err.msg);
    p->cli.operands = p->argv;
    return &p->cli;
}

#endif
