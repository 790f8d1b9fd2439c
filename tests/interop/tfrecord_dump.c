/* tfrecord_dump.c - what weir finds in shards, and a shard that weir writes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/crc32c.h"
#include "format/decode.h"
#include "format/format.h"
#include "format/shards.h"
#include "format/writer.h"

#define MAX_LINE 8192

static int fail(const char *what)
{
    fprintf(stderr, "tfrecord-dump: %s\n", what);
    return 1;
}

/* The bytes of one sample, out of a shard of either kind. */
static int read_sample(const weir_dataset *ds, const struct wr_part *p,
                       const char *name, uint8_t *buf, weir_err *err)
{
    struct wr_shard_reader *r = NULL;
    int64_t n;
    int e;

    e = wr_shard_reader_open(&r, ds->store, name, err);
    if (e < 0)
        return e;
    n = wr_shard_reader_skip(r, p->offset, err);
    if (n >= 0)
        n = wr_shard_reader_read(r, buf, (size_t)p->length, err);
    wr_shard_reader_close(r);
    return n < 0 ? (int)n : n == (int64_t)p->length ? 0 : WEIR_EFORMAT;
}

/* Shard, offset, length, label (-1: none), bytes and CRC32C of the picture,
 * key; or what is wrong, with a '?' in front. */
static void print_sample(const weir_dataset *ds, uint64_t i, uint8_t *buf,
                         struct wr_unpack *u)
{
    struct wr_sample s = {.bytes = buf, .label = WEIR_NO_LABEL};
    struct wr_part p;
    char name[MAX_LINE];
    weir_err err = {.msg = "too short"};

    wr_index_part(ds->index, 0, i, &p);
    wr_index_object_path(ds->index, p.object, name, sizeof(name));
    s.len = (size_t)p.length;
    if (read_sample(ds, &p, name, buf, &err) < 0 ||
        wr_first_unpack(ds, u, &s, &err) < 0) {
        printf("?%s\t%" PRIu64 "\t%s\n", name, p.offset, err.msg);
        return;
    }
    printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRId64 "\t%zu\t%08x\t%.*s\n", name,
           p.offset, p.length, s.label == WEIR_NO_LABEL ? -1 : (int64_t)s.label,
           s.len, wr_crc32c(0, s.bytes, s.len), (int)s.key_len,
           s.key ? s.key : "");
}

static int dump(const char *url)
{
    weir_dataset_config cfg;
    struct wr_unpack u = {0};
    weir_dataset *ds = NULL;
    uint8_t *buf;
    weir_err err;

    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    if (weir_dataset_open(&ds, url, &cfg, &err) < 0)
        return fail(err.msg);
    buf = malloc(weir_dataset_max_length(ds) + 1);
    if (!buf || strcmp(weir_dataset_format(ds), "tfrecord") != 0)
        return fail("no memory, or another format");
    for (uint64_t i = 0; i < weir_dataset_count(ds); i++)
        print_sample(ds, i, buf, &u);
    for (uint64_t k = 0; k < weir_dataset_issue_count(ds); k++)
        printf("!%s\t%s\n", weir_dataset_issue(ds, k)->name,
               weir_dataset_issue(ds, k)->reason);
    free(buf);
    wr_unpack_done(&u);
    weir_dataset_close(&ds);
    return 0;
}

static int add_picture(struct wr_bytes *to, const char *path,
                       struct wr_write_sample *s)
{
    struct wr_store *store = NULL;
    char *bytes = NULL, *leaf = NULL;
    int r;

    r = wr_store_open(path, &store, &leaf, NULL);
    if (r == 0)
        r = leaf ? wr_store_slurp(store, leaf, 1 << 20, &bytes, &s->len, NULL)
                 : WEIR_EINVAL;
    s->bytes = (const uint8_t *)bytes;
    if (r == 0)
        r = wr_picture_info(bytes, s->len, &s->info, NULL);
    if (r == 0)
        r = wr_writer_tfrecord.add(to, s, NULL);
    free(bytes);
    free(leaf);
    wr_store_close(store);
    return r;
}

/* Lines "LABEL PICTURE KEY" from stdin become a shard on stdout; a class is
 * called "class LABEL". */
static int make(void)
{
    char line[MAX_LINE], path[MAX_LINE], key[MAX_LINE], class_name[64];
    struct wr_bytes to = {0};
    long label;

    while (fgets(line, sizeof(line), stdin)) {
        struct wr_write_sample s = {.key = key, .label = WEIR_NO_LABEL};

        if (sscanf(line, "%ld %8191s %8191s", &label, path, key) != 3)
            return fail("a line that is not LABEL PICTURE KEY");
        if (label >= 0) {
            snprintf(class_name, sizeof(class_name), "class %ld", label);
            s.label = (uint32_t)label;
            s.class_name = class_name;
        }
        if (add_picture(&to, path, &s) < 0)
            return fail("cannot add a picture");
    }
    if (fwrite(to.bytes, 1, to.len, stdout) != to.len)
        return fail("cannot write the shard");
    free(to.bytes);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "read"))
        return dump(argv[2]);
    if (argc == 2 && !strcmp(argv[1], "write"))
        return make();
    return fail("usage: tfrecord-dump read DATASET | tfrecord-dump write");
}
