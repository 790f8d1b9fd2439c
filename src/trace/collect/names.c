/* names.c - paths of a traced program, each with a number.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/collect/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"

struct wr_names_entry {
    char *path; /* owned */
    int kind;
};

struct wr_names {
    struct wr_names_entry *entries; /* owned; by number */
    size_t count, cap;
    struct wr_map numbers; /* of struct wr_map_number */
    bool anonymous;
    uint64_t salt; /* hashes of another trace are other ones */
};

int wr_names_new(struct wr_names **ret, bool anonymous, weir_err *err)
{
    struct wr_names *n = calloc(1, sizeof(*n));

    if (!n)
        return wr_fail(err, WEIR_ENOMEM, "names of a trace");
    n->anonymous = anonymous;
    n->numbers.size = sizeof(struct wr_map_number);
    if (getrandom(&n->salt, sizeof(n->salt), GRND_NONBLOCK) < 0)
        n->salt = (uintptr_t)n;
    *ret = n;
    return 0;
}

void wr_names_free(struct wr_names *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->count; i++)
        free(n->entries[i].path);
    free(n->entries);
    wr_map_done(&n->numbers);
    free(n);
}

size_t wr_names_count(const struct wr_names *n)
{
    return n->count;
}

const char *wr_names_path(const struct wr_names *n, uint32_t number)
{
    return number < n->count ? n->entries[number].path : "";
}

int wr_names_kind(const struct wr_names *n, uint32_t number)
{
    return number < n->count ? n->entries[number].kind : WR_TRACE_DATA;
}

uint32_t wr_names_number(struct wr_names *n, const char *path, size_t len,
                         bool *ret_new)
{
    uint64_t key = wr_map_hashed(XXH3_64bits(path, len));
    struct wr_map_number *at = wr_map_find(&n->numbers, key);
    char *own;

    for (; at; at = wr_map_next(&n->numbers, at)) {
        const char *have = n->entries[at->number].path;

        if (!strncmp(have, path, len) && !have[len]) {
            *ret_new = false;
            return at->number;
        }
    }
    if (n->count >= WR_TRACE_NO_FILE ||
        !wr_grow(&n->entries, &n->cap, n->count + 1, sizeof(*n->entries)))
        return WR_TRACE_NO_FILE;
    own = strndup(path, len);
    at = own ? wr_map_add(&n->numbers, key) : NULL;
    if (!at) {
        free(own);
        return WR_TRACE_NO_FILE;
    }
    at->number = (uint32_t)n->count++;
    n->entries[at->number] = (struct wr_names_entry){own,
                                                     wr_names_classify(own)};
    *ret_new = true;
    return at->number;
}

/* --- kinds --- */

static bool begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

static bool ends(const char *s, const char *with)
{
    size_t n = strlen(s), m = strlen(with);

    return n >= m && !strcmp(s + n - m, with);
}

/* Where programs and what belongs to them lie; data may lie elsewhere in /usr,
 * /opt and /var. */
static const char *const runtime_folders[] = {"/usr/lib/",
                                              "/usr/lib64/",
                                              "/lib/",
                                              "/lib64/",
                                              "/usr/bin/",
                                              "/usr/sbin/",
                                              "/bin/",
                                              "/sbin/",
                                              "/etc/ld.so",
                                              "/usr/libexec/",
                                              "/usr/share/locale/",
                                              "/usr/share/zoneinfo/",
                                              "/usr/include/",
                                              "/usr/local/lib/python"};
static const char *const runtime_parts[] = {
    "/site-packages/", "/dist-packages/", "/__pycache__/", ".so."};
static const char *const runtime_ends[] = {".so", ".py", ".pyc", ".pyd"};

static bool is_runtime(const char *path)
{
    for (size_t i = 0; i < WR_ARRAY_LEN(runtime_folders); i++)
        if (begins(path, runtime_folders[i]))
            return true;
    for (size_t i = 0; i < WR_ARRAY_LEN(runtime_parts); i++)
        if (strstr(path, runtime_parts[i]))
            return true;
    for (size_t i = 0; i < WR_ARRAY_LEN(runtime_ends); i++)
        if (ends(path, runtime_ends[i]))
            return true;
    return false;
}

int wr_names_classify(const char *path)
{
    if (begins(path, "pipe:[") || begins(path, "socket:[") ||
        begins(path, "anon_inode:") || begins(path, "/dev/pts/") ||
        begins(path, "/dev/tty") || begins(path, "fd:"))
        return WR_TRACE_STREAM;
    if (begins(path, "/memfd:") || begins(path, "/dev/shm/") ||
        begins(path, "/SYSV"))
        return WR_TRACE_SHM;
    if (begins(path, "/proc/") || begins(path, "/sys/") ||
        begins(path, "/dev/"))
        return WR_TRACE_SYSTEM;
    return is_runtime(path) ? WR_TRACE_RUNTIME : WR_TRACE_DATA;
}

/* --- paths --- */

/* Adds one part of a path; ".." takes the last one away, as it does where no
 * symbolic link is in the way. */
static size_t add_part(char *buf, size_t n, size_t cap, const char *part,
                       size_t len)
{
    if (len == 0 || (len == 1 && part[0] == '.'))
        return n;
    if (len == 2 && part[0] == '.' && part[1] == '.' && n && buf[0] == '/') {
        while (n && buf[n - 1] != '/')
            n--;
        return n ? n - 1 : 0;
    }
    if (n || buf[0] == '/')
        buf[n++] = '/';
    len = len < cap - 1 - n ? len : cap - 1 - n;
    memcpy(buf + n, part, len);
    return n + len;
}

size_t wr_names_join(const char *folder, const char *rel, char *buf, size_t cap)
{
    const char *parts[2] = {*rel == '/' ? "" : folder, rel};
    bool is_whole = *rel == '/' || *folder == '/';
    size_t n = 0;

    buf[0] = is_whole ? '/' : '\0';
    for (int i = 0; i < 2; i++)
        for (const char *s = parts[i]; *s && n + 2 < cap;) {
            size_t len = strcspn(s, "/");

            n = add_part(buf, n, cap, s, len);
            if (!n)
                buf[0] = is_whole ? '/' : '\0';
            s += len + (s[len] == '/');
        }
    if (!n && is_whole)
        n = 1;
    buf[n] = '\0';
    return n;
}

/* The extension of a name, if it says a kind and no secret. */
static const char *extension(const char *name, size_t len)
{
    size_t n = 0;

    while (n < len && n < 6 && wr_is_alnum(name[len - 1 - n]))
        n++;
    return n && n < len && n < 6 && name[len - 1 - n] == '.'
               ? name + len - 1 - n
               : name + len;
}

const char *wr_names_shown(const struct wr_names *n, const char *path,
                           char *buf, size_t cap)
{
    int kind = wr_names_classify(path);
    size_t at = 0;

    if (!n->anonymous || kind == WR_TRACE_STREAM || kind == WR_TRACE_SYSTEM ||
        begins(path, "/usr/") || begins(path, "/lib") || begins(path, "/bin/"))
        return path;
    while (*path && at + 32 < cap) {
        size_t len = strcspn(path, "/");
        const char *dot = extension(path, len);

        if (len)
            at += (size_t)snprintf(buf + at, cap - at, "%08x%.*s",
                                   (unsigned)XXH64(path, len, n->salt),
                                   (int)(path + len - dot), dot);
        path += len;
        if (*path == '/') {
            buf[at++] = '/';
            path++;
        }
    }
    buf[at] = '\0';
    return buf;
}
