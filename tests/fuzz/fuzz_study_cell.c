/* fuzz_study_cell.c - the files of a study's cells, and what figures make of
 * runs that say anything.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "result/record.h"
#include "study/figure.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A cell like that of the corpus. */
static const struct wr_cell_job job = {.kind = WR_CELL_FEED,
                                       .device = "hdd",
                                       .data = "imagenet",
                                       .threads = 4,
                                       .batch = 64,
                                       .samples = 256};

/* A study in which every cell has these runs. */
static void open_study(struct wr_study *st, json_t *runs)
{
    const struct wr_study_config cfg = {.folder = "/nowhere/at/all",
                                        .mode = WR_STUDY_QUICK,
                                        .cores = 2,
                                        .fresh = true};

    if (wr_study_init(st, &cfg, NULL) < 0)
        abort();
    for (size_t k = 0; k < st->cell_count; k++)
        st->cells[k]->runs = json_incref(runs);
}

/* Whatever was measured, there is a record, and it can be read again. */
static void check_record(struct wr_study *st)
{
    json_t *record = wr_study_record(st), *again = NULL;
    char *text = record ? json_dumps(record, 0) : NULL;
    weir_err err;

    if (!text || wr_record_parse(text, strlen(text), "again", &again, &err) < 0)
        abort();
    json_decref(again);
    json_decref(record);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_cell c = {.job = job, .rounds = 3};
    struct wr_study st;
    weir_err err = {0};
    int r = wr_cell_parse(&c, (const char *)data, size, "x", &err);

    if (r < 0) {
        if (c.runs || !err.msg[0] || (r != WEIR_EFORMAT && r != WEIR_ESTATE))
            abort();
        return 0;
    }
    open_study(&st, c.runs);
    check_record(&st);
    wr_study_done(&st);
    wr_cell_done(&c);
    return 0;
}
