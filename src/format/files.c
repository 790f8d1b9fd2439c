/* files.c - which files are of a format, those of others, and what a data set has.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "base/text.h"
#include "codec/picture.h"
#include "format/decode.h"
#include "format/format.h"
#include "format/shards.h"

/* --- files of other software that weir does not read, by name --- */

#define HEAD_BYTES 512u
#define AS_ARRAYS  "; save its columns as .npz, .csv or .jsonl, which weir reads"
#define BY_GZIP    "; unpack it, or pack it by gzip, which weir reads"

/* What a file begins with. */
struct magic {
    const char *bytes;
    size_t len;
    const char *name;
};
#define MAGIC(bytes, name)                                                     \
    {                                                                          \
        bytes, sizeof(bytes) - 1, name                                         \
    }

static const struct magic magics[] = {
    MAGIC("PAR1", "a Parquet file" AS_ARRAYS),
    MAGIC("ARROW1", "an Arrow or Feather file" AS_ARRAYS),
    MAGIC("FEA1", "a Feather file" AS_ARRAYS),
    MAGIC("ORC", "an ORC file" AS_ARRAYS),
    MAGIC("Obj\1", "an Avro file" AS_ARRAYS),
    MAGIC("SQLite format 3", "an SQLite database" AS_ARRAYS),
    MAGIC("CDF\1", "a NetCDF-3 file; nccopy -k nc4 makes it NetCDF-4, which "
                   "weir reads as HDF5"),
    MAGIC("CDF\2", "a NetCDF-3 file; nccopy -k nc4 makes it NetCDF-4, which "
                   "weir reads as HDF5"),
    MAGIC("CDF\5", "a NetCDF-3 file; nccopy -k nc4 makes it NetCDF-4, which "
                   "weir reads as HDF5"),
    MAGIC("MATLAB 5.0", "a MATLAB file before version 7.3; save it by -v7.3, "
                        "which weir reads as HDF5"),
    MAGIC("\x28\xb5\x2f\xfd", "compressed by zstd" BY_GZIP),
    MAGIC("\xfd"
          "7zXZ",
          "compressed by xz" BY_GZIP),
    MAGIC("BZh", "compressed by bzip2" BY_GZIP),
    MAGIC("\x04\x22\x4d\x18", "compressed by LZ4" BY_GZIP),
    MAGIC("7z\xbc\xaf", "a 7z archive; unpack it, or pack its files by tar"),
    MAGIC("Rar!", "a RAR archive; unpack it, or pack its files by tar"),
    MAGIC("PK\3\4", "a zip archive (a .pt of PyTorch is one, too) that is not "
                    "called .npz; unpack it, or pack its files by tar"),
    MAGIC("{", "one JSON object; weir reads an array of samples (.json) or one "
               "sample per line (.jsonl)"),
    MAGIC("[", "JSON that is not an array of objects or arrays; as one sample "
               "per line (.jsonl) weir reads it"),
};

static bool is_pickle(const uint8_t *head, size_t len)
{
    return len > 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5 &&
           strchr("}]c\x95(K\x8c\x8a", head[2]) && head[2];
}

/* A length of 8 bytes, then the header, which is an object. */
static bool is_safetensors(const uint8_t *head, size_t len)
{
    return len > 9 && wr_le64(head) >= 2 && wr_le64(head) < 100000000 &&
           head[8] == '{';
}

