/* tensorfiles.h - makes .npy and .wt files for tests.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_FORMAT_TENSORFILES_H
#define TEST_FORMAT_TENSORFILES_H

#include <endian.h>
#include <stdint.h>

#include "format/npz_write.h"
#include "tmpdir.h"

/* A .npy file of this type and shape ("(2, 3)") around `len` bytes. */
static inline void put_npy(const struct tmpdir *t, const char *name,
                           const char *descr, const char *shape,
                           const void *data, size_t len)
{
    char head[256];
    FILE *f = fopen(tmpdir_at(t, name), "wb");
    int n = snprintf(head, sizeof(head),
                     "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n",
                     descr, shape);

    if (!f)
        abort();
    fwrite("\x93NUMPY\x01\x00", 1, 8, f);
    fputc(n & 255, f);
    fputc(n >> 8, f);
    fwrite(head, 1, (size_t)n, f);
    fwrite(data, 1, len, f);
    if (fclose(f))
        abort();
}

struct wt_spec {
    uint32_t dtype, ndim;
    uint64_t dims[7], count;
    const uint32_t *labels; /* NULL: none */
    const void *data;
    size_t data_len;
};

/* A .wt file on a little-endian machine. */
static inline void put_wt(const struct tmpdir *t, const char *name,
                          const struct wt_spec *w)
{
    uint32_t head[4] = {1, w->dtype, w->ndim, w->labels ? 1 : 0};
    size_t labels = w->labels ? 4 * (size_t)w->count : 0;
    size_t start = (128 + labels + 4095) / 4096 * 4096;
    uint8_t *all = calloc(1, start + w->data_len);

    if (!all)
        abort();
    memcpy(all, "WEIRTNS1", 8);
    memcpy(all + 8, head, sizeof(head));
    memcpy(all + 24, &w->count, 8);
    memcpy(all + 64, w->dims, 56);
    if (labels)
        memcpy(all + 128, w->labels, labels);
    memcpy(all + start, w->data, w->data_len);
    tmpdir_put(t, name, all, start + w->data_len);
    free(all);
}

/* One array of a .npz file. */
struct npz_spec {
    const char *name, *descr, *shape; /* "x", "<f4", "(2, 3)"; NULL: no more */
    const void *data;
    size_t len;
    bool fortran;
};

/* A .npz file of these arrays, the last one has no name. */
static inline void put_npz(const struct tmpdir *t, const char *name,
                           const struct npz_spec *arrays, bool deflate)
{
    struct wr_npz_out *w;
    struct wr_object *o;
    struct wr_store *st;
    uint64_t size;
    char *leaf;

    unlink(tmpdir_at(t, name));
    if (wr_store_open(t->path, &st, &leaf, NULL) < 0 ||
        st->ops->object_open(st, name, WR_OPEN_CREATE, &o, NULL) < 0 ||
        wr_npz_out_new(o, deflate, &w, NULL) < 0)
        abort();
    for (; arrays->name; arrays++) {
        char member[64], head[256] = "\x93NUMPY\x01";
        int n = snprintf(head + 10, sizeof(head) - 10,
                         "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }",
                         arrays->descr, arrays->fortran ? "True" : "False",
                         arrays->shape);

        head[7] = 0;
        head[8] = (char)n;
        head[9] = (char)(n >> 8);
        snprintf(member, sizeof(member), "%s.npy", arrays->name);
        if (wr_npz_out_member(w, member, NULL) < 0 ||
            wr_npz_out_put(w, head, 10 + (size_t)n, NULL) < 0 ||
            wr_npz_out_put(w, arrays->data, arrays->len, NULL) < 0)
            abort();
    }
    if (wr_npz_out_finish(w, &size, NULL) < 0)
        abort();
    wr_npz_out_free(w);
    o->ops->close(o, /* sync= */ false, NULL);
    wr_store_close(st);
}

#endif
