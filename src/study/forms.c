/* forms.c - the same pictures as tensors, PNG and JPEG of one size.
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/forms.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "codec/jpegenc.h"
#include "codec/pngenc.h"
#include "workload/generate.h"
#include "workload/synth.h"
#include "workload/texture.h"

#define CLASSES 8u
#define QUALITY 90
#define GRAIN   20 /* about as photographs have: 2 bits a pixel as JPEG */
#define DETAIL  170

/* What makes one picture after the other. */
struct maker {
    const struct wr_data_kind *kind;
    struct wr_textures *textures; /* owned, as all below */
    struct wr_jpegenc *jpeg;
    struct wr_gen_target *target;
    uint8_t *pixels;
};

bool wr_forms_can(const char *form, const char **ret_why)
{
    *ret_why = "weir was built without libspng";
    return strcmp(form, "png") || wr_pngenc_is_there();
}

static int write_picture(struct maker *m, const char *path, weir_err *err)
{
    const uint8_t *lent = NULL;
    uint8_t *own = NULL;
    size_t len = 0;
    int r;

    if (!strcmp(m->kind->form, "png")) {
        r = wr_pngenc_encode(&(struct wr_pngenc_picture){m->pixels,
                                                         m->kind->side,
                                                         m->kind->side},
                             &own, &len, err);
        lent = own;
    } else {
        r = wr_jpegenc_encode(
            m->jpeg,
            &(struct wr_jpegenc_picture){.pixels = m->pixels,
                                         .width = m->kind->side,
                                         .height = m->kind->side,
                                         .channels = 3,
                                         .quality = QUALITY},
            &lent, &len, err);
    }
    if (r == 0)
        r = wr_gen_target_write(m->target, path, lent, len, err);
    free(own);
    return r;
}

static int make_picture(struct maker *m, uint64_t k, weir_err *err)
{
    unsigned label = (unsigned)(k % CLASSES);
    char path[WR_GEN_PATH_MAX];

    wr_synth_draw(m->textures,
                  &(struct wr_synth_picture){.label = label,
                                             .key = k,
                                             .width = m->kind->side,
                                             .height = m->kind->side,
                                             .channels = 3,
                                             .grain = GRAIN,
                                             .detail = DETAIL},
                  m->pixels);
    snprintf(path, sizeof(path), "class_%04u/%08" PRIu64 ".%s", label, k,
             !strcmp(m->kind->form, "png") ? "png" : "jpg");
    return write_picture(m, path, err);
}

static int make_pictures(struct maker *m, uint64_t samples,
                         const struct wr_forms_watch *watch, weir_err *err)
{
    char folder[32];
    int r = 0;

    for (unsigned c = 0; r == 0 && c < CLASSES && c < samples; c++) {
        snprintf(folder, sizeof(folder), "class_%04u", c);
        r = wr_gen_target_mkdir(m->target, folder, err);
    }
    for (uint64_t k = 0; r == 0 && k < samples; k++) {
        if (watch->progress(watch->arg, k, samples))
            r = wr_fail(err, WEIR_ECANCELED, "stopped");
        else
            r = make_picture(m, k, err);
    }
    return r == 0 ? wr_gen_target_commit(m->target, err) : r;
}

static int make_tensors(const struct wr_data_kind *kind, uint64_t samples,
                        const char *path, const struct wr_forms_watch *watch,
                        weir_err *err)
{
    struct wr_gen_config cfg = {.kind = "tensors",
                                .target = path,
                                .samples = samples,
                                .shape = {.dtype = WEIR_U8,
                                          .ndim = 3,
                                          .dims = {kind->side, kind->side, 3}},
                                .samples_per_file = 128,
                                .force = true,
                                .progress = watch->progress,
                                .progress_arg = watch->arg};
    struct wr_gen_result made;

    return wr_gen_run(&cfg, &made, err);
}

int wr_forms_make(const struct wr_data_kind *kind, uint64_t samples,
                  const char *path, const struct wr_forms_watch *watch,
                  weir_err *err)
{
    struct maker m = {.kind = kind};
    int r;

    if (!strcmp(kind->form, "tensor"))
        return make_tensors(kind, samples, path, watch, err);
    r = wr_gen_target_open(&m.target, path, /* force= */ true, err);
    if (r == 0)
        r = wr_textures_new(&m.textures, 0, err);
    if (r == 0)
        r = wr_jpegenc_new(&m.jpeg, err);
    if (r == 0) {
        m.pixels = malloc((size_t)kind->side * kind->side * 3);
        r = m.pixels ? make_pictures(&m, samples, watch, err)
                     : wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    free(m.pixels);
    wr_jpegenc_free(m.jpeg);
    wr_textures_free(m.textures);
    wr_gen_target_close(m.target);
    return r;
}
