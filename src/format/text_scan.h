/* text_scan.h - records of a text, found by all cores.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Records (rows of CSV, lines or elements of JSON) follow each other and each
 * ends where its format says. A big plain file is cut into chunks; each is
 * scanned from the first line that begins in it, as if that began a record.
 * Where the chunk before shows that it does not (it lies within quotes), the
 * chunk is scanned again from where a record does begin: the result is the
 * same as if one thread had scanned all. */
#ifndef WR_FORMAT_TEXT_SCAN_H
#define WR_FORMAT_TEXT_SCAN_H

#include <pthread.h>

#include "format/intern.h"
#include "format/shards.h"

#define WR_TEXT_MAX_RECORD ((size_t)1 << 30)

/* What stands at the beginning of a text. */
struct wr_text_record {
    size_t skip, length; /* its bytes begin so many behind, and are so many */
    bool none;           /* there is no record: an empty line, the end */
    uint32_t label;      /* or WEIR_NO_LABEL */
    const char *word;    /* the label is this text; NULL: it is not a text */
    size_t word_len;
    char own[256];   /* where a rule may put the word */
    const char *bad; /* the record is of no use; static: why */
    unsigned column; /* in which column that is; 0: in none */
};

struct wr_text_rule {
    bool splits; /* each record begins a line: any thread may begin there */
    /* Looks at the record that begins at `at`; returns how many bytes it takes
     * with what separates it from the next, 0: `end` comes before its end
     * (never when `last`: the text ends there). Any thread. */
    int64_t (*next)(const void *arg, const char *at, const char *end, bool last,
                    struct wr_text_record *ret, weir_err *err);
    const void *arg; /* borrowed */
};

/* Labels that are words, of all shards. */
struct wr_text_words {
    pthread_mutex_t lock; /* guards names */
    struct wr_intern names;
};

/* The files of a data set of texts. */
struct wr_text_files {
    const struct wr_format_files *names; /* borrowed: which they are */
    /* Adds the fields by the first of them, which stays. */
    int (*fields)(struct wr_index_job *job, struct wr_text_files *f,
                  const char *first, weir_err *err);
    int (*scan)(struct wr_shard *s, weir_err *err); /* s->arg is this */

    /* wr_text_index's own */
    unsigned threads; /* for one file */
    struct wr_text_words words;
};

/* Adds fields, samples and classes of such files. */
int wr_text_index(struct wr_index_job *job, struct wr_text_files *f,
                  weir_err *err);

struct wr_text_scan {
    struct wr_text_rule rule;
    uint64_t from, line;         /* where the first record begins */
    struct wr_text_files *files; /* borrowed; labels count in its words until
                                    all shards were scanned */
};

/* Adds the records of the shard, their labels and their lines. */
int wr_text_scan(struct wr_shard *s, const struct wr_text_scan *scan,
                 weir_err *err);

/* The first bytes of a shard, at most `max`, in fresh memory with a NUL behind
 * them; *ret_all: that is all of it. */
int wr_text_head(struct wr_store *st, const char *path, size_t max, char **ret,
                 size_t *ret_len, bool *ret_all, weir_err *err);

/* The field "line", which all texts have: an extra one. `path` is for the
 * format. */
int wr_text_add_line(struct wr_index *ix, const char *path, weir_err *err);
const struct wr_field *wr_text_line_field(const struct wr_schema *s);
/* The line that sample i begins in. */
int64_t wr_text_line(const struct wr_index *ix, uint64_t i);

#endif
