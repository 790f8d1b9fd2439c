/* killstep.c - runs a function in a process and kills or stops it at a call.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A filter that the child puts on all its threads stops it at the entry of each
 * call, and only there and only behind the mark: half as many stops as tracing
 * calls takes, and none for what only prepares. */
#include "killstep.h"

#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool killstep_go(void)
{
    struct sock_filter all[] = {
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
    };
    struct sock_fprog prog = {1, all};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                   SECCOMP_FILTER_FLAG_TSYNC, &prog) == 0;
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Children of the process's group: threads of the traced one, no others of the
 * caller's. 0: its time is over; < 0: there are none. */
static pid_t wait_thread(const struct killstep *k, int *ret_status)
{
    for (;;) {
        pid_t tid = waitpid(-k->child, ret_status, __WALL);

        if (tid >= 0 || errno != EINTR)
            return tid;
        if (k->deadline_ns && now_ns() > k->deadline_ns)
            return 0;
    }
}

void killstep_end(struct killstep *k)
{
    int status;

    if (k->child <= 0)
        return;
    kill(k->child, SIGKILL);
    k->deadline_ns = 0;
    while (wait_thread(k, &status) > 0)
        ;
    k->child = 0;
}

static enum killstep_end how_ended(struct killstep *k, int status)
{
    k->seen.status = status;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? KILLSTEP_ENDED
                                                         : KILLSTEP_FAILED;
}

static int signal_of(int status)
{
    return status >> 16 == 0 ? WSTOPSIG(status) : 0;
}

static void note_stopped(struct killstep *k, pid_t tid, int status)
{
    if (k->count == KILLSTEP_THREADS)
        abort();
    k->stopped[k->count].tid = tid;
    k->stopped[k->count++].sig = signal_of(status);
}

static bool is_stopped(const struct killstep *k, pid_t tid)
{
    for (size_t i = 0; i < k->count; i++)
        if (k->stopped[i].tid == tid)
            return true;
    return false;
}

/* All are traced but those of the kernel, for io_uring. Such a one has no calls,
 * and ends the request that it was given, as after SIGSTOP. */
static bool is_traced(pid_t child, const char *tid)
{
    char path[60], line[100];
    int tracer = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/task/%.16s/status", (int)child, tid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof(line), f))
        if (strncmp(line, "TracerPid:", 10) == 0)
            tracer = atoi(line + 10);
    if (f)
        fclose(f);
    return tracer != 0;
}

/* Calls `fn` for each thread that is not stopped. Returns whether there is
 * one. */
static bool each_running(const struct killstep *k, void (*fn)(pid_t tid))
{
    const struct dirent *e;
    bool any = false;
    char path[40];
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)k->child);
    d = opendir(path);
    while (d && (e = readdir(d)))
        if (e->d_name[0] != '.' && !is_stopped(k, atoi(e->d_name)) &&
            is_traced(k->child, e->d_name)) {
            fn(atoi(e->d_name));
            any = true;
        }
    if (d)
        closedir(d);
    return any;
}

static void interrupt(pid_t tid)
{
    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL); /* it may be ending */
}

/* One thread is stopped: so are the others when this returns. A call that one
 * of them waits in is begun again later, as after SIGSTOP. */
static enum killstep_end halt_all(struct killstep *k)
{
    while (each_running(k, interrupt)) {
        int status;
        pid_t tid = wait_thread(k, &status);

        if (tid <= 0)
            return KILLSTEP_HANGS;
        if (WIFSTOPPED(status)) {
            k->seen.calls += status >> 16 == PTRACE_EVENT_SECCOMP;
            note_stopped(k, tid, status);
        } else if (tid == k->child) {
            return how_ended(k, status);
        }
    }
    return KILLSTEP_STOPPED;
}