static const char *name_head(const uint8_t *head, size_t len)
{
    size_t text = len >= 3 && !memcmp(head, "\xef\xbb\xbf", 3) ? 3 : 0;

    if (is_pickle(head, len))
        return "a Python pickle, which can run any program when it is loaded; "
               "save its arrays by numpy.savez (.npz)";
    if (is_safetensors(head, len))
        return "a safetensors file, of which a tensor is not a sample; weir "
               "ckpt show lists what it holds";
    if (wr_picture_probe(head, len) != WR_PICTURE_UNKNOWN)
        return "a picture whose name does not end like one (.jpg, .png)";
    while (text < len && strchr(" \t\r\n", head[text]) && head[text])
        text++;
    for (size_t k = 0; k < WR_ARRAY_LEN(magics); k++) {
        const struct magic *m = &magics[k];
        size_t at = *m->bytes == '{' || *m->bytes == '[' ? text : 0;

        if (len - at >= m->len && !memcmp(head + at, m->bytes, m->len))
            return m->name;
    }
    return memchr(head, '\0', len)
               ? "a binary file of a kind that weir does not know"
               : NULL;
}

const char *wr_foreign_name(struct wr_store *st, const char *path,
                            int *ret_lack)
{
    uint8_t head[HEAD_BYTES];
    int64_t n = wr_shard_head(st, path, head, sizeof(head));

    *ret_lack = n < 0 ? (int)n : 0;
    return n > 0 ? name_head(head, (size_t)n) : NULL;
}

/* --- which files are of a format, and those that a data set has --- */

#define LOOK_AT   256u  /* entries of a folder, to find out what it holds, */
#define LOOK_LONG 4096u /* and where pictures would be met among them */
#define NAME      4096
#define DOUBTFUL  5 /* named so and not like that: a list is more likely */

/* --- telling them from others --- */

static bool tells_format(const struct wr_format_files *f, const char *name)
{
    return f->endings && wr_name_has_ext(name, f->endings);
}

/* Is `name` that of a file whose samples are read where it lies in a folder? */
static bool is_of_format(const struct wr_format_files *f, const char *name)
{
    return (tells_format(f, name) || (f->is_name && f->is_name(name))) &&
           !(f->but && wr_name_has_ext(name, f->but));
}

static bool is_visible_file(const struct wr_entry *e)
{
    return e->kind == WR_KIND_FILE && e->name[0] != '.';
}

static bool is_visible_folder(const struct wr_entry *e)
{
    return e->kind == WR_KIND_DIR && e->name[0] != '.';
}

static bool is_visible(const struct wr_entry *e)
{
    return is_visible_file(e) || is_visible_folder(e);
}

/* What is met in a folder. */
struct folder_look {
    const struct wr_format_files *f;
    char *name; /* borrowed, `cap` bytes: of a file of the format; "": none */
    size_t cap;
    bool sure; /* the name tells it */
    bool folder;
    unsigned seen;
};

/* A name that tells the format is better than one that does not. */
static int look_at(void *arg, const struct wr_entry *e)
{
    struct folder_look *look = arg;
    const struct wr_format_files *f = look->f;

    if (is_visible_file(e) && !look->sure && is_of_format(f, e->name) &&
        strlen(e->name) < look->cap) {
        look->sure = tells_format(f, e->name) || !f->check;
        if (look->sure || !look->name[0])
            memcpy(look->name, e->name, strlen(e->name) + 1);
    }
    look->folder |= is_visible_folder(e);
    return (look->sure && (look->folder || !f->tree)) ||
           (f->yields && wr_is_picture_name(e->name)) ||
           ++look->seen == (f->yields ? LOOK_LONG : LOOK_AT);
}

static int probe_folder(const struct wr_format_files *f, struct wr_store *st)
{
    char name[NAME] = "";
    struct folder_look look = {.f = f, .name = name, .cap = sizeof(name)};
    int r = st->ops->list(st, "", look_at, &look, NULL);

    if (wr_index_fails(r))
        return r;
    if (!name[0])
        return 0;
    r = look.sure ? 1 : f->check(st, name);
    return r <= 0 ? r : look.folder && f->tree ? f->tree : f->folder;
}

int wr_files_probe(const struct wr_format_files *f, struct wr_store *st,
                   const char *leaf)
{
    int r;

    if (!leaf)
        return probe_folder(f, st);
    if (tells_format(f, leaf))
        return f->named;
    r = f->check ? f->check(st, leaf) : 0;
    if (r != 0)
        return r < 0 ? r : f->checked;
    return f->is_name && f->is_name(leaf) ? DOUBTFUL : 0;
}

