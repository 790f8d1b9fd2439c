/* orphans.c - saves what a collector that was killed has left in memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A collector locks its control file as long as it lives. A folder whose control
 * file is not locked, and whose processes have all ended, is of use to nobody. */
#include "trace/collect/orphans.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "base/procfs.h"
#include "trace/collect/state.h"

#define MOST_NAMES 10000

/* One that nobody has waited for has ended, too. */
static bool is_alive(pid_t pid)
{
    char path[64], text[512] = "";
    const char *end;

    if (kill(pid, 0) < 0 && errno == ESRCH)
        return false;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (wr_procfs_read_path(path, text, sizeof(text)) <= 0)
        return true;
    end = strrchr(text, ')'); /* of its name */
    return !end || strncmp(end, ") Z", 3) != 0;
}

/* Whether a process may still write there. Of another PID namespace only itself
 * can tell. The command of the first one is kept. */
static bool is_in_use(const char *folder, const struct wr_tap_control *control,
                      char command[1024])
{
    uint64_t space = wr_collect_pid_space();
    bool in_use = false;
    weir_err err;

    command[0] = '\0';
    for (uint32_t i = 1; i <= control->processes && !in_use; i++) {
        struct wr_tapped *t = NULL;

        if (wr_tapped_open(&t, folder, i, /* keep= */ true, &err) <= 0)
            continue;
        in_use = t->kept.pid_space == space ? is_alive(t->kept.pid)
                                            : !t->kept.ended;
        if (!command[0])
            snprintf(command, 1024, "%.1023s", t->kept.argv);
        wr_tapped_free(t);
    }
    return in_use;
}

/* The control file of a folder of this user, which no other can write to,
 * locked; -1: there is none, or its collector lives. */
static int lock_control(const char *folder)
{
    struct stat st;
    int dir, fd;

    if (wr_own_dir(folder, WR_OWN_WAY, &dir, NULL) < 0)
        return -1;
    fd = openat(dir, "control", O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    /* Root does not save what another user traced. */
    if (fd >= 0 && fstat(dir, &st) == 0 && st.st_uid == geteuid() &&
        fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        wr_own_check(fd, folder, NULL) == 0 && st.st_size >= 4096 &&
        flock(fd, LOCK_EX | LOCK_NB) == 0) {
        close(dir);
        return fd;
    }
    if (fd >= 0)
        close(fd);
    close(dir);
    return -1;
}

/* A name that is free: process numbers come again, and traces stay. */
static void choose_path(const struct wr_orphans *o, unsigned pid, char *path,
                        size_t cap)
{
    struct stat st;

    snprintf(path, cap, "%srecovered-%u.wtrace", o->prefix, pid);
    for (unsigned k = 2; lstat(path, &st) == 0 && k < MOST_NAMES; k++)
        snprintf(path, cap, "%srecovered-%u-%u.wtrace", o->prefix, pid, k);
}

static void save(const struct wr_orphans *o, const char *folder,
                 struct wr_collect_control *k, const char *command)
{
    const struct wr_tap_control *was = k->control;
    struct wr_trace_info info = *o->info;
    struct wr_collect_config cfg = {.info = &info,
                                    .anonymous = was->anonymous,
                                    .no_arguments = was->no_arguments};
    char path[PATH_MAX], text[PATH_MAX + 2048], before[1024];
    unsigned pid = was->pid;
    struct wr_collect_sum sum;
    struct wr_collect *c;
    weir_err err;
    int r;

    snprintf(before, sizeof(before), "%.1023s", was->output);
    choose_path(o, pid, path, sizeof(path));
    cfg.output = path;
    info.start_wall_ns = was->start_wall_ns;
    info.command = was->anonymous || was->no_arguments ? "" : command;
    info.anonymous = was->anonymous;
    r = wr_collect_adopt(&c, folder, k, &cfg, &err);
    if (r == 0 && (r = wr_collect_close(c, &info, &sum, &err)) < 0)
        unlink(path); /* a part: all of it is still in memory */
    if (r < 0)
        snprintf(text, sizeof(text),
                 "what weir trace (process %u, killed) left in '%s' cannot be "
                 "saved, and stays there: %s",
                 pid, folder, err.msg);
    else
        snprintf(text, sizeof(text),
                 "what weir trace (process %u, killed) had not written to '%s' "
                 "is in %s",
                 pid, before, path);
    if (r == 0 && !sum.events)
        unlink(path);
    else
        o->say(o->arg, text);
}

static void look_at(const struct wr_orphans *o, const char *folder)
{
    struct wr_collect_control k = {.fd = lock_control(folder)};
    char command[1024];

    if (k.fd < 0)
        return;
    k.control = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, k.fd, 0);
    if (k.control != MAP_FAILED && k.control->magic == WR_TAP_MAGIC &&
        k.control->start_stamp && !is_in_use(folder, k.control, command)) {
        save(o, folder, &k, command);
        return;
    }
    if (k.control != MAP_FAILED)
        munmap(k.control, 4096);
    close(k.fd);
}

void wr_orphans_save(const struct wr_orphans *o)
{
    const char *place;

    for (size_t i = 0; i < WR_COLLECT_PLACES; i++) {
        DIR *dir = (place = wr_collect_place(i)) ? opendir(place) : NULL;
        const struct dirent *e;
        char folder[128];

        while (dir && (e = readdir(dir)))
            if (!strncmp(e->d_name, WR_COLLECT_FOLDER,
                         strlen(WR_COLLECT_FOLDER)) &&
                snprintf(folder, sizeof(folder), "%s/%s", place, e->d_name) <
                    (int)sizeof(folder))
                look_at(o, folder);
        if (dir)
            closedir(dir);
    }
}
