/* kind.h - what a data set can become: one const table per kind.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Samples are worked on in chunks, by any thread; what a chunk has become is
 * appended to its shard in order. So the hooks below see one sample, or one
 * finished shard, and nothing of threads. */
#ifndef WR_CONVERT_KIND_H
#define WR_CONVERT_KIND_H

#include "convert/plan.h"
#include "convert/stage.h"
#include "format/writer.h"

/* One sample on its way. */
struct wr_convert_item {
    struct wr_sample s;     /* unpacked: the encoded picture, or the tensor */
    const char *key;        /* borrowed; safe as a path, unique if need be */
    const char *class_name; /* borrowed; NULL: none */
    struct wr_convert_saving *saving; /* borrowed; NULL: not measured */
    bool fatal; /* set by `add`: it was not the sample's fault */
};

/* What some samples have become. */
struct wr_convert_part {
    struct wr_bytes out;
    uint32_t *labels; /* owned; tensors only */
    size_t label_count, label_cap;
    uint64_t bytes; /* written elsewhere than to `out` */
};

/* A shard whose samples are all written, but not its head and tail. */
struct wr_convert_shard {
    uint64_t number;
    struct wr_object *object; /* owned; NULL: nothing was written */
    uint64_t end;             /* bytes so far, the room for the head included */
    struct wr_convert_part all; /* labels of all samples, bytes */
    struct wr_bytes bad;        /* a line for each sample that was left out */
};

struct wr_convert_kind {
    const char *name;
    const char *help; /* one line */
    const char *ext;  /* of a shard's file; NULL: a file for each sample */
    bool tensors;     /* samples come out as equal tensors */
    bool paths;       /* keys become paths: no two may be the same */
    /* required: whether this source can become that. */
    int (*check)(const struct wr_convert_plan *p, weir_err *err);
    /* optional (NULL: the key itself): a text that is the same for two samples
     * when their paths are. The classes may not all be known yet. */
    void (*unique)(const struct wr_convert_plan *p, uint32_t label,
                   const char *key, char buf[WR_CONVERT_KEY_MAX]);
    /* optional: once, before all work. */
    int (*begin)(const struct wr_convert_plan *p, struct wr_stage *st,
                 weir_err *err);
    /* required: what one thread needs; state_free takes NULL. */
    int (*state_new)(const struct wr_convert_plan *p, struct wr_stage *st,
                     void **ret, weir_err *err);
    void (*state_free)(void *state);
    /* required: one sample; on failure nothing was added. The message says
     * what is wrong, the caller names the sample. */
    int (*add)(void *state, struct wr_convert_item *it,
               struct wr_convert_part *to, weir_err *err);
    /* optional: bytes to be left free in front of a shard's samples. */
    int (*head_room)(const struct wr_convert_plan *p, uint64_t shard,
                     uint64_t *ret, weir_err *err);
    /* required: completes the shard under its final name. */
    int (*finish)(const struct wr_convert_plan *p, struct wr_stage *st,
                  struct wr_convert_shard *s, weir_err *err);
    /* optional: once, after all work. */
    int (*end)(const struct wr_convert_plan *p, struct wr_stage *st,
               weir_err *err);
};

/* The registry: table k, NULL past the end; by name, NULL if unknown. */
const struct wr_convert_kind *wr_convert_kind_at(unsigned k);
const struct wr_convert_kind *wr_convert_kind_find(const char *name);

extern const struct wr_convert_kind wr_convert_tfrecord;
extern const struct wr_convert_kind wr_convert_tar;
extern const struct wr_convert_kind wr_convert_jpeg;
extern const struct wr_convert_kind wr_convert_tensor;
extern const struct wr_convert_kind wr_convert_npy;

#endif
