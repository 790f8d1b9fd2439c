/* killstep.c - runs a program and kills it at its N-th system call.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     killstep [-m] N PROGRAM ARGUMENT...
 *
 * Counts the system calls of all threads, whatever their name, as they begin
 * (-m: from the first getppid on, which is the program's mark), and kills the
 * program with SIGKILL before the N-th is carried out. Exits with 0 when it was
 * killed, 3 when the program ended before, its last words being the number of
 * calls it made and how it ended on stdout: "412 0". With N = 0 it is never
 * killed. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_ENDED  3
#define THREADS_MAX 4096

/* Whether a thread is inside a system call: its stops come in pairs. */
struct inside {
    pid_t tid;
    bool in;
};

struct stepper {
    pid_t child;
    uint64_t count, kill_at;
    bool counting;
    struct inside threads[THREADS_MAX];
    size_t thread_count;
};

static struct inside *find(struct stepper *s, pid_t tid)
{
    for (size_t i = 0; i < s->thread_count; i++)
        if (s->threads[i].tid == tid)
            return &s->threads[i];
    if (s->thread_count == THREADS_MAX)
        return NULL;
    s->threads[s->thread_count] = (struct inside){tid, false};
    return &s->threads[s->thread_count++];
}

static void forget(struct stepper *s, pid_t tid)
{
    for (size_t i = 0; i < s->thread_count; i++)
        if (s->threads[i].tid == tid) {
            s->threads[i] = s->threads[--s->thread_count];
            return;
        }
}

static bool is_mark(pid_t tid)
{
    struct __ptrace_syscall_info info;

    return ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof(info), &info) >
               0 &&
           info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_getppid;
}

/* True when this is the call to die at. */
static bool on_call(struct stepper *s, pid_t tid)
{
    struct inside *t = find(s, tid);

    if (!t)
        return false;
    t->in = !t->in;
    if (!t->in)
        return false;
    if (!s->counting) {
        s->counting = is_mark(tid);
        return false;
    }
    return ++s->count == s->kill_at;
}

static void start(char **argv)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
        _exit(126);
    raise(SIGSTOP);
    execv(argv[0], argv);
    _exit(127);
}

/* The signal that the thread is to get when it goes on; 0: none. */
static int signal_of(int status)
{
    int sig = WSTOPSIG(status);

    if (sig == (SIGTRAP | 0x80) || status >> 16 || sig == SIGSTOP ||
        sig == SIGTRAP)
        return 0;
    return sig;
}

/* How the program ended, as waitpid says; -1: killed. */
static int step(struct stepper *s)
{
    for (;;) {
        int status;
        pid_t tid = waitpid(-1, &status, __WALL);

        if (tid < 0 && errno == EINTR)
            continue;
        if (tid < 0)
            return 0;
        if (!WIFSTOPPED(status)) {
            forget(s, tid);
            if (tid == s->child)
                return status;
            continue;
        }
        if (WSTOPSIG(status) == (SIGTRAP | 0x80) && on_call(s, tid)) {
            kill(s->child, SIGKILL);
            while (waitpid(-1, &status, __WALL) > 0 || errno == EINTR)
                ;
            return -1;
        }
        ptrace(PTRACE_SYSCALL, tid, NULL, (void *)(intptr_t)signal_of(status));
    }
}

int main(int argc, char **argv)
{
    static struct stepper s;
    int status;

    s.counting = argc < 2 || strcmp(argv[1], "-m") != 0;
    if (!s.counting) {
        argv++;
        argc--;
    }
    if (argc < 3) {
        fprintf(stderr, "usage: killstep [-m] N PROGRAM ARGUMENT...\n");
        return 2;
    }
    s.kill_at = strtoull(argv[1], NULL, 10);
    s.child = fork();
    if (s.child == 0)
        start(argv + 2);
    if (s.child < 0 || waitpid(s.child, &status, 0) < 0 ||
        !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, s.child, NULL,
               (void *)(intptr_t)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
                                  PTRACE_O_EXITKILL)) < 0) {
        perror("killstep: cannot trace");
        return 77;
    }
    ptrace(PTRACE_SYSCALL, s.child, NULL, NULL);
    status = step(&s);
    if (status < 0)
        return 0;
    printf("%llu %d\n", (unsigned long long)s.count,
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return EXIT_ENDED;
}
