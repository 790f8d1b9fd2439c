/* catalog.c - the descriptions that are built into the command, or in a file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "workload/catalog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/named.h"
#include "base/regular.h"
#include "workload/entries.h"
#include "workload/workload.h"

const struct wr_catalog_entry *wr_catalog_at(size_t k)
{
    for (size_t i = 0; i <= k; i++)
        if (!wr_catalog_entries[i].name)
            return NULL;
    return &wr_catalog_entries[k];
}

const struct wr_catalog_entry *wr_catalog_find(const char *name)
{
    return wr_named_find(WR_NAMED_OPEN(wr_catalog_entries), name);
}

#define MAX_FILE ((size_t)1 << 20)

/* All of a file of at most 1 MiB, as fresh memory. */
static int read_all(int fd, const char *name, char **ret, size_t *ret_len,
                    weir_err *err)
{
    char *text = malloc(MAX_FILE + 1);
    ssize_t n;

    if (!text)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    n = wr_read_all(fd, text, MAX_FILE + 1);
    if (n < 0) {
        free(text);
        return wr_fail_errno(err, (int)-n, "'%s': cannot read", name);
    }
    *ret = text;
    *ret_len = (size_t)n; /* over the limit: wr_workload_parse says so */
    return 0;
}

static bool looks_like_path(const char *name)
{
    size_t len = strlen(name);

    return strchr(name, '/') || (len > 5 && !strcmp(name + len - 5, ".yaml")) ||
           (len > 4 && !strcmp(name + len - 4, ".yml"));
}

static int no_such(const char *name, weir_err *err)
{
    const struct wr_catalog_entry *e;
    struct wr_suggest near;

    wr_suggest_init(&near, name);
    for (size_t i = 0; (e = wr_catalog_at(i)); i++)
        wr_suggest_try(&near, e->name);
    return wr_fail(err, WEIR_ENOENT,
                   "'%s': neither a built-in workload nor a file%s", name,
                   wr_suggest_said(&near, "").text);
}

static int open_file(const char *name, int *ret, weir_err *err)
{
    int fd = wr_regular_open(AT_FDCWD, name, O_RDONLY, 0);

    if (fd < 0 && errno == ENOENT && !looks_like_path(name))
        return no_such(name, err);
    if (fd < 0)
        return wr_regular_fail(AT_FDCWD, name, name, errno, err);
    *ret = fd;
    return 0;
}

int wr_workload_load(const char *name, const char *const *overrides,
                     size_t override_count, wr_workload_note *note, void *arg,
                     struct wr_workload **ret, weir_err *err)
{
    const struct wr_catalog_entry *e = wr_catalog_find(name);
    char *text = NULL;
    size_t len = 0;
    int fd = -1, r;

    if (e)
        return wr_workload_parse(e->name, e->text, e->len, overrides,
                                 override_count, note, arg, ret, err);
    r = open_file(name, &fd, err);
    if (r < 0)
        return r;
    r = read_all(fd, name, &text, &len, err);
    close(fd);
    if (r < 0)
        return r;
    r = wr_workload_parse(name, text, len, overrides, override_count, note, arg,
                          ret, err);
    free(text);
    return r;
}
