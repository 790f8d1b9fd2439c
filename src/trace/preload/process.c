/* process.c - wrappers: processes and threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/tap.h"

#include <alloca.h>
#include <errno.h>
#include <linux/openat2.h>
#include <string.h>

/* --- children are traced, too, whatever environment they get --- */

#define VARIABLES_MAX 16384 /* variables of an environment that is looked at */

struct wr_tap_kept {
    char folder[300], preload[2048]; /* "NAME=value" */
};
static struct wr_tap_kept kept;

static void keep_variable(char *to, size_t cap, const char *name,
                          const char *value)
{
    size_t n = strlen(name), len = value ? strlen(value) : 0;

    if (!value || n + len >= cap)
        return;
    memcpy(to, name, n);
    memcpy(to + n, value, len + 1);
}

void wr_tap_keep_environment(const char *folder, const char *preload)
{
    keep_variable(kept.folder, sizeof(kept.folder), "WEIR_TRACE=", folder);
    keep_variable(kept.preload, sizeof(kept.preload), "LD_PRELOAD=", preload);
}

static bool has_variable(char *const *envp, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; envp && envp[i]; i++)
        if (!strncmp(envp[i], name, n))
            return true;
    return false;
}

static size_t environment_room(char *const *envp)
{
    size_t n = 0;

    while (envp && envp[n] && n < VARIABLES_MAX)
        n++;
    return n + 3;
}

/* An LD_PRELOAD that the program has changed is its own matter. */
static char *const *environment_of(char *const *envp, char **room)
{
    size_t n = environment_room(envp) - 3;

    if (!wr_tap.on || n >= VARIABLES_MAX || !kept.folder[0] ||
        !kept.preload[0] || has_variable(envp, "WEIR_TRACE=") ||
        has_variable(envp, "WEIR_TRACE_DISABLE=") ||
        has_variable(envp, "LD_PRELOAD="))
        return envp;
    for (size_t i = 0; i < n; i++)
        room[i] = envp[i];
    room[n] = kept.folder;
    room[n + 1] = kept.preload;
    room[n + 2] = NULL;
    return room;
}

/* --- forks --- */

static void note_child(unsigned op, pid_t pid, const char *path, uint64_t start)
{
    struct wr_tap_note n = {
        .start = start, .off = WR_TAP_UNKNOWN, .op = (uint8_t)op, .path = path};

    if (pid < 0) {
        n.flags = WR_TRACE_FAILED;
        n.error = (uint8_t)wr_tap_errno(-1);
    } else {
        n.len = (uint64_t)pid;
    }
    wr_tap_put(&n);
}

WR_TAP_EXPORT pid_t fork(void)
{
    uint64_t start = wr_tap_begin();
    pid_t pid = WR_REAL(fork)();

    if (start && pid)
        note_child(WR_TRACE_FORK, pid, NULL, start);
    return pid;
}

WR_TAP_EXPORT pid_t _Fork(void)
{
    uint64_t start = wr_tap_begin();
    pid_t pid = WR_REAL(_Fork)();

    if (start && pid)
        note_child(WR_TRACE_FORK, pid, NULL, start);
    else if (start)
        wr_tap_child();
    return pid;
}

/* --- vfork: the child runs in this memory, on this stack. A function cannot
 * return twice, hence the assembly; the flag makes wrappers pass the child's
 * calls on, and falls when the parent goes on --- */

#if defined(__x86_64__)
_Static_assert(offsetof(struct wr_tap_thread, in_vfork) == 37, "vfork below");

pid_t wr_tap_vforked(long r);

pid_t wr_tap_vforked(long r)
{
    if (r < 0) {
        errno = (int)-r;
        return -1;
    }
    if (wr_tap_begin())
        note_child(WR_TRACE_FORK, (pid_t)r, NULL, wr_tap_clock());
    return (pid_t)r;
}

__asm__(".text\n"
        ".globl vfork\n"
        ".type vfork,@function\n"
        "vfork:\n"
        "    pop %rdi\n" /* the child's calls overwrite the stack */
        "    mov $58, %eax\n"
        "    syscall\n"
        "    push %rdi\n"
        "    mov wr_tap_self@gottpoff(%rip), %rdx\n"
        "    test %rax, %rax\n"
        "    sete %fs:37(%rdx)\n"
        "    je 1f\n"
        "    mov %rax, %rdi\n"
        "    jmp wr_tap_vforked\n"
        "1:  ret\n"
        ".size vfork, .-vfork\n");
