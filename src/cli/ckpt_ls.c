/* ckpt_ls.c - weir ckpt ls and show: what a store holds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/ckpt.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/dtype.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/record_json.h"
#include "cli/table.h"
#include "safetensors/head.h"
#include "storage/storage.h"

#define SHOWN 512 /* bytes of a name as it is shown, enough */

static const char *copy_name(enum weir_copy copy)
{
    switch (copy) {
    case WEIR_COPY_UNKNOWN:
        return "unreadable";
    case WEIR_COPY_STALE:
        return "stale";
    case WEIR_COPY_NONE:
        return "-";
    case WEIR_COPY_DAMAGED:
        return "damaged";
    case WEIR_COPY_COMPLETE:
        return "complete";
    case WEIR_COPY_VERIFIED:
        return "verified";
    }
    return "?";
}

/* "2026-11-16 08:15:02", local time. */
static const char *time_text(uint64_t ns, char *buf, size_t cap)
{
    time_t t = (time_t)(ns / WR_NS_PER_SEC);
    struct tm tm;

    if (!ns || !localtime_r(&t, &tm) ||
        !strftime(buf, cap, "%Y-%m-%d %H:%M:%S", &tm))
        snprintf(buf, cap, "-");
    return buf;
}

static bool is_good(enum weir_copy copy)
{
    return copy >= WEIR_COPY_COMPLETE;
}

/* --- ls --- */

enum { ONE = 1, TWO = 2 }; /* tiers */

static const struct wr_column ls_columns[] = {
    {.head = "step", .help = "number given by the trainer", .side = '<'},
    {.head = "saved", .help = "when it was saved, local time", .side = '<'},
    {.head = "size", .help = "bytes of one copy", .side = '>'},
    {.head = "ranks", .help = "processes that saved it together", .side = '>'},
    {.head = "state",
     .help = "'complete': published, with all files; 'verified': also read "
             "back once; 'damaged': its manifest or a file is missing or "
             "wrong; 'unreadable': it cannot be read now; 'stale': the job "
             "went on without it, see weir ckpt adopt and discard",
     .side = '<',
     .only = ONE},
    {.head = "fast",
     .help = "the same for the copy on the fast tier; '-': none",
     .side = '<',
     .only = TWO},
    {.head = "slow", .help = "and on the slow tier", .side = '<', .only = TWO},
    {.head = "note",
     .help = "'pinned' if it is kept permanently; 'abandoned' if the run went "
             "back to an older step and on from there: retention keeps the "
             "newest of those",
     .side = '<'},
    {.head = NULL}};

static json_t *entry_json(const weir_ckpt_entry *e, bool two)
{
    json_t *j = json_pack("{s:I, s:I, s:I, s:I, s:s, s:b}", "step",
                          (json_int_t)e->step, "bytes", (json_int_t)e->bytes,
                          "time_ns", (json_int_t)e->time_ns, "world",
                          (json_int_t)e->world, "fast", copy_name(e->fast),
                          "pinned", e->pinned != 0);

    json_object_set_new(j, "generation",
                        json_integer((json_int_t)e->generation));
    json_object_set_new(j, "abandoned", json_boolean(e->abandoned));
    if (two)
        json_object_set_new(j, "slow", json_string(copy_name(e->slow)));
    if (*e->problem)
        json_object_set_new(j, "problem", wr_text_json(e->problem));
    return j;
}

static int print_json(const struct wr_cli *cli, const weir_ckpt_entry *e,
                      size_t count, bool two)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, entry_json(&e[i], two));
    return wr_json_print(cli, list);
}

/* Of the copy that e->problem is about: the first that has one. */
static const char *problem_verb(const weir_ckpt_entry *e)
{
    bool fast = e->fast < WEIR_COPY_COMPLETE && e->fast != WEIR_COPY_NONE;
    enum weir_copy bad = fast ? e->fast : e->slow;

    return bad == WEIR_COPY_UNKNOWN ? "cannot be read"
           : bad == WEIR_COPY_STALE ? "is stale"
                                    : "is damaged";
}

