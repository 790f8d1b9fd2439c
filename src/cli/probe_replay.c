/* probe_replay.c - weir probe --replay: a trace's requests, issued elsewhere.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/probe_replay.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/emu_url.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/shown.h"
#include "base/units.h"
#include "cli/interrupt.h"
#include "cli/record_json.h"
#include "measure/parts.h"
#include "measure/replay_take.h"
#include "monitor/host.h"
#include "result/probe.h"
#include "result/record.h"
#include "storage/beside.h"
#include "storage/device.h"

#define SCRATCH_CAP 64

struct replay_job {
    const struct wr_cli *cli;
    const struct wr_replay_args *args;
    const char *url;             /* NULL: as traced */
    struct wr_trace_file *trace; /* owned */
    struct wr_replay_take take;  /* owned */
    struct wr_store *store;      /* owned */
    struct wr_device_profile profile;
    bool emulated;                /* computed for the profile */
    char *base;                   /* owned: the traced folder */
    struct wr_replay_file *files; /* owned: by number of the name */
    char (*own)[SCRATCH_CAP];     /* owned: paths of files that are written */
    char scratch[SCRATCH_CAP];    /* "": none was made */
    uint64_t left_writes, left_outside; /* requests */
    struct wr_replay_result *result;    /* owned */
};

/* --- what is replayed --- */

static int open_trace(struct replay_job *j, weir_err *err)
{
    int r = wr_trace_file_open(&j->trace, j->args->trace, err);

    if (r < 0)
        return r;
    if (wr_trace_file_info(j->trace)->anonymous)
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': its names are hashes (--anonymous): there are no "
                       "files to replay it on",
                       j->args->trace);
    if (wr_trace_file_damage(j->trace))
        wr_cli_note(j->cli, "'%s': %s", j->args->trace,
                    wr_trace_file_damage(j->trace));
    return wr_replay_take(j->trace, &j->take, err);
}

/* Of "emu:PROFILE:URL" the profile, and where the URL begins; NULL: it is no such
 * one. What lies inside has only to tell the sizes of files. */
static int take_profile(struct replay_job *j, const char **ret_inner,
                        weir_err *err)
{
    struct wr_emu_url emu;

    *ret_inner = NULL;
    if (!j->url || strncmp(j->url, "emu:", 4) != 0)
        return 0;
    if (!wr_emu_url(j->url, &emu) || !*emu.profile)
        return wr_fail(err, WEIR_EINVAL, "'%s': is not emu:PROFILE:PATH",
                       j->url);
    if (emu.trace)
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': a replay on an emulated device is computed and "
                       "moves nothing that trace= could write down",
                       j->url);
    j->emulated = true;
    *ret_inner = emu.inner;
    return wr_device_profile_find(emu.profile, &j->profile, err);
}

static int open_place(struct replay_job *j, weir_err *err)
{
    const char *url = j->url ? j->url : "/", *inner;
    char *leaf = NULL;
    struct wr_stat sb;
    int r = take_profile(j, &inner, err);

    if (r == 0)
        r = wr_store_open(inner ? inner : url, &j->store, &leaf, err);
    if (r == 0 && leaf)
        r = wr_fail(err, WEIR_EINVAL, "'%s': not a folder", url);
    free(leaf);
    if (r == 0)
        r = j->store->ops->stat(j->store, "", &sb, err);
    if (r < 0)
        return r;
    if (!j->url || j->args->from) {
        j->base = strdup(j->url ? j->args->from : "");
        return j->base ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    r = wr_replay_base(&j->take, j->store, &j->base, err);
    return r < 0 ? wr_fail_prefix(err, r, "'%s'", url) : 0;
}

/* Written files never lie where the traced ones do: they get a folder of their
 * own. */
static int make_scratch(struct replay_job *j, weir_err *err)
{
    char name[SCRATCH_CAP];
    int r;

    if (!j->args->writes || j->emulated)
        return 0;
    snprintf(name, sizeof(name), "weir-replay.%d", (int)getpid());
    r = wr_store_change(j->store, WR_MKDIR, name, NULL, err);
    if (r == 0)
        memcpy(j->scratch, name, sizeof(name));
    return r;
}

static int map_files(struct replay_job *j, weir_err *err)
{
    size_t names = wr_trace_file_names(j->trace);

    j->files = calloc(names + 1, sizeof(*j->files));
    j->own = calloc(names + 1, j->args->writes ? sizeof(*j->own) : 1);
    if (!j->files || !j->own)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < names; k++) {
        if (!j->take.written[k]) {
            j->files[k].path = wr_replay_below(
                j->base, wr_trace_file_name(j->trace, k)->path);
        } else if (j->args->writes) {
            snprintf(j->own[k], sizeof(*j->own), "%.40s/%zu", j->scratch, k);
            j->files[k] = (struct wr_replay_file){j->own[k], true};
        }
    }
    return 0;
}

/* Keeps the requests whose file has a place. */
static void choose_requests(struct replay_job *j)
{
    struct wr_replay_take *t = &j->take;
    size_t kept = 0;

    for (size_t k = 0; k < t->count; k++) {
        const struct wr_replay_request q = t->requests[k];
        bool changes = q.op == WR_REPLAY_WRITE || q.op == WR_REPLAY_SYNC;

        if (t->written[q.file] && !j->args->writes)
            j->left_writes++;
        else if (!j->files[q.file].path)
            j->left_outside++;
        else if (changes && !j->files[q.file].own)
            j->left_writes++;
        else
            t->requests[kept++] = q;
    }
    t->count = kept;
}

/* --- results --- */

static bool fill_operations(const struct wr_replay_result *r,
                            struct wr_list *to)
{
    struct wr_replay_operation_values *v = wr_list_new(
        &wr_replay_operation_vals, to, WR_REPLAY_OPS);

