/* inspect_scan.c - looks into the samples of a data set, with many threads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The pipeline reads them. Of pictures in files of their own the beginning is
 * enough, mostly; those whose header lies behind large metadata are looked at
 * again, in a second run. */
#include "cli/inspect_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/descriptors.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/perm.h"
#include "base/thread.h"
#include "cli/interrupt.h"
#include "codec/picture.h"
#include "format/decode.h"
#include "pipeline/custom.h"

#define HEADER_BYTES 65536u /* nearly every header lies within */
#define BATCH        256u
#define MAX_THREADS  256u
#define MAX_PATH     8192u

struct scan {
    const struct wr_inspect_scan_spec *spec; /* borrowed */
    struct wr_inspect_scan *out;             /* borrowed */
    struct wr_perm perm;
    struct wr_left_out left;
    size_t broken_cap;
    uint64_t *again; /* owned: which of them need more than their beginning */
    uint64_t again_count;
    size_t again_cap;
    bool second; /* the run that looks at those */
};

/* What is made of a sample. */
struct inspect_look {
    struct wr_inspect_found found;
    bool again;
};

struct look_decoder {
    struct wr_decoder base;
    const struct scan *scan;            /* borrowed */
    struct wr_picture_decoder *picture; /* owned; NULL: headers only */
};

/* --- which --- */

/* Which of the samples looked at comes at a position of the run. */
static uint64_t number_at(const struct scan *s, uint64_t position)
{
    return s->second ? s->again[position] : position;
}

static bool in_order(const struct scan *s)
{
    return s->out->all || s->out->first;
}

static uint64_t sample_at(void *arg, uint64_t position)
{
    const struct scan *s = arg;
    uint64_t k = number_at(s, position);

    return in_order(s) ? k : wr_perm_at(&s->perm, k);
}

/* --- a picture, by a worker --- */

static bool is_misnamed(const struct wr_index *ix, uint64_t id,
                        enum wr_picture_kind kind)
{
    const char *name = wr_index_sample_name(ix, id);
    enum wr_picture_kind said;
    char path[MAX_PATH];
    struct wr_part part;

    if (!name) {
        wr_index_part(ix, 0, id, &part);
        wr_index_object_path(ix, part.object, path, sizeof(path));
        name = path;
    }
    said = wr_picture_kind_of_name(name, strlen(name));
    return said != WR_PICTURE_UNKNOWN && said != kind;
}

/* Is there more of the sample than was read? */
static bool is_cut(const struct scan *s, const struct wr_sample *sample)
{
    const weir_dataset *ds = s->spec->ds;
    struct wr_part part;

    wr_index_part(ds->index, 0, sample->id, &part);
    return !ds->format->unpack && sample->len < part.length;
}

static int look_decode(struct wr_decoder *d, const struct wr_sample *sample,
                       void *slot, struct wr_picture_times *times,
                       weir_err *err)
{
    struct look_decoder *ld = (struct look_decoder *)d;
    const struct scan *s = ld->scan;
    struct wr_picture_info info;
    struct inspect_look look = {0};
    int r;

    (void)times;
    if (ld->picture)
        r = wr_picture_decode_only(ld->picture, sample->bytes, sample->len,
                                   &info, NULL, err);
    else
        r = wr_picture_info(sample->bytes, sample->len, &info, err);
    look.again = r < 0 && is_cut(s, sample) &&
                 wr_picture_probe(sample->bytes, sample->len) !=
                     WR_PICTURE_UNKNOWN;
    if (r < 0 && !look.again)
        return r;
    if (r == 0)
        look.found = (struct wr_inspect_found){
            .width = info.width,
            .height = info.height,
            .kind = (uint8_t)info.kind,
            .components = (uint8_t)info.components,
            .turned = info.orientation != WR_PICTURE_UPRIGHT,
            .misnamed = is_misnamed(s->spec->ds->index, sample->id, info.kind),
        };
    memcpy(slot, &look, sizeof(look));
    return 0;
}

static void look_free(struct wr_decoder *d)
{
    wr_picture_free(((struct look_decoder *)d)->picture);
    free(d);
}

static const struct wr_decoder_ops look_ops = {
    .decode = look_decode,
    .free = look_free,
};

