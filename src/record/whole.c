/* whole.c - files that a reader sees whole or not at all.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/whole.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* A device, a pipe or a link is written to, never replaced. */
static bool is_special(const char *path)
{
    struct stat sb;

    return lstat(path, &sb) == 0 && !S_ISREG(sb.st_mode) &&
           !S_ISDIR(sb.st_mode);
}

/* Writes to `path`; messages call it `shown`. */
static int write_in_place(const char *path, const char *shown,
                          const struct wr_whole *what, weir_err *err)
{
    FILE *f = fopen(path, "w");
    int r;

    if (!f)
        return wr_fail_errno(err, errno, "'%s': cannot create", shown);
    errno = 0;
    r = what->print(what->arg, f, err);
    if (r == 0 && (fflush(f) == EOF || ferror(f)))
        r = wr_fail_errno(err, errno ? errno : EIO, "'%s': cannot write",
                          shown);
    if (fclose(f) == EOF && r == 0)
        r = wr_fail_errno(err, errno, "'%s': cannot write", shown);
    return r;
}

int wr_whole_write(const char *path, const struct wr_whole *what, weir_err *err)
{
    char *temp = NULL;
    int r;

    if (is_special(path))
        return write_in_place(path, path, what, err);
    if (asprintf(&temp, "%s.%ld.part", path, (long)getpid()) < 0)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = write_in_place(temp, path, what, err);
    if (r == 0 && what->stopped && what->stopped())
        r = wr_fail(err, WEIR_ECANCELED, "'%s': not written: interrupted",
                    path);
    if (r == 0 && rename(temp, path) < 0)
        r = wr_fail_errno(err, errno, "'%s': cannot rename", path);
    if (r < 0)
        unlink(temp);
    free(temp);
    return r;
}
