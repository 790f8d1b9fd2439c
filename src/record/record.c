/* record.c - the run record: one JSON schema for every measuring command.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/record.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "weir/weir.h"

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

static int write_stream(const json_t *record, FILE *f)
{
    if (json_dumpf(record, f, JSON_INDENT(1)) < 0 || fputc('\n', f) == EOF ||
        fflush(f) == EOF)
        return -1;
    return 0;
}

/* A device, a pipe or a link is written to, never replaced. */
static bool is_special(const char *path)
{
    struct stat sb;

    return lstat(path, &sb) == 0 && !S_ISREG(sb.st_mode) &&
           !S_ISDIR(sb.st_mode);
}

/* Writes to `path`; messages call it `shown`. */
static int write_in_place(const json_t *record, const char *path,
                          const char *shown, weir_err *err)
{
    FILE *f = fopen(path, "w");
    int r = 0;

    if (!f)
        return wr_fail_errno(err, errno, "'%s': cannot create", shown);
    if (write_stream(record, f) < 0)
        r = wr_fail_errno(err, errno, "'%s': cannot write", shown);
    if (fclose(f) == EOF && r == 0)
        r = wr_fail_errno(err, errno, "'%s': cannot write", shown);
    return r;
}

int wr_record_write(const json_t *record, const char *path, weir_err *err)
{
    char *temp = NULL;
    int r;

    if (is_special(path))
        return write_in_place(record, path, path, err);
    if (asprintf(&temp, "%s.%ld.part", path, (long)getpid()) < 0)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = write_in_place(record, temp, path, err);
    if (r == 0 && rename(temp, path) < 0)
        r = wr_fail_errno(err, errno, "'%s': cannot rename", path);
    if (r < 0)
        unlink(temp);
    free(temp);
    return r;
}
