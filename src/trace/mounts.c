/* mounts.c - which file system a path lies on.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "trace/analysis_private.h"

static const char *const networks[] = {
    "nfs",     "nfs4",  "lustre",         "gpfs",       "ceph",
    "cifs",    "smb3",  "beegfs",         "glusterfs",  "wekafs",
    "9p",      "afs",   "fuse.glusterfs", "fuse.ceph",  "fuse.s3fs",
    "pvfs2",   "panfs", "fuse.juicefs",   "fuse.sshfs", "fuse.gcsfuse",
    "virtiofs"};

#define STRIPE (UINT64_C(1) << 20) /* of Lustre, unless lfs setstripe */

static bool is_network(const char *type)
{
    for (size_t k = 0; k < WR_ARRAY_LEN(networks); k++)
        if (!strcmp(type, networks[k]))
            return true;
    return false;
}

/* What the file system stands for: weir mount emulates others. */
static const char *stands_for(const char *type, const char *device)
{
    return !strcmp(type, "fuse.weir") && !strncmp(device, "weir-", 5)
               ? device + 5
               : type;
}

/* "DEVICE PATH TYPE BLOCKSIZE"; false: it is none. Cuts the line. */
static bool parse_line(char *line, struct wr_trace_mount *ret)
{
    char *save = NULL, *device = strtok_r(line, " ", &save);
    char *path = strtok_r(NULL, " ", &save), *type = strtok_r(NULL, " ", &save);
    char *block = strtok_r(NULL, " ", &save);
    const char *kind;

    if (!device || !path || !type)
        return false;
    kind = stands_for(type, device);
    *ret = (struct wr_trace_mount){
        .device = device,
        .path = path,
        .type = type,
        .block = block ? strtoull(block, NULL, 10) : 0,
        .network = is_network(kind),
        .counted = !strncmp(device, "/dev/", 5) || !strncmp(type, "nfs", 3),
        .memory = !strcmp(type, "tmpfs")};
    if (!strcmp(kind, "lustre"))
        ret->block = WR_MAX(ret->block, STRIPE);
    return true;
}

int wr_trace_mounts(struct wr_trace_analysis *a, weir_err *err)
{
    const char *text = wr_trace_file_info(a->file)->mounts;
    size_t cap = 0;
    char *save = NULL;

    if (!text)
        return 0;
    a->mount_text = strdup(text);
    if (!a->mount_text)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (char *line = strtok_r(a->mount_text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        if (!wr_grow(&a->mounts, &cap, a->mount_count + 1, sizeof(*a->mounts)))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        if (parse_line(line, &a->mounts[a->mount_count]))
            a->mount_count++;
    }
    return 0;
}

/* Whether `path` is `folder` or lies below it. */
static bool lies_in(const char *path, const char *folder, size_t len)
{
    if (len && folder[len - 1] == '/')
        len--;
    return !strncmp(path, folder, len) && (path[len] == '/' || !path[len]);
}

const struct wr_trace_mount *
wr_trace_mount_of(const struct wr_trace_analysis *a, const char *path)
{
    const struct wr_trace_mount *best = NULL;
    size_t longest = 0;

    for (size_t k = 0; k < a->mount_count; k++) {
        size_t len = strlen(a->mounts[k].path);

        if (len >= longest && lies_in(path, a->mounts[k].path, len)) {
            best = &a->mounts[k]; /* the later one lies over the earlier */
            longest = len;
        }
    }
    return best;
}