int wr_files_peek(const struct wr_format_files *f, struct wr_store *st,
                  char *buf, size_t cap)
{
    struct folder_look look = {.f = f, .name = buf, .cap = cap};
    int r;

    *buf = '\0';
    r = st->ops->list(st, "", look_at, &look, NULL);
    return wr_index_fails(r) ? r : *buf != '\0';
}

/* --- finding them --- */

static int list_leaf(const char *leaf, struct wr_listing *l, weir_err *err)
{
    l->entries = calloc(1, sizeof(*l->entries));
    l->names = strdup(leaf);
    if (!l->entries || !l->names)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    l->entries[0].kind = WR_KIND_FILE;
    l->names_len = l->names_cap = strlen(leaf) + 1;
    l->count = l->cap = 1;
    return 0;
}

/* Lists a folder, on which the index depends from now on. */
static int list_folder(struct wr_index_job *job, const char *path,
                       bool (*wanted)(const struct wr_entry *e),
                       struct wr_listing *l, weir_err *err)
{
    const struct wr_listing_filter filter = {.wanted = wanted};
    struct wr_stat folder;
    bool stop;
    int r = job->store->ops->stat(job->store, path, &folder, err);

    if (r == 0)
        r = wr_index_job_stamp(job, path, &folder, err);
    return r < 0 ? r
                 : wr_listing_read(l, job->store, path, &filter, &stop, err);
}

/* Folders that lie beside files: they are not looked into, which is said. */
struct unread {
    char first[256];
    size_t count;
};

static void note_folder(struct unread *u, const char *path, const char *name)
{
    if (!u->count++)
        snprintf(u->first, sizeof(u->first), "%s%s%s", path, *path ? "/" : "",
                 name);
}

static void tell_unread(struct wr_index_job *job, const struct unread *u)
{
    char text[512], shown[300];

    if (!u->count)
        return;
    wr_text_show(u->first, /* controls= */ true, shown, sizeof(shown));
    if (u->count == 1)
        snprintf(text, sizeof(text),
                 "the folder '%s' is not read, because files lie beside it",
                 shown);
    else
        snprintf(text, sizeof(text),
                 "%zu folders are not read ('%s' and others), because files "
                 "lie beside them",
                 u->count, shown);
    wr_index_add_remark(job->index, text);
}

/* Marks the files that belong to others' samples. */
static void mark_beside(const struct wr_listing *l,
                        const struct wr_format_files *f, bool *used)
{
    char name[NAME];

    for (size_t k = 0; k < l->count && f->beside; k++)
        for (unsigned i = 0;
             i < WR_FILES_BESIDE && is_of_format(f, wr_listing_name(l, k)) &&
             f->beside(wr_listing_name(l, k), i, name, sizeof(name));
             i++) {
            size_t at = wr_listing_find(l, name);

            if (at < l->count)
                used[at] = true;
        }
}

/* Keeps the files of the format, and counts others that nobody uses as
 * ignored. */
static int keep_files(struct wr_listing *l, const struct wr_format_files *f,
                      const char *path, struct unread *unread, weir_err *err)
{
    bool *used = calloc(l->count + 1, sizeof(*used));
    bool ok = used != NULL;
    size_t kept = 0;

    if (ok)
        mark_beside(l, f, used);
    for (size_t k = 0; k < l->count && ok; k++) {
        const char *name = wr_listing_name(l, k);

        if (l->entries[k].kind == WR_KIND_DIR)
            note_folder(unread, path, name);
        else if (is_of_format(f, name))
            l->entries[kept++] = l->entries[k];
        else if (!used[k] && wr_ignored_counts(name))
            ok = wr_ignored_add(&l->ignored, name);
    }
    l->count = kept;
    free(used);
    return ok ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
}

