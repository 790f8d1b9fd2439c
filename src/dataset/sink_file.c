/* sink_file.c - one file of a data set: samples in, by whatever writes its format.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dataset/sink_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

/* So many bytes are written as they are. */
#define MANY ((size_t)64 << 10)

#define COPY_BYTES ((size_t)4 << 20)
#define LABELS     ".labels.npy" /* instead of the ending */

bool wr_file_form_find(const char *name, struct wr_file_form *ret)
{
    struct wr_file_form f = {.arrays = wr_array_writer_find(name),
                             .records = wr_writer_find(name),
                             .npy = !strcmp(name, "npy")};

    f.ext = f.arrays    ? f.arrays->ext
            : f.records ? f.records->ext
            : f.npy     ? ".npy"
                        : ".wt";
    *ret = f;
    return f.arrays || f.records || f.npy || !strcmp(name, "wt") ||
           !strcmp(name, "tensor");
}

/* --- bytes --- */

/* Writes what is ahead, if it is more than `most` bytes. */
static int flush_ahead(struct wr_sink_file *s, size_t most, weir_err *err)
{
    int r;

    if (s->ahead.len <= most)
        return 0;
    r = wr_sink_write(s->sink, s->object, s->ahead.bytes, s->ahead.len, s->end,
                      err);
    s->end += s->ahead.len;
    s->ahead.len = 0;
    return r;
}

int wr_sink_file_append(struct wr_sink_file *s, const void *bytes, size_t len,
                        weir_err *err)
{
    uint8_t *room;
    bool many = len >= MANY;
    int r = flush_ahead(s, many ? 0 : WR_SINK_AHEAD - len, err);

    if (r == 0 && many) {
        r = wr_sink_write(s->sink, s->object, bytes, len, s->end, err);
        s->end += len;
        return r;
    }
    room = r == 0 && len ? wr_bytes_room(&s->ahead, len) : NULL;
    if (!room)
        return r < 0 || !len ? r : wr_fail(err, WEIR_ENOMEM, "out of memory");
    memcpy(room, bytes, len);
    s->ahead.len += len;
    return 0;
}

/* --- tensors: a head, the samples, and labels in the head or beside it --- */

static bool is_tensors(const struct wr_file_form *f)
{
    return !f->arrays && !f->records;
}

static int make_head(const struct wr_sink_file *s, uint64_t count,
                     const uint32_t *labels, struct wr_tensor_bytes *ret,
                     weir_err *err)
{
    const struct wr_gen_shape *shape = s->layout.shape;

    return s->form->npy ? wr_tensor_npy_header(shape, count, ret, err)
                        : wr_tensor_wt_header(shape, count, labels, ret, err);
}

/* Leaves as much room as the head takes when no sample is bad. */
static int leave_room(struct wr_sink_file *s, weir_err *err)
{
    const struct wr_file_layout *l = &s->layout;
    uint32_t *labels = l->labels ? calloc(l->samples, sizeof(*labels)) : NULL;
    struct wr_tensor_bytes head;
    int r;

    if (l->labels && !labels)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = make_head(s, l->samples, labels, &head, err);
    free(labels);
    if (r < 0)
        return r;
    s->head = s->end = head.len;
    free(head.bytes);
    return 0;
}

