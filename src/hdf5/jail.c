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
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "the jail of weir-hdf5 knows x86-64 and arm64"
#endif

#define MEMORY ((rlim_t)4 << 30)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1 /* maps terabytes, and looks around */
#else
#define SANITIZED 0
#endif

static const int allowed[] = {
    SYS_read,           SYS_write,         SYS_close,        SYS_mmap,
    SYS_munmap,         SYS_mremap,        SYS_madvise,      SYS_brk,
    SYS_futex,          SYS_exit,          SYS_exit_group,   SYS_rt_sigreturn,
    SYS_rt_sigprocmask, SYS_clock_gettime, SYS_gettimeofday, SYS_getpid,
    SYS_gettid,         SYS_sched_yield,   SYS_getrandom,    SYS_sigaltstack,
#if SANITIZED
    SYS_mprotect,       SYS_readlinkat,    SYS_prctl,        SYS_tgkill,
#endif
};

#define COUNT (sizeof(allowed) / sizeof(allowed[0]))

static void limit(int what, rlim_t most)
{
    const struct rlimit l = {most, most};

    setrlimit(what, &l);
}

bool h5_jail(void)
{
    struct sock_filter code[COUNT + 7];
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
    for (unsigned k = 0; k < COUNT; k++) /* each jumps to the last line */
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                 (unsigned)allowed[k],
                                                 (unsigned char)(COUNT - k), 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
                                             SECCOMP_RET_ERRNO | EPERM);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
                                             SECCOMP_RET_ALLOW);
    program.len = (unsigned short)n;

    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NOFILE, 0); /* what is open stays open */
    if (!SANITIZED)
        limit(RLIMIT_AS, MEMORY);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
