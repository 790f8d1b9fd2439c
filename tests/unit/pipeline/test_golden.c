/* test_golden.c - what pipelines deliver, against digests that are kept.
 * SPDX-License-Identifier: Apache-2.0
 *
 * tests/data/golden/digests.txt has a line per configuration. A line that
 * differs means that users get other bytes than before. With --write the file
 * is made anew; --only NAME makes one digest and prints it.
 *
 * With blocks and several ranks, which rank gets which sample is no promise:
 * those digests have a section of their own, and in the first one stands what
 * all ranks together must have got (NAME+union). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <xxhash.h>

#include "../format/tmpdir.h"
#include "codec/pngenc.h"
#include "golden_cases.h"
#include "golden_sets.h"
#include "weir/weir.h"

#define MOST_LINES 400
#define MOST_RANKS 4
#define MOST_STATE 1000
#define SECTION    "# which rank gets which blocks: may change\n"

struct line {
    char name[64];
    uint64_t digest;
};

struct lines {
    struct line all[MOST_LINES];
    unsigned count;
};

struct run {
    const struct gc_case *c;
    weir_dataset *ds;
    weir_pipeline_config cfg;
    struct gc_way way;
    XXH64_state_t *digest;
    uint64_t together; /* does not depend on ranks and order */
    uint64_t hits;     /* of caches */
    uint8_t states[MOST_RANKS][MOST_STATE];
    size_t state_len[MOST_RANKS];
    char cache[700];
};

static struct tmpdir tmp;
static bool writes;
static const char *only;

/* --- digests --- */

static void add(struct run *r, const void *bytes, size_t len)
{
    XXH64_update(r->digest, bytes, len);
}

static void add_number(struct run *r, uint64_t v)
{
    add(r, &v, sizeof(v));
}

static void add_text(struct run *r, const char *text)
{
    if (text)
        add(r, text, strlen(text));
    add_number(r, text ? strlen(text) : UINT64_MAX);
}

static void add_batch(struct run *r, const weir_batch *b)
{
    uint64_t head[] = {b->epoch, b->index, b->count, b->unique,
                       b->ndim,  b->dtype, b->bytes};
    size_t each = b->data ? b->bytes / b->count : 0;

    add(r, head, sizeof(head));
    add(r, b->shape, b->ndim * sizeof(*b->shape));
    if (b->data)
        add(r, b->data, b->bytes);
    add(r, b->labels, b->count * sizeof(*b->labels));
    add(r, b->ids, b->count * sizeof(*b->ids));
    add(r, b->lengths, b->count * sizeof(*b->lengths));
    for (uint32_t k = 0; k < b->unique; k++) {
        uint64_t one[] = {b->epoch,      b->labels[k], b->ids[k],
                          b->lengths[k], b->dtype,     each};
        uint64_t h = XXH64(one, sizeof(one), 0);

        r->together += XXH64((const char *)b->data + k * each, each, h);
    }
}

static void add_bad(struct run *r, const weir_pipeline *p)
{
    uint64_t n = weir_pipeline_bad_count(p);

    add_number(r, n);
    for (uint64_t k = 0; k < n; k++) {
        const weir_bad_sample *s = weir_pipeline_bad(p, k);
        uint64_t one[] = {s->id, s->epoch, (uint64_t)s->code};

        add(r, one, sizeof(one));
        add_text(r, s->text);
        r->together += XXH64(s->text, strlen(s->text), XXH64(one, 24, 1));
        if (only)
            printf("bad: %s\n", s->text);
    }
}

/* The digests are of states as versions 1 and 2 were: without the number of
 * batches, which stands above the epoch, and the number of ranks that blocks
 * are dealt to in a word of its own, where it is not 1. */
static void add_earlier_form(struct run *r, const void *state, size_t len)
{
    uint64_t words[MOST_STATE / 8 + 1], dealt;
    size_t n = len / 8 - 1; /* without the checksum */

    memcpy(words, state, len);
    dealt = words[8] >> 32;
    words[2] &= UINT32_MAX;
    words[8] &= UINT32_MAX;
    memcpy(words, dealt > 1 ? "WEIRST02" : "WEIRST01", 8);
    if (dealt > 1) {
        memmove(words + 9, words + 8, (n++ - 8) * 8);
        words[8] = dealt;
    }
    words[n] = XXH64(words, n * 8, 0);
    add(r, words, (n + 1) * 8);
    add_number(r, (n + 1) * 8);
}

static void add_state(struct run *r, const weir_pipeline *p)
{
    uint32_t rank = r->cfg.rank;

    r->state_len[rank] = weir_pipeline_state(p, r->states[rank], MOST_STATE);
    assert_true(r->state_len[rank] <= MOST_STATE);
    add_earlier_form(r, r->states[rank], r->state_len[rank]);
}

/* --- running --- */

