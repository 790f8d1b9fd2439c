/* made_up.c - studies whose cells were never measured, for the tests of rules.
 * SPDX-License-Identifier: Apache-2.0 */
#include "made_up.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

void made_up_study(struct wr_study *st, const char *only, unsigned cores)
{
    struct wr_study_config cfg = {.folder = "/nowhere/at/all",
                                  .mode = WR_STUDY_QUICK,
                                  .only = only,
                                  .cores = cores};
    weir_err err;

    assert_int_equal(wr_study_init(st, &cfg, &err), 0);
}

static struct wr_cell *cell_named(struct wr_study *st, const char *id)
{
    for (size_t k = 0; k < st->cell_count; k++)
        if (!strcmp(st->cells[k]->id, id))
            return st->cells[k];
    fail_msg("no cell '%s'", id);
    return NULL;
}

void made_up_number(struct wr_study *st, const char *id, const char *key,
                    double value)
{
    struct wr_cell *c = cell_named(st, id);

    if (!c->runs)
        c->runs = json_array();
    for (size_t k = 0; k < c->rounds; k++) {
        if (json_array_size(c->runs) <= k)
            json_array_append_new(c->runs, json_object());
        /* The warm-up is far off: it must not count. */
        json_object_set_new(json_array_get(c->runs, k), key,
                            json_real(k ? value : 1000 * value));
    }
}

void made_up_judge(struct wr_study *st, enum wr_ruling wanted, const char *why)
{
    struct wr_judgement j;
    const struct wr_figure *f = st->figures[0];

    if (f->finish)
        f->finish(st, f);
    wr_figure_judge(st, f, &j);
    if (j.ruling != wanted)
        fail_msg("%s: %s: %s", f->id, wr_ruling_name(j.ruling), j.why);
    assert_true(*j.why);
    if (why && !strstr(j.why, why))
        fail_msg("%s: not '%s': %s", f->id, why, j.why);
    wr_study_done(st);
}
