/* text_dump.c - what a pipeline delivers of a data set of text.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: text_dump DATASET SCHEMA|- THREADS uring|blocking [FIELDS]
 * One line each: "ID FIELD HEX" and "ID labels N", in the order of samples;
 * FIELDS are those to be delivered: x,text (none: the usual ones). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weir/pipeline.h"

static int fail(const char *what, const weir_err *err)
{
    printf("%s: %s\n", what, err->msg);
    return 1;
}

static void print_entry(const weir_batch *b, const weir_batch_field *f,
                        uint32_t k)
{
    size_t each = f->bytes / b->count;
    uint64_t start = f->offsets ? f->offsets[k] : k * each;
    uint64_t end = f->offsets ? f->offsets[k + 1] : start + each;
    const uint8_t *bytes = f->data;

    printf("%" PRIu64 " %s ", b->ids[k], f->name);
    for (uint64_t i = start; i < end; i++)
        printf("%02x", bytes[i]);
    putchar('\n');
}

static void print_batch(const weir_batch *b)
{
    for (uint32_t k = 0; k < b->count; k++) {
        for (uint32_t f = 0; f < b->field_count; f++)
            print_entry(b, &b->fields[f], k);
        printf("%" PRIu64 " labels %" PRId64 "\n", b->ids[k],
               b->labels[k] == WEIR_NO_LABEL ? -1 : (int64_t)b->labels[k]);
    }
}

static int dump(weir_dataset *ds, const weir_pipeline_config *cfg)
{
    weir_pipeline *p = NULL;
    const weir_batch *b;
    weir_err err;
    int r = weir_pipeline_open(&p, ds, cfg, &err);

    if (r < 0)
        return fail("open", &err);
    while ((r = weir_pipeline_next(p, &b, &err)) > 0) {
        print_batch(b);
        weir_batch_release(b);
    }
    for (uint64_t k = 0; k < weir_pipeline_bad_count(p); k++)
        printf("bad %" PRIu64 ": %s\n", weir_pipeline_bad(p, k)->id,
               weir_pipeline_bad(p, k)->text);
    weir_pipeline_close(&p);
    return r < 0 ? fail("next", &err) : 0;
}

int main(int argc, char **argv)
{
    weir_dataset_config dc;
    weir_pipeline_config cfg;
    weir_dataset *ds = NULL;
    weir_err err;
    int r;

    if (argc < 5)
        return 2;
    weir_dataset_defaults(&dc);
    dc.no_index_cache = 1;
    dc.schema = strcmp(argv[2], "-") != 0 ? argv[2] : NULL;
    if (weir_dataset_open(&ds, argv[1], &dc, &err) < 0)
        return fail("dataset", &err);
    for (uint64_t k = 0; k < weir_dataset_issue_count(ds); k++)
        printf("issue %s: %s\n", weir_dataset_issue(ds, k)->name,
               weir_dataset_issue(ds, k)->reason);
    weir_pipeline_defaults(&cfg);
    cfg.batch = 4;
    cfg.order = WEIR_ORDER_SEQUENTIAL;
    cfg.epochs = 1;
    cfg.threads = (uint32_t)atoi(argv[3]);
    cfg.io = !strcmp(argv[4], "blocking") ? WEIR_IO_BLOCKING : WEIR_IO_URING;
    cfg.fields = argc > 5 ? argv[5] : NULL;
    r = dump(ds, &cfg);
    weir_dataset_close(&ds);
    return r;
}