/* At most `most` batches of one rank. */
static void run_rank(struct run *r, uint32_t most)
{
    weir_pipeline *p = NULL;
    const weir_batch *b;
    weir_err err = {0};
    weir_stats st;
    int ret = weir_pipeline_open(&p, r->ds, &r->cfg, &err);

    add_number(r, (uint64_t)ret);
    if (ret < 0) {
        if (only)
            printf("refused: %s\n", err.msg);
        add_text(r, err.msg);
        return;
    }
    add_number(r, weir_pipeline_batches_per_epoch(p));
    while (most-- && (ret = weir_pipeline_next(p, &b, &err)) > 0) {
        add_batch(r, b);
        weir_batch_release(b);
    }
    add_number(r, (uint64_t)ret);
    if (ret < 0) {
        add_number(r, (uint64_t)err.code);
        add_text(r, err.msg);
        if (only)
            printf("failed: %s\n", err.msg);
    } else if (ret == 0) {
        add_bad(r, p); /* else some may be known that come later */
    }
    add_state(r, p);
    weir_pipeline_stats(p, &st);
    r->hits += st.cache_ram_hits + st.cache_dir_hits;
    weir_pipeline_close(&p);
}

static void run_ranks(struct run *r, uint32_t most)
{
    for (r->cfg.rank = 0; r->cfg.rank < r->cfg.world; r->cfg.rank++)
        run_rank(r, most);
}

static void run_resumed(struct run *r)
{
    const void *states[MOST_RANKS];
    uint32_t world = r->cfg.world;

    r->cfg.world = r->way.from;
    run_ranks(r, r->way.after);
    for (uint32_t k = 0; k < r->way.from; k++)
        states[k] = r->states[k];
    r->cfg.resume = states;
    r->cfg.resume_len = r->state_len;
    r->cfg.resume_count = r->way.from;
    r->cfg.world = world;
    run_ranks(r, UINT32_MAX);
}

static void set_cache(struct run *r)
{
    const char *how = r->way.cache;
    const char *dir = tmpdir_at(&tmp, r->c->name);

    if (!*how)
        return;
    if (!strcmp(how, "small"))
        snprintf(r->cache, sizeof(r->cache), "ram:20KiB,%s:30KiB", dir);
    else if (!strcmp(how, "both"))
        snprintf(r->cache, sizeof(r->cache), "ram:60KiB,%s:9MiB", dir);
    else if (!strcmp(how, "dir"))
        snprintf(r->cache, sizeof(r->cache), "%s:9MiB", dir);
    else
        snprintf(r->cache, sizeof(r->cache), "ram:9MiB");
    if (strcmp(how, "ram") && mkdir(dir, 0777))
        abort();
    r->cfg.cache = r->cache;
}

static weir_dataset *open_set(const struct gs_set *s, const char *index_dir)
{
    weir_dataset *ds = NULL;
    weir_dataset_config cfg;
    weir_err err;

    weir_dataset_defaults(&cfg);
    cfg.index_dir = index_dir;
    cfg.no_index_cache = !index_dir;
    if (!strcmp(s->name, "list"))
        cfg.columns = "path=path,label=class";
    if (weir_dataset_open(&ds, tmpdir_at(&tmp, s->path), &cfg, &err) < 0)
        fail_msg("%s: %s", s->name, err.msg);
    return ds;
}

/* By way of an index file, if that is asked for. */
static weir_dataset *open_for(const struct run *r)
{
    const struct gs_set *s = gs_find(r->c->set);
    const char *dir = r->way.index ? tmpdir_at(&tmp, r->c->name) : NULL;
    weir_dataset *ds = open_set(s, dir);

    if (!dir)
        return ds;
    weir_dataset_close(&ds);
    ds = open_set(s, dir);
    assert_true(weir_dataset_index_reused(ds));
    return ds;
}

static void run_case(struct run *r)
{
    gc_config(r->c, &r->cfg, &r->way);
    set_cache(r);
    r->ds = open_for(r);
    if (r->way.harm)
        gs_harm(&tmp);
    for (int k = 0; k <= r->way.again; k++) {
        if (r->way.after)
            run_resumed(r);
        else
            run_ranks(r, UINT32_MAX);
    }
    if (r->way.harm)
        gs_mend(&tmp);
    if (*r->way.cache && !r->hits)
        fail_msg("%s: nothing came from the cache", r->c->name);
    weir_dataset_close(&r->ds);
}

/* All that a data set says of itself. */
static void add_set(struct run *r, const weir_dataset *ds)
{
    uint64_t n = weir_dataset_count(ds), files;
    char name[500], key[500];
    weir_sample s;

    add_number(r, n);
    add_number(r, weir_dataset_bytes(ds));
    add_number(r, weir_dataset_max_length(ds));
    add_text(r, weir_dataset_format(ds));
    for (uint32_t k = 0; k < weir_dataset_class_count(ds); k++)
        add_text(r, weir_dataset_class_name(ds, k));
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(
            weir_dataset_sample(ds, i, name, sizeof(name), &s, NULL), 0);
        add_text(r, s.name);
        add_number(r, s.offset);
        add_number(r, s.length);
        add_number(r, s.label);
        weir_dataset_key(ds, i, key, sizeof(key));
        add_text(r, key);
    }
    for (uint64_t k = 0; k < weir_dataset_issue_count(ds); k++) {
        add_text(r, weir_dataset_issue(ds, k)->name);
        add_text(r, weir_dataset_issue(ds, k)->reason);
        add_number(r, (uint64_t)weir_dataset_issue(ds, k)->code);
    }
    for (uint32_t k = 0; weir_dataset_ignored(ds, k, &files); k++) {
        add_text(r, weir_dataset_ignored(ds, k, &files));
        add_number(r, files);
    }
}

