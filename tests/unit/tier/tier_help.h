/* tier_help.h - what the tests of tiers share: a folder, and steps in it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIER_HELP_H
#define TIER_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>

#include "tier/tier.h"

#define BYTES 5000 /* of a shard */
#define ID    "0123456789abcdef0123456789abcdef"
#define ID2   "ffffffffffffffffffffffffffffffff"

/* The folder of one test: tiers are below it, and a canary beside them. */
struct place {
    char dir[256];
    char tier[280];
};

static inline int place_setup(void **state)
{
    const char *base = getenv("TMPDIR");
    struct place *p = calloc(1, sizeof(*p));

    if (!p)
        return -1;
    snprintf(p->dir, sizeof(p->dir), "%s/weir-test-XXXXXX",
             base ? base : "/tmp");
    if (!mkdtemp(p->dir))
        return -1;
    snprintf(p->tier, sizeof(p->tier), "%s/tier", p->dir);
    *state = p;
    return 0;
}

static inline int remove_one(const char *path, const struct stat *sb, int kind,
                             struct FTW *where)
{
    return remove(path);
}

static inline int remove_tree(const char *path)
{
    return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline int place_teardown(void **state)
{
    struct place *p = *state;
    int r = remove_tree(p->dir);

    free(p);
    return r;
}

/* --- files, past the code under test --- */

static inline const char *at(const struct place *p, const char *path)
{
    static char buf[8][1000]; /* so many in one expression */
    static unsigned k;

    k = (k + 1) % 8;
    snprintf(buf[k], sizeof(buf[k]), "%s/%s", p->tier, path);
    return buf[k];
}

static inline bool there(const struct place *p, const char *path)
{
    struct stat sb;

    return lstat(at(p, path), &sb) == 0;
}

static inline void plant(const struct place *p, const char *path,
                         const char *text)
{
    FILE *f = fopen(at(p, path), "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static inline void plant_dir(const struct place *p, const char *path)
{
    assert_int_equal(mkdir(at(p, path), 0777), 0);
}

static inline void content(const struct place *p, const char *path, char *buf,
                           size_t cap)
{
    FILE *f = fopen(at(p, path), "rb");

    assert_non_null(f);
    buf[fread(buf, 1, cap - 1, f)] = '\0';
    fclose(f);
}

/* Entries of the tier's root whose name begins so; the last one's name. */
static inline unsigned count_like(const struct place *p, const char *begin,
                                  char ret[256])
{
    DIR *d = opendir(p->tier);
    struct dirent *e;
    unsigned n = 0;

    assert_non_null(d);
    while ((e = readdir(d)))
        if (!strncmp(e->d_name, begin, strlen(begin))) {
            n++;
            if (ret)
                snprintf(ret, 256, "%s", e->d_name);
        }
    closedir(d);
    return n;
}

/* Entries of a folder whose name begins so; the path of the last one, from the
 * tier's root. */
static inline unsigned count_in(const struct place *p, const char *dir,
                                const char *begin, char ret[256])
{
    DIR *d = opendir(at(p, dir));
    struct dirent *e;
    unsigned n = 0;

    while (d && (e = readdir(d)))
        if (!strncmp(e->d_name, begin, strlen(begin)) &&
            strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            n++;
            if (ret)
                snprintf(ret, 256, "%.100s%s%.150s", dir, *dir ? "/" : "",
                         e->d_name);
        }
    if (d)
        closedir(d);
    return n;
}

/* The same below the folders of all writers ("slot-", "trash-", "tmp-", "t"),
 * and in the root with a dot before, where the version before had them. */
static inline unsigned count_left(const struct place *p, const char *begin,
                                  char ret[256])
{
    DIR *d = opendir(p->tier);
    char dotted[64], outer[280], path[600];
    struct dirent *e, *f;
    unsigned n;

    assert_non_null(d);
    snprintf(dotted, sizeof(dotted), ".%s", begin);
    n = count_in(p, "", dotted, ret);
    while ((e = readdir(d))) {
        DIR *in;

        if (strncmp(e->d_name, ".writer-", 8) != 0)
            continue;
        snprintf(outer, sizeof(outer), "%s", e->d_name);
        in = opendir(at(p, outer));
        while (in && (f = readdir(in)))
            if (f->d_name[0] != '.') {
                snprintf(path, sizeof(path), "%s/%s", outer, f->d_name);
                n += count_in(p, path, begin, ret);
            }
        if (in)
            closedir(in);
    }
    closedir(d);
    return n;
}

/* --- tiers and steps --- */

static inline struct wr_tier *open_at(const char *url)
{
    struct wr_tier *t = NULL;
    weir_err err;

    if (wr_tier_open(url, "fast", /* create= */ true, &t, &err) < 0)
        fail_msg("%s", err.msg);
    return t;
}

static inline struct wr_tier *claimed_at(const char *url)
{
    struct wr_tier *t = open_at(url);
    weir_err err;

    if (wr_tier_claim(t, /* take_over= */ false, NULL, &err) < 0)
        fail_msg("%s", err.msg);
    return t;
}

/* A manifest of `world` shards of BYTES; wr_manifest_done. */
static inline struct wr_manifest manifest_of(const struct wr_tier *t,
                                             uint64_t step, uint32_t world)
{
    struct wr_manifest m = {.step = step,
                            .world = world,
                            .epoch = t->epoch,
                            .time_ns = 1,
                            .chunk = WR_CHUNK};

    wr_manifest_new_id(m.id);
    m.shards = calloc(world, sizeof(*m.shards));
    assert_non_null(m.shards);
    for (uint32_t i = 0; i < world; i++) {
        struct wr_st_shard *s = &m.shards[i];

        wr_shard_name(i, s->name);
        s->rank = i;
        s->size = BYTES;
        s->data_offset = 4096;
        s->crcs = calloc(wr_shard_chunks(s, m.chunk), sizeof(*s->crcs));
        assert_non_null(s->crcs);
    }
    return m;
}

/* A rank's file, made or overwritten, and synced. */
static inline int put_shard(struct wr_tier *t, const struct wr_pending *p,
                            uint32_t rank, char fill, weir_err *err)
{
    struct wr_store *st = t->store;
    char path[WR_TIER_PATH], bytes[BYTES];
    struct wr_object *o;
    int r;

    memset(bytes, fill, sizeof(bytes));
    wr_pending_shard_path(p, rank, path);
    r = st->ops->object_open(st, path, WR_OPEN_WRITE, &o, err);
    if (r == WEIR_ENOENT)
        r = st->ops->object_open(st, path, WR_OPEN_CREATE, &o, err);
    if (r < 0)
        return r;
    r = o->ops->write(o, bytes, sizeof(bytes), 0, err);
    if (r < 0) {
        o->ops->close(o, /* sync= */ false, NULL);
        return r;
    }
    return o->ops->close(o, /* sync= */ true, err);
}

/* All of a save. */
static inline int save(struct wr_tier *t, uint64_t step, uint32_t world,
                       weir_err *err)
{
    struct wr_manifest m = manifest_of(t, step, world);
    struct wr_pending p;
    int r = wr_tier_begin(t, step, (uint64_t)world * BYTES, &p, err);
    bool begun = r == 0;

    for (uint32_t i = 0; i < world && r == 0; i++) {
        r = put_shard(t, &p, i, (char)('a' + step % 26), err);
        if (r == 0)
            r = wr_tier_sync_pending(t, &p, err);
    }
    if (r == 0)
        r = wr_tier_publish(t, &p, &m, err);
    else if (begun) /* what is published is taken care of there */
        wr_tier_abandon(t, &p);
    wr_manifest_done(&m);
    return r;
}

static inline void must_save(struct wr_tier *t, uint64_t step, uint32_t world)
{
    weir_err err;

    if (save(t, step, world, &err) < 0)
        fail_msg("%s", err.msg);
}

/* The step is there and good. */
static inline void must_be_good(struct wr_tier *t, uint64_t step)
{
    struct wr_manifest m;
    weir_err err;

    if (wr_tier_manifest(t, step, &m, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(m.step, step);
    wr_manifest_done(&m);
}

#endif
