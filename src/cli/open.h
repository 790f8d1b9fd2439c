/* open.h - opening a data set as every command does, with a progress line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_OPEN_H
#define WR_CLI_OPEN_H

#include "cli/command.h"
#include "weir/dataset.h"

/* What the options --format, --root, --index-dir and --index-cache say. */
struct wr_open_args {
    const char *format, *root, *index_dir; /* NULL: not given */
    bool index_cache;
};

/* Ctrl-C ends it with WEIR_ECANCELED. */
int wr_cli_open(const struct wr_cli *cli, const char *url,
                const struct wr_open_args *a, weir_dataset **ret,
                weir_err *err);

#endif
