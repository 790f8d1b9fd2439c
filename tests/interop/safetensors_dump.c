/* safetensors_dump.c - what weir finds in a safetensors file, and its own one.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "checkpoint/dtype.h"
#include "checkpoint/hex.h"
#include "checkpoint/manifest.h"
#include "checkpoint/safetensors.h"
#include "codec/crc32c.h"

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
    *ret_pairs = calloc(h->metadata_count + 2, sizeof(**ret_pairs));
    if (!*ret_tensors || !*ret_pairs)
        abort();
    for (size_t k = 0; k < h->count; k++) {
        (*ret_tensors)[k] = h->tensors[k].t;
        (*ret_tensors)[k].data = data + h->tensors[k].begin;
    }
    for (size_t k = 0; k < h->metadata_count; k++)
        (*ret_pairs)[k] = (weir_pair){h->metadata[k].key, h->metadata[k].value};
}

/* A planned file in memory, with the checksums in its last pair; free(). */
static uint8_t *build(struct wr_st_head *h, const weir_tensor *tensors)
{
    uint8_t *file = malloc(h->data_offset + h->data_bytes);
    size_t *order = wr_st_order(tensors, h->count);
    char *sums = h->metadata[h->metadata_count - 1].value;

    if (!file || !order)
        abort();
    for (size_t k = 0; k < h->count; k++)
        memcpy(file + h->data_offset + h->tensors[k].begin,
               tensors[order[k]].data, h->tensors[k].end - h->tensors[k].begin);
    for (uint64_t at = 0; at < h->data_bytes; at += WR_CHUNK, sums += 8)
        wr_hex_put_u32(wr_crc32c(0, file + h->data_offset + at,
                                 WR_MIN(WR_CHUNK, h->data_bytes - at)),
                       sums);
    if (wr_st_print(h, file, NULL) < 0)
        abort();
    free(order);
    return file;
}

/* The same tensors as weir would write them. */
static int rewrite(const struct wr_st_head *from, uint8_t *data, const char *to)
{
    size_t digits = (from->data_bytes + WR_CHUNK - 1) / WR_CHUNK * 8;
    char *sums = calloc(digits + 1, 1);
    struct wr_st_head h;
    weir_tensor *tensors;
    weir_pair *pairs;
    uint8_t *file;
    weir_err err;
    FILE *f;
    int ok;

    if (!sums)
        abort();
    memset(sums, '0', digits);
    gather(from, data, &tensors, &pairs);
    pairs[from->metadata_count] = (weir_pair){"weir.crc32c", sums};
    if (wr_st_plan(tensors, from->count, pairs, from->metadata_count + 1, &h,
                   &err) < 0) {
        puts(err.msg);
        exit(1);
    }
    file = build(&h, tensors);
    f = fopen(to, "wb");
    ok = f && fwrite(file, 1, h.data_offset + h.data_bytes, f) ==
                  h.data_offset + h.data_bytes;
    ok = f && fclose(f) == 0 && ok;
    free(file);
    free(sums);
    free(tensors);
    free(pairs);
    wr_st_done(&h);
    return ok ? 0 : 2;
}

/* usage: FILE [TO]; exit code 1 and the reason when FILE is refused */
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
            wr_store_slurp(store, leaf, MAX_FILE, &bytes, &len, &err) < 0)
            r = 2;
        else if (argc > 2)
            r = rewrite(&h, (uint8_t *)bytes + h.data_offset, argv[2]);
        wr_st_done(&h);
    }
    free(bytes);
    free(leaf);
    wr_store_close(store);
    return r;
}
