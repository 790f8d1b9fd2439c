/* screen.h - what fits into the lines of a terminal.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     const struct wr_cli *to = wr_screen_start(&screen, cli);
 *
 *     ... wr_cli_put(to, ...): whole lines, in as many calls as it takes ...
 *     wr_screen_end(&screen);
 *
 * A terminal breaks what is too long for it in the middle of words. Files and
 * pipes get each line as it is. */
#ifndef WR_CLI_SCREEN_H
#define WR_CLI_SCREEN_H

#include "cli/command.h"

struct wr_screen {
    const struct wr_cli *real; /* borrowed; NULL: nothing to be done */
    struct wr_cli cli;         /* like `real`; prints into `text` */
    char *text;                /* owned */
    size_t len;
};

/* Columns of the terminal that `to` is; 0: it is none, or does not tell. */
unsigned wr_screen_width(FILE *to);

/* Prints lines of clean text. On a terminal the long ones are broken at blanks;
 * what follows stands below their second column ("  remark    TEXT"), if they
 * have two, else a bit further to the right. */
void wr_screen_put(FILE *to, const char *text);

/* Collects results, to print them with wr_screen_put at the end. */
const struct wr_cli *wr_screen_start(struct wr_screen *s,
                                     const struct wr_cli *cli);
void wr_screen_end(struct wr_screen *s);

#endif
