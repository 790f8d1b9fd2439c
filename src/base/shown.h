/* shown.h - names from files, as messages can show them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_SHOWN_H
#define WR_BASE_SHOWN_H

#include "base/text.h"

struct wr_shown {
    char text[120]; /* a long name is cut, so that the reason stays */
};

struct wr_shown_path {
    char text[4096]; /* in results, a path stands in full */
};

/* wr_show(name).text lives until the end of the expression. */
static inline struct wr_shown wr_show(const char *name)
{
    struct wr_shown s;

    wr_text_show(name, /* controls= */ true, s.text, sizeof(s.text));
    return s;
}

static inline struct wr_shown_path wr_show_path(const char *path)
{
    struct wr_shown_path s;

    wr_text_show(path, /* controls= */ true, s.text, sizeof(s.text));
    return s;
}

#endif
