/* settings.h - the table of settings, and what is made of it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PIPELINE_SETTINGS_H
#define WR_PIPELINE_SETTINGS_H

#include <stddef.h>

#include "base/value.h"
#include "pipeline/settings_table.h"
#include "weir/config.h"

enum {
    WR_SET_RECORD = 1, /* records have it, by its name */
    WR_SET_LEARN = 2,  /* decides what training learns */
    WR_SET_FRESH = 4,  /* changes the bytes, but never those of a cache of
                              decoded samples, which is refused with it */
    WR_SET_LATER = 8,  /* keys and job texts have it when it is not at its
                              default: those from before stay valid */
    WR_SET_ALIAS = 16, /* another way to set what other rows are */
    WR_SET_ODD = 32,   /* 1 or 3 */
};

#define WR_KEY_NEW 1 /* no place in the old key: behind it, if not default */

struct wr_setting {
    const char *name, *option;
    struct wr_value value;
    size_t offset;   /* of the member of weir_pipeline_config */
    const char *def; /* NULL: no text */
    const char *help;
    unsigned key, flags;
};

/* The table; a NULL name ends it. */
extern const struct wr_setting wr_settings[];
extern const unsigned wr_setting_count;

extern const struct wr_choice wr_stages_choices[], wr_dtype_choices[],
    wr_layout_choices[], wr_normalize_choices[], wr_resize_choices[],
    wr_decode_choices[], wr_crop_choices[], wr_orient_choices[],
    wr_order_choices[], wr_part_choices[], wr_remainder_choices[],
    wr_on_error_choices[], wr_auto_choices[], wr_io_choices[],
    wr_cache_what_choices[];

enum wr_normalize { WR_NORMALIZE_IMAGENET, WR_NORMALIZE_NONE };

/* Sets mean and std. */
void wr_settings_normalize(enum wr_normalize how, weir_picture_config *pic);

/* NULL if there is none of that name. */
const struct wr_setting *wr_setting_find(const char *name);

static inline const void *wr_setting_at(const struct wr_setting *s,
                                        const weir_pipeline_config *cfg)
{
    return (const char *)cfg + s->offset;
}

/* Whether the numbers and choices are in their ranges; messages begin with the
 * name of the setting. */
int wr_settings_check(const weir_pipeline_config *cfg, weir_err *err);

/* What a cached sample depends on besides the data set, as a number: nothing,
 * or for decoded ones all settings that change the bytes. The same for the same
 * settings in every version: it is part of the names of users' caches. */
uint64_t wr_settings_key(const weir_pipeline_config *cfg);

/* The same as text, for the description of a job: "224x224x3 dtype 0 ...".
 * Returns its length as snprintf does. */
size_t wr_settings_describe(const weir_pipeline_config *cfg, char *buf,
                            size_t cap);

#endif
