/* tracefs.c - what the kernel says of its tracepoints.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/collect/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/procfs.h"

#define FORMAT_MAX     16384
#define RECORD_MAX     8192
#define FSCONFIG_MAKE  6 /* FSCONFIG_CMD_CREATE */
#define CLOSE_ON_EXEC  1 /* of fsopen and fsmount */
#define SAMPLE_OF_THIS "events/raw_syscalls"

/* --- where it is --- */

/* A mount that belongs to no folder: it ends when it is closed. */
static int open_private(void)
{
#if defined(SYS_fsopen) && defined(SYS_fsconfig) && defined(SYS_fsmount)
    int fd = -1, fs = (int)syscall(SYS_fsopen, "tracefs", CLOSE_ON_EXEC);

    if (fs < 0)
        return -1;
    if (syscall(SYS_fsconfig, fs, FSCONFIG_MAKE, NULL, NULL, 0) == 0)
        fd = (int)syscall(SYS_fsmount, fs, CLOSE_ON_EXEC, 0);
    close(fs);
    return fd;
#else
    errno = ENOSYS;
    return -1;
#endif
}

static bool is_tracefs(int fd)
{
    return faccessat(fd, SAMPLE_OF_THIS, F_OK, 0) == 0;
}

int wr_tracefs_open(int *ret_fd, weir_err *err)
{
    static const char *const places[] = {"/sys/kernel/tracing",
                                         "/sys/kernel/debug/tracing"};
    int fd, why = ENOENT;

    for (size_t i = 0; i < WR_ARRAY_LEN(places); i++) {
        fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0 && is_tracefs(fd)) {
            *ret_fd = fd;
            return 0;
        }
        if (errno == EACCES)
            why = EACCES;
        if (fd >= 0)
            close(fd);
    }
    fd = open_private();
    if (fd >= 0 && is_tracefs(fd)) {
        *ret_fd = fd;
        return 0;
    }
    if (fd >= 0)
        close(fd);
    if (why == EACCES || errno == EPERM || errno == EACCES)
        return wr_fail(err, WEIR_EACCES,
                       "tracefs may not be read: run it as root (sudo), or "
                       "have root do 'mount -t tracefs -o "
                       "gid=GROUP,mode=0750 none /sys/kernel/tracing'");
    return wr_fail(err, WEIR_ENOTSUP,
                   "this kernel has no tracefs: it was built without "
                   "tracepoints");
}

/* --- formats --- */

/* Whether the declaration that ends at `end` is of `name`: "unsigned long
 * args[6]", "long id". */
static bool declares(const char *from, const char *end, const char *name)
{
    size_t n = strlen(name);
    const char *last = memchr(from, '[', (size_t)(end - from));

    /* "__data_loc char[] comm" has the brackets in front of its name */
    if (!last || memchr(last, ' ', (size_t)(end - last)))
        last = end;
    return (size_t)(last - from) > n && !memcmp(last - n, name, n) &&
           (last[-(ptrdiff_t)n - 1] == ' ' || last[-(ptrdiff_t)n - 1] == '*');
}

/* "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;" */
static bool parse_field(const char *line, struct wr_tracepoint_field *f)
{
    const char *end = strchr(line, ';');
    unsigned offset, size;

    if (!end || !declares(line, end, f->name) ||
        sscanf(end, "; offset:%u; size:%u;", &offset, &size) != 2 ||
        offset > RECORD_MAX || size > RECORD_MAX)
        return false;
    f->offset = offset;
    f->size = size;
    return true;
}

static bool find_field(const char *text, struct wr_tracepoint_field *f)
{
    static const char key[] = "field:";

    for (const char *at = text; (at = strstr(at, key)); at++)
        if (parse_field(at + sizeof(key) - 1, f))
            return true;
    return false;
}

int wr_tracefs_parse(const char *text, struct wr_tracepoint *t, weir_err *err)
{
    const char *id = strstr(text, "ID: ");

    if (!id || sscanf(id, "ID: %" SCNu64, &t->id) != 1)
        return wr_fail(err, WEIR_EFORMAT, "tracepoint '%s': has no ID",
                       t->name);
    for (size_t i = 0; i < WR_TRACEPOINT_FIELDS && t->fields[i].name; i++)
        if (!find_field(text, &t->fields[i]))
            return wr_fail(err, WEIR_EFORMAT,
                           "tracepoint '%s': has no field '%s'", t->name,
                           t->fields[i].name);
    return 0;
}

int wr_tracefs_find(int folder, struct wr_tracepoint *t, weir_err *err)
{
    char path[200], *text = malloc(FORMAT_MAX);
    int fd, n, r;

    if (!text)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    snprintf(path, sizeof(path), "events/%s/format", t->name);
    fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -errno : wr_procfs_read(fd, text, FORMAT_MAX);
    if (fd >= 0)
        close(fd);
    if (n < 0)
        r = wr_fail_errno(err, -n, "tracepoint '%s'", t->name);
    else
        r = wr_tracefs_parse(text, t, err);
    free(text);
    return r;
}

uint64_t wr_tracepoint_value(const struct wr_tracepoint_field *f,
                             const uint8_t *record, size_t len)
{
    uint64_t value = 0;

    if (f->size > sizeof(value) || len < f->offset || len - f->offset < f->size)
        return 0;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    memcpy((uint8_t *)&value + sizeof(value) - f->size, record + f->offset,
           f->size);
#else
    memcpy(&value, record + f->offset, f->size);
#endif
    return value;
}
