/* settings_by_name.c - settings set and read as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/settings.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "base/named.h"

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
    wr_fail(err, WEIR_ENOENT, "no setting is called '%s'%s", name,
            wr_suggest_said(&near, "").text);
    return NULL;
}

/* A config as this library knows it, and what a name means in it. */
struct named {
    const struct wr_setting *s;
    weir_pipeline_config own;
    weir_field_config *field; /* borrowed; "mask.resize": own.picture is its */
};

static bool is_of_pictures(const struct wr_setting *s)
{
    size_t at = offsetof(weir_pipeline_config, picture);

    return s->offset >= at && s->offset < at + sizeof(weir_picture_config);
}

/* The entry of cfg->field that "mask.resize" is about. */
static int find_field(struct named *n, const char *name, size_t len,
                      weir_err *err)
{
    for (uint32_t i = 0; n->own.field && i < n->own.field_count; i++) {
        const weir_field_config *f = &n->own.field[i];

        if (!f->name || strlen(f->name) != len ||
            strncmp(f->name, name, len) != 0)
            continue;
        memcpy(&n->field, &f, sizeof(f)); /* the caller's own, to be changed */
        n->own.picture = f->picture;
        return 0;
    }
    return wr_fail(err, WEIR_ENOENT, "no entry of cfg.field is called '%.*s'",
                   (int)len, name);
}

static int resolve(const weir_pipeline_config *cfg, const char *name,
                   struct named *ret, weir_err *err)
{
    const char *dot = strrchr(name, '.');
    int r;

    *ret = (struct named){.s = find(dot ? dot + 1 : name, err)};
    if (!ret->s)
        return WEIR_ENOENT;
    weir_pipeline_defaults(&ret->own);
    r = wr_sized_take(&ret->own, sizeof(ret->own), cfg,
                      "weir_pipeline_defaults", err);
    if (r == 0 && dot)
        r = find_field(ret, name, (size_t)(dot - name), err);
    if (r == 0 && dot && !is_of_pictures(ret->s))
        r = wr_fail(err, WEIR_EINVAL, "is not a setting of a single field");
    if (r == 0 && !dot && ret->s->offset >= cfg->size)
        r = wr_fail(err, WEIR_ENOTSUP,
                    "is newer than the header that this program was built "
                    "with");
    return r < 0 ? wr_fail_prefix(err, r, "%s", name) : 0;
}

int weir_config_set(weir_pipeline_config *cfg, const char *name,
                    const char *value, weir_err *err)
{
    struct named n;
    int r = resolve(cfg, name, &n, err);

    if (r < 0)
        return r;
    r = set(n.s, value, &n.own, err);
    if (r < 0)
        return wr_fail_prefix(err, r, "%s", name);
    if (n.field) {
        n.field->picture = n.own.picture;
        return 0;
    }
    n.own.size = cfg->size;
    wr_sized_give(cfg, n.own.size, &n.own, sizeof(n.own));
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
    struct named n;
    int r = resolve(cfg, name, &n, err);

    if (r < 0)
        return r;
    if (is_normalize(n.s))
        return snprintf(buf, cap, "%s", normalize_text(&n.own.picture));
    return (int)wr_value_text(&n.s->value, wr_setting_at(n.s, &n.own), buf,
                              cap);
}

const char *weir_config_name(unsigned k)
{
    return k < wr_setting_count ? wr_settings[k].name : NULL;
}
