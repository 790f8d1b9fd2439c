/* adder.c - kinds that make bytes of each sample, in the pipeline's threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/adder.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "convert/sample.h"

#define MEASURED    200u /* samples whose decoding is timed, about */
#define SPARE_BYTES ((size_t)64 << 20) /* kept for the next samples */

struct adder_decoder {
    struct wr_decoder base;
    struct wr_adder *adder; /* borrowed */
    void *state;            /* owned by the kind */
    struct wr_convert_saving saving;
};

/* Only what changes is worth timing. */
static uint64_t stride_of(const struct wr_convert_plan *p)
{
    if (!p->cfg->max_side && !p->cfg->quality)
        return 0;
    return WR_MAX((p->count + MEASURED - 1) / MEASURED, (uint64_t)1);
}

void wr_adder_init(struct wr_adder *a, const struct wr_convert_plan *plan,
                   struct wr_sink *sink)
{
    *a = (struct wr_adder){
        .plan = plan, .sink = sink, .stride = stride_of(plan)};
    pthread_mutex_init(&a->lock, NULL);
}

void wr_adder_done(struct wr_adder *a)
{
    while (a->all) {
        struct wr_adder_part *part = a->all;

        a->all = part->older;
        free(part->made.out.bytes);
        free(part);
    }
    pthread_mutex_destroy(&a->lock);
}

/* --- parts --- */

static struct wr_adder_part *take_part(struct wr_adder *a)
{
    struct wr_adder_part *part;

    pthread_mutex_lock(&a->lock);
    part = a->spare;
    if (part) {
        a->spare = part->next;
        a->spare_bytes -= part->made.out.cap;
    } else {
        part = calloc(1, sizeof(*part));
        if (part) {
            part->older = a->all;
            a->all = part;
        }
    }
    pthread_mutex_unlock(&a->lock);
    return part;
}

void wr_adder_give(struct wr_adder *a, struct wr_adder_part *part)
{
    struct wr_bytes *out = &part->made.out;
    uint8_t *drop = NULL;

    pthread_mutex_lock(&a->lock);
    part->made.bytes = out->len = 0;
    if (a->spare_bytes + out->cap > SPARE_BYTES) {
        drop = out->bytes;
        *out = (struct wr_bytes){0};
    }
    a->spare_bytes += out->cap;
    part->next = a->spare;
    a->spare = part;
    pthread_mutex_unlock(&a->lock);
    free(drop);
}

/* --- samples --- */

static void note_failure(struct wr_adder *a, const struct wr_sample *s,
                         const weir_err *err)
{
    pthread_mutex_lock(&a->lock);
    if (!a->failed.code) {
        a->failed = *err;
        wr_convert_name_sample(a->plan->ds, s->id, &a->failed);
    }
    pthread_mutex_unlock(&a->lock);
}

int wr_adder_failed(struct wr_adder *a, weir_err *err)
{
    int r;

    pthread_mutex_lock(&a->lock);
    r = a->failed.code;
    if (r && err)
        *err = a->failed;
    pthread_mutex_unlock(&a->lock);
    return r;
}

/* An entry is a pointer to the part. */
static int adder_decode(struct wr_decoder *d, const struct wr_sample *s,
                        void *slot, struct wr_picture_times *times,
                        weir_err *err)
{
    struct adder_decoder *ad = (struct adder_decoder *)d;
    struct wr_adder *a = ad->adder;
    struct wr_adder_part *part = take_part(a);
    struct wr_convert_item it = {.s = *s};
    char key[WR_CONVERT_KEY_MAX];
    int r;

    (void)times;
    if (!part)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    wr_convert_key(a->plan, s, key);
    it.key = key;
    it.class_name = wr_classes_name(&a->plan->classes, s->label);
    if (a->stride && s->id % a->stride == 0)
        it.saving = &ad->saving;
    r = a->plan->kind->add(ad->state, &it, &part->made, err);
    if (r < 0) {
        if (it.fatal && !wr_err_is_lack(r))
            note_failure(a, s, err);
        wr_adder_give(a, part);
        return r;
    }
    memcpy(slot, &part, sizeof(part));
    return 0;
}

static void adder_free(struct wr_decoder *d)
{
    struct adder_decoder *ad = (struct adder_decoder *)d;
    struct wr_adder *a = ad->adder;

    pthread_mutex_lock(&a->lock);
    a->saving.samples += ad->saving.samples;
    a->saving.before_ns += ad->saving.before_ns;
    a->saving.after_ns += ad->saving.after_ns;
    pthread_mutex_unlock(&a->lock);
    a->plan->kind->state_free(ad->state);
    free(ad);
}

static const struct wr_decoder_ops adder_ops = {
    .decode = adder_decode,
    .free = adder_free,
};

int wr_adder_decoder(struct wr_adder *a, struct wr_decoder **ret, weir_err *err)
{
    struct adder_decoder *ad = calloc(1, sizeof(*ad));
    int r;

    if (!ad)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    ad->base.ops = &adder_ops;
    ad->adder = a;
    r = a->plan->kind->state_new(a->plan, a->sink, &ad->state, err);
    if (r < 0) {
        free(ad);
        return r;
    }
    *ret = &ad->base;
    return 0;
}
