/* steps.c - two folders and steps in them, for tests of what happens to steps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "steps.h"

#include <dirent.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "safetensors/image.h"
#include "safetensors/shard.h"
#include "tier/link.h"

#define FLOATS 70000

int steps_teardown(void **state)
{
    struct steps *s = *state;
    char command[300];

    snprintf(command, sizeof(command), "rm -rf '%s'", s->root);
    assert_int_equal(system(command), 0);
    free(s);
    return 0;
}

static const char *path_of(const struct steps *s, int tier)
{
    return tier == FAST ? s->fast : s->slow;
}

static struct wr_tier *open_tier(const struct steps *s, int tier)
{
    struct wr_tier *t = NULL;
    weir_err err;

    if (wr_tier_open(path_of(s, tier), tier == FAST ? "fast" : "slow", false,
                     &t, &err) < 0)
        fail_msg("%s", err.msg);
    return t;
}

static int all_is_well(void *arg, weir_err *err)
{
    (void)arg;
    (void)err;
    return 0;
}

/* A store that was opened for saving once. */
static void link_tier(const struct steps *s, int tier, struct wr_tier_link link)
{
    struct wr_tier *t = open_tier(s, tier);
    struct wr_generation g;
    weir_err err;

    assert_int_equal(wr_tier_claim(t, false, NULL, &err), 0);
    assert_int_equal(wr_tier_link_write(t, &link, &err), 0);
    if (link.kind == WR_LINK_LAST) /* which handed out the fast one's */
        assert_int_equal(
            wr_tier_generation_take(t, 0, all_is_well, NULL, &g, &err), 0);
    wr_tier_close(t);
}

int steps_setup(void **state)
{
    struct steps *s = calloc(1, sizeof(*s));
    const char *base = getenv("TMPDIR");

    assert_non_null(s);
    snprintf(s->root, sizeof(s->root), "%s/weir-test-XXXXXX",
             base ? base : "/tmp");
    assert_non_null(mkdtemp(s->root));
    snprintf(s->fast, sizeof(s->fast), "%s/fast", s->root);
    snprintf(s->slow, sizeof(s->slow), "%s/slow", s->root);
    assert_int_equal(mkdir(s->fast, 0700), 0);
    assert_int_equal(mkdir(s->slow, 0700), 0);
    link_tier(s, FAST, (struct wr_tier_link){WR_LINK_FAST, STEPS_STORE, 1, ""});
    link_tier(s, SLOW, (struct wr_tier_link){WR_LINK_LAST, STEPS_STORE, 0, ""});
    *state = s;
    return 0;
}

static void write_file(struct wr_tier *t, const struct wr_pending *p,
                       uint32_t rank, uint64_t seed, struct wr_st_shard *ret)
{
    float *data = malloc(FLOATS * sizeof(*data));
    weir_tensor tensor = {.name = "w",
                          .dtype = WEIR_F32,
                          .ndim = 1,
                          .shape = {FLOATS},
                          .data = data};
    char path[WR_TIER_PATH];
    struct wr_shard_at place = {t->store, path};
    struct wr_image *img;
    weir_err err;

    assert_non_null(data);
    for (size_t i = 0; i < FLOATS; i++)
        data[i] = (float)(wr_rng_at(seed, rank, i) >> 40);
    assert_int_equal(wr_image_new(1, &img, &err), 0);
    assert_int_equal(wr_image_plan(img, &tensor, 1, NULL, 0, &err), 0);
    wr_image_fill(img, &tensor, /* eager= */ false);
    wr_pending_shard_path(p, rank, path);
    if (wr_shard_write(&place, img, ret, NULL, &err) < 0)
        fail_msg("%s", err.msg);
    ret->rank = rank;
    wr_shard_name(rank, ret->name);
    wr_image_free(img);
    free(data);
}

void steps_save_by(const struct steps *s, int tier, struct step_is is,
                   struct step_by by)
{
    struct wr_tier *t = open_tier(s, tier);
    struct wr_manifest m = {.step = is.step,
                            .world = is.world,
                            .time_ns = is.time_ns,
                            .turn = {.generation = by.generation,
                                     .seq = is.time_ns,
                                     .step = is.step},
                            .chunk = WR_CHUNK};
    struct wr_pending p;
    weir_err err;

    assert_int_equal(wr_tier_claim(t, false, NULL, &err), 0);
    m.epoch = t->epoch;
    snprintf(m.store, sizeof(m.store), "%s", by.store);
    snprintf(m.turn.nonce, sizeof(m.turn.nonce), "%s", by.nonce);
    wr_manifest_new_id(m.id);
    m.shards = calloc(is.world, sizeof(*m.shards));
    assert_non_null(m.shards);
    assert_int_equal(wr_tier_begin(t, is.step, 4 * FLOATS, &p, &err), 0);
    for (uint32_t i = 0; i < is.world; i++)
        write_file(t, &p, i, is.seed, &m.shards[i]);
    assert_int_equal(wr_tier_sync_pending(t, &p, &err), 0);
    if (wr_tier_publish(t, &p, &m, &err) < 0)
        fail_msg("%s", err.msg);
    wr_manifest_done(&m);
    wr_tier_close(t);
}