#else
/* Slower, and what a child may do after vfork it may do after fork, too. */
WR_TAP_EXPORT pid_t vfork(void)
{
    return fork();
}
#endif

/* --- other programs --- */

static void note_exec(const char *path, int failed, uint64_t start)
{
    struct wr_tap_note n = {.start = start, .op = WR_TRACE_EXEC};

    if (failed) {
        n.flags = WR_TRACE_FAILED;
        n.error = (uint8_t)wr_tap_errno(-1);
    } else {
        wr_tap_executes();
    }
    n.path = wr_tap_name(path, failed ? n.error : EINVAL); /* not yet read */
    wr_tap_put(&n);
}

#define EXECUTES(name)                                                         \
    WR_TAP_EXPORT int name(const char *path, char *const argv[],               \
                           char *const envp[])                                 \
    {                                                                          \
        uint64_t start = wr_tap_begin();                                       \
        char **room = alloca(environment_room(envp) * sizeof(*room));          \
        int r;                                                                 \
                                                                               \
        if (start)                                                             \
            note_exec(path, 0, start);                                         \
        r = WR_REAL(name)(path, argv, environment_of(envp, room));             \
        if (start)                                                             \
            note_exec(path, 1, start);                                         \
        return r;                                                              \
    }
EXECUTES(execve)
EXECUTES(execvpe)

WR_TAP_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    uint64_t start = wr_tap_begin();
    char **room = alloca(environment_room(envp) * sizeof(*room));

    if (start)
        note_exec("", 0, start);
    return WR_REAL(fexecve)(fd, argv, envp ? environment_of(envp, room) : NULL);
}

WR_TAP_EXPORT int execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

WR_TAP_EXPORT int execvp(const char *file, char *const argv[])
{
    return execvpe(file, argv, environ);
}

/* Arguments up to the NULL, `first` included; argv NULL: only counts. */
static size_t take_arguments(const char *first, va_list ap, char **argv)
{
    size_t n = 0;

    for (const char *a = first; a; a = va_arg(ap, const char *), n++)
        if (argv)
            memcpy(&argv[n], &a, sizeof(a));
    if (argv)
        argv[n] = NULL;
    return n + 1;
}

/* X(name, what follows the NULL, the call with an array) */
#define LISTED_CALLS(X)                                                        \
    X(execl, , execve(path, argv, envp))                                       \
    X(execlp, , execvpe(path, argv, envp))                                     \
    X(execle, envp = va_arg(ap, char *const *), execve(path, argv, envp))

#define LISTED_CALL(name, after, with_array)                                   \
    WR_TAP_EXPORT int name(const char *path, const char *arg, ...)             \
    {                                                                          \
        char **argv, *const *envp = environ;                                   \
        va_list ap;                                                            \
                                                                               \
        va_start(ap, arg);                                                     \
        argv = alloca(take_arguments(arg, ap, NULL) * sizeof(*argv));          \
        va_end(ap);                                                            \
        va_start(ap, arg);                                                     \
        take_arguments(arg, ap, argv);                                         \
        after;                                                                 \
        va_end(ap);                                                            \
        return with_array;                                                     \
    }
LISTED_CALLS(LISTED_CALL)

#define SPAWNS(name)                                                           \
    WR_TAP_EXPORT int name(pid_t *pid, const char *path,                       \
                           const posix_spawn_file_actions_t *actions,          \
                           const posix_spawnattr_t *attr, char *const argv[],  \
                           char *const envp[])                                 \
    {                                                                          \
        uint64_t start = wr_tap_begin();                                       \
        char **room = alloca(environment_room(envp) * sizeof(*room));          \
        pid_t child = 0;                                                       \
        int r = WR_REAL(name)(&child, path, actions, attr, argv,               \
                              environment_of(envp, room));                     \
                                                                               \
        if (r == 0 && pid)                                                     \
            *pid = child;                                                      \
        if (start)                                                             \
            note_child(WR_TRACE_SPAWN, r ? -1 : child, wr_tap_name(path, r),   \
                       start);                                                 \
        return r;                                                              \
    }
SPAWNS(posix_spawn)
SPAWNS(posix_spawnp)

/* --- ends --- */

WR_TAP_EXPORT void _exit(int status)
{
    if (!wr_tap_self.in_vfork)
        wr_tap_ended(status & 255);
    WR_REAL(_exit)(status);
    for (;;) /* not reached; the real one has no return to give */
        WR_RAW1(SYS_exit_group, status);
}

WR_TAP_ALIAS(_Exit, _exit);

