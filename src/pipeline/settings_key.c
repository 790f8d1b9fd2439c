/* settings_key.c - the settings that change the bytes, as a key and as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/c_locale.h"

#define KEY_WHAT  1   /* at 0: decoded samples; encoded: zeros all over */
#define KEY_FLOAT 72  /* from here on four bytes each, before that eight */
#define KEY_BYTES 104 /* of the settings that there were at first */

static bool is_default(const struct wr_setting *s,
                       const weir_pipeline_config *cfg)
{
    weir_pipeline_config own;

    weir_pipeline_defaults(&own);
    return !memcmp(wr_setting_at(s, cfg), wr_setting_at(s, &own),
                   s->value.count * sizeof(float));
}

uint64_t wr_settings_key(const weir_pipeline_config *cfg)
{
    unsigned char key[KEY_BYTES] = {0};
    uint64_t what = KEY_WHAT, hash;
    char text[128];

    if (cfg->cache_what != WEIR_CACHE_DECODED)
        return XXH3_64bits(key, sizeof(key));
    memcpy(key, &what, sizeof(what));
    for (const struct wr_setting *s = wr_settings; s->name; s++) {
        uint32_t low;
        uint64_t wide;

        if (s->key <= WR_KEY_NEW)
            continue;
        memcpy(&low, wr_setting_at(s, cfg), sizeof(low));
        wide = low;
        if (s->key < KEY_FLOAT)
            memcpy(key + s->key, &wide, sizeof(wide));
        else
            memcpy(key + s->key, wr_setting_at(s, cfg),
                   s->value.count * sizeof(float));
    }
    hash = XXH3_64bits(key, sizeof(key));
    for (const struct wr_setting *s = wr_settings; s->name; s++) {
        int n;

        if (s->key != WR_KEY_NEW || is_default(s, cfg))
            continue;
        n = snprintf(text, sizeof(text), "%s=", s->name);
        n += (int)wr_value_text(&s->value, wr_setting_at(s, cfg), text + n,
                                sizeof(text) - (size_t)n);
        hash = XXH3_64bits_withSeed(text, (size_t)n, hash);
    }
    return hash;
}

/* " resize 1", " mean 0x1.f0a3d8p-2 ..."; texts are never cut: each is short. */
static int describe_one(const struct wr_setting *s,
                        const weir_pipeline_config *cfg, char *buf, size_t cap)
{
    const void *at = wr_setting_at(s, cfg);
    char text[100] = "";
    int n;

    if (s->flags & WR_SET_LATER) {
        if (is_default(s, cfg))
            return 0;
        wr_value_text(&s->value, at, text, sizeof(text));
        return snprintf(buf, cap, " %s %s", s->name, text);
    }
    if (s->value.type != WR_VALUE_FLOATS)
        return snprintf(buf, cap, " %s %" PRIu32, s->name,
                        *(const uint32_t *)at);
    n = s->value.count > 1 ? snprintf(text, sizeof(text), " %s", s->name) : 0;
    for (unsigned i = 0; i < s->value.count; i++)
        n += wr_snprintf(text + n, sizeof(text) - (size_t)n, " %a",
                         (double)((const float *)at)[i]);
    return snprintf(buf, cap, "%s", text);
}

size_t wr_settings_describe(const weir_pipeline_config *cfg, char *buf,
                            size_t cap)
{
    const weir_picture_config *pic = &cfg->picture;
    int n = snprintf(buf, cap, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, pic->width,
                     pic->height, pic->channels);

    for (const struct wr_setting *s = wr_setting_find("dtype"); s->name; s++)
        if (s->key && (size_t)n < cap)
            n += describe_one(s, cfg, buf + n, cap - (size_t)n);
    return (size_t)n;
}
