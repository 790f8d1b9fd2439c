/* fuzz_list.c - lists of paths and labels, from text to index.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "format/format.h"
#include "format/index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A store whose only file is the list; other files exist if their path has an
 * odd number of bytes that are not slashes ("a//b" is "a/b"). */
struct text_store {
    struct wr_store store;
    struct wr_object object;
    const uint8_t *data; /* borrowed */
    size_t size;
};

static bool is_there(const char *path)
{
    bool odd = false;

    for (; *path; path++)
        odd ^= *path != '/';
    return odd;
}

static int text_stat(struct wr_store *st, const char *path, struct wr_stat *ret,
                     weir_err *err)
{
    (void)st;
    if (!is_there(path))
        return wr_fail_errno(err, 2, "'%s'", path);
    *ret = (struct wr_stat){.kind = WR_KIND_FILE, .size = strlen(path)};
    return 0;
}

static int64_t text_read(struct wr_object *o, void *buf, size_t len,
                         uint64_t offset, weir_err *err)
{
    struct text_store *ts =
        (struct text_store *)((char *)o - offsetof(struct text_store, object));
    size_t n;

    (void)err;
    if (offset >= ts->size)
        return 0;
    n = WR_MIN(len, ts->size - (size_t)offset);
    memcpy(buf, ts->data + offset, n);
    return (int64_t)n;
}

static int text_object_close(struct wr_object *o, bool sync, weir_err *err)
{
    (void)o;
    (void)sync;
    (void)err;
    return 0;
}

static const struct wr_object_ops object_ops = {.read = text_read,
                                                .close = text_object_close};

static int text_object_open(struct wr_store *st, const char *path,
                            enum wr_open_mode mode, struct wr_object **ret,
                            weir_err *err)
{
    (void)path;
    (void)mode;
    (void)err;
    *ret = &((struct text_store *)st)->object;
    return 0;
}

static const struct wr_storage_ops store_ops = {
    .name = "text", .stat = text_stat, .object_open = text_object_open};

/* "#columns path=2,label=1" in front is no comment here but the setting. */
static char *take_columns(const uint8_t *data, size_t size)
{
    static const char key[] = "#columns ";
    size_t n = sizeof(key) - 1;
    const uint8_t *end;

    if (size < n || memcmp(data, key, n))
        return NULL;
    end = memchr(data, '\n', size);
    return strndup((const char *)data + n,
                   (size_t)((end ? end : data + size) - data) - n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *columns = take_columns(data, size);
    struct text_store ts = {.store.ops = &store_ops,
                            .object.ops = &object_ops,
                            .data = data,
                            .size = size};
    weir_dataset_config cfg = {.columns = columns};
    struct wr_index_job job = {.store = &ts.store,
                               .leaf_store = &ts.store,
                               .leaf = "list.csv",
                               .cfg = &cfg,
                               .index = wr_index_new()};
    char path[8192];
    weir_err err;

    if (job.index && wr_format_list.index(&job, &err) == 0) {
        if (wr_index_seal(job.index, NULL) < 0)
            abort();
        /* Without samples the fields have no columns: it is not opened. */
        if (wr_index_count(job.index) && wr_index_check(job.index))
            abort();
        for (uint64_t i = 0; i < wr_index_count(job.index); i++) {
            struct wr_part p;

            wr_index_part(job.index, 0, i, &p);
            wr_index_object_path(job.index, p.object, path, sizeof(path));
            if (!is_there(path) || (p.label != WEIR_NO_LABEL &&
                                    p.label >= wr_index_class_count(job.index)))
                abort();
        }
    }
    wr_index_free(job.index);
    free(columns);
    return 0;
}
