/* fuzz_cache_map.c - a folder of a cache whose map lies.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first byte says how the rest becomes the map: as it is, as the entries
 * behind a good header, or as what well-formed entries claim; the last also
 * while another process holds the map, so that nobody may mend it. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/cache.h"
#include "pipeline/cache_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SAMPLES 16
#define DATA    4096 /* bytes of the data file that is there */
#define SAMPLE  100  /* bytes that are put */

enum how { RAW, ENTRIES, CLAIMS, CLAIMS_HELD, HOWS };

static const struct wr_cache_map_id id = {
    .fingerprint = 7, .samples = SAMPLES, .budget = 1 << 20, .name = "fuzz"};

static void path_in(const char *root, const char *dir, const char *name,
                    char *ret, size_t cap)
{
    if (snprintf(ret, cap, "%s/%s/%s", root, dir, name) >= (int)cap)
        abort();
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
}

/* 18 bytes a claim: data file, offset, length, label, checksum. */
static void claim_all(struct wr_cache_map *m, const uint8_t *data, size_t size)
{
    for (uint64_t k = 0; k < SAMPLES && size >= 18; k++) {
        struct wr_spot s = {.segment = data[0] % 8u};
        uint64_t offset;

        memcpy(&offset, data + 1, sizeof(offset));
        s.offset = offset % 3 ? offset % (2 * DATA) / 64 * 64
                              : offset >> 6 << 6;
        memcpy(&s.len, data + 9, sizeof(s.len));
        if (data[0] & 128)
            s.len %= DATA;
        s.label = data[13];
        memcpy(&s.crc, data + 14, sizeof(s.crc));
        wr_cache_map_publish(m, k, &s);
        data += 18;
        size -= 18;
    }
}

/* Makes the map; the one that is returned is still held. */
static struct wr_cache_map make_map(const char *path, enum how how,
                                    const uint8_t *data, size_t size)
{
    enum wr_cache_map_hold hold;
    struct wr_cache_map m;

    if (how == RAW)
        write_file(path, data, size);
    if (wr_cache_map_lock(&m, path, 0, &hold, NULL) < 0 ||
        hold != WR_CACHE_MAP_ALONE)
        abort();
    if (how == RAW)
        return m;
    if (wr_cache_map_make(&m, &id, NULL) < 0)
        abort();
    if (how == ENTRIES)
        memcpy((void *)m.entries, data,
               size < SAMPLES * 24 ? size : SAMPLES * 24);
    else
        claim_all(&m, data, size);
    if (wr_cache_map_share(&m, NULL) < 0 || !wr_cache_map_is_at(&m, path))
        abort();
    return m;
}

/* Whatever is found may be read and checked; nothing is believed. */
static void find_all(struct wr_cache *c, bool must_be_good)
{
    static uint8_t buf[DATA * 2];

    for (uint64_t k = 0; k < SAMPLES; k++) {
        struct wr_cache_hit hit;
        int64_t n = 0;
        bool good;

        if (!wr_cache_find(c, k, &hit)) {
            if (must_be_good)
                abort();
            continue;
        }
        if (hit.len == 0 || hit.len > DATA + SAMPLES * 128)
            abort(); /* lies behind the end of any file */
        n = hit.object->ops->read(hit.object, buf, hit.len, hit.offset, NULL);
        good = wr_cache_check(c, k, &hit, n == (int64_t)hit.len ? buf : NULL);
        if (must_be_good && !good)
            abort();
        if (!good && wr_cache_find(c, k, &hit))
            abort();
    }
}

static void use(const char *root, bool held)
{
    char spec[128];
    struct wr_cache_config cfg = {.spec = spec,
                                  .samples = SAMPLES,
                                  .fingerprint = id.fingerprint,
                                  .name = id.name};
    uint8_t sample[SAMPLE] = {1};
    struct wr_cache *c;
    weir_err err;

    snprintf(spec, sizeof(spec), "%s:1MiB", root);
    if (wr_cache_open(&c, &cfg, &err) < 0)
        abort();
    find_all(c, /* must_be_good= */ false);
    for (uint64_t k = 0; k < SAMPLES; k++)
        wr_cache_put(c, k, 0, sample, sizeof(sample));
    /* What others hold may have entries in the making. */
    find_all(c, /* must_be_good= */ !held);
    if (wr_cache_error(c, &err) < 0)
        abort();
    wr_cache_close(c);
}

static void remove_all(const char *root, const char *dir)
{
    char path[160], name[16];

    path_in(root, dir, "map", path, sizeof(path));
    unlink(path);
    for (unsigned k = 0; k < 8; k++) {
        snprintf(name, sizeof(name), "data-%04u", k);
        path_in(root, dir, name, path, sizeof(path));
        unlink(path);
    }
    path_in(root, dir, "", path, sizeof(path));
    rmdir(path);
    if (rmdir(root) < 0)
        abort(); /* something was left, or made elsewhere */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char folder[64], path[160];
    uint8_t bytes[DATA] = {0};
    struct wr_store *st;
    struct wr_cache_place place;
    struct wr_cache_map map;
    enum how how;
    char *leaf, *root;

    if (size < 1)
        return 0;
    how = data[0] % HOWS;
    snprintf(folder, sizeof(folder), "%s/weir-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder) || !(root = wr_place_root(folder, 0)) ||
        wr_store_open_with(root, WR_STORE_PRIVATE, &st, &leaf, NULL) < 0)
        abort();
    wr_place_init(&place, st, root, 0, &id);
    if (wr_place_make(&place, NULL) < 0)
        abort();
    path_in(root, place.dir, "data-0000", path, sizeof(path));
    write_file(path, bytes, sizeof(bytes));
    path_in(root, place.dir, "map", path, sizeof(path));
    map = make_map(path, how, data + 1, size - 1);
    if (how != CLAIMS_HELD)
        wr_cache_map_close(&map);
    use(folder, how == CLAIMS_HELD);
    if (how == CLAIMS_HELD)
        wr_cache_map_close(&map);
    wr_store_close(st);
    remove_all(root, place.dir);
    free(root);
    if (rmdir(folder) < 0)
        abort();
    return 0;
}