/* --- the file --- */

static void note(struct lines *l, const char *name, const char *more,
                 uint64_t digest)
{
    assert_true(l->count < MOST_LINES);
    snprintf(l->all[l->count].name, sizeof(l->all[0].name), "%s%s", name, more);
    l->all[l->count++].digest = digest;
}

static bool is_left_out(const struct gs_set *s, const char *name)
{
    return (s->needs_png && !wr_pngenc_is_there()) ||
           (only && strcmp(only, name) != 0);
}

static bool deals_blocks(const struct run *r)
{
    return r->cfg.order == WEIR_ORDER_BLOCK && r->cfg.world > 1;
}

/* Into `main`, or in both where ranks share blocks. */
static void make_lines(struct lines *main, struct lines *ranks)
{
    struct run r;

    for (unsigned k = 0; gs_at(k); k++) {
        char name[64];
        weir_dataset *ds;

        snprintf(name, sizeof(name), "dataset/%s", gs_at(k)->name);
        if (is_left_out(gs_at(k), name))
            continue;
        ds = open_set(gs_at(k), NULL);
        r = (struct run){.digest = XXH64_createState()};
        XXH64_reset(r.digest, 0);
        add_set(&r, ds);
        note(main, name, "", XXH64_digest(r.digest));
        XXH64_freeState(r.digest);
        weir_dataset_close(&ds);
    }
    for (unsigned k = 0; gc_at(k); k++) {
        if (is_left_out(gs_find(gc_at(k)->set), gc_at(k)->name))
            continue;
        r = (struct run){.c = gc_at(k), .digest = XXH64_createState()};
        XXH64_reset(r.digest, 0);
        run_case(&r);
        note(deals_blocks(&r) ? ranks : main, r.c->name, "",
             XXH64_digest(r.digest));
        if (deals_blocks(&r))
            note(main, r.c->name, "+union", r.together);
        XXH64_freeState(r.digest);
    }
}

static void print_lines(FILE *f, const struct lines *l)
{
    for (unsigned k = 0; k < l->count; k++)
        fprintf(f, "%s %016llx\n", l->all[k].name,
                (unsigned long long)l->all[k].digest);
}

static void write_file(const struct lines *main, const struct lines *ranks)
{
    FILE *f = fopen(WR_GOLDEN, "w");

    assert_non_null(f);
    fputs("# what pipelines deliver; made by test-pipeline-golden --write\n",
          f);
    print_lines(f, main);
    fputs(SECTION, f);
    print_lines(f, ranks);
    assert_int_equal(fclose(f), 0);
}

static void read_file(struct lines *ret)
{
    FILE *f = fopen(WR_GOLDEN, "r");
    char text[200], name[64];
    unsigned long long digest;

    assert_non_null(f);
    while (fgets(text, sizeof(text), f))
        if (text[0] != '#' && sscanf(text, "%63s %llx", name, &digest) == 2)
            note(ret, name, "", digest);
    fclose(f);
}

static unsigned differing(const struct lines *got, const struct lines *kept)
{
    unsigned wrong = 0;

    for (unsigned k = 0; k < got->count; k++) {
        const struct line *g = &got->all[k];
        unsigned at = 0;

        while (at < kept->count && strcmp(kept->all[at].name, g->name) != 0)
            at++;
        if (at < kept->count && kept->all[at].digest == g->digest)
            continue;
        print_error("%s: %016llx, not %s\n", g->name,
                    (unsigned long long)g->digest,
                    at < kept->count ? "as it was" : "kept yet");
        wrong++;
    }
    return wrong;
}

static void digests_are_as_kept(void **state)
{
    struct lines *l = calloc(3, sizeof(*l));

    (void)state;
    assert_non_null(l);
    make_lines(&l[0], &l[1]);
    if (only) {
        print_lines(stdout, &l[0]);
        print_lines(stdout, &l[1]);
    } else if (writes) {
        write_file(&l[0], &l[1]);
    } else {
        read_file(&l[2]);
        assert_int_equal(differing(&l[0], &l[2]) + differing(&l[1], &l[2]), 0);
    }
    free(l);
}

static int set_up(void **state)
{
    (void)state;
    tmpdir_init(&tmp);
    gs_make(&tmp);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tmpdir_done(&tmp);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_as_kept),
    };

    writes = argc > 1 && !strcmp(argv[1], "--write");
    only = argc > 2 && !strcmp(argv[1], "--only") ? argv[2] : NULL;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
