/* feed_args.c - settings of the pipeline as options of commands.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/feed_args.h"

#include <string.h>

#include "base/error.h"
#include "pipeline/config.h"

const char *wr_feed_given_pixels(const struct wr_cli *cli)
{
    for (const struct wr_setting *s = wr_settings; s->name; s++)
        if ((s->key || s->flags & WR_SET_ALIAS) && wr_cli_given(cli, s->option))
            return s->option;
    return NULL;
}

/* The option of a field that a message begins with: "crop_area: ..." is about
 * --crop-area. NULL: none. */
static const struct wr_option *option_of(const struct wr_option *o,
                                         const char *message)
{
    size_t len = strcspn(message, ": ");

    for (; o->name; o++) {
        size_t k = 0;

        while (k < len && o->name[k] &&
               (o->name[k] == message[k] ||
                (o->name[k] == '-' && message[k] == '_')))
            k++;
        if (k == len && !o->name[k])
            return o;
    }
    return NULL;
}

int wr_feed_check(const struct wr_option *table,
                  const weir_pipeline_config *cfg, weir_err *err)
{
    const struct wr_option *o;
    weir_err why;
    size_t len;
    int r = wr_config_check(cfg, &why);

    if (r == 0)
        return 0;
    o = option_of(table, why.msg);
    if (!o)
        return wr_fail(err, r, "%s", why.msg);
    len = strlen(o->name);
    return wr_fail(err, r, "option --%s: %s", o->name,
                   why.msg[len] == ':' ? why.msg + len + 2 : why.msg);
}