static int look_new(void *arg, struct wr_decoder **ret, weir_err *err)
{
    const weir_picture_config spec = {.channels = 3, .dtype = WEIR_U8};
    const struct scan *s = arg;
    struct look_decoder *d = calloc(1, sizeof(*d));
    int r = 0;

    if (!d)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    d->base.ops = &look_ops;
    d->scan = s;
    if (s->spec->verify)
        r = wr_picture_new(&d->picture, &spec, err);
    if (r < 0) {
        free(d);
        return r;
    }
    *ret = &d->base;
    return 0;
}

/* --- what was found --- */

/* Cuts "'path': " off, which the list repeats, and says which sample of the
 * file it is, if that was not said. */
static void say_reason(const struct scan *s, const struct wr_hole *h,
                       struct wr_inspect_broken *ret)
{
    const struct wr_index *ix = s->spec->ds->index;
    const char *text = h->text ? h->text : weir_strerror(h->code);
    weir_err e = {.code = h->code};
    const char *past = NULL;
    char path[MAX_PATH];
    struct wr_part part;

    wr_index_part(ix, 0, h->id, &part);
    if (wr_index_object_path(ix, part.object, path, sizeof(path)) <
        sizeof(path))
        past = wr_error_past_name(text, path);
    if (past && !strncmp(past, ": ", 2))
        text = past + 2;
    snprintf(e.msg, sizeof(e.msg), "%s", text);
    if (!part.whole && strncmp(text, "sample ", 7) != 0)
        wr_fail_prefix(&e, e.code, "sample %" PRIu64 " at offset %" PRIu64,
                       h->id, part.offset);
    ret->id = h->id;
    ret->code = h->code;
    snprintf(ret->reason, sizeof(ret->reason), "%s", e.msg);
}

/* Keeps the list sorted by number and drops the last when it is full. */
static int note_broken(struct scan *s, const struct wr_hole *h, weir_err *err)
{
    struct wr_inspect_scan *out = s->out;
    size_t k = out->broken_kept;

    out->broken_count++;
    while (k && out->broken[k - 1].id > h->id)
        k--;
    if (k == WR_INSPECT_MAX_BROKEN)
        return 0;
    if (out->broken_kept < WR_INSPECT_MAX_BROKEN) {
        if (!wr_grow(&out->broken, &s->broken_cap, out->broken_kept + 1,
                     sizeof(*out->broken)))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        out->broken_kept++;
    }
    memmove(&out->broken[k + 1], &out->broken[k],
            (out->broken_kept - 1 - k) * sizeof(*out->broken));
    say_reason(s, h, &out->broken[k]);
    return 0;
}

static int note_look(struct scan *s, uint64_t k,
                     const struct inspect_look *look, uint32_t label,
                     weir_err *err)
{
    if (look->again) {
        if (!wr_grow(&s->again, &s->again_cap, s->again_count + 1,
                     sizeof(*s->again)))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        s->again[s->again_count++] = k;
        return 0;
    }
    s->out->found[k] = look->found;
    s->out->found[k].label = label;
    s->out->misnamed += look->found.misnamed;
    return 0;
}

static int take_batch(struct scan *s, const weir_batch *b, bool pictures,
                      weir_err *err)
{
    const struct inspect_look *looks = pictures ? b->fields[0].data : NULL;
    size_t left;
    const struct wr_hole *hole = wr_batch_holes(b, &left);
    struct wr_part part;
    int r = 0;

    for (uint32_t i = 0; i < b->count && r == 0; i++) {
        uint64_t k = number_at(s, b->index * BATCH + i);

        wr_index_part(s->spec->ds->index, 0, b->ids[i], &part);
        s->out->found[k].label = part.label;
        if (left && hole->slot == i) {
            r = note_broken(s, hole++, err);
            left--;
        } else if (looks) {
            r = note_look(s, k, &looks[i], b->labels[i], err);
        }
    }
    return r;
}

/* --- the run --- */

static int interrupted(void *arg)
{
    (void)arg;
    return wr_interrupted();
}

/* What is wrapped is unpacked, so that its values are checked (a row of text,
 * say), and not converted: that may not be possible without being asked for. */
static int unpack_all(const weir_dataset *ds, weir_pipeline_config *c,
                      weir_field_config **ret, weir_err *err)
{
    uint32_t count;
    const weir_field *fields = weir_dataset_fields(ds, &count);
    weir_field_config *own = calloc(count + 1, sizeof(*own));

    if (!own)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    c->stages = WEIR_STAGES_DECODE;
    c->field = own;
    for (uint32_t k = 0; k < count; k++)
        if (fields[k].kind != WEIR_FIELD_SCALAR)
            own[c->field_count++] = (weir_field_config){
                .name = fields[k].name, .picture = c->picture, .as_bytes = 1};
    *ret = own;
    return 0;
}

