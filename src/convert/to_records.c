/* to_records.c - pictures into shards of records, by any writer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/kind.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "convert/shrink.h"

struct state {
    const struct wr_convert_plan *plan; /* borrowed */
    struct wr_shrink *shrink;           /* owned */
};

static int records_check(const struct wr_convert_plan *p, weir_err *err)
{
    return wr_shrink_takes(p->ds->index, err);
}

static void records_state_free(void *state)
{
    struct state *s = state;

    if (!s)
        return;
    wr_shrink_free(s->shrink);
    free(s);
}

static int records_state_new(const struct wr_convert_plan *p,
                             struct wr_sink *sink, void **ret, weir_err *err)
{
    struct state *s = calloc(1, sizeof(*s));
    int r;

    (void)sink;
    if (!s)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    s->plan = p;
    r = wr_shrink_new(&s->shrink, p->cfg, err);
    if (r < 0) {
        records_state_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

/* The key as it is written. In an archive without any label the first folder of
 * a key is its class: a sample that has none must have no folder. */
static const char *written_key(const struct wr_convert_plan *p, uint32_t label,
                               const char *key, char buf[WR_CONVERT_KEY_MAX])
{
    if (!p->kind->paths || label != WEIR_NO_LABEL)
        return key;
    wr_convert_flat_key(key, buf);
    return buf;
}

static void archive_unique(const struct wr_convert_plan *p, uint32_t label,
                           const char *key, char buf[WR_CONVERT_KEY_MAX])
{
    if (written_key(p, label, key, buf) == key)
        strcpy(buf, key);
}

static int records_add(void *state, struct wr_convert_item *it,
                       struct wr_convert_part *to, weir_err *err)
{
    struct state *s = state;
    struct wr_shrink_picture pic = {.bytes = it->s.bytes, .len = it->s.len};
    char flat[WR_CONVERT_KEY_MAX];
    size_t before = to->out.len;
    int r = wr_shrink_apply(s->shrink, &pic, it->saving, err);

    if (r < 0)
        return r;
    r = s->plan->form.records->add(
        &to->out,
        &(struct wr_write_sample){
            .bytes = pic.bytes,
            .len = pic.len,
            .key = written_key(s->plan, it->s.label, it->key, flat),
            .label = it->s.label,
            .class_name = it->class_name,
            .info = pic.info},
        err);
    if (r < 0)
        to->out.len = before;
    return r;
}

#define RECORDS                                                                \
    .check = records_check, .state_new = records_state_new,                    \
    .state_free = records_state_free, .add = records_add

const struct wr_convert_kind wr_convert_records = {
    RECORDS,
};

const struct wr_convert_kind wr_convert_archives = {
    .paths = true,
    .unique = archive_unique,
    RECORDS,
};
