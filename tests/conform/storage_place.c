/* storage_place.c - a folder of files with a known content, a store on it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "storage_place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

size_t size_of(unsigned file)
{
    static const size_t sizes[] = {1,    2,    4095,  4096,   4097, 8191,
                                   8192, 8193, 12288, 100000, LARGE};

    return sizes[file % WR_ARRAY_LEN(sizes)];
}

uint8_t byte_of(unsigned file, size_t at)
{
    return (uint8_t)(file * 31 + at + (at >> 8) * 7);
}

void name_of(unsigned file, char *buf, size_t cap)
{
    snprintf(buf, cap, "sub/f%03u.bin", file);
}

static void put_file(const struct place *pl, const char *name, unsigned file,
                     size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    char path[800];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", pl->dir, name);
    for (size_t i = 0; i < size; i++)
        bytes[i] = byte_of(file, i);
    f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f))
        abort();
    free(bytes);
}

static struct wr_store *put_meter(struct inside *in, struct wr_store *st)
{
    struct wr_store *metered = NULL;

    assert_true(in->count < WR_ARRAY_LEN(in->stores));
    in->stores[in->count++] = st;
    if (!in->meter)
        assert_int_equal(wr_meter_new(&in->meter, NULL), 0);
    assert_int_equal(wr_meter_wrap(in->meter, st, &metered, NULL), 0);
    return metered;
}

static void remove_meters(struct inside *in)
{
    while (in->count)
        wr_store_close(in->stores[--in->count]);
    wr_meter_free(in->meter);
    free(in);
}

struct wr_store *open_store(const struct place *pl, const char *name,
                            char **ret_leaf)
{
    struct wr_store *st = NULL;
    char url[600];
    weir_err err;

    snprintf(url, sizeof(url), "%s%s%s", pl->be->prefix, pl->dir, name);
    if (wr_store_open_with(url, pl->be->own ? WR_STORE_OWN : 0, &st, ret_leaf,
                           &err) < 0)
        fail_msg("%s", err.msg);
    return pl->be->metered ? put_meter(pl->inside, st) : st;
}

struct wr_queue *open_queue(const struct place *pl, unsigned depth)
{
    struct wr_queue_config cfg = {.depth = depth,
                                  .io = pl->be->io,
                                  .direct = pl->be->direct,
                                  .lazy = pl->be->lazy};
    struct wr_queue *q = NULL;
    weir_err err;

    if (pl->st->ops->queue_open(pl->st, &cfg, &q, &err) < 0)
        fail_msg("%s", err.msg);
    assert_true(!strcmp(q->engine, "io_uring") ||
                !strcmp(q->engine, "blocking"));
    if (pl->be->io == WEIR_IO_BLOCKING)
        assert_string_equal(q->engine, "blocking");
    return q;
}

int place_setup(void **state)
{
    struct place *pl = calloc(1, sizeof(*pl));
    const char *base = getenv("TMPDIR");
    char path[512], *leaf = NULL;

    pl->be = *state;
    pl->inside = calloc(1, sizeof(*pl->inside));
    snprintf(pl->dir, sizeof(pl->dir), "%s/weir-test-XXXXXX",
             base ? base : "/tmp");
    if (!mkdtemp(pl->dir))
        return -1;
    snprintf(path, sizeof(path), "%s/sub", pl->dir);
    if (mkdir(path, 0777))
        return -1;
    for (unsigned f = 0; f < FILES; f++) {
        name_of(f, path, sizeof(path));
        put_file(pl, path, f, size_of(f));
    }
    pl->st = open_store(pl, "", &leaf);
    assert_null(leaf);
    *state = pl;
    return 0;
}

static int remove_one(const char *path, const struct stat *sb, int flag,
                      struct FTW *ftw)
{
    (void)sb;
    (void)flag;
    (void)ftw;
    return remove(path);
}

int place_teardown(void **state)
{
    struct place *pl = *state;

    wr_store_close(pl->st);
    remove_meters(pl->inside);
    nftw(pl->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(pl);
    return 0;
}
