/* open.c - opening a data set as every command does, with a progress line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/open.h"

#include "cli/interrupt.h"
#include "cli/progress.h"

const struct wr_choice wr_open_formats[] = {
#define FORMAT(name) {#name, 0, NULL},
#include "format/formats.def"
    {NULL, 0, NULL}};

static int on_progress(void *arg, uint64_t samples)
{
    wr_progress_set(arg, samples);
    return wr_interrupted();
}

int wr_cli_open(const struct wr_cli *cli, const char *url,
                const struct wr_open_args *a, weir_dataset **ret, weir_err *err)
{
    struct wr_progress progress;
    weir_dataset_config cfg;
    int r;

    weir_dataset_defaults(&cfg);
    cfg.format = a->format;
    cfg.root = a->root;
    cfg.columns = a->columns;
    cfg.schema = a->schema;
    cfg.index_dir = a->index_dir;
    cfg.no_index_cache = !a->index_cache;
    cfg.no_links = !a->links;
    cfg.progress = on_progress;
    cfg.progress_arg = &progress;
    wr_progress_start(
        &progress, cli,
        &(struct wr_progress_spec){.label = "indexing", .unit = "samples"});
    r = weir_dataset_open(ret, url, &cfg, err);
    wr_progress_end(&progress);
    return r;
}

int wr_cli_open_failed(const struct wr_cli *cli, const weir_err *err)
{
    bool asked = wr_cli_given(cli, "format") || wr_cli_given(cli, "root") ||
                 wr_cli_given(cli, "columns") || wr_cli_given(cli, "schema");

    return asked && err->code == WEIR_EINVAL ? wr_cli_usage(cli, "%s", err->msg)
                                             : wr_cli_fail(cli, "%s", err->msg);
}
