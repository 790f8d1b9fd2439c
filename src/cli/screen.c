/* screen.c - what fits into the lines of a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/text.h"

#define NARROW 20 /* columns: fewer are no size, and leave no room for words */
#define HANG   4  /* blanks in front of what follows a line of one column */

unsigned wr_screen_width(FILE *to)
{
    struct winsize size;

    if (ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col >= NARROW)
        return size.ws_col;
    return 0;
}

/* Where the lines after the first of s[0..len) begin. */
static size_t find_hang(const char *s, size_t len, size_t width)
{
    size_t indent = strspn(s, " "), end = indent, columns;

    while (end + 1 < len && (s[end] != ' ' || s[end + 1] != ' '))
        end++;
    while (end < len && s[end] == ' ')
        end++;
    columns = wr_text_columns(s, end);
    if (end + 1 < len && columns <= width / 2)
        return columns;
    return indent + HANG <= width / 2 ? indent + HANG : 0;
}

void wr_screen_put(FILE *to, const char *text)
{
    size_t width = wr_screen_width(to);

    while (*text) {
        size_t len = strcspn(text, "\n");

        if (!width || wr_text_columns(text, len) <= width)
            fwrite(text, 1, len, to);
        else
            wr_text_fold(
                to, text, len,
                (struct wr_text_wrap){0, find_hang(text, len, width), width});
        text += len;
        if (*text)
            fputc(*text++, to);
    }
}

const struct wr_cli *wr_screen_start(struct wr_screen *s,
                                     const struct wr_cli *cli)
{
    *s = (struct wr_screen){.cli = *cli};
    if (!wr_screen_width(cli->out))
        return cli;
    s->cli.out = open_memstream(&s->text, &s->len);
    if (!s->cli.out)
        return cli; /* long lines are better than none */
    s->real = cli;
    return &s->cli;
}

void wr_screen_end(struct wr_screen *s)
{
    if (!s->real)
        return;
    if (fclose(s->cli.out) == 0)
        wr_screen_put(s->real->out, s->text);
    free(s->text);
}
