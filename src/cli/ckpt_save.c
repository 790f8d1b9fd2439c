/* ckpt_save.c - weir ckpt save: a safetensors file becomes a step of a store.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/ckpt.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"
#include "cli/interrupt.h"
#include "cli/record_json.h"
#include "safetensors/head.h"
#include "storage/storage.h"

#define READ_STEP ((size_t)8 << 20)

/* A file in memory. */
struct loaded {
    struct wr_st_head head;
    uint8_t *data;        /* owned: head.data_bytes */
    weir_tensor *tensors; /* owned */
    weir_pair *pairs;     /* owned: those that are not weir's own */
    size_t pair_count;
};

static void loaded_done(struct loaded *l)
{
    wr_big_free(l->data, l->head.data_bytes + 1);
    free(l->tensors);
    free(l->pairs);
    wr_st_done(&l->head);
}

static int read_data(struct wr_object *o, const char *leaf, struct loaded *l,
                     struct wr_progress *line, weir_err *err)
{
    uint64_t done = 0, total = l->head.data_bytes;

    while (done < total && !wr_interrupted()) {
        int64_t n = o->ops->read(o, l->data + done,
                                 WR_MIN(READ_STEP, total - done),
                                 l->head.data_offset + done, err);

        if (n < 0)
            return (int)n;
        if (n == 0)
            return wr_fail(err, WEIR_ECHANGED, "'%s': became shorter", leaf);
        done += (uint64_t)n;
        wr_progress_callback(line, done, total);
    }
    return done < total ? WEIR_ECANCELED : 0;
}

static void name_contents(struct loaded *l)
{
    for (size_t i = 0; i < l->head.count; i++) {
        l->tensors[i] = l->head.tensors[i].t;
        l->tensors[i].data = l->data + l->head.tensors[i].begin;
    }
    for (size_t i = 0; i < l->head.metadata_count; i++)
        if (strncmp(l->head.metadata[i].key, "weir.", 5))
            l->pairs[l->pair_count++] = (weir_pair){l->head.metadata[i].key,
                                                    l->head.metadata[i].value};
}

static int load(struct wr_store *st, const char *leaf, struct loaded *ret,
                struct wr_progress *line, weir_err *err)
{
    struct wr_object *o;
    int r = wr_st_read(st, leaf, &ret->head, NULL, err);

    if (r < 0)
        return r;
    ret->data = wr_big_alloc(ret->head.data_bytes + 1);
    ret->tensors = calloc(ret->head.count + 1, sizeof(*ret->tensors));
    ret->pairs = calloc(ret->head.metadata_count + 1, sizeof(*ret->pairs));
    if (!ret->data || !ret->tensors || !ret->pairs)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = st->ops->object_open(st, leaf, WR_OPEN_READ, &o, err);
    if (r < 0)
        return r;
    r = read_data(o, leaf, ret, line, err);
    o->ops->close(o, /* sync= */ false, NULL);
    if (r == 0)
        name_contents(ret);
    return r;
}

/* Waits step by step, so that Ctrl-C is seen and the line is drawn. */
static int wait_for(const struct wr_cli *cli, weir_ckpt *c,
                    enum weir_level level, weir_err *err)
{
    static const char *const labels[] = {
        [WEIR_LEVEL_FAST] = "writing",
        [WEIR_LEVEL_SLOW] = "draining",
        [WEIR_LEVEL_VERIFIED] = "reading back",
    };
    const struct ckpt_args *a = cli->args;
    struct wr_progress line;
    int r = WEIR_ETIMEDOUT;

    wr_progress_start(&line, cli,
                      &(struct wr_progress_spec){.label = labels[level]});
    while (r == WEIR_ETIMEDOUT && !wr_interrupted()) {
        r = weir_ckpt_wait(c, a->step, level, 100, err);
        wr_progress_set(&line, 0);
    }
    wr_progress_end(&line);
    return r == WEIR_ETIMEDOUT ? WEIR_ECANCELED : r;
}

