/* kernel_fds.c - descriptors and names of a process that the kernel tells of.
 * SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/collect/kernel_state.h"

#define MOST_FDS (1 << 20)

bool wr_kernel_link(uint32_t pid, const char *name, char *buf, size_t cap)
{
    char path[64];
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
    n = readlink(path, buf, cap - 1);
    if (n <= 0)
        return false;
    buf[n] = '\0';
    return true;
}

uint32_t wr_kernel_name(struct wr_kernel *k, const char *path)
{
    return wr_collect_name(k->c, path);
}

struct wr_kernel_fd *wr_kernel_fd_at(struct wr_kernel_process *p, uint64_t fd)
{
    size_t old = p->fd_cap;

    if (fd >= MOST_FDS ||
        !wr_grow(&p->fds, &p->fd_cap, (size_t)fd + 1, sizeof(*p->fds)))
        return NULL;
    for (size_t i = old; i < p->fd_cap; i++)
        p->fds[i] = (struct wr_kernel_fd){0};
    return &p->fds[fd];
}

void wr_kernel_fd_forget(struct wr_kernel_process *p, uint64_t first,
                         uint64_t last)
{
    for (uint64_t fd = first; fd <= last && fd < p->fd_cap; fd++)
        p->fds[fd] = (struct wr_kernel_fd){0};
}

/* Opened before its program began, or out of sight: /proc knows its name as
 * long as it is open. */
struct wr_kernel_fd *wr_kernel_fd_of(struct wr_kernel *k,
                                     struct wr_kernel_process *p, uint64_t fd)
{
    struct wr_kernel_fd *f = wr_kernel_fd_at(p, fd);
    char name[32], target[4096];

    if (!f || f->known)
        return f;
    snprintf(name, sizeof(name), "fd/%u", (unsigned)fd);
    f->known = true;
    f->file = WR_TRACE_NO_FILE;
    if (wr_kernel_link(p->pid, name, target, sizeof(target)))
        f->file = wr_kernel_name(k, target);
    else
        k->c->sum.unnamed_files++;
    return f;
}

uint32_t wr_kernel_file_of(struct wr_kernel *k, struct wr_kernel_process *p,
                           uint64_t fd)
{
    const struct wr_kernel_fd *f = wr_kernel_fd_of(k, p, fd);

    return f ? f->file : WR_TRACE_NO_FILE;
}

bool wr_kernel_path(struct wr_kernel *k, struct wr_kernel_process *p,
                    int folder, const char *text, char buf[8192])
{
    const char *from = p->cwd;
    char cwd[4096];

    if (*text != '/' && folder != AT_FDCWD) {
        uint32_t file = wr_kernel_file_of(k, p, (unsigned)folder);

        from = file == WR_TRACE_NO_FILE ? NULL
                                        : wr_names_path(k->c->names, file);
    } else if (*text != '/' && !from &&
               wr_kernel_link(p->pid, "cwd", cwd, sizeof(cwd))) {
        from = p->cwd = strdup(cwd);
    }
    if (*text != '/' && (!from || *from != '/'))
        return false;
    wr_names_join(from ? from : "/", text, buf, 8192);
    return true;
}
