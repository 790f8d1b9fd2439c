/* sample.c - one sample out of a load: unpacked, labelled, named.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "format/decode.h"

#define SCAN_SAMPLES 256u /* read at once for their names */
#define POLL_SAMPLES 4096u

void wr_convert_name_sample(const struct wr_load *l, uint32_t k, weir_err *err)
{
    const struct wr_load_item *it = wr_load_item(l, k);

    if (it->place.whole)
        wr_fail_prefix(err, err->code, "'%s'", it->path);
    else
        wr_fail_prefix(err, err->code,
                       "'%s': sample %" PRIu64 " at offset %" PRIu64, it->path,
                       it->id, it->place.offset);
}

/* The key without a suffix: of the index, of the sample, or its number. */
static void plain_key(const weir_dataset *ds, const struct wr_sample *s,
                      char key[WR_CONVERT_KEY_MAX])
{
    char found[4 * WR_CONVERT_KEY_MAX];
    size_t len = weir_dataset_key(ds, s->id, found, sizeof(found));

    len = wr_convert_safe_key(found, WR_MIN(len, sizeof(found) - 1), key);
    if (!len && s->key)
        len = wr_convert_safe_key(s->key, s->key_len, key);
    if (!len)
        snprintf(key, WR_CONVERT_KEY_MAX, "%08" PRIu64, s->id);
}

static void full_key(const struct wr_convert_plan *p, const struct wr_sample *s,
                     char key[WR_CONVERT_KEY_MAX])
{
    uint32_t suffix = wr_convert_names_suffix(&p->names, s->id);
    size_t len;

    plain_key(p->ds, s, key);
    len = strlen(key);
    if (suffix)
        snprintf(key + len, WR_CONVERT_KEY_MAX - len, "_%" PRIu32, suffix);
}

static int unpack(const struct wr_convert_plan *p, struct wr_load *l,
                  uint32_t k, struct wr_sample *ret, weir_err *err)
{
    const struct wr_load_item *item = wr_load_item(l, k);
    const uint8_t *bytes = NULL;
    int r = wr_load_bytes(l, k, &bytes, err);

    if (r < 0)
        return r;
    *ret = (struct wr_sample){.bytes = bytes,
                              .len = (size_t)item->place.length,
                              .id = item->id,
                              .label = item->place.label};
    r = wr_first_unpack(p->ds, wr_load_unpack(l), ret, err);
    if (r < 0)
        wr_convert_name_sample(l, k, err);
    return r;
}

int wr_convert_sample(const struct wr_convert_plan *p, struct wr_load *l,
                      uint32_t k, char key[WR_CONVERT_KEY_MAX],
                      struct wr_convert_item *it, weir_err *err)
{
    int r = unpack(p, l, k, &it->s, err);

    if (r < 0)
        return r;
    full_key(p, &it->s, key);
    it->key = key;
    it->class_name = wr_classes_name(&p->classes, it->s.label);
    return 0;
}

static int add_name(struct wr_convert_plan *p, const struct wr_sample *s,
                    weir_err *err)
{
    char key[WR_CONVERT_KEY_MAX], name[WR_CONVERT_KEY_MAX];

    wr_classes_meet(&p->classes, s->label);
    plain_key(p->ds, s, key);
    if (p->kind->unique)
        p->kind->unique(p, s->label, key, name);
    return wr_convert_names_add(&p->names, p->kind->unique ? name : key, s->id,
                                p->count, err);
}

static int poll_user(const struct wr_convert_config *cfg, weir_err *err)
{
    if (cfg->progress && cfg->progress(cfg->progress_arg, 0, 0))
        return wr_fail(err, WEIR_ECANCELED, "canceled");
    return 0;
}

/* By the index alone. */
static int names_by_index(struct wr_convert_plan *p, weir_err *err)
{
    int r = 0;

    for (uint64_t pos = 0; pos < p->count && r == 0; pos++) {
        struct wr_sample s = {.id = wr_convert_plan_sample(p, pos)};
        struct wr_part place;

        wr_index_part(p->ds->index, 0, s.id, &place);
        s.label = place.label;
        r = add_name(p, &s, err);
        if (r == 0 && pos % POLL_SAMPLES == 0)
            r = poll_user(p->cfg, err);
    }
    return r;
}

/* By the samples themselves; a bad one needs no name. */
static int names_by_samples(struct wr_convert_plan *p, struct wr_reader *rd,
                            weir_err *err)
{
    int r = 0;

    for (uint64_t pos = 0; pos < p->count && r == 0; pos += SCAN_SAMPLES) {
        uint32_t n = (uint32_t)WR_MIN(p->count - pos, (uint64_t)SCAN_SAMPLES);
        struct wr_load *l;

        r = wr_load_begin(rd, pos, n, &l, err);
        if (r < 0)
            return r;
        for (uint32_t k = 0; k < n && r == 0; k++) {
            struct wr_sample s;
            weir_err e;
            int bad = unpack(p, l, k, &s, &e);

            if (bad == 0)
                r = add_name(p, &s, err);
            else if (wr_err_is_lack(bad)) /* it may be good */
                r = wr_fail(err, bad, "%s", e.msg);
        }
        wr_load_end(l);
        if (r == 0)
            r = poll_user(p->cfg, err);
    }
    return r;
}

int wr_convert_find_names(struct wr_convert_plan *p,
                          const struct wr_reader_config *cfg, weir_err *err)
{
    struct wr_reader *rd = NULL;
    int r;

    if (!p->kind->paths)
        return 0;
    if (!p->ds->format->unpack) {
        r = names_by_index(p, err);
    } else {
        r = wr_reader_open(&rd, cfg, err);
        if (r == 0)
            r = names_by_samples(p, rd, err);
        wr_reader_close(rd);
    }
    wr_convert_names_seal(&p->names);
    return r;
}
