/* cachekit.h - samples to cache, a folder for them, and what came back.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_PIPELINE_CACHEKIT_H
#define TEST_PIPELINE_CACHEKIT_H

#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "pipeline/cache.h"

#define KIT_MAX ((size_t)200 << 10) /* bytes of a sample, at most */

struct kit {
    char dir[200];
    char spec[256];
    struct wr_cache_config cfg;
    uint64_t seed; /* of the sizes and the bytes */
};

/* Sample `id`: its size (between 1 and `max`, or sample_bytes), its bytes. */
static inline size_t kit_len(const struct kit *k, uint64_t id)
{
    struct wr_rng rng = {.seed = k->seed, .stream = id};

    return k->cfg.sample_bytes ? k->cfg.sample_bytes
                               : 1 + wr_rng_below(&rng, 6000);
}

static inline uint32_t kit_label(uint64_t id)
{
    return (uint32_t)(id * 7 + 3);
}

static inline void kit_fill(const struct kit *k, uint64_t id, uint8_t *buf)
{
    size_t len = kit_len(k, id);
    uint64_t x = wr_mix64(k->seed * 1000003 + id);

    for (size_t i = 0; i < len; i += 8, x += 0x9e3779b97f4a7c15u)
        memcpy(buf + i, &x, len - i < 8 ? len - i : 8);
}

static inline bool kit_is(const struct kit *k, uint64_t id, const uint8_t *got,
                          const struct wr_cache_hit *hit)
{
    static _Thread_local uint8_t want[KIT_MAX];

    kit_fill(k, id, want);
    return hit->len == kit_len(k, id) && hit->label == kit_label(id) &&
           !memcmp(got, want, hit->len);
}

static inline void kit_put(const struct kit *k, struct wr_cache *c, uint64_t id)
{
    static _Thread_local uint8_t buf[KIT_MAX];

    kit_fill(k, id, buf);
    wr_cache_put(c, id, kit_label(id), buf, kit_len(k, id));
}

enum kit_found { KIT_MISS, KIT_GOOD, KIT_DAMAGED, KIT_LIE };

/* Finds, reads and checks. KIT_LIE: wrong bytes were called good. */
static inline enum kit_found kit_get(const struct kit *k, struct wr_cache *c,
                                     uint64_t id)
{
    static _Thread_local uint8_t buf[KIT_MAX];
    struct wr_cache_hit hit;
    const uint8_t *got = buf;
    size_t n = 0;

    if (!wr_cache_find(c, id, &hit))
        return KIT_MISS;
    if (hit.bytes)
        return kit_is(k, id, hit.bytes, &hit) ? KIT_GOOD : KIT_LIE;
    while (got && n < hit.len && hit.len <= sizeof(buf)) {
        int64_t r = hit.object->ops->read(hit.object, buf + n, hit.len - n,
                                          hit.offset + n, NULL);
        if (r <= 0)
            got = NULL;
        else
            n += (size_t)r;
    }
    if (!wr_cache_check(c, id, &hit, n == hit.len ? got : NULL))
        return KIT_DAMAGED;
    return kit_is(k, id, buf, &hit) ? KIT_GOOD : KIT_LIE;
}

/* How many samples are found; aborts on a lie. */
static inline uint64_t kit_count(const struct kit *k, struct wr_cache *c,
                                 uint64_t *ret_damaged)
{
    uint64_t good = 0, damaged = 0;

    for (uint64_t id = 0; id < k->cfg.samples; id++) {
        enum kit_found f = kit_get(k, c, id);

        if (f == KIT_LIE)
            abort();
        good += f == KIT_GOOD;
        damaged += f == KIT_DAMAGED;
    }
    if (ret_damaged)
        *ret_damaged = damaged;
    return good;
}

/* A folder of its own; `size` is the budget of a tier in it. */
static inline void kit_init(struct kit *k, const char *size, uint64_t samples,
                            size_t sample_bytes)
{
    const char *tmp = getenv("TMPDIR");

    *k = (struct kit){.seed = 11};
    snprintf(k->dir, sizeof(k->dir), "%s/weir-test-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(k->dir))
        abort();
    snprintf(k->spec, sizeof(k->spec), "%s:%s", k->dir, size);
    k->cfg = (struct wr_cache_config){.spec = k->spec,
                                      .samples = samples,
                                      .sample_bytes = sample_bytes,
                                      .fingerprint = 0x1234567890abcdef,
                                      .name = "kit"};
}

static inline int kit_remove_one(const char *path, const struct stat *sb,
                                 int flag, struct FTW *ftw)
{
    (void)sb;
    (void)flag;
    (void)ftw;
    return remove(path);
}

/* Removes what is in the folder; with `self` the folder, too. */
static inline void kit_wipe(const struct kit *k, bool self)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/weir-cache-%u", k->dir,
             (unsigned)geteuid());
    nftw(self ? k->dir : path, kit_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A cache that could not be opened ends the test. */
static inline struct wr_cache *kit_open(const struct kit *k)
{
    struct wr_cache *c = NULL;
    weir_err err;

    if (wr_cache_open(&c, &k->cfg, &err) < 0) {
        fprintf(stderr, "%s\n", err.msg);
        abort();
    }
    return c;
}

/* The first file in the cache whose name is `name`. */
static inline bool kit_file(const struct kit *k, const char *name, char *ret,
                            size_t cap)
{
    char cmd[512];
    FILE *p;
    bool got;

    snprintf(cmd, sizeof(cmd), "find '%s' -name '%s' | head -n 1", k->dir,
             name);
    p = popen(cmd, "r");
    got = p && fgets(ret, (int)cap, p);
    if (p)
        pclose(p);
    if (got)
        ret[strcspn(ret, "\n")] = '\0';
    return got;
}

/* Flips bits of one byte of a file. */
static inline void kit_flip(const char *path, uint64_t offset, uint8_t mask)
{
    int fd = open(path, O_RDWR);
    uint8_t byte;

    if (fd < 0 || pread(fd, &byte, 1, (off_t)offset) != 1)
        abort();
    byte ^= mask;
    if (pwrite(fd, &byte, 1, (off_t)offset) != 1)
        abort();
    close(fd);
}

#endif
