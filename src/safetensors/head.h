/* head.h - the head of a safetensors file: parse, plan, print.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A file is 8 bytes (N, little-endian), N bytes of JSON, and the data. What is
 * written here has N = 4096 k - 8, filled up with blanks, so that the data start
 * at a page; there are no gaps between tensors, because readers refuse them.
 * docs/formats/checkpoint.md has the rules that a file must keep. */
#ifndef WR_SAFETENSORS_HEAD_H
#define WR_SAFETENSORS_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <jansson.h>

#include "storage/storage.h"
#include "weir/checkpoint.h"

#define WR_ST_MAX_JSON   100000000u
#define WR_ST_DATA_ALIGN 4096u
#define WR_ST_MAX_NUMBER ((UINT64_C(1) << 48) - 1) /* of the format's schema */
#define WR_ST_METADATA   "__metadata__"

struct wr_st_tensor {
    weir_tensor t;       /* its name is owned, its data NULL */
    uint64_t begin, end; /* in the data */
};

struct wr_st_pair {
    char *key, *value; /* owned */
};

struct wr_st_head {
    struct wr_st_tensor *tensors; /* owned; in the order of their data */
    size_t count;
    uint32_t *by_name;           /* owned: indexes of tensors, by their names */
    struct wr_st_pair *metadata; /* owned; in the order of the file */
    size_t metadata_count;
    uint64_t data_offset; /* 8 + N */
    uint64_t data_bytes;
};

/* `bytes` are the first `len` of a file of `file_size`, at least 8 + N (or all
 * of it). Refuses everything that breaks a rule, with the reason; messages say
 * "'NAME': ...". */
int wr_st_parse(const void *bytes, size_t len, uint64_t file_size,
                const char *name, struct wr_st_head *ret, weir_err *err);
void wr_st_done(struct wr_st_head *h); /* leaves it zeroed */

/* Reads the head of a file and parses it. The bytes [0, data_offset) are
 * returned in fresh memory when ret_bytes is not NULL. */
int wr_st_read(struct wr_store *st, const char *path, struct wr_st_head *ret,
               uint8_t **ret_bytes, weir_err *err);

/* Checks the tensors (names, types, shapes, sizes), gives each its place and
 * sizes the head. Order: what fills whole pages first, so that it starts at one,
 * then wide types first, so that all stay aligned to their size; then as the
 * caller has them. Tensors of one width that lie one behind the other in memory
 * count as one and stay together. `metadata` keys are unique. Values may be
 * overwritten afterwards (wr_st_pair.value) by others of the same length
 * without '"', '\' and control characters: the head keeps its size. */
int wr_st_plan(const weir_tensor *tensors, size_t count,
               const weir_pair *metadata, size_t metadata_count,
               struct wr_st_head *ret, weir_err *err);

/* Index into the caller's tensors of wr_st_plan of each planned one: order[i]
 * is where planned tensor i came from. To be freed with free(). NULL: memory. */
size_t *wr_st_order(const weir_tensor *tensors, size_t count);

/* Prints a planned head into `buf` of h->data_offset bytes. */
int wr_st_print(const struct wr_st_head *h, uint8_t *buf, weir_err *err);

/* The tensor of that name; NULL: none. */
const struct wr_st_tensor *wr_st_find(const struct wr_st_head *h,
                                      const char *name);

/* Fills h->by_name; false when memory is short. *ret_twice is a name that two
 * tensors have, or NULL. */
bool wr_st_index(struct wr_st_head *h, const char **ret_twice);

/* Refuses what is no object of texts; `what` names it in messages. */
int wr_pairs_parse(json_t *object, const char *what, struct wr_st_pair **ret,
                   size_t *ret_count, weir_err *err);
/* A new object; NULL when memory is short or a text is no UTF-8. */
json_t *wr_pairs_json(const struct wr_st_pair *pairs, size_t count);
/* *ret is a key that is there twice, or NULL; false when memory is short. */
bool wr_pairs_twice(const struct wr_st_pair *pairs, size_t count,
                    const char **ret);
void wr_pairs_free(struct wr_st_pair *pairs, size_t count);

#endif