WR_TAP_EXPORT void quick_exit(int status)
{
    wr_tap_ended(status & 255);
    WR_REAL(quick_exit)(status);
    for (;;)
        WR_RAW1(SYS_exit_group, status);
}

/* --- threads --- */

#define STARTING 256

/* Between pthread_create and the thread's first step. Without a free place the
 * thread runs as it is, and keeps its chunk until the process ends. */
struct wr_tap_starting {
    uint32_t taken;
    void *(*run)(void *);
    void *arg;
};

static struct wr_tap_starting starting[STARTING];

static struct wr_tap_starting *take_start(void)
{
    for (unsigned i = 0; i < STARTING; i++) {
        uint32_t none = 0;

        if (__atomic_compare_exchange_n(&starting[i].taken, &none, 1, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return &starting[i];
    }
    return NULL;
}

static void thread_ended(void *arg)
{
    (void)arg;
    wr_tap_thread_done();
}

static void *thread_main(void *arg)
{
    struct wr_tap_starting *s = arg, own = *s;
    struct wr_tap_note n = {
        .start = wr_tap_begin(), .off = WR_TAP_UNKNOWN, .op = WR_TRACE_THREAD};
    void *r;

    __atomic_store_n(&s->taken, 0, __ATOMIC_RELEASE);
    n.len = (uint64_t)WR_RAW1(SYS_gettid, 0);
    if (n.start)
        wr_tap_put_lasting(&n, 0);
    pthread_cleanup_push(thread_ended, NULL);
    r = own.run(own.arg);
    pthread_cleanup_pop(1);
    return r;
}

WR_TAP_EXPORT int pthread_create(pthread_t *ret, const pthread_attr_t *attr,
                                 void *(*run)(void *), void *arg)
{
    struct wr_tap_starting *s = wr_tap_begin() ? take_start() : NULL;
    int r;

    if (!s)
        return WR_REAL(pthread_create)(ret, attr, run, arg);
    s->run = run;
    s->arg = arg;
    r = WR_REAL(pthread_create)(ret, attr, thread_main, s);
    if (r)
        __atomic_store_n(&s->taken, 0, __ATOMIC_RELEASE);
    return r;
}

/* --- system calls by their number --- */

#if !defined(WR_RAW_BY_LIBC)
static void note_raw(long number, const long *a, long r, uint64_t start)
{
    const struct open_how *how = (const void *)a[2];

    if (number == SYS_openat2)
        wr_tap_opened((int)r, (int)a[0], (const char *)a[1],
                      r < 0 ? 0 : (int)how->flags, start);
    else if (number == SYS_io_uring_setup && r >= 0) {
        wr_tap_fd_clear((int)r);
        wr_tap_on_fd(WR_TRACE_URING, (int)r, start, 0);
    } else if (number == SYS_openat) {
        wr_tap_opened((int)r, (int)a[0], (const char *)a[1], (int)a[2], start);
    } else if (number == SYS_read || number == SYS_write) {
        wr_tap_moved(number == SYS_read ? WR_TRACE_READ : WR_TRACE_WRITE,
                     (int)a[0], start, r, WR_TAP_UNKNOWN);
    } else if (number == SYS_pread64 || number == SYS_pwrite64) {
        wr_tap_moved(number == SYS_pread64 ? WR_TRACE_READ : WR_TRACE_WRITE,
                     (int)a[0], start, r, (uint64_t)a[3]);
    }
}

/* Others go by unseen. */
static bool is_noted(long number)
{
    switch (number) {
    case SYS_openat2:
    case SYS_io_uring_setup:
    case SYS_openat:
    case SYS_read:
    case SYS_write:
    case SYS_pread64:
    case SYS_pwrite64:
        return true;
    default:
        return false;
    }
}

WR_TAP_EXPORT long syscall(long number, ...)
{
    long a[6], r;
    uint64_t start;
    va_list ap;

    va_start(ap, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(ap, long);
    va_end(ap);
    if (number == SYS_close)
        return close((int)a[0]);
    start = is_noted(number) ? wr_tap_begin() : 0;
    r = WR_REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (start)
        note_raw(number, a, r, start);
    return r;
}
#endif

/* --- marks of the program itself (weir/mark.h) --- */

WR_TAP_EXPORT void weir_mark(const char *text)
{
    struct wr_tap_note n = {.start = wr_tap_begin(), .op = WR_TRACE_MARK};

    if (!n.start)
        return;
    n.path = text ? text : "";
    wr_tap_put_lasting(&n, 0);
}
