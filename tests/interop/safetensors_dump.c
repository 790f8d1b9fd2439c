/* safetensors_dump.c - what weir finds in a safetensors file, and its own one.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/dtype.h"
#include "safetensors/head.h"
#include "safetensors/shard.h"

#define MAX_FILE ((size_t)1 << 30)

static void show_text(const char *text)
{
    putchar('\t');
    for (; *text; text++)
        printf("%02x", (unsigned char)*text);
}

/* Lines: "head DATA_OFFSET DATA_BYTES"; "tensor BEGIN END DTYPE SHAPE NAME" in
 * the order of data; "pair KEY VALUE". Fields are parted by tabs, names, keys
 * and values are hexadecimal. */
static void show(const struct wr_st_head *h)
{
    printf("head\t%" PRIu64 "\t%" PRIu64 "\n", h->data_offset, h->data_bytes);
    for (size_t k = 0; k < h->count; k++) {
        const struct wr_st_tensor *t = &h->tensors[k];

        printf("tensor\t%" PRIu64 "\t%" PRIu64 "\t%s\t", t->begin, t->end,
               wr_dtype_name(t->t.dtype));
        for (uint32_t d = 0; d < t->t.ndim; d++)
            printf("%s%" PRIu64, d ? "," : "", t->t.shape[d]);
        show_text(t->t.name);
        putchar('\n');
    }
    for (size_t k = 0; k < h->metadata_count; k++) {
        fputs("pair", stdout);
        show_text(h->metadata[k].key);
        show_text(h->metadata[k].value);
        putchar('\n');
    }
}

/* What was read, as tensors of a caller; free() both. */
static void gather(const struct wr_st_head *h, uint8_t *data,
                   weir_tensor **ret_tensors, weir_pair **ret_pairs)
{
    *ret_tensors = calloc(h->count + 1, sizeof(**ret_tensors));
    *ret_pairs = calloc(h->metadata_count + 1, sizeof(**ret_pairs));
    if (!*ret_tensors || !*ret_pairs)
        abort();
    for (size_t k = 0; k < h->count; k++) {
        (*ret_tensors)[k] = h->tensors[k].t;
        (*ret_tensors)[k].data = data + h->tensors[k].begin;
    }
    for (size_t k = 0; k < h->metadata_count; k++)
        (*ret_pairs)[k] = (weir_pair){h->metadata[k].key, h->metadata[k].value};
}

/* The same tensors as a checkpoint has them, in the same folder. */
static int rewrite(const struct wr_st_head *from, uint8_t *data,
                   const struct wr_shard_at *to, weir_err *err)
{
    struct wr_image *img = NULL;
    struct wr_st_shard shard = {0};
    weir_tensor *tensors;
    weir_pair *pairs;
    int r = wr_image_new(2, &img, err);

    gather(from, data, &tensors, &pairs);
    if (r == 0)
        r = wr_image_plan(img, tensors, from->count, pairs,
                          from->metadata_count, err);
    if (r == 0) {
        wr_image_fill(img, tensors, /* eager= */ true);
        r = wr_shard_write(to, img, &shard, NULL, err);
    }
    wr_shard_done(&shard);
    wr_image_free(img);
    free(tensors);
    free(pairs);
    return r;
}

/* usage: FILE [NAME-OF-COPY]; exit code 1 and the reason when FILE is refused */
int main(int argc, char **argv)
{
    struct wr_store *store = NULL;
    struct wr_st_head h;
    char *leaf = NULL, *bytes = NULL;
    size_t len;
    weir_err err;
    int r = 0;

    if (argc < 2 || wr_store_open(argv[1], &store, &leaf, &err) < 0 || !leaf)
        return 2;
    if (wr_st_read(store, leaf, &h, NULL, &err) < 0) {
        puts(err.msg);
        r = 1;
    } else {
        show(&h);
        if (argc > 2 &&
            (wr_store_slurp(store, leaf, MAX_FILE, &bytes, &len, &err) < 0 ||
             rewrite(&h, (uint8_t *)bytes + h.data_offset,
                     &(struct wr_shard_at){store, argv[2]}, &err) < 0)) {
            puts(err.msg);
            r = 2;
        }
        wr_st_done(&h);
    }
    free(bytes);
    free(leaf);
    wr_store_close(store);
    return r;
}
