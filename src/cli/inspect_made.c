/* inspect_made.c - weir inspect --verify of what weir gen made.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/inspect_made.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>

#include "base/clock.h"
#include "base/shown.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/record_json.h"
#include "cli/screen.h"
#include "gen/dataset.h"

#define SHOWN 100u /* problems that are listed */

struct made_check {
    const struct wr_cli *cli; /* borrowed */
    struct wr_progress progress;
    json_t *problems; /* owned; NULL: print them */
    uint64_t count;
};

static void on_problem(void *arg, const char *path, const char *what)
{
    struct made_check *c = arg;
    char shown[4 * PATH_MAX + 8];
    struct wr_screen screen;

    if (c->count++ >= SHOWN)
        return;
    wr_text_show(path, false, shown, sizeof(shown));
    if (c->problems) {
        json_array_append_new(c->problems, json_pack("{s:s, s:s}", "file",
                                                     shown, "problem", what));
        return;
    }
    wr_progress_hide(&c->progress);
    wr_cli_put(wr_screen_start(&screen, c->cli), "%s: %s\n",
               wr_show_path(path).text, what);
    wr_screen_end(&screen);
}

static int on_progress(void *arg, const struct wr_dataset_state *s)
{
    struct made_check *c = arg;

    wr_progress_total(&c->progress, s->files);
    wr_progress_set(&c->progress, s->files_done);
    return wr_interrupted();
}

static void print_text(const struct made_check *c, const char *url,
                       const struct wr_verify_result *res)
{
    double seconds = (double)res->elapsed_ns / (double)WR_NS_PER_SEC;
    struct wr_screen screen;
    const struct wr_cli *to = wr_screen_start(&screen, c->cli);
    char a[32], b[32];

    if (c->count > SHOWN)
        wr_cli_put(to, "... and %" PRIu64 " more\n", c->count - SHOWN);
    wr_cli_put(
        to, "%s: %s files, %s compared with seed %" PRIu64 " in %.1f s: ",
        wr_show_path(url).text, wr_format_count(a, sizeof(a), res->files),
        wr_format_bytes(b, sizeof(b), (double)res->bytes), res->seed, seconds);
    if (!c->count)
        wr_cli_put(to, "all as it was made\n");
    else
        wr_cli_put(to,
                   "%" PRIu64 " damaged, %" PRIu64 " missing, %" PRIu64
                   " too many\n",
                   res->damaged, res->missing, res->extra);
    wr_screen_end(&screen);
}

static int print_json(struct made_check *c, const char *url,
                      const struct wr_verify_result *res)
{
    char path[4 * PATH_MAX + 8];
    json_t *problems = c->problems;

    c->problems = NULL;
    return wr_json_print(
        c->cli,
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o}", "path",
                  wr_text_show(url, false, path, sizeof(path)), "seed",
                  (json_int_t)res->seed, "files", (json_int_t)res->files,
                  "bytes", (json_int_t)res->bytes, "damaged",
                  (json_int_t)res->damaged, "missing", (json_int_t)res->missing,
                  "extra", (json_int_t)res->extra, "seconds",
                  (double)res->elapsed_ns / (double)WR_NS_PER_SEC, "problems",
                  problems));
}

bool wr_inspect_made(const struct wr_cli *cli, const char *url,
                     unsigned threads, bool json, int *ret_exit)
{
    struct made_check c = {.cli = cli, .problems = json ? json_array() : NULL};
    struct wr_verify_config cfg = {.url = url,
                                   .threads = threads,
                                   .problem = on_problem,
                                   .progress = on_progress,
                                   .arg = &c};
    struct wr_verify_result res;
    weir_err err;
    int r;

    wr_progress_start(
        &c.progress, cli,
        &(struct wr_progress_spec){.label = "comparing", .unit = "files"});
    r = wr_gen_verify(&cfg, &res, &err);
    wr_progress_end(&c.progress);
    if (r == 0) {
        *ret_exit = json ? print_json(&c, url, &res) : WR_EXIT_DONE;
        if (!json)
            print_text(&c, url, &res);
        if (*ret_exit == WR_EXIT_DONE && c.count)
            *ret_exit = WR_EXIT_MISSED;
    } else if (r != WEIR_ENOENT) {
        *ret_exit = wr_cli_fail(cli, "%s", err.msg);
    }
    json_decref(c.problems);
    return r != WEIR_ENOENT;
}