void steps_save(const struct steps *s, int tier, struct step_is is)
{
    steps_save_by(s, tier, is, (struct step_by){STEPS_STORE, 1, ""});
}

void steps_save_up_to(const struct steps *s, uint64_t last)
{
    for (uint64_t i = 1; i <= last; i++)
        steps_save(s, FAST, (struct step_is){i, i, 1, i});
}

void steps_id(const struct steps *s, int tier, uint64_t step,
              char ret[WR_MANIFEST_ID])
{
    struct wr_tier *t = open_tier(s, tier);
    struct wr_manifest m;

    ret[0] = '\0';
    if (wr_tier_manifest(t, step, &m, NULL) == 0) {
        memcpy(ret, m.id, WR_MANIFEST_ID);
        wr_manifest_done(&m);
    }
    wr_tier_close(t);
}

void steps_shown(weir_ckpt *c, uint64_t last, char *fast, char *slow)
{
    static const char letters[] = "us-dcv"; /* from WEIR_COPY_UNKNOWN on */
    weir_ckpt_entry *e;
    size_t count;
    weir_err err;

    memset(fast, '-', last);
    memset(slow, '-', last);
    fast[last] = slow[last] = '\0';
    if (weir_ckpt_list(c, &e, &count, &err) < 0)
        fail_msg("%s", err.msg);
    for (size_t i = 0; i < count; i++) {
        assert_in_range(e[i].step, 1, last);
        fast[e[i].step - 1] = letters[e[i].fast - WEIR_COPY_UNKNOWN];
        slow[e[i].step - 1] = letters[e[i].slow - WEIR_COPY_UNKNOWN];
    }
    free(e);
}

static void file_of(const struct steps *s, int tier, uint64_t step,
                    const char *file, char ret[STEPS_PATH])
{
    snprintf(ret, STEPS_PATH, "%s/step-%012llu/%s", path_of(s, tier),
             (unsigned long long)step, file);
}

void steps_flip(const struct steps *s, int tier, uint64_t step,
                const char *file, long offset)
{
    char path[STEPS_PATH];
    FILE *f;
    int c;

    file_of(s, tier, step, file, path);
    f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, offset, SEEK_SET), 0);
    c = fgetc(f);
    assert_int_equal(fseek(f, offset, SEEK_SET), 0);
    assert_int_equal(fputc(c ^ 1, f), c ^ 1);
    assert_int_equal(fclose(f), 0);
}

void steps_remove(const struct steps *s, int tier, uint64_t step,
                  const char *file)
{
    char path[STEPS_PATH];

    file_of(s, tier, step, file, path);
    assert_int_equal(unlink(path), 0);
}

unsigned steps_count(const struct steps *s, int tier, const char *prefix)
{
    DIR *d = opendir(path_of(s, tier));
    struct dirent *e;
    unsigned n = 0;

    assert_non_null(d);
    while ((e = readdir(d)))
        n += !strncmp(e->d_name, prefix, strlen(prefix));
    closedir(d);
    return n;
}

unsigned steps_left(const struct steps *s, int tier, const char *prefix)
{
    char pattern[STEPS_PATH];
    glob_t found = {0};
    unsigned n;

    snprintf(pattern, sizeof(pattern), "%s/.writer-*/*/%s*", path_of(s, tier),
             prefix);
    n = glob(pattern, 0, NULL, &found) == 0 ? (unsigned)found.gl_pathc : 0;
    globfree(&found);
    return n;
}

void steps_config(const struct steps *s, enum weir_ckpt_role role,
                  weir_ckpt_config *ret)
{
    weir_ckpt_defaults(ret);
    ret->fast = s->fast;
    ret->slow = s->slow;
    ret->role = role;
    ret->threads = 1;
}

weir_ckpt *steps_open(const weir_ckpt_config *cfg)
{
    weir_ckpt *c = NULL;
    weir_err err;

    if (weir_ckpt_open(&c, cfg, &err) < 0)
        fail_msg("%s", err.msg);
    return c;
}

void steps_close(weir_ckpt *c)
{
    weir_err err;

    if (weir_ckpt_close(&c, &err) < 0)
        fail_msg("%s", err.msg);
}

void steps_unlink(const struct steps *s)
{
    char path[STEPS_PATH];

    snprintf(path, sizeof(path), "%s/.weir/store", s->fast);
    assert_int_equal(unlink(path), 0);
}
