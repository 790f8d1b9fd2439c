/* facts.c - what a trace says of the machine that it was made on.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/facts.h"

#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/named.h"
#include "base/procfs.h"
#include "weir/weir.h"

/* Joined by blanks. */
static char *joined(char *const *words, size_t count)
{
    size_t len = 1;
    char *text, *at;

    for (size_t i = 0; i < count; i++)
        len += strlen(words[i]) + 1;
    text = malloc(len);
    if (!text)
        return NULL;
    at = text;
    *at = '\0';
    for (size_t i = 0; i < count; i++) {
        if (i)
            *at++ = ' ';
        at = stpcpy(at, words[i]);
    }
    return text;
}

/* File systems that hold no data; asking a server that is gone may hang, so
 * that fewer are better. */
static bool is_pseudo(const char *type)
{
    static const char *const pseudo[] = {
        "proc",       "sysfs",   "devpts",      "cgroup",    "cgroup2",
        "securityfs", "debugfs", "tracefs",     "bpf",       "mqueue",
        "configfs",   "pstore",  "binfmt_misc", "efivarfs",  "autofs",
        "hugetlbfs",  "nsfs",    "fusectl",     "rpc_pipefs"};

    return wr_named_find(WR_NAMED(pseudo), type);
}

/* Lines "DEVICE PATH TYPE BLOCKSIZE". */
static char *mount_lines(void)
{
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    struct mntent *m;
    struct statvfs st;

    while (to && mounts && (m = getmntent(mounts))) {
        if (is_pseudo(m->mnt_type))
            continue;
        if (statvfs(m->mnt_dir, &st) < 0)
            st.f_bsize = 0;
        fprintf(to, "%s %s %s %lu\n", m->mnt_fsname, m->mnt_dir, m->mnt_type,
                st.f_bsize);
    }
    if (mounts)
        endmntent(mounts);
    if (to)
        fclose(to);
    return text;
}

/* What the machine has, or what a container or batch system allows. */
static uint64_t available_bytes(void)
{
    uint64_t bytes = 0;
    struct wr_cgroup limits;
    const struct wr_procfs_field fields[] = {{"MemAvailable:", 1024, &bytes}};
    char text[4096];

    if (wr_procfs_read_path("/proc/meminfo", text, sizeof(text)) > 0)
        wr_procfs_fields(text, fields, 1);
    wr_cgroup_limits("", &limits);
    if (limits.memory_bytes && (!bytes || limits.memory_bytes < bytes))
        bytes = limits.memory_bytes;
    return bytes;
}

void wr_trace_facts_begin(struct wr_trace_facts *f, char *const *words,
                          size_t count, bool anonymous)
{
    *f = (struct wr_trace_facts){.command = joined(words, count)};
    wr_host_info(&f->host);
    f->mounts = anonymous ? NULL : mount_lines();
    f->info = (struct wr_trace_info){.start_wall_ns = wr_clock_wall_ns(),
                                     .command = f->command ? f->command : "",
                                     .host = anonymous ? "" : f->host.name,
                                     .kernel = f->host.kernel,
                                     .weir = weir_version_string(),
                                     .cores = f->host.cores,
                                     .memory_bytes = f->host.memory_bytes,
                                     .available_bytes = available_bytes(),
                                     .anonymous = anonymous,
                                     .mounts = f->mounts ? f->mounts : ""};
}

void wr_trace_facts_end(struct wr_trace_facts *f, char *watched, uint64_t ns)
{
    f->watched = watched;
    f->info.monitor = watched;
    f->info.end_ns = ns;
    f->info.complete = true;
}

void wr_trace_facts_free(struct wr_trace_facts *f)
{
    free(f->command);
    free(f->mounts);
    free(f->watched);
}
