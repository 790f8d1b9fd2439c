/* session.c - one run of a long command, from its arguments to its exit code.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/interrupt.h"
#include "cli/record_json.h"
#include "format/format.h"
#include "format/remarks.h"
#include "monitor/host.h"
#include "result/get.h"

#define ISSUES_SHOWN 5
#define DEVICE_BYTES 128 /* "emulated PROFILE" */

/* --- watching the machine --- */

void wr_monitor_note(const struct wr_cli *cli, const weir_err *why)
{
    wr_cli_note(cli, "the machine is not watched: %s", why->msg);
}

void wr_monitor_watch(struct wr_monitor *m, const struct wr_cli *cli,
                      const struct wr_monitor_spec *spec)
{
    weir_err err;

    if (wr_monitor_start(m, spec, &err) < 0)
        wr_monitor_note(cli, &err);
}

/* --- opening a data set --- */

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

/* --- the run of a command --- */

void wr_session_watch(struct wr_session *s, const char *path)
{
    struct wr_monitor_spec *w = &s->watched;

    w->paths = s->paths;
    if (path && w->path_count < WR_SAMPLER_DISKS)
        s->paths[w->path_count++] = path;
}

void wr_session_note(void *session, const char *text)
{
    struct wr_session *s = session;

    if (s->line.to)
        wr_progress_hide(&s->line);
    wr_cli_note(s->cli, "%s", text);
}

int wr_session_count(void *session, uint64_t done, uint64_t total)
{
    struct wr_session *s = session;

    wr_progress_callback(&s->line, done, total);
    return wr_interrupted();
}

static const void *arg_at(const struct wr_session *s, size_t offset)
{
    return offset ? (const char *)s->args + offset : NULL;
}

static int open_call(void *call, weir_err *err)
{
    struct wr_session *s = call;
    const struct wr_open_args *how = arg_at(s, s->job->open_args);
    int r = how ? wr_cli_open(s->cli, s->cli->operands[0], how, &s->ds, err)
                : 0;

    return r == 0 && s->job->open ? s->job->open(call, err) : r;
}

/* Meets the other ranks, and opens. */
static int open_all(struct wr_session *s, const struct wr_session_job *job)
{
    weir_err err;
    int r = job->ranks == WR_JOB_RANKS ? wr_ranks_meet(&s->ranks, &err) : 0;

    if (r < 0)
        return wr_ranks_failed(&s->ranks, s->cli, r, &err);
    r = job->ranks == WR_JOB_LATER
            ? 0
            : wr_ranks_in_turn(&s->ranks, open_call, s, &err);
    if (r == 0)
        return WR_GO_ON;
    if (wr_ranks_several(&s->ranks) && wr_interrupted())
        return wr_ranks_failed(&s->ranks, s->cli, r, &err);
    if (r == WEIR_ENOENT && job->not_there_is_usage)
        return wr_cli_usage(s->cli, "%s", err.msg);
    return wr_ranks_speaks(&s->ranks) ? wr_cli_open_failed(s->cli, &err)
                                      : WR_EXIT_FAILED;
}

static int run_watched(struct wr_session *s, const struct wr_session_job *job,
                       weir_err *err)
{
    const struct wr_progress_spec line = {.label = s->label,
                                          .unit = job->unit,
                                          .total = job->total,
                                          .bytes = job->bytes};
    const double *hz = arg_at(s, job->monitor_hz);
    int r;

    fflush(s->cli->out);
    s->watched.hz = hz ? *hz : 0;
    if (s->ds)
        s->watched.store = s->ds->store;
    wr_monitor_watch(&s->monitor, s->cli, &s->watched);
    if (job->label) {
        snprintf(s->label, sizeof(s->label), "%s", job->label);
        wr_progress_start(&s->line, s->cli, &line);
    }
    r = job->work(s, err);
    wr_monitor_stop(&s->monitor);
    if (job->label)
        wr_progress_end(&s->line);
    return r;
}

/* A file that cannot be written must not cost the other results. */
static int give_results(struct wr_session *s, const struct wr_session_job *job)
{
    const char *const *path = arg_at(s, job->record_path);
    const bool *json = arg_at(s, job->json);
    int r = 0, code = WR_EXIT_DONE;
    weir_err err;

    if (job->record && wr_ranks_speaks(&s->ranks))
        r = wr_cli_give_record(s->cli, job->record(s), json && *json,
                               path ? *path : NULL, &err);
    if (r < 0)
        wr_cli_fail(s->cli, "%s", err.msg);
    if (job->finish)
        code = job->finish(s);
    return r < 0 ? WR_EXIT_FAILED : code;
}

static int run_job(struct wr_session *s, const struct wr_session_job *job)
{
    int r, code = job->prepare ? job->prepare(s) : WR_GO_ON;
    weir_err err;

    if (code == WR_GO_ON)
        code = open_all(s, job);
    if (code == WR_GO_ON && job->begin)
        code = job->begin(s);
    if (code != WR_GO_ON)
        return code;
    r = run_watched(s, job, &err);
    if (r == 0)
        return give_results(s, job);
    return job->fail ? job->fail(s, r, &err)
                     : wr_ranks_failed(&s->ranks, s->cli, r, &err);
}

int wr_session(struct wr_cli *cli, const struct wr_session_job *job)
{
    struct wr_session *s = wr_new(cli, 1, job->call_bytes);
    weir_err err;
    int r = 0, code;

    s->cli = cli;
    s->args = cli->args;
    s->job = job;
    if (job->ranks == WR_JOB_ALONE)
        wr_ranks_alone(&s->ranks);
    else
        r = wr_ranks_find(&s->ranks, cli, &err);
    s->ranks.stopped = job->interrupted;
    code = r < 0 ? wr_cli_fail(cli, "%s", err.msg) : run_job(s, job);
    wr_monitor_free(&s->monitor);
    if (job->done)
        job->done(s);
    weir_dataset_close(&s->ds);
    wr_ranks_done(&s->ranks);
    free(s);
    return code;
}