static int run(struct scan *s, uint64_t count, size_t head, weir_err *err)
{
    const weir_dataset *ds = s->spec->ds;
    bool pictures = wr_index_has_pictures(ds->index);
    const struct wr_custom custom = {
        .left = s->spec->chosen ? NULL : &s->left,
        .arg = s,
        .count = count,
        .sample_at = sample_at,
        .decoder_new = pictures ? look_new : NULL,
        .entry = sizeof(struct inspect_look),
        .head = head,
    };
    weir_pipeline_config c;
    weir_field_config *own = NULL;
    weir_pipeline *p = NULL;
    const weir_batch *b;
    int r = 0;

    weir_pipeline_defaults(&c);
    c.batch = BATCH;
    c.threads = s->spec->threads ? s->spec->threads : wr_cpu_count();
    /* Each may hold a file open. */
    c.threads = WR_MIN(WR_MIN(c.threads, MAX_THREADS), wr_fd_share());
    c.order = in_order(s) && !s->second ? WEIR_ORDER_SEQUENTIAL
                                        : WEIR_ORDER_SHUFFLE;
    c.fields = "*";
    c.stages = pictures ? WEIR_STAGES_ALL : WEIR_STAGES_READ;
    c.stopped = interrupted;
    if (!pictures && ds->format->unpack)
        r = unpack_all(ds, &c, &own, err);
    if (r == 0)
        r = wr_pipeline_open_custom(&p, ds, &c, &custom, err);
    while (r == 0 && (r = weir_pipeline_next(p, &b, err)) > 0) {
        r = take_batch(s, b, pictures, err);
        wr_progress_add(s->spec->progress, b->count);
        weir_batch_release(b);
        if (r == 0 && wr_interrupted())
            r = wr_fail(err, WEIR_ECANCELED, "interrupted");
    }
    weir_pipeline_close(&p);
    free(own);
    return r;
}

/* Labels that are not in the index but in the samples. */
static int take_labels(const struct scan *s, weir_err *err)
{
    const weir_dataset *ds = s->spec->ds;
    struct wr_inspect_scan *out = s->out;

    if (!ds->format->unpack || weir_dataset_class_count(ds) ||
        !wr_index_has_pictures(ds->index))
        return 0;
    out->has_labels = true;
    return wr_inspect_count_labels(out->found, out->count, &out->labels, err);
}

static int scan_all(struct scan *s, weir_err *err)
{
    int r = s->out->count
                ? run(s, s->out->count, s->spec->verify ? 0 : HEADER_BYTES, err)
                : 0;

    s->second = true;
    if (r == 0 && s->again_count)
        r = run(s, s->again_count, 0, err);
    if (r == 0)
        r = take_labels(s, err);
    free(s->again);
    return r;
}

int wr_inspect_scan(const struct wr_inspect_scan_spec *spec,
                    struct wr_inspect_scan *ret, weir_err *err)
{
    uint64_t total = weir_dataset_count(spec->ds);
    struct wr_inspect_scan out = {.all = !spec->samples ||
                                         spec->samples >= total};
    struct scan s = {.spec = spec, .out = &out};
    int r;

    out.first = !out.all && wr_index_unit_count(spec->ds->index) > 0;
    out.count = out.all ? total : spec->samples;
    out.found = calloc(out.count + 1, sizeof(*out.found));
    if (!out.found)
        return wr_fail(err, WEIR_ENOMEM, "no memory for %" PRIu64 " samples",
                       out.count);
    wr_perm_init(&s.perm, total, /* seed= */ 0, /* stream= */ 0);
    wr_progress_total(spec->progress, out.count);
    pthread_mutex_init(&s.left.lock, NULL);
    r = scan_all(&s, err);
    pthread_mutex_destroy(&s.left.lock);
    out.left = s.left.names;
    if (r < 0) {
        wr_inspect_scan_done(&out);
        return r;
    }
    *ret = out;
    return 0;
}

void wr_inspect_scan_done(struct wr_inspect_scan *s)
{
    free(s->found);
    free(s->broken);
    free(s->labels.list);
    wr_intern_done(&s->left);
    memset(s, 0, sizeof(*s));
}