static enum killstep_end follow(struct killstep *k)
{
    for (;;) {
        int status;
        pid_t tid = wait_thread(k, &status);

        if (tid == 0)
            return KILLSTEP_HANGS;
        if (tid < 0) {
            perror("killstep: waitpid");
            return KILLSTEP_FAILED;
        }
        if (!WIFSTOPPED(status)) { /* a thread, or all of them */
            if (tid == k->child)
                return how_ended(k, status);
            continue;
        }
        if (status >> 16 == PTRACE_EVENT_SECCOMP && ++k->seen.calls == k->at) {
            if (!k->stops)
                return KILLSTEP_KILLED;
            note_stopped(k, tid, status);
            return halt_all(k);
        }
        ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)signal_of(status));
    }
}

static _Noreturn void child_main(int (*work)(void *arg), void *arg, int gate)
{
    char c = 0;

    /* A group of its own, for wait_thread. */
    if (setpgid(0, 0) < 0)
        _exit(1);
    /* All threads are there that fork() has started; then until they are
     * traced. */
    if (write(gate, &c, 1) != 1 || read(gate, &c, 1) != 1)
        _exit(1);
    close(gate);
    _exit(work(arg));
}

/* All threads of the child: TSan's fork() starts one. An untraced one would
 * find that there are no system calls behind the filter, and break down without
 * a word. */
static bool seize_all(pid_t child)
{
    const intptr_t how = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE |
                         PTRACE_O_EXITKILL;
    char path[40];
    bool good;
    const struct dirent *e;
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)child);
    d = opendir(path);
    good = d != NULL;
    while (good && (e = readdir(d)))
        if (e->d_name[0] != '.')
            good = ptrace(PTRACE_SEIZE, (pid_t)atoi(e->d_name), NULL,
                          (void *)how) == 0;
    if (d)
        closedir(d);
    return good;
}

static bool read_byte(int fd)
{
    ssize_t n;
    char c;

    do
        n = read(fd, &c, 1);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

static bool start_child(struct killstep *k, int (*work)(void *arg), void *arg)
{
    bool good;
    int gate[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) < 0) {
        perror("killstep: socketpair");
        return false;
    }
    k->child = fork();
    if (k->child == 0) {
        close(gate[1]);
        child_main(work, arg, gate[0]);
    }
    close(gate[0]);
    good = k->child > 0 && read_byte(gate[1]) && seize_all(k->child) &&
           write(gate[1], "", 1) == 1;
    if (!good)
        perror("killstep: cannot trace");
    close(gate[1]);
    return good;
}

static void allow(struct killstep *k, unsigned seconds)
{
    k->deadline_ns = seconds ? now_ns() + (int64_t)seconds * 1000000000 : 0;
}

enum killstep_end killstep_stop(struct killstep *k, int (*work)(void *arg),
                                void *arg, uint64_t at, unsigned seconds)
{
    enum killstep_end end = KILLSTEP_CANNOT;

    *k = (struct killstep){.at = at, .stops = true};
    allow(k, seconds);
    if (start_child(k, work, arg))
        end = follow(k);
    if (end != KILLSTEP_STOPPED)
        killstep_end(k);
    return end;
}

enum killstep_end killstep_resume(struct killstep *k, uint64_t more,
                                  unsigned seconds)
{
    enum killstep_end end;
    size_t count = k->count;

    allow(k, seconds);
    k->at = more ? k->seen.calls + more : 0;
    k->stops = false;
    k->count = 0;
    for (size_t i = 0; i < count; i++)
        ptrace(PTRACE_CONT, k->stopped[i].tid, NULL,
               (void *)(intptr_t)k->stopped[i].sig);
    end = follow(k);
    killstep_end(k);
    return end;
}

enum killstep_end killstep(int (*work)(void *arg), void *arg, uint64_t at,
                           struct killstep_seen *ret)
{
    enum killstep_end end = KILLSTEP_CANNOT;
    struct killstep k = {.at = at};

    if (start_child(&k, work, arg))
        end = follow(&k);
    killstep_end(&k);
    *ret = k.seen;
    return end;
}
