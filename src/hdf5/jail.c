/* jail.c - a process that can compute, talk to one socket, and end.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The filter is a list of calls by hand: libhdf5 needs memory and time, the
 * rest of the list is what the C library does on the way. Odd calls get EPERM
 * instead of a kill, so that a library that probes for something goes on. */
#include "hdf5/jail.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "hdf5/wire.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "the jail of weir-hdf5 knows x86-64 and arm64"
#endif

#define MEMORY ((rlim_t)768 << 20) /* libhdf5 and its libraries: 150 MiB */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1 /* maps terabytes, and looks around */
#else
#define SANITIZED 0
#endif

static const int allowed[] = {
    SYS_read,          SYS_write,        SYS_close,
    SYS_munmap,        SYS_mremap,       SYS_madvise,
    SYS_brk,           SYS_futex,        SYS_exit,
    SYS_exit_group,    SYS_rt_sigreturn, SYS_rt_sigprocmask,
    SYS_clock_gettime, SYS_gettimeofday, SYS_getpid,
    SYS_gettid,        SYS_sched_yield,  SYS_getrandom,
    SYS_sigaltstack,   SYS_getcwd, /* HDF5 2 asks for it when it opens a file */
#if SANITIZED
    SYS_mprotect,      SYS_readlinkat,   SYS_prctl,
    SYS_tgkill,
#endif
};

#define COUNT (sizeof(allowed) / sizeof(allowed[0]))

static void limit(int what, rlim_t most)
{
    const struct rlimit l = {most, most};

    setrlimit(what, &l);
}

/* Memory that is mapped later is never code (SYS_mprotect is not allowed at
 * all): offset 16 is the protection's lower half on both processors. */
static const struct sock_filter ending[] = {
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), /* not in the list */
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

#define ENDING (sizeof(ending) / sizeof(ending[0]))

static bool filter_calls(void)
{
    struct sock_filter code[COUNT + ENDING + 5];
    struct sock_fprog program = {.filter = code};
    unsigned n = 0;

    code[n++] = (struct sock_filter)BPF_STMT(
        BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1,
                                             0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
                                             SECCOMP_RET_KILL_PROCESS);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                             offsetof(struct seccomp_data, nr));
    /* Over the list and the first line of the ending, to its second. */
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                             SYS_mmap, COUNT + 1, 0);
    for (unsigned k = 0; k < COUNT; k++) /* each jumps to the last line */
        code[n++] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[k],
            (unsigned char)(COUNT - k + ENDING - 2), 0);
    for (unsigned k = 0; k < ENDING; k++)
        code[n++] = ending[k];
    program.len = (unsigned short)n;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool h5_end_with_weir(void)
{
    struct ucred weir = {0};
    socklen_t len = sizeof(weir);

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return false;
    /* It may have died before that; whoever made the socket is weir. One in
     * another PID namespace has no number. */
    return getsockopt(WR_H5_FD, SOL_SOCKET, SO_PEERCRED, &weir, &len) < 0 ||
           weir.pid <= 0 || kill(weir.pid, 0) == 0 || errno != ESRCH;
}

bool h5_jail(unsigned seconds)
{
    const struct rlimit time = {seconds, seconds + 1};

    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NOFILE, 0); /* what is open stays open */
    setrlimit(RLIMIT_CPU, &time);
    if (!SANITIZED)
        limit(RLIMIT_AS, MEMORY);
    return filter_calls();
}
