/* tar_dump.c - what weir finds in archives, and an archive that weir writes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/writer.h"
#include "storage/storage.h"
#include "weir/dataset.h"

#define MAX_KEY 8192

static int fail(const char *what)
{
    fprintf(stderr, "tar-dump: %s\n", what);
    return 1;
}

/* One line per sample: object, offset, length, label (-1: none) and key; then
 * one per problem, with a '!' in front. */
static int dump(const char *url)
{
    weir_dataset_config cfg;
    weir_dataset *ds = NULL;
    char key[MAX_KEY], name[MAX_KEY];
    weir_err err;

    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    if (weir_dataset_open(&ds, url, &cfg, &err) < 0)
        return fail(err.msg);
    for (uint64_t i = 0; i < weir_dataset_count(ds); i++) {
        weir_sample s;

        weir_dataset_sample(ds, i, name, sizeof(name), &s, NULL);
        weir_dataset_key(ds, i, key, sizeof(key));
        printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRId64 "\t%s\n", s.name,
               s.offset, s.length,
               s.label == WEIR_NO_LABEL ? -1 : (int64_t)s.label, key);
    }
    for (uint64_t k = 0; k < weir_dataset_issue_count(ds); k++)
        printf("!%s\t%s\n", weir_dataset_issue(ds, k)->name,
               weir_dataset_issue(ds, k)->reason);
    weir_dataset_close(&ds);
    return 0;
}

/* Lines "LABEL KEY" from stdin, each with the same picture, as an archive on
 * stdout. */
static int make(const char *picture)
{
    struct wr_write_sample s = {0};
    struct wr_store *store = NULL;
    struct wr_bytes to = {0};
    char line[MAX_KEY], *bytes = NULL, *leaf = NULL;
    int r = 0;

    if (wr_store_open(picture, &store, &leaf, NULL) < 0 || !leaf ||
        wr_store_slurp(store, leaf, 1 << 20, &bytes, &s.len, NULL) < 0)
        return fail("cannot read the picture");
    s.bytes = (const uint8_t *)bytes;
    while (r == 0 && fgets(line, sizeof(line), stdin)) {
        char *blank = strchr(line, ' ');

        if (!blank)
            return fail("a line without a label");
        line[strcspn(line, "\n")] = '\0';
        s.key = blank + 1;
        s.label = line[0] == '-' ? WEIR_NO_LABEL
                                 : (uint32_t)strtoul(line, NULL, 10);
        r = wr_writer_tar.add(&to, &s, NULL);
    }
    if (r == 0)
        r = wr_writer_tar.finish(&to, NULL);
    if (r < 0 || fwrite(to.bytes, 1, to.len, stdout) != to.len)
        return fail("cannot write the archive");
    free(to.bytes);
    free(bytes);
    free(leaf);
    wr_store_close(store);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "read"))
        return dump(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "write"))
        return make(argv[2]);
    return fail("usage: tar-dump read DATASET | tar-dump write PICTURE");
}