/* Adds the entries of `from`, which are those of the folder `path`. */
static int append_below(struct wr_listing *l, const char *path,
                        const struct wr_listing *from, weir_err *err)
{
    for (size_t k = 0; k < from->count; k++) {
        const char *name = wr_listing_name(from, k);
        size_t len = strlen(path) + 1 + strlen(name) + 1;

        if (!wr_grow(&l->entries, &l->cap, l->count + 1, sizeof(*l->entries)) ||
            !wr_grow(&l->names, &l->names_cap, l->names_len + len, 1))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        l->entries[l->count] = from->entries[k];
        l->entries[l->count++].name = l->names_len;
        snprintf(l->names + l->names_len, len, "%s/%s", path, name);
        l->names_len += len;
    }
    return 0;
}

/* Files that are spread over folders, as DLIO does with many. */
static int list_below(struct wr_index_job *job, const struct wr_format_files *f,
                      struct wr_listing *l, struct unread *unread,
                      weir_err *err)
{
    struct wr_listing folders = {0};
    int r = list_folder(job, "", is_visible_folder, &folders, err);

    for (size_t k = 0; r == 0 && k < folders.count; k++) {
        const char *path = wr_listing_name(&folders, k);
        struct wr_listing below = {0};

        r = list_folder(job, path, is_visible, &below, err);
        if (r == 0)
            r = keep_files(&below, f, path, unread, err);
        if (r == 0)
            r = append_below(l, path, &below, err);
        wr_listing_done(&below);
    }
    wr_listing_done(&folders);
    return r;
}

int wr_files_list(struct wr_index_job *job, const struct wr_format_files *f,
                  struct wr_listing *l, weir_err *err)
{
    struct unread unread = {.count = 0};
    int r;

    if (job->leaf)
        return list_leaf(job->leaf, l, err);
    r = list_folder(job, "", is_visible, l, err);
    if (r == 0)
        r = keep_files(l, f, "", &unread, err);
    if (r == 0 && !l->count) {
        unread.count = 0;
        r = list_below(job, f, l, &unread, err);
    }
    if (r == 0 && l->count)
        tell_unread(job, &unread);
    return r < 0 ? r : wr_index_add_ignored(job->index, &l->ignored, err);
}

/* What is done for each of them. */
struct each_file {
    int (*add)(void *arg, const char *name, bool *ret_skip, weir_err *err);
    void *arg;
};

/* One file that was named, or the fault of none, ends it; any other is named
 * among the problems. */
static int add_one(struct wr_index_job *job, const struct each_file *each,
                   const char *name, weir_err *err)
{
    weir_err e;
    bool skip = true;
    int r = each->add(each->arg, name, &skip, &e);

    if (r < 0 && skip && !job->leaf) {
        wr_index_job_issue(job, name, &e);
        return wr_index_job_progress(job, err);
    }
    if (r < 0 && e.msg[0] != '\'')
        return wr_fail(err, r, "'%s': %s", name, e.msg);
    return r < 0 ? wr_fail(err, r, "%s", e.msg)
                 : wr_index_job_progress(job, err);
}

int wr_files_stamp_folder(struct wr_index_job *job, weir_err *err)
{
    struct wr_stat folder;
    int r = 0;

    if (job->leaf)
        r = job->store->ops->stat(job->store, "", &folder, err);
    if (r == 0 && job->leaf)
        r = wr_index_job_stamp(job, "", &folder, err);
    return r;
}

int wr_files_each(struct wr_index_job *job, const struct wr_format_files *f,
                  int (*add)(void *arg, const char *name, bool *ret_skip,
                             weir_err *err),
                  void *arg, weir_err *err)
{
    const struct each_file each = {add, arg};
    struct wr_listing l = {0};
    int r = wr_files_list(job, f, &l, err);

    for (size_t k = 0; k < l.count && r == 0; k++)
        r = add_one(job, &each, wr_listing_name(&l, k), err);
    wr_listing_done(&l);
    return r;
}
