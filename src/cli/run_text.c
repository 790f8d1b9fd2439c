/* run_text.c - what `weir run` prints besides its result.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/named.h"
#include "base/shown.h"
#include "base/value.h"
#include "cli/record_json.h"
#include "cli/screen.h"
#include "workload/catalog.h"
#include "workload/choices.h"
#include "workload/derive.h"
#include "workload/explain.h"

void wr_run_label(const struct wr_run_news *news, unsigned trying, char *buf,
                  size_t cap)
{
    int n = snprintf(buf, cap, "%s, epoch %" PRIu64, news->doing, news->epoch);

    if (trying && n >= 0 && (size_t)n < cap)
        n += snprintf(buf + n, cap - (size_t)n, ", %u accelerator%s", trying,
                      trying == 1 ? "" : "s");
    if (isfinite(news->au) && n >= 0 && (size_t)n < cap)
        snprintf(buf + n, cap - (size_t)n, ", AU %.1f %%", news->au * 100);
}

const char *wr_run_format_name(const struct wr_workload *w)
{
    return wr_choice_name(wr_wl_formats, (int)w->dataset.format);
}

/* --- the list --- */

static const char *group_title(const char *group)
{
    static const char *const titles[][2] = {
        {"seed", "Ten scientific workloads"},
        {"mlperf", "MLPerf Storage and DLIO"},
        {"checkpoint", "Checkpoints of language models"},
    };

    int k = wr_named_index(WR_NAMED(titles), group);

    return k < 0 ? group : titles[k][1];
}

static void add_entry(struct wr_doc_table *t, const struct wr_catalog_entry *e)
{
    struct wr_workload *w;
    weir_err err;

    if (wr_workload_parse(e->name, e->text, e->len, NULL, 0, NULL, NULL, &w,
                          &err) < 0) {
        wr_doc_cell(t, "%s", e->name);
        wr_doc_cell(t, "%s", "");
        wr_doc_cell(t, "%s", err.msg);
        return;
    }
    wr_doc_cell(t, "%s", e->name);
    wr_doc_cell(t, "%s", w->workflow.train ? wr_run_format_name(w) : "-");
    wr_doc_cell(t, "%s", w->weir.title ? w->weir.title : "");
    wr_workload_free(w);
}

/* Entries of one group, from k on; returns the first of the next one. */
static size_t print_group(const struct wr_cli *cli, size_t k)
{
    const struct wr_catalog_entry *e = wr_catalog_at(k);
    struct wr_doc_table *t = wr_doc_list("<|<|<");
    const char *group = e->group;

    wr_cli_put(cli, "%s%s%s%s\n", k ? "\n" : "",
               wr_cli_style(cli, WR_STYLE_BOLD), group_title(group),
               wr_cli_style(cli, WR_STYLE_END));
    for (; (e = wr_catalog_at(k)) && !strcmp(e->group, group); k++)
        add_entry(t, e);
    wr_cli_list(cli, t, 2, NULL);
    return k;
}

int wr_run_print_list(const struct wr_cli *cli)
{
    struct wr_screen screen;
    size_t k = 0;

    while (wr_catalog_at(k))
        k = print_group(cli, k);
    wr_cli_put(wr_screen_start(&screen, cli),
               "\nweir run NAME --explain says what one demands, weir "
               "gen NAME FOLDER makes its data.\n");
    wr_screen_end(&screen);
    return WR_EXIT_DONE;
}

/* --- what follows from a description --- */

static double memory_of_host(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

static int print_rows(const struct wr_cli *cli, const struct wr_explain *x)
{
    const char *group = NULL;
    struct wr_doc_table *t = NULL;

    for (size_t k = 0; k <= x->count; k++) {
        const struct wr_explain_row *row = k < x->count ? &x->row[k] : NULL;

        if (!row || !group || strcmp(row->group, group) != 0) {
            wr_cli_list(cli, t, 2, NULL);
            t = NULL;
        }
        if (!row)
            break;
        if (!t) {
            wr_cli_put(cli, "%s%s\n", group ? "\n" : "",
                       wr_show(row->group).text);
            t = wr_doc_list("<|>|<");
        }
        group = row->group;
        wr_doc_cell(t, "%s", row->name);
        wr_doc_cell(t, "%s", row->value);
        wr_doc_cell(t, "%s", row->note);
    }
    return WR_EXIT_DONE;
}

int wr_run_print_explained(const struct wr_cli *cli,
                           const struct wr_workload *w, uint64_t world)
{
    struct wr_explain *x = malloc(sizeof(*x));
    const struct wr_cli *to;
    struct wr_screen screen;
    struct wr_derived d;
    weir_err err;
    int code;

    if (!x)
        return wr_cli_fail(cli, "out of memory");
    if (wr_workload_derive(w, world, memory_of_host(), &d, &err) < 0) {
        free(x);
        return wr_cli_usage(cli, "%s", err.msg);
    }
    to = wr_screen_start(&screen, cli);
    if (w->weir.title)
        wr_cli_put(to, "%s\n", wr_show_path(w->weir.title).text);
    if (w->weir.source)
        wr_cli_put(to, "(%s)\n", wr_show_path(w->weir.source).text);
    wr_cli_put(to, "\n");
    wr_screen_end(&screen);
    wr_workload_explain(w, &d, x);
    code = print_rows(cli, x);
    free(x);
    return code;
}
