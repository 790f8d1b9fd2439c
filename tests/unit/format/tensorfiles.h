/* tensorfiles.h - makes .npy and .wt files for tests.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_FORMAT_TENSORFILES_H
#define TEST_FORMAT_TENSORFILES_H

#include <endian.h>
#include <stdint.h>

#include "codec/inflate.h"
#include "format/zip.h"
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
    const char *name, *descr, *shape; /* "x" (x.npy) or "a.txt", "<f4",
                                         "(2, 3)"; NULL: no more */
    const void *data;
    size_t len;
    bool fortran;
};

/* Appends bytes of a member, deflated if `z`. */
static inline void put_npz_bytes(struct wr_bytes *to, struct wr_zip_member *m,
                                 struct wr_deflate *z, const void *bytes,
                                 size_t len)
{
    uint8_t *room = wr_bytes_room(to, 2 * len + 4096);
    size_t n = len, before = to->len;

    m->crc = wr_crc32(m->crc, bytes, len);
    m->inflated += len;
    if (z)
        wr_deflate_feed(z, bytes, len, /* last= */ !len);
    while (z && (n = wr_deflate_read(z, to->bytes + to->len, 4096)) > 0) {
        to->len += n;
        wr_bytes_room(to, 4096);
    }
    if (!z && len)
        memcpy(room, bytes, len);
    to->len += z ? 0 : len;
    m->stored += to->len - before;
}

/* A .npz file of these arrays, the last one has no name. */
static inline void put_npz(const struct tmpdir *t, const char *name,
                           const struct npz_spec *arrays, bool deflate)
{
    struct wr_zip_member of[8] = {{0}};
    struct wr_bytes file = {0}, local;
    char names[8][64];
    size_t count = 0;
    FILE *f = fopen(tmpdir_at(t, name), "wb");

    for (; arrays->name; arrays++, count++) {
        struct wr_zip_member *m = &of[count];
        struct wr_deflate *z = NULL;
        char head[256] = "\x93NUMPY\x01";
        int n = snprintf(head + 10, sizeof(head) - 10,
                         "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }",
                         arrays->descr, arrays->fortran ? "True" : "False",
                         arrays->shape);

        head[7] = 0;
        head[8] = (char)n;
        head[9] = (char)(n >> 8);
        snprintf(names[count], sizeof(names[0]), "%s%s", arrays->name,
                 strchr(arrays->name, '.') ? "" : ".npy");
        *m = (struct wr_zip_member){
            .name = names[count], .head = file.len, .deflated = deflate};
        if ((deflate && wr_deflate_new(&z, NULL) < 0) ||
            wr_zip_put_local(&file, m, NULL) < 0)
            abort();
        put_npz_bytes(&file, m, z, head, 10 + (size_t)n);
        if (arrays->len)
            put_npz_bytes(&file, m, z, arrays->data, arrays->len);
        if (z)
            put_npz_bytes(&file, m, z, "", 0);
        wr_deflate_free(z);
        local = (struct wr_bytes){0}; /* once more: its sizes are known now */
        wr_zip_put_local(&local, m, NULL);
        memcpy(file.bytes + m->head, local.bytes, local.len);
        free(local.bytes);
    }
    if (wr_zip_put_directory(&file, of, count, file.len, NULL) < 0 || !f ||
        fwrite(file.bytes, 1, file.len, f) != file.len || fclose(f))
        abort();
    free(file.bytes);
}

#endif
