/* record.c - the run record: one JSON schema for every measuring command.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/record.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"
#include "storage/beside.h"
#include "weir/weir.h"

#define TEXT_BYTES (4 * PATH_MAX + 8) /* each byte as \xNN */

json_t *wr_record_new(const char *command)
{
    time_t now = time(NULL);
    struct tm tm;
    char text[32];

    gmtime_r(&now, &tm);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
    return json_pack("{s:s, s:i, s:s, s:s, s:s}", "schema", WR_RECORD_SCHEMA,
                     "version", WR_RECORD_VERSION, "command", command, "time",
                     text, "weir", weir_version_string());
}

/* Jansson leaves DEL, C1 controls and marks of direction as they are. */
static int put_escaped(const char *s, size_t len, void *out)
{
    while (len) {
        size_t n = wr_text_harmless(s, len);
        uint32_t point = 0;

        fwrite(s, 1, n, out);
        s += n;
        len -= n;
        if (!len)
            break;
        n = wr_text_decode(s, &point);
        if (n && point >= 0x7f)
            fprintf(out, "\\u%04x", (unsigned)point);
        else /* layout: texts hold no such byte */
            fwrite(s, 1, n = 1, out);
        s += n;
        len -= n;
    }
    return ferror((FILE *)out) ? -1 : 0;
}

int wr_record_dump(const json_t *v, size_t flags, FILE *out)
{
    return json_dump_callback(v, put_escaped, out, flags);
}

/* A list of numbers or texts stands in one line: series have thousands. */
static bool is_flat(const json_t *v)
{
    json_t *item;
    size_t i;

    if (json_is_object(v))
        return json_object_size(v) == 0;
    json_array_foreach(v, i, item) if (json_is_object(item) ||
                                       json_is_array(item)) return false;
    return true;
}

static void new_line(FILE *out, int depth, size_t item)
{
    fprintf(out, "%s\n%*s", item ? "," : "", depth, "");
}

static int dump(const json_t *v, int depth, FILE *out)
{
    /* 12 digits: 0.1 is not 0.10000000000000001. */
    const size_t flags = JSON_ENCODE_ANY | JSON_COMPACT |
                         JSON_REAL_PRECISION(12);
    bool is_list = json_is_array(v);
    size_t i = 0;
    const char *key;
    json_t *item;
    int bad = 0;

    if (is_flat(v))
        return wr_record_dump(v, flags, out);
    fputc(is_list ? '[' : '{', out);
    if (is_list) {
        json_array_foreach(v, i, item)
        {
            new_line(out, depth + 1, i);
            bad |= dump(item, depth + 1, out);
        }
    } else {
        json_object_foreach((json_t *)(uintptr_t)v, key, item)
        {
            json_t *name = json_string(key);

            new_line(out, depth + 1, i++);
            bad |= wr_record_dump(name, flags, out);
            fputs(": ", out);
            bad |= dump(item, depth + 1, out);
            json_decref(name);
        }
    }
    new_line(out, depth, 0);
    fputc(is_list ? ']' : '}', out);
    return bad;
}

int wr_record_print(const json_t *record, FILE *out)
{
    if (dump(record, 0, out) < 0 || fputc('\n', out) == EOF ||
        fflush(out) == EOF || ferror(out))
        return -1;
    return 0;
}

static int print_record(const void *record, FILE *out, weir_err *err)
{
    /* That a write failed is said by who knows the file's name. */
    if (wr_record_print(record, out) < 0 && !ferror(out))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

static int print_text(const void *text, FILE *out, weir_err *err)
{
    (void)err;
    fputs(text, out);
    return 0;
}

static struct wr_whole whole_record(const json_t *record)
{
    return (struct wr_whole){
        .print = print_record, .arg = record, .private = true};
}

static struct wr_whole whole_text(const char *text)
{
    return (struct wr_whole){.print = print_text, .arg = text};
}

int wr_record_write(const json_t *record, const char *path, weir_err *err)
{
    struct wr_whole what = whole_record(record);

    return wr_whole_write(path, &what, err);
}

int wr_record_write_in(const json_t *record, int folder, const char *name,
                       weir_err *err)
{
    struct wr_whole what = whole_record(record);

    return wr_whole_write_in(folder, name, &what, err);
}

int wr_record_write_text(const char *text, const char *path, weir_err *err)
{
    struct wr_whole what = whole_text(text);

    return wr_whole_write(path, &what, err);
}

int wr_record_write_text_in(const char *text, int folder, const char *name,
                            weir_err *err)
{
    struct wr_whole what = whole_text(text);

    return wr_whole_write_in(folder, name, &what, err);
}

json_t *wr_text_json(const char *s)
{
    char shown[TEXT_BYTES];

    return json_string(wr_text_show(s, false, shown, sizeof(shown)));
}
