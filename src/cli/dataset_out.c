/* dataset_out.c - what commands say about a data set and what came out of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/dataset_out.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/shown.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/record_json.h"
#include "format/format.h"
#include "format/remarks.h"
#include "monitor/host.h"
#include "result/get.h"

#define ISSUES_SHOWN 5
#define DEVICE_BYTES 128 /* "emulated PROFILE" */

void wr_dataset_print(const struct wr_cli *cli, const weir_dataset *ds)
{
    struct wr_host_fs fs;
    struct wr_host host;
    char count[32], bytes[32], files[32], path[4096], device[DEVICE_BYTES];
    bool emulated;
    uint64_t objects = wr_index_object_count(ds->index);

    wr_cli_put(cli, "%s%s%s: %s, %s samples, %s in %s file%s\n",
               wr_cli_style(cli, WR_STYLE_BOLD), wr_show_path(ds->url).text,
               wr_cli_style(cli, WR_STYLE_END), ds->format->name,
               wr_format_count(count, sizeof(count), wr_index_count(ds->index)),
               wr_format_bytes(bytes, sizeof(bytes),
                               (double)wr_index_bytes(ds->index)),
               wr_format_count(files, sizeof(files), objects),
               objects == 1 ? "" : "s");
    wr_host_info(&host);
    wr_cli_put(cli, "%s, %u core%s", *host.cpu ? host.cpu : "unknown CPU",
               host.cores, host.cores == 1 ? "" : "s");
    emulated = wr_emulated(ds->url, device, sizeof(device));
    if (emulated)
        wr_cli_put(cli, "; %s", wr_show(device).text);
    if (ds->store->ops->local_path &&
        ds->store->ops->local_path(ds->store, "", path, sizeof(path)) &&
        wr_host_fs_of(path, &fs, NULL) == 0)
        wr_cli_put(cli, "%s%s on %s%s%s%s", emulated ? " (below it " : "; ",
                   fs.type, wr_show(*fs.device ? fs.device : fs.source).text,
                   *fs.model ? " " : "", wr_show(fs.model).text,
                   emulated ? ")" : "");
    wr_cli_put(cli, "\n");
}

void wr_dataset_note_issues(const struct wr_cli *cli, const weir_dataset *ds)
{
    uint64_t n = weir_dataset_issue_count(ds);
    char remark[WR_REMARK_BYTES], shown[WR_REMARK_BYTES];

    for (unsigned k = 0; wr_remark_at(ds, k, remark, sizeof(remark)); k++)
        wr_cli_note(cli, "%s",
                    wr_text_show(remark, true, shown, sizeof(shown)));
    for (uint64_t k = 0; k < n && k < ISSUES_SHOWN; k++)
        wr_cli_note(cli, "%s: %s", weir_dataset_issue(ds, k)->name,
                    weir_dataset_issue(ds, k)->reason);
    if (n > ISSUES_SHOWN)
        wr_cli_note(
            cli, "... and %" PRIu64 " more problems (weir inspect lists them)",
            n - ISSUES_SHOWN);
}

void wr_accelerator_print(const struct wr_cli *cli,
                          const struct wr_accelerator *a, uint32_t batch)
{
    char text[96];

    wr_accelerator_text(a, batch, text, sizeof(text));
    wr_cli_put(cli, "accelerator %s\n", text);
    if (a->kind == WR_ACCELERATOR_EMULATED && strncmp(a->name, "ms=", 3))
        wr_cli_put(cli, "  (%s)\n", wr_show(a->source).text);
}