int wr_sink_file_add_tensors(struct wr_sink_file *s, const void *bytes,
                             size_t len, const uint32_t *labels, size_t count,
                             weir_err *err)
{
    if (!wr_grow(&s->labels, &s->label_cap, s->label_count + count,
                 sizeof(*s->labels)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    memcpy(s->labels + s->label_count, labels, count * sizeof(*labels));
    s->label_count += count;
    return wr_sink_file_append(s, bytes, len, err);
}

/* So many samples were bad that the head is smaller than was thought: the
 * samples move up. */
static int move_samples(struct wr_sink_file *s, uint64_t head, weir_err *err)
{
    uint8_t *buf = malloc(COPY_BYTES);
    uint64_t left = s->end - s->head;
    int r = buf ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");

    for (uint64_t at = 0; r == 0 && left;) {
        size_t n = (size_t)WR_MIN(left, (uint64_t)COPY_BYTES);

        r = wr_object_read_fully(s->object, buf, n, s->head + at, err);
        if (r == 0)
            r = wr_sink_write(s->sink, s->object, buf, n, head + at, err);
        at += n;
        left -= n;
    }
    free(buf);
    s->end = s->end - s->head + head;
    s->head = head;
    return r < 0 ? r : wr_object_resize(s->object, s->end, err);
}

static void labels_path(const struct wr_file_form *f, const char *path,
                        char buf[WR_SINK_PATH_MAX + sizeof(LABELS)])
{
    snprintf(buf, WR_SINK_PATH_MAX + sizeof(LABELS), "%.*s" LABELS,
             (int)(strlen(path) - strlen(f->ext)), path);
}

static int put_beside(void *shard, const char *path, const void *bytes,
                      size_t len, weir_err *err)
{
    struct wr_sink_file *s = shard;

    s->files++;
    s->bytes += len;
    return wr_sink_put(s->sink, path, bytes, len, err);
}

static int put_labels(struct wr_sink_file *s, weir_err *err)
{
    char path[WR_SINK_PATH_MAX + sizeof(LABELS)];
    struct wr_tensor_bytes file;
    int r = wr_tensor_npy_labels(s->labels, s->label_count, &file, err);

    if (r < 0)
        return r;
    labels_path(s->form, s->path, path);
    r = put_beside(s, path, file.bytes, file.len, err);
    free(file.bytes);
    return r;
}

static int finish_tensors(struct wr_sink_file *s, weir_err *err)
{
    struct wr_tensor_bytes head = {0};
    int r = flush_ahead(s, 0, err);

    if (r == 0)
        r = make_head(s, s->label_count, s->layout.labels ? s->labels : NULL,
                      &head, err);
    if (r < 0)
        return r;
    if (head.len != s->head)
        r = move_samples(s, head.len, err);
    if (r == 0)
        r = wr_sink_write(s->sink, s->object, head.bytes, head.len, 0, err);
    free(head.bytes);
    return r < 0 || !s->layout.labels || !s->form->npy ? r : put_labels(s, err);
}

/* --- any form --- */

int wr_sink_file_open(struct wr_sink_file *s, struct wr_sink *sink,
                      const char *path, const struct wr_file_form *form,
                      const struct wr_file_layout *l, weir_err *err)
{
    const struct wr_array_layout arrays = {.fields = l->fields,
                                           .count = l->field_count,
                                           .samples = l->samples,
                                           .packed = l->packed};
    int r;

    *s = (struct wr_sink_file){.sink = sink, .form = form, .layout = *l};
    if (snprintf(s->path, sizeof(s->path), "%s", path) >= (int)sizeof(s->path))
        return wr_fail(err, WEIR_ELIMIT, "'%s': path too long", path);
    r = wr_sink_begin(sink, path, &s->object, err);
    if (r < 0)
        return r;
    if (form->arrays)
        return form->arrays->open(s->object, &arrays, &s->out, err);
    if (form->records)
        return form->records->begin ? form->records->begin(&s->ahead, l->fields,
                                                           l->field_count, err)
                                    : 0;
    return leave_room(s, err);
}

int wr_sink_file_add(struct wr_sink_file *s,
                     const struct wr_write_sample *sample, weir_err *err)
{
    int r;

    if (s->form->arrays)
        return s->form->arrays->add(s->out, sample->values, err);
    r = s->form->records->add(&s->ahead, sample, err);
    return r < 0 ? r : flush_ahead(s, WR_SINK_AHEAD, err);
}

static int finish_arrays(struct wr_sink_file *s, weir_err *err)
{
    const struct wr_side_sink beside = {s->path, put_beside, s};
    int r = s->form->arrays->finish(s->out, &s->end, err);

    return r < 0 ? r
                 : wr_array_writer_sides(s->form->arrays, s->out, &beside, err);
}

static int finish_records(struct wr_sink_file *s, weir_err *err)
{
    const struct wr_writer_ops *ops = s->form->records;
    struct wr_bytes tail = {0}; /* writers pad it by itself */
    int r = ops->finish ? ops->finish(&tail, err) : 0;

    if (r == 0)
        r = wr_sink_file_append(s, tail.bytes, tail.len, err);
    free(tail.bytes);
    return r < 0 ? r : flush_ahead(s, 0, err);
}

int wr_sink_file_finish(struct wr_sink_file *s, weir_err *err)
{
    struct wr_object *o = s->object;
    int r = s->form->arrays    ? finish_arrays(s, err)
            : s->form->records ? finish_records(s, err)
                               : finish_tensors(s, err);

    if (r < 0)
        return r;
    s->object = NULL;
    s->files++;
    s->bytes += s->end;
    return wr_sink_end(s->sink, s->path, o, /* ok= */ true, err);
}

void wr_sink_file_done(struct wr_sink_file *s)
{
    if (s->object)
        wr_sink_end(s->sink, s->path, s->object, /* ok= */ false, NULL);
    if (s->out)
        s->form->arrays->free(s->out);
    free(s->ahead.bytes);
    free(s->labels);
    *s = (struct wr_sink_file){0};
}

void wr_sink_file_look(struct wr_sink *sink, const char *path,
                       const struct wr_file_form *form, uint64_t *ret_files,
                       uint64_t *ret_bytes)
{
    const char *const none[] = {NULL};
    const char *const *sides = form->arrays && form->arrays->sides
                                   ? form->arrays->sides
                                   : none;
    char beside[WR_SINK_PATH_MAX + 64];
    int64_t n = wr_sink_size(sink, path, NULL);

    *ret_files = *ret_bytes = 0;
    if (n < 0)
        return;
    *ret_files = 1;
    *ret_bytes = (uint64_t)n;
    for (unsigned k = 0; sides[k]; k++) {
        snprintf(beside, sizeof(beside), "%s%s", path, sides[k]);
        n = wr_sink_size(sink, beside, NULL);
        *ret_files += n >= 0;
        *ret_bytes += n >= 0 ? (uint64_t)n : 0;
    }
    if (!is_tensors(form) || !form->npy)
        return;
    labels_path(form, path, beside);
    n = wr_sink_size(sink, beside, NULL);
    *ret_files += n >= 0;
    *ret_bytes += n >= 0 ? (uint64_t)n : 0;
}
