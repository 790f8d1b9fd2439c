/* fields.c - samples of two fields: an array and its target, by their names.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: fields DATASET FIELD FIELD */
#include <inttypes.h>
#include <stdio.h>

#include <weir/weir.h>

/* "x (8x2x2x3 u8)": the shapes of a batch differ in their first number only. */
static void print_field(const weir_batch_field *f)
{
    printf("%s (", f->name);
    for (uint32_t d = 0; d < f->ndim; d++)
        if (f->shape[d] == WEIR_DIM_VARIES)
            printf("%sany", d ? "x" : "");
        else
            printf("%s%" PRIu64, d ? "x" : "", f->shape[d]);
    printf(", %zu bytes)", f->bytes);
}

int main(int argc, char **argv)
{
    weir_pipeline_config cfg;
    weir_dataset *ds = NULL;
    weir_pipeline *p = NULL;
    const weir_batch *b;
    char fields[256];
    weir_err err;
    int r;

    if (argc != 4) {
        fprintf(stderr, "usage: fields DATASET FIELD FIELD\n");
        return 2;
    }
    weir_pipeline_defaults(&cfg);
    cfg.batch = 8;
    cfg.picture.dtype = WEIR_U8;
    snprintf(fields, sizeof(fields), "%s,%s", argv[2], argv[3]);
    cfg.fields = fields; /* what is not among them is not read */

    r = weir_dataset_open(&ds, argv[1], NULL, &err);
    if (r == 0)
        r = weir_pipeline_open(&p, ds, &cfg, &err);
    while (r >= 0 && (r = weir_pipeline_next(p, &b, &err)) > 0) {
        /* They come in the order that was asked for; sample i of the batch is
         * entry i of each. */
        printf("batch %" PRIu64 ": ", b->index);
        print_field(&b->fields[0]);
        printf(", ");
        print_field(&b->fields[1]);
        printf("\n");
        weir_batch_release(b);
    }
    if (r < 0)
        fprintf(stderr, "fields: %s\n", err.msg);
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
    return r < 0 ? 1 : 0;
}