    to->count = 0;
    for (unsigned op = 0; v && op < WR_REPLAY_OPS; op++) {
        const struct wr_replay_class *c = &r->classes[op];

        if (c->replayed.count)
            v[to->count++] = (struct wr_replay_operation_values){
                .operation = wr_replay_op_name(op),
                .requests = (double)c->replayed.count,
                .bytes = (double)c->bytes,
                .traced = wr_replay_times_of(&c->traced),
                .replayed = wr_replay_times_of(&c->replayed)};
    }
    return v;
}

/* NULL: memory was short. */
static json_t *values_json(const struct replay_job *j)
{
    const struct wr_replay_result *r = j->result;
    struct wr_replay_values v = {
        .replay_of = j->args->trace,
        .path = j->url,
        .device_profile = j->emulated ? j->profile.name : "",
        .traced_folder = !j->url    ? ""
                         : *j->base ? j->base
                                    : "/",
        .computed = j->emulated,
        .asap = j->args->speed == WR_REPLAY_ASAP,
        .threads = (double)j->take.thread_count,
        .requests = (double)r->done,
        .traced_io_s = (double)wr_replay_sum(r, true) / 1e9,
        .replayed_io_s = (double)wr_replay_sum(r, false) / 1e9,
        .traced_span_s = (double)r->traced_ns / 1e9,
        .replayed_span_s = (double)r->replayed_ns / 1e9,
        .missing = (double)r->missing,
        .cut = (double)r->cut,
        .failed = (double)r->failed,
        .left_out_writes = (double)j->left_writes,
        .left_out_elsewhere = (double)j->left_outside};
    bool whole = fill_operations(r, &v.operations);

    return wr_vals_give(&wr_replay_vals, &v, whole);
}

static json_t *replay_record(const struct replay_job *j)
{
    json_t *record = wr_record_new("replay");

    if (!json_object_set_new(record, "host", wr_host_json_of(j->store)) &&
        !json_object_update_new(record, values_json(j)))
        return record;
    json_decref(record);
    return NULL;
}

static void note_count(const struct replay_job *j, uint64_t n, const char *what)
{
    char text[32];

    if (n)
        wr_cli_note(j->cli, "%s requests %s",
                    wr_format_count(text, sizeof(text), n), what);
}

static void note_rest(const struct replay_job *j)
{
    const struct wr_replay_result *r = j->result;

    for (uint32_t k = 0; k < r->missing_count; k++) {
        uint32_t file = r->missing_files[k];

        wr_cli_note(j->cli, "'%s': not there",
                    wr_show(j->url ? j->files[file].path
                                   : wr_trace_file_name(j->trace, file)->path)
                        .text);
    }
    note_count(j, r->missing, "are left out: their files are not there");
    note_count(j, r->cut, "got fewer bytes: their files are shorter");
    note_count(j, r->failed, "failed");
    if (r->failed)
        wr_cli_note(j->cli, "the first one: %s", r->first.msg);
    note_count(j, j->left_writes,
               "on files that the program wrote are left out"
               " (--replay-writes has them)");
    note_count(j, j->left_outside, "on files of other folders are left out");
}

static int give(const struct replay_job *j, bool json)
{
    weir_err err;
    int r = wr_cli_give_record(j->cli, replay_record(j), json, j->args->record,
                               &err);

    fflush(j->cli->out);
    note_rest(j);
    if (r < 0)
        return wr_cli_fail(j->cli, "%s", err.msg);
    if (!j->result->done)
        return wr_cli_fail(j->cli, "no request could be replayed");
    return WR_EXIT_DONE;
}

/* --- the run --- */

/* What a page cache on this machine can take at most. */
static uint64_t memory_bytes(void)
{
    struct wr_host host;

    wr_host_info(&host);
    return host.memory_bytes;
}

static int run_job(struct replay_job *j, weir_err *err)
{
    struct wr_replay_plan plan;
    int r = open_trace(j, err);

    if (r == 0)
        r = open_place(j, err);
    if (r == 0)
        r = make_scratch(j, err);
    if (r == 0)
        r = map_files(j, err);
    if (r < 0)
        return r;
    choose_requests(j);
    plan = (struct wr_replay_plan){
        .store = j->store,
        .files = j->files,
        .requests = j->take.requests,
        .request_count = j->take.count,
        .threads = (uint32_t)j->take.thread_count,
        .file_count = wr_trace_file_names(j->trace),
        .profile = j->emulated ? &j->profile : NULL,
        .memory_bytes = memory_bytes(),
        .asap = j->args->speed == WR_REPLAY_ASAP,
        .stopped = wr_interrupted,
    };
    return wr_replay(&plan, &j->result, err);
}

static void done(struct replay_job *j)
{
    weir_err err;

    if (*j->scratch &&
        wr_tree_remove(j->store, j->scratch, WR_TREE_ALL, &err) < 0)
        wr_cli_note(j->cli, "%s", err.msg);
    free(j->result);
    free(j->files);
    free(j->own);
    free(j->base);
    wr_store_close(j->store);
    wr_replay_take_done(&j->take);
    wr_trace_file_close(j->trace);
}

int wr_probe_replay(struct wr_cli *cli, const struct wr_replay_args *a,
                    const char *url, bool json)
{
    struct replay_job j = {.cli = cli, .args = a, .url = url};
    weir_err err;
    int code;

    if (a->writes && !url)
        return wr_cli_usage(cli, "--replay-writes needs a PATH: nothing is "
                                 "written into the traced folders");
    if (run_job(&j, &err) < 0)
        code = wr_cli_fail(cli, "%s", err.msg);
    else
        code = give(&j, json);
    done(&j);
    return code;
}
