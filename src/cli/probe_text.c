/* probe_text.c - what a probe says before it begins.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/probe_text.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "cli/screen.h"
#include "monitor/host.h"
#include "result/emulated.h"

#define LABEL 9 /* width of "Path" and the like */

static void print_fact(const struct wr_cli *cli, const char *label,
                       const char *text)
{
    wr_cli_put(cli, "%s%-*s%s", wr_cli_style(cli, WR_STYLE_BOLD), LABEL, label,
               wr_cli_style(cli, WR_STYLE_END));
    wr_text_print(cli->out, text,
                  (struct wr_text_wrap){LABEL, LABEL, cli->width});
}

static double mix_mean(const struct wr_probe_mix *m)
{
    double sum = 0;

    for (size_t k = 0; k < m->count; k++)
        sum += (double)m->part[k].bytes * m->part[k].share;
    return sum;
}

/* "ext4 on vda (QEMU HARDDISK, rotating)"; "" where nothing is known. */
static void describe_place(const char *url, struct wr_store *st, char *buf,
                           size_t cap)
{
    struct wr_host_fs fs;
    char path[4096], device[128];
    const char *kind;

    buf[0] = '\0';
    if (wr_emulated(url, device, sizeof(device))) {
        snprintf(buf, cap, ": %s", device);
        return;
    }
    if (!st->ops->local_path ||
        !st->ops->local_path(st, "", path, sizeof(path)) ||
        wr_host_fs_of(path, &fs, NULL) < 0)
        return;
    kind = fs.rotational == 1   ? "says it rotates"
           : fs.rotational == 0 ? "does not rotate"
                                : "";
    snprintf(buf, cap, ": %s%s%s", fs.type, *fs.device ? " on " : "",
             *fs.device ? fs.device : "");
    if (*fs.model || *kind) {
        size_t used = strlen(buf);

        snprintf(buf + used, cap - used, " (%s%s%s)", fs.model,
                 *fs.model && *kind ? ", " : "", kind);
    }
}

static bool has_op(const struct wr_probe_plan *plan, enum wr_probe_op op)
{
    for (size_t k = 0; k < plan->test_count; k++)
        if (plan->tests[k].op == op)
            return true;
    return false;
}

/* "a fresh one of 537 MB; 1,000 small ones as in imagenet, ..." */
static void describe_files(const struct wr_probe_plan *plan, char *buf,
                           size_t cap)
{
    bool small = has_op(plan, WR_PROBE_FILES) || has_op(plan, WR_PROBE_CREATE);
    char name[4096], a[32], b[32];
    int n;

    if (plan->file)
        n = snprintf(buf, cap, "%s is read",
                     wr_text_show(plan->file, true, name, sizeof(name)));
    else
        n = snprintf(buf, cap, "a fresh one of %s",
                     wr_format_bytes(a, sizeof(a), (double)plan->file_bytes));
    if (small && n >= 0 && (size_t)n < cap)
        snprintf(buf + n, cap - (size_t)n,
                 "; %s small ones as in %s, %s on average",
                 wr_format_count(a, sizeof(a), plan->small_files),
                 wr_text_show(plan->mix.name, true, name, sizeof(name)),
                 wr_format_bytes(b, sizeof(b), mix_mean(&plan->mix)));
}

void wr_probe_print_head(const struct wr_cli *cli,
                         const struct wr_probe_plan *plan, struct wr_store *st)
{
    char place[512], text[8192], name[4096], a[32];
    uint64_t space;

    describe_place(plan->url, st, place, sizeof(place));
    wr_text_show(plan->url, true, name, sizeof(name));
    if (st->ops->space && st->ops->space(st, &space, NULL) == 0)
        snprintf(text, sizeof(text), "%s%s, %s free", name, place,
                 wr_format_bytes(a, sizeof(a), (double)space));
    else
        snprintf(text, sizeof(text), "%s%s", name, place);
    print_fact(cli, "Path", text);
    describe_files(plan, text, sizeof(text));
    print_fact(cli, "Files", text);
    snprintf(text, sizeof(text), "%zu, each %u time%s for %g s: about %.0f s",
             plan->test_count, plan->passes, plan->passes == 1 ? "" : "s",
             plan->seconds,
             ceil((double)plan->test_count * plan->passes * plan->seconds));
    print_fact(cli, "Tests", text);
}

int wr_probe_print_plan(const struct wr_cli *cli,
                        const struct wr_probe_plan *plan, weir_err *err)
{
    struct wr_table *t = wr_table_new("<");
    char name[WR_PROBE_NAME], bytes[32];
    struct wr_screen screen;
    int r;

    for (size_t k = 0; k < plan->test_count; k++)
        wr_table_cell(t, "%s",
                      wr_probe_test_name(&plan->tests[k], name, sizeof(name)));
    wr_cli_put(cli, "\n");
    r = wr_table_print(t, cli, 2, err);
    wr_table_free(t);
    wr_cli_put(
        wr_screen_start(&screen, cli),
        "\nNothing was done. It would write %s below the path, and remove "
        "it.\n",
        wr_format_bytes(bytes, sizeof(bytes), (double)wr_probe_space(plan)));
    wr_screen_end(&screen);
    return r;
}
