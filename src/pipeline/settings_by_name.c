/* settings_by_name.c - settings set and read as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/settings.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "base/suggest.h"

static bool is_normalize(const struct wr_setting *s)
{
    return s->value.choices == wr_normalize_choices;
}

static int set(const struct wr_setting *s, const char *text,
               weir_pipeline_config *cfg, weir_err *err)
{
    int how, r;

    if (!is_normalize(s))
        return wr_value_parse(&s->value, text, (char *)cfg + s->offset, err);
    r = wr_choice_find(s->value.choices, text, &how, err);
    if (r == 0)
        wr_settings_normalize((enum wr_normalize)how, &cfg->picture);
    return r;
}

static const struct wr_setting *find(const char *name, weir_err *err)
{
    const struct wr_setting *s = wr_setting_find(name);
    struct wr_suggest near;

    if (s)
        return s;
    wr_suggest_init(&near, name);
    for (s = wr_settings; s->name; s++)
        wr_suggest_try(&near, s->name);
    wr_fail(err, WEIR_ENOENT, "no setting is called '%s'%s%s%s", name,
            near.best ? " (did you mean " : "", near.best ? near.best : "",
            near.best ? "?)" : "");
    return NULL;
}

int weir_config_set(weir_pipeline_config *cfg, const char *name,
                    const char *value, weir_err *err)
{
    const struct wr_setting *s = find(name, err);
    weir_pipeline_config own;
    int r;

    if (!s)
        return WEIR_ENOENT;
    weir_pipeline_defaults(&own);
    r = wr_sized_take(&own, sizeof(own), cfg, "weir_pipeline_defaults", err);
    if (r == 0 && s->offset >= cfg->size)
        r = wr_fail(err, WEIR_ENOTSUP,
                    "is newer than the header that this program was built "
                    "with");
    if (r == 0)
        r = set(s, value, &own, err);
    if (r < 0)
        return wr_fail_prefix(err, r, "%s", name);
    own.size = cfg->size;
    wr_sized_give(cfg, own.size, &own, sizeof(own));
    return 0;
}

/* "imagenet", "none", or "other". */
static const char *normalize_text(const weir_picture_config *pic)
{
    for (const struct wr_choice *c = wr_normalize_choices; c->name; c++) {
        weir_picture_config as = *pic;

        wr_settings_normalize((enum wr_normalize)c->value, &as);
        if (!memcmp(as.mean, pic->mean, sizeof(as.mean)) &&
            !memcmp(as.std, pic->std, sizeof(as.std)))
            return c->name;
    }
    return "other";
}

int weir_config_get(const weir_pipeline_config *cfg, const char *name,
                    char *buf, size_t cap, weir_err *err)
{
    const struct wr_setting *s = find(name, err);
    weir_pipeline_config own;
    int r;

    if (!s)
        return WEIR_ENOENT;
    weir_pipeline_defaults(&own);
    r = wr_sized_take(&own, sizeof(own), cfg, "weir_pipeline_defaults", err);
    if (r < 0)
        return wr_fail_prefix(err, r, "%s", name);
    if (is_normalize(s))
        return snprintf(buf, cap, "%s", normalize_text(&own.picture));
    return (int)wr_value_text(&s->value, wr_setting_at(s, &own), buf, cap);
}

const char *weir_config_name(unsigned k)
{
    return k < wr_setting_count ? wr_settings[k].name : NULL;
}
