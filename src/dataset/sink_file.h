/* sink_file.h - one file of a data set: samples in, by whatever writes its format.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A file appears in its sink under its own name when it is complete, with what
 * belongs beside it (labels, an index) there already. Of one thread at a time. */
#ifndef WR_DATASET_SINK_FILE_H
#define WR_DATASET_SINK_FILE_H

#include "dataset/sink.h"
#include "format/writer.h"
#include "format/tensor.h"
#include "format/writer.h"

/* Few bytes are brought together first, up to so many. */
#define WR_SINK_AHEAD    ((size_t)256 << 10)
#define WR_SINK_PATH_MAX 300

/* What a file is written by. */
struct wr_file_form {
    const char *ext;
    const struct wr_array_writer_ops *arrays; /* static; or NULL */
    const struct wr_writer_ops *records;      /* static; or NULL. Without both:
                                                 tensors one after the other */
    bool npy; /* tensors: NumPy's head, and the labels in a file beside it */
};

/* By the name of a writer, or "npy", "wt" or "tensor"; false: there is none. */
bool wr_file_form_find(const char *name, struct wr_file_form *ret);

/* What goes into a file. */
struct wr_file_layout {
    uint64_t samples;         /* at most */
    const weir_field *fields; /* borrowed; of writers of fields */
    unsigned field_count;
    bool packed;                      /* deflated, by a writer that can */
    const struct wr_gen_shape *shape; /* borrowed; of tensors */
    bool labels;                      /* tensors have them */
};

struct wr_sink_file {
    struct wr_sink *sink;            /* borrowed */
    const struct wr_file_form *form; /* borrowed */
    struct wr_file_layout layout;
    char path[WR_SINK_PATH_MAX];
    struct wr_object *object; /* owned; NULL: nothing is being written */
    uint64_t end;          /* bytes written, the room for the head included */
    struct wr_bytes ahead; /* owned: bytes that follow, and are few yet */
    uint64_t head;         /* tensors: bytes of the room for the head */
    uint32_t *labels;      /* owned: of all tensors */
    size_t label_count, label_cap;
    struct wr_array_out *out; /* owned; of `form->arrays` */
    uint64_t files, bytes;    /* made, once it is finished */
};

/* Begins the file at `path` of a sink; `s` is zeroed. wr_sink_file_done ends it. */
int wr_sink_file_open(struct wr_sink_file *s, struct wr_sink *sink,
                      const char *path, const struct wr_file_form *form,
                      const struct wr_file_layout *l, weir_err *err);

/* One sample of fields, through the writer. */
int wr_sink_file_add(struct wr_sink_file *s,
                     const struct wr_write_sample *sample, weir_err *err);

/* Tensors that follow each other, and their labels. */
int wr_sink_file_add_tensors(struct wr_sink_file *s, const void *bytes,
                             size_t len, const uint32_t *labels, size_t count,
                             weir_err *err);

/* Bytes that a writer has made of samples; few are written with others. */
int wr_sink_file_append(struct wr_sink_file *s, const void *bytes, size_t len,
                        weir_err *err);

/* Completes the file. Fewer samples than the layout says may have come. */
int wr_sink_file_finish(struct wr_sink_file *s, weir_err *err);

/* What was not finished is removed. Takes a zeroed one. */
void wr_sink_file_done(struct wr_sink_file *s);

/* Files and bytes of the shard at `path`, with those beside it; 0 files: an
 * earlier run did not complete it. */
void wr_sink_file_look(struct wr_sink *sink, const char *path,
                       const struct wr_file_form *form, uint64_t *ret_files,
                       uint64_t *ret_bytes);

#endif
