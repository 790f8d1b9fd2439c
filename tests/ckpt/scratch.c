/* scratch.c - a folder of a test that is gone when the test is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "said.h"

bool scratch_make(char *dir, size_t cap, const char *name, bool memory)
{
    const char *below = getenv("TMPDIR");

    if (memory && access("/dev/shm", W_OK) == 0)
        below = "/dev/shm";
    snprintf(dir, cap, "%s/%s-XXXXXX", below ? below : "/tmp", name);
    if (mkdtemp(dir))
        return true;
    perror(dir);
    return false;
}

static int remove_entry(const char *path, const struct stat *sb, int type,
                        struct FTW *where)
{
    (void)sb;
    (void)type;
    (void)where;
    return remove(path);
}

void scratch_remove(const char *dir)
{
    nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static bool copy_file(int from_dir, int to_dir, const char *name)
{
    char buf[1 << 16];
    int from = openat(from_dir, name, O_RDONLY | O_CLOEXEC);
    int to = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                    0666);
    ssize_t n = -1;

    while (from >= 0 && to >= 0 && (n = read(from, buf, sizeof(buf))) > 0)
        if (write(to, buf, (size_t)n) != n)
            break;
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    return n == 0;
}

static bool copy_tree(int from_at, const char *from, int to_at, const char *to)
{
    int in = openat(from_at, from, O_RDONLY | O_DIRECTORY | O_CLOEXEC), out;
    DIR *d = in < 0 ? NULL : fdopendir(in);
    bool good = true;
    struct dirent *e;

    if (!d)
        return false;
    mkdirat(to_at, to, 0777);
    out = openat(to_at, to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (good && out >= 0 && (e = readdir(d))) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        good = e->d_type == DT_DIR ? copy_tree(in, e->d_name, out, e->d_name)
                                   : copy_file(in, out, e->d_name);
    }
    closedir(d);
    if (out >= 0)
        close(out);
    return good && out >= 0;
}

bool scratch_copy(const char *from, const char *to)
{
    return copy_tree(AT_FDCWD, from, AT_FDCWD, to);
}

int scratch_guard(int (*work)(void *arg), void *arg)
{
    sigset_t told, before;
    pid_t pid;
    int status, sig;
    char how[100];

    /* Waited for, not caught: no handler races with the work. */
    sigemptyset(&told);
    sigaddset(&told, SIGTERM);
    sigaddset(&told, SIGINT);
    sigaddset(&told, SIGHUP);
    sigaddset(&told, SIGCHLD);
    sigprocmask(SIG_BLOCK, &told, &before);
    fflush(NULL);
    pid = fork();
    if (pid < 0) {
        perror("fork");
        return -1;
    }
    if (pid == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        status = work(arg);
        fflush(NULL);
        _exit(status);
    }
    setpgid(pid, pid); /* whoever comes first */
    do
        sig = sigwaitinfo(&told, NULL);
    while (sig < 0 || (sig == SIGCHLD && waitpid(pid, &status, WNOHANG) == 0));
    if (sig != SIGCHLD) {
        fprintf(stderr, "told to end\n");
        kill(-pid, SIGKILL);
        waitpid(pid, &status, 0);
        return -1;
    }
    kill(-pid, SIGKILL); /* whom it left behind */
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    said_end(status, how, sizeof(how));
    fprintf(stderr, "the test %s\n", how);
    return -1;
}
