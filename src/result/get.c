/* get.c - fields of a record that may be missing or of another type.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/get.h"

#include "base/emu_url.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define KEY_MAX 64

const json_t *wr_get(const json_t *o, const char *path)
{
    char key[KEY_MAX];

    while (o) {
        size_t len = strcspn(path, ".");

        if (len >= sizeof(key))
            return NULL;
        memcpy(key, path, len);
        key[len] = '\0';
        o = json_object_get(o, key); /* NULL when it is no object */
        if (!path[len])
            return o;
        path += len + 1;
    }
    return NULL;
}

double wr_get_number(const json_t *o, const char *path)
{
    const json_t *v = wr_get(o, path);

    return json_is_number(v) ? json_number_value(v) : NAN;
}

const char *wr_get_text(const json_t *o, const char *path)
{
    const char *s = json_string_value(wr_get(o, path));

    return s ? s : "";
}

bool wr_get_true(const json_t *o, const char *path)
{
    return json_is_true(wr_get(o, path));
}

const json_t *wr_get_list(const json_t *o, const char *path)
{
    const json_t *v = wr_get(o, path);

    return json_is_array(v) ? v : NULL;
}

const json_t *wr_get_object(const json_t *o, const char *path)
{
    const json_t *v = wr_get(o, path);

    return json_is_object(v) ? v : NULL;
}

double wr_get_at(const json_t *list, size_t k)
{
    const json_t *v = json_array_get(list, k);

    return json_is_number(v) ? json_number_value(v) : NAN;
}

char *wr_get_shown(const json_t *value, char *buf, size_t cap)
{
    if (json_is_string(value))
        snprintf(buf, cap, "%s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(buf, cap, "%" PRId64, (int64_t)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(buf, cap, "%.6g", json_real_value(value));
    else if (json_is_boolean(value))
        snprintf(buf, cap, "%s", json_is_true(value) ? "yes" : "no");
    else
        snprintf(buf, cap, "%s", "");
    return buf;
}

static bool begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

bool wr_emulated(const char *url, char *buf, size_t cap)
{
    struct wr_emu_url emu;

    if (cap)
        *buf = '\0';
    while (begins(url, "fault:")) {
        const char *spec = url + strlen("fault:"), *end = strchr(spec, ':');

        if (!end)
            return false;
        url = end + 1;
    }
    if (!wr_emu_url(url, &emu))
        return false;
    snprintf(buf, cap, "emulated %s", emu.profile);
    return true;
}