static void print_sums(const struct wr_cli *cli, const weir_ckpt_entry *e,
                       size_t count, bool two)
{
    uint64_t fast = 0, slow = 0, left = 0;
    size_t waiting = 0, lefts = 0;
    char a[32], b[32];

    for (size_t i = 0; i < count; i++) {
        fast += e[i].fast ? e[i].bytes : 0;
        slow += e[i].slow ? e[i].bytes : 0;
        waiting += two && is_good(e[i].fast) && !is_good(e[i].slow);
        lefts += e[i].abandoned != 0;
        left += e[i].abandoned ? e[i].bytes : 0;
    }
    wr_cli_put(cli, "\n%zu step%s, %s", count, count == 1 ? "" : "s",
               wr_format_bytes(a, sizeof(a), (double)fast));
    if (two)
        wr_cli_put(cli, " on the fast tier, %s on the slow one, %zu to drain",
                   wr_format_bytes(b, sizeof(b), (double)slow), waiting);
    if (lefts)
        wr_cli_put(cli, "; %zu abandoned, %s", lefts,
                   wr_format_bytes(b, sizeof(b), (double)left));
    wr_cli_put(cli, "\n");
}

static int print_entries(const struct wr_cli *cli, const weir_ckpt_entry *e,
                         size_t count, bool two)
{
    struct wr_table *t = wr_table_of(ls_columns, two ? TWO : ONE);
    char when[32], size[32];
    weir_err err;
    int r;

    for (size_t i = 0; i < count; i++) {
        wr_table_cell(t, "%" PRIu64, e[i].step);
        wr_table_cell(t, "%s", time_text(e[i].time_ns, when, sizeof(when)));
        wr_table_cell(t, "%s",
                      wr_format_bytes(size, sizeof(size), (double)e[i].bytes));
        wr_table_cell(t, "%" PRIu32, e[i].world);
        wr_table_cell(t, "%s", copy_name(e[i].fast));
        if (two)
            wr_table_cell(t, "%s", copy_name(e[i].slow));
        wr_table_cell(t, "%s%s%s", e[i].pinned ? "pinned" : "",
                      e[i].pinned && e[i].abandoned ? ", " : "",
                      e[i].abandoned ? "abandoned" : "");
    }
    r = wr_table_print(t, cli, 0, &err);
    wr_table_free(t);
    if (r < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    print_sums(cli, e, count, two);
    for (size_t i = 0; i < count; i++)
        if (*e[i].problem)
            wr_cli_note(cli, "step %" PRIu64 " %s: %s", e[i].step,
                        problem_verb(&e[i]), e[i].problem);
    return WR_EXIT_DONE;
}

static int ls_run(struct wr_cli *cli)
{
    const struct ckpt_args *a = cli->args;
    bool two = wr_ckpt_cli_slow(cli) != NULL;
    weir_ckpt_entry *entries;
    weir_ckpt *c;
    weir_err err;
    size_t count;
    int code, r;

    code = wr_ckpt_cli_open(cli, WEIR_CKPT_READ, NULL, &c);
    if (code != WR_EXIT_DONE)
        return code;
    wr_ckpt_cli_notice(cli, c);
    r = weir_ckpt_list(c, &entries, &count, &err);
    weir_ckpt_close(&c, NULL);
    if (r < 0)
        return wr_ckpt_cli_failed(cli, r, &err);
    if (a->json) {
        code = print_json(cli, entries, count, two);
    } else if (count) {
        code = print_entries(cli, entries, count, two);
    } else if (wr_ckpt_cli_is_step(cli)) {
        code = wr_ckpt_cli_no_steps(cli);
    } else {
        wr_cli_put(cli, "no steps\n");
    }
    free(entries);
    return code;
}

static const char *const ls_options[] = {"store", "json", NULL};
static const struct wr_columns ls_tables[] = {{NULL, ls_columns}, {NULL, NULL}};
static const struct wr_help_example ls_examples[] = {
    {"weir ckpt ls /nvme/run7 /lustre/run7",
     "the steps of a run, and where they are"},
    {"weir ckpt ls /lustre/run7 --json", "the same for a program"},
    {NULL, NULL}};

const struct wr_action wr_ckpt_action_ls = {
    .name = "ls",
    .summary = "list the steps, their size, and where they are",
    .description = "Reads names, sizes and manifests, not the tensors: verify "
                   "checks those. May be used while a trainer saves.",
    .operands = wr_ckpt_operands_store,
    .options = ls_options,
    .columns = ls_tables,
    .examples = ls_examples,
    .ranks = WR_RANKS_FIRST,
    .run = ls_run,
};

/* --- show --- */

static const struct wr_column show_columns[] = {
    {.head = "tensor", .help = "its name", .side = '<'},
    {.head = "type",
     .help = "of the elements, as safetensors names it",
     .side = '<'},
    {.head = "shape", .help = "dimensions, outermost first", .side = '<'},
    {.head = "size", .help = "bytes", .side = '>'},
    {.head = NULL}};

/* What is shown, from a store or a lone file. */
struct contents {
    const weir_tensor *tensors;
    size_t count;
    const weir_pair *metadata;
    size_t metadata_count;
};

/* "4096x9216"; "scalar". */
static const char *shape_text(const weir_tensor *t, char *buf, size_t cap)
{
    size_t n = 0;

    snprintf(buf, cap, "scalar");
    for (uint32_t i = 0; i < t->ndim && n < cap; i++)
        n += (size_t)snprintf(buf + n, cap - n, "%s%" PRIu64, i ? "x" : "",
                              t->shape[i]);
    return buf;
}

static uint64_t bytes_of(const weir_tensor *t)
{
    uint64_t bytes;

    return wr_tensor_bytes(t, &bytes, NULL) == 0 ? bytes : 0;
}

static int print_contents(const struct wr_cli *cli, const struct contents *c)
{
    struct wr_table *t = wr_table_of(show_columns, 0);
    char shape[256], size[32], shown[SHOWN];
    uint64_t sum = 0;
    weir_err err;
    int r;

    for (size_t i = 0; i < c->count; i++) {
        const weir_tensor *x = &c->tensors[i];

        wr_table_cell(t, "%s", wr_text_show(x->name, true, shown, SHOWN));
        wr_table_cell(t, "%s", wr_dtype_name(x->dtype));
        wr_table_cell(t, "%s", shape_text(x, shape, sizeof(shape)));
        wr_table_cell(t, "%s",
                      wr_format_bytes(size, sizeof(size), (double)bytes_of(x)));
        sum += bytes_of(x);
    }
    r = wr_table_print(t, cli, 0, &err);
    wr_table_free(t);
    if (r < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    wr_cli_put(cli, "\n%zu tensor%s, %s\n", c->count, c->count == 1 ? "" : "s",
               wr_format_bytes(size, sizeof(size), (double)sum));
    for (size_t i = 0; i < c->metadata_count; i++) {
        wr_cli_put(
            cli, "%s: ", wr_text_show(c->metadata[i].key, true, shown, SHOWN));
        wr_cli_put(cli, "%s\n",
                   wr_text_show(c->metadata[i].value, true, shown, SHOWN));
    }
    return WR_EXIT_DONE;
}

static json_t *contents_json(const struct contents *c)
{
    json_t *list = json_array(), *pairs = json_object();

    for (size_t i = 0; i < c->count; i++) {
        const weir_tensor *t = &c->tensors[i];
        json_t *shape = json_array();

        for (uint32_t k = 0; k < t->ndim; k++)
            json_array_append_new(shape, json_integer((json_int_t)t->shape[k]));
        json_array_append_new(list,
                              json_pack("{s:o, s:s, s:o, s:I}", "name",
                                        wr_text_json(t->name), "dtype",
                                        wr_dtype_name(t->dtype), "shape", shape,
                                        "bytes", (json_int_t)bytes_of(t)));
    }
    for (size_t i = 0; i < c->metadata_count; i++)
        json_object_set_new(pairs, c->metadata[i].key,
                            wr_text_json(c->metadata[i].value));
    return json_pack("{s:o, s:o}", "tensors", list, "metadata", pairs);
}

static int show_contents(const struct wr_cli *cli, const struct contents *c,
                         json_t *head)
{
    const struct ckpt_args *a = cli->args;

    if (!a->json) {
        json_decref(head);
        return print_contents(cli, c);
    }
    json_object_update_new(head, contents_json(c));
    return wr_json_print(cli, head);
}

static int show_found(const struct wr_cli *cli, const weir_ckpt_found *f)
{
    const struct ckpt_args *a = cli->args;
    struct contents c = {f->tensors, f->count, f->metadata, f->metadata_count};
    char when[32], where[CKPT_TIER_TEXT];

    for (size_t i = 0; i < f->passed_over_count; i++)
        wr_cli_note(cli, "passed over: %s", f->passed_over[i]);
    if (!a->json) {
        wr_cli_put(cli,
                   "step %" PRIu64 "%s, saved %s by %" PRIu32 " rank%s%s\n\n",
                   f->step, wr_ckpt_cli_tier(cli, "on", f->tier, where),
                   time_text(f->time_ns, when, sizeof(when)), f->world,
                   f->world == 1 ? "" : "s",
                   f->pipeline_count ? ", with the pipeline's position" : "");
        fflush(cli->out);
    }
    return show_contents(cli, &c,
                         json_pack("{s:I, s:I, s:I, s:s, s:b}", "step",
                                   (json_int_t)f->step, "time_ns",
                                   (json_int_t)f->time_ns, "world",
                                   (json_int_t)f->world, "tier", f->tier,
                                   "pipeline", f->pipeline_count > 0));
}

/* A lone file. */
static int show_file(struct wr_cli *cli, struct wr_store *st, const char *leaf)
{
    struct wr_st_head head;
    struct contents c = {0};
    weir_tensor *tensors;
    weir_pair *pairs;
    weir_err err;
    int code;

    if (wr_st_read(st, leaf, &head, NULL, &err) < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    tensors = calloc(head.count + 1, sizeof(*tensors));
    pairs = calloc(head.metadata_count + 1, sizeof(*pairs));
    if (tensors && pairs) {
        for (size_t i = 0; i < head.count; i++)
            tensors[i] = head.tensors[i].t;
        for (size_t i = 0; i < head.metadata_count; i++)
            pairs[i] = (weir_pair){head.metadata[i].key,
                                   head.metadata[i].value};
        c = (struct contents){tensors, head.count, pairs, head.metadata_count};
        code = show_contents(cli, &c, json_object());
    } else {
        code = wr_cli_fail(cli, "out of memory");
    }
    free(tensors);
    free(pairs);
    wr_st_done(&head);
    return code;
}

static int show_store(struct wr_cli *cli)
{
    weir_ckpt_found *found = NULL;
    weir_ckpt *c;
    weir_err err;
    int code = wr_ckpt_cli_open(cli, WEIR_CKPT_READ, NULL, &c), r;

    if (code != WR_EXIT_DONE)
        return code;
    r = weir_ckpt_look(c, wr_ckpt_cli_step(cli), &found, &err);
    weir_ckpt_close(&c, NULL);
    if (r < 0)
        return wr_ckpt_cli_failed(cli, r, &err);
    if (r == 0)
        return wr_ckpt_cli_no_steps(cli);
    code = show_found(cli, found);
    weir_ckpt_found_free(&found);
    return code;
}

static int show_run(struct wr_cli *cli)
{
    return wr_ckpt_cli_file_or_store(cli, show_file, show_store);
}

static const char *const show_options[] = {"step", "store", "json", NULL};
static const struct wr_columns show_tables[] = {{NULL, show_columns},
                                                {NULL, NULL}};
static const struct wr_help_example show_examples[] = {
    {"weir ckpt show /lustre/run7 --step 4000", "what step 4000 holds"},
    {"weir ckpt show model.safetensors", "what a file holds"},
    {NULL, NULL}};

const struct wr_action wr_ckpt_action_show = {
    .name = "show",
    .summary = "show what a step (the newest) or a .safetensors file holds",
    .description = "Tensors with their types and shapes, and the metadata. "
                   "Headers are read and checked, data are not.",
    .operands = wr_ckpt_operands_file,
    .options = show_options,
    .columns = show_tables,
    .examples = show_examples,
    .ranks = WR_RANKS_FIRST,
    .run = show_run,
};