/* Closing waits until it is on the fast tier, whatever happens. */
static int close_saved(const struct wr_cli *cli, weir_ckpt *c, bool stopped)
{
    const struct ckpt_args *a = cli->args;
    weir_err err;
    int r;

    if (stopped && weir_ckpt_wait(c, a->step, WEIR_LEVEL_FAST, 0, NULL) < 0)
        wr_cli_note(cli, "finishing what is being written; Ctrl-C again drops "
                         "it");
    r = weir_ckpt_close(&c, &err);
    if (r < 0)
        return wr_ckpt_cli_failed(cli, r, &err);
    if (!stopped)
        return WR_EXIT_DONE;
    return wr_cli_fail(cli,
                       wr_ckpt_cli_slow(cli)
                           ? "interrupted: step %" PRIu64
                             " is on the fast tier; weir ckpt drain continues"
                           : "interrupted: step %" PRIu64 " is saved, but was "
                             "not read back",
                       a->step);
}

static int print_saved(const struct wr_cli *cli, const struct loaded *l,
                       int level)
{
    static const char *const names[] = {[WEIR_LEVEL_FAST] = "fast",
                                        [WEIR_LEVEL_SLOW] = "slow",
                                        [WEIR_LEVEL_VERIFIED] = "verified"};
    const struct ckpt_args *a = cli->args;
    char size[32];

    if (a->json)
        return wr_json_print(cli, json_pack("{s:I, s:I, s:I, s:s}", "step",
                                            (json_int_t)a->step, "tensors",
                                            (json_int_t)l->head.count, "bytes",
                                            (json_int_t)l->head.data_bytes,
                                            "level", names[level]));
    wr_cli_put(cli, "saved step %" PRIu64 ": %zu tensor%s, %s\n", a->step,
               l->head.count, l->head.count == 1 ? "" : "s",
               wr_format_bytes(size, sizeof(size), (double)l->head.data_bytes));
    return WR_EXIT_DONE;
}

static int save(struct wr_cli *cli, const struct loaded *l)
{
    const struct ckpt_args *a = cli->args;
    weir_ckpt_state state = {.step = a->step,
                             .tensors = l->tensors,
                             .count = l->head.count,
                             .metadata = l->pairs,
                             .metadata_count = l->pair_count};
    int last = a->verify ? a->level : WR_MIN(a->level, WEIR_LEVEL_SLOW);
    weir_ckpt *c;
    weir_err err;
    int code = wr_ckpt_cli_open(cli, WEIR_CKPT_SAVE, NULL, &c), r;

    if (code != WR_EXIT_DONE)
        return code;
    r = weir_ckpt_save(c, &state, WEIR_LEVEL_SNAPSHOT, &err);
    for (int level = WEIR_LEVEL_FAST; level <= last && r == 0; level++)
        r = wait_for(cli, c, (enum weir_level)level, &err);
    if (r < 0 && !(r == WEIR_ECANCELED && wr_interrupted())) {
        weir_ckpt_close(&c, NULL);
        return wr_ckpt_cli_failed(cli, r, &err);
    }
    code = close_saved(cli, c, r < 0);
    return code == WR_EXIT_DONE ? print_saved(cli, l, last) : code;
}

static int save_run(struct wr_cli *cli)
{
    const struct ckpt_args *a = cli->args;
    struct wr_progress line;
    struct loaded l = {0};
    struct wr_store *st;
    char *leaf;
    weir_err err;
    int code, r;

    if (wr_store_open(a->from, &st, &leaf, &err) < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    if (!leaf) {
        wr_store_close(st);
        return wr_cli_fail(cli, "'%s': a folder; give a file", a->from);
    }
    wr_progress_start(
        &line, cli,
        &(struct wr_progress_spec){.label = "reading", .bytes = true});
    r = load(st, leaf, &l, &line, &err);
    wr_progress_end(&line);
    code = r < 0 ? wr_ckpt_cli_failed(cli, r, &err) : save(cli, &l);
    loaded_done(&l);
    free(leaf);
    wr_store_close(st);
    return code;
}

static const char *const options[] = {
    "from",      "step",           "level", "verify", "keep", "every",
    "keep-fast", "keep-abandoned", "store", "json",   NULL};
static const char *const needs[] = {"from", "step", NULL};

static const struct wr_help_example examples[] = {
    {"weir ckpt save /lustre/run7 --from model.safetensors --step 0",
     "weights from elsewhere as the first step"},
    {NULL, NULL}};

const struct wr_action wr_ckpt_action_save = {
    .name = "save",
    .summary = "make a step from a .safetensors file",
    .operands = wr_ckpt_operands_store,
    .options = options,
    .needs = needs,
    .examples = examples,
    .failed = "The step was not saved, or did not reach --level; the message "
              "says which.",
    .run = save_run,
};
