/* record.c - the run record: one JSON schema for every measuring command.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/record.h"

#include <limits.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/regular.h"
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

#define READ_STEP ((size_t)256 << 10)

/* What stands in the head of every record, besides schema and version. */
static const struct {
    const char *key, *what;
    json_type type;
    bool needed;
} head[] = {
    {"command", "a text", JSON_STRING, true},
    {"time", "a text", JSON_STRING, true},
    {"weir", "a text", JSON_STRING, false},
    {"host", "an object", JSON_OBJECT, false},
};

static int check_version(const json_t *record, const char *name, weir_err *err)
{
    const json_t *v = json_object_get(record, "version");
    json_int_t version = json_integer_value(v);

    if (!json_is_integer(v))
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': 'version' is missing or no whole number", name);
    if (version > WR_RECORD_VERSION)
        return wr_fail(err, WEIR_ENOTSUP,
                       "'%s': version %" PRId64
                       " is newer than this weir knows (%d)",
                       name, (int64_t)version, WR_RECORD_VERSION);
    if (version < 1)
        return wr_fail(err, WEIR_EFORMAT, "'%s': version %" PRId64 " never was",
                       name, (int64_t)version);
    return 0;
}

static int check_head(const json_t *record, const char *name, weir_err *err)
{
    const json_t *schema = json_object_get(record, "schema");
    int r;

    if (!json_is_string(schema) ||
        strcmp(json_string_value(schema), WR_RECORD_SCHEMA))
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': not a weir record (its 'schema' is not \"%s\")",
                       name, WR_RECORD_SCHEMA);
    r = check_version(record, name, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < WR_ARRAY_LEN(head); i++) {
        const json_t *v = json_object_get(record, head[i].key);

        if (!v && head[i].needed)
            return wr_fail(err, WEIR_EFORMAT, "'%s': '%s' is missing", name,
                           head[i].key);
        if (v && json_typeof(v) != head[i].type)
            return wr_fail(err, WEIR_EFORMAT, "'%s': '%s' is not %s", name,
                           head[i].key, head[i].what);
    }
    return 0;
}

int wr_record_json(const char *bytes, size_t size, const char *name,
                   json_t **ret, weir_err *err)
{
    char shown[4 * JSON_ERROR_TEXT_LENGTH + 6];
    json_error_t je;
    json_t *json;

    if (!size)
        return wr_fail(err, WEIR_EFORMAT, "'%s': empty", name);
    json = json_loadb(bytes, size, 0, &je);
    if (!json && json_error_code(&je) == json_error_out_of_memory)
        return wr_fail(err, WEIR_ENOMEM, "'%s': out of memory", name);
    if (!json) /* what it quotes comes from the file */
        return wr_fail(err, WEIR_EFORMAT, "'%s': line %d: not JSON: %s", name,
                       je.line,
                       wr_text_show(je.text, true, shown, sizeof(shown)));
    *ret = json;
    return 0;
}

int wr_record_parse(const char *bytes, size_t size, const char *name,
                    json_t **ret, weir_err *err)
{
    json_t *record = NULL;
    int r = wr_record_json(bytes, size, name, &record, err);

    if (r == 0)
        r = check_head(record, name, err);
    if (r < 0)
        json_decref(record);
    else
        *ret = record;
    return r;
}

/* Reads to the end, up to the limit. */
static int read_all(FILE *f, const char *name, char **ret, size_t *ret_size,
                    weir_err *err)
{
    size_t cap = 0, size = 0, got;
    char *bytes = NULL;
    int r = 0;

    do {
        if (size > WR_RECORD_BYTES_MAX) {
            r = wr_fail(err, WEIR_ELIMIT,
                        "'%s': larger than a record may be (%zu MiB)", name,
                        WR_RECORD_BYTES_MAX >> 20);
            break;
        }
        if (!wr_grow(&bytes, &cap, size + READ_STEP, 1)) {
            r = wr_fail(err, WEIR_ENOMEM, "'%s': out of memory", name);
            break;
        }
        errno = 0;
        got = fread(bytes + size, 1, READ_STEP, f);
        size += got;
        if (ferror(f)) {
            r = wr_fail_errno(err, errno, "'%s': cannot read", name);
            break;
        }
    } while (got);
    if (r == 0) {
        *ret = bytes;
        *ret_size = size;
        return 0;
    }
    free(bytes);
    return r;
}

/* "-" is stdin, which may be a pipe; what is named must be a file. */
static int open_record(const char *path, FILE **ret, weir_err *err)
{
    FILE *f = stdin;
    int fd, e;

    if (strcmp(path, "-") != 0) {
        fd = wr_regular_open(AT_FDCWD, path, O_RDONLY, 0);
        f = fd < 0 ? NULL : fdopen(fd, "r");
        e = errno;
        if (!f && fd >= 0)
            close(fd);
        if (!f)
            return wr_regular_fail(AT_FDCWD, path, path, e, err);
    }
    *ret = f;
    return 0;
}

int wr_record_read(const char *path, char **ret, size_t *ret_size,
                   weir_err *err)
{
    bool is_stdin = !strcmp(path, "-");
    FILE *f = NULL;
    int r = open_record(path, &f, err);

    if (r < 0)
        return r;
    r = read_all(f, is_stdin ? "stdin" : path, ret, ret_size, err);
    if (!is_stdin)
        fclose(f);
    return r;
}

int wr_record_load(const char *path, json_t **ret, weir_err *err)
{
    char *bytes = NULL;
    size_t size = 0;
    int r = wr_record_read(path, &bytes, &size, err);

    if (r == 0)
        r = wr_record_parse(bytes, size, strcmp(path, "-") ? path : "stdin",
                            ret, err);
    free(bytes);
    return r;
}
