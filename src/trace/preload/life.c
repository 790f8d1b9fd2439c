/* life.c - the beginning and the end of a traced process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/tap.h"

#include <link.h>
#include <string.h>
#include <sys/resource.h>

#include "trace/preload/rank.h"

#define WR_WIPE_ON_FORK 18 /* MADV_WIPEONFORK, Linux 4.14 */

/* Reads the beginning of a file of /proc; the text ends with a NUL. */
static long read_text(const char *path, char *buf, size_t cap)
{
    long fd = WR_RAW4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    long n;

    buf[0] = '\0';
    if (fd < 0)
        return fd;
    n = WR_RAW3(SYS_read, fd, buf, cap - 1);
    WR_RAW1(SYS_close, fd);
    if (n >= 0)
        buf[n] = '\0';
    return n;
}

static void *map_control(const char *folder)
{
    char path[288];
    size_t n = strlen(folder);
    long fd, r;

    memcpy(path, folder, n);
    memcpy(path + n, "/control", 9);
    fd = WR_RAW4(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0)
        return NULL;
    r = wr_raw(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    WR_RAW1(SYS_close, fd);
    return r < 0 && r > -4096 ? NULL : (void *)r;
}

/* --- what the process is --- */

static uint64_t pid_space(void)
{
    struct stat st;

    if (WR_RAW4(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &st, 0) < 0)
        return 0;
    return st.st_ino;
}

static void fill_program(struct wr_tap_process *p)
{
    long n = WR_RAW4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", p->program,
                     sizeof(p->program) - 1);

    if (n > 0)
        p->program[n] = '\0';
    n = read_text("/proc/self/cmdline", p->argv, sizeof(p->argv));
    for (long i = 0; i + 1 < n; i++)
        if (!p->argv[i])
            p->argv[i] = ' ';
    if (WR_RAW2(SYS_getcwd, p->cwd, sizeof(p->cwd)) < 0)
        p->cwd[0] = '\0';
}

/* A number of /proc/self/io behind its name. */
static uint64_t field_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    uint64_t n = 0;

    for (at = at ? at + strlen(name) : ""; *at >= '0' && *at <= '9'; at++)
        n = n * 10 + (uint64_t)(*at - '0');
    return n;
}

/* What the kernel has counted so far. */
static void read_counters(struct wr_tap_io *io)
{
    char text[512];
    struct rusage used;

    if (read_text("/proc/self/io", text, sizeof(text)) > 0) {
        io->rchar = field_of(text, "rchar: ");
        io->wchar = field_of(text, "wchar: ");
        io->read_bytes = field_of(text, "\nread_bytes: ");
        io->write_bytes = field_of(text, "\nwrite_bytes: ");
    }
    if (WR_RAW2(SYS_getrusage, RUSAGE_SELF, &used) == 0)
        io->major_faults = (uint64_t)used.ru_majflt;
}

/* --- whose calls it stands in front of --- */

static bool is_wrapped(const char *path)
{
    static const char *const names[] = {
        "libc.so",    "libc-2.", "ld-linux", "ld-2.",     "ld-musl",
        "libpthread", "librt",   "libdl",    "libaio.so", "libweir-trace.so"};
    const char *slash = strrchr(path, '/');

    path = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strncmp(path, names[i], strlen(names[i])))
            return true;
    return false;
}

static int add_ranges(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct wr_tap_process *p = arg;
    unsigned n = 0;

    (void)size;
    if (!info->dlpi_name || !is_wrapped(info->dlpi_name))
        return 0;
    while (n < WR_TAP_RANGES && p->wrapped[n].to)
        n++;
    for (unsigned i = 0; i < info->dlpi_phnum && n < WR_TAP_RANGES; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];

        if (h->p_type != PT_LOAD || !(h->p_flags & PF_X))
            continue;
        p->wrapped[n].from = info->dlpi_addr + h->p_vaddr;
        p->wrapped[n].to = p->wrapped[n].from + h->p_memsz;
        n++;
    }
    return 0;
}

/* --- begin --- */

static bool begin(uint32_t parent, bool is_fork)
{
    uint32_t number = WR_TAP_ADD(wr_tap.control->processes, 1) + 1;
    struct wr_tap_process *p = wr_tap_file_make(number,
                                                is_fork ? wr_tap.head : NULL);

    if (!p) {
        WR_TAP_ADD(wr_tap.control->unseen, 1);
        return false;
    }
    p->magic = WR_TAP_MAGIC;
    p->number = number;
    p->parent = parent;
    p->pid = (int32_t)WR_RAW1(SYS_getpid, 0);
    p->parent_pid = (int32_t)WR_RAW1(SYS_getppid, 0);
    p->first_handle = is_fork ? wr_tap.next_handle : 0;
    p->pid_space = pid_space();
    p->status = -1;
    wr_rank_of(NULL, 0, &p->rank, &p->world);
    if (!is_fork) { /* the counters go on when another program is executed */
        fill_program(p);
        read_counters(&p->base);
        if (wr_tap.control->kernel)
            dl_iterate_phdr(add_ranges, p);
    }
    memset(&p->io, 255, sizeof(p->io));
    p->start = wr_tap_clock();
    wr_tap.head = p;
    wr_tap.first_handle = p->first_handle;
    wr_tap.number = number;
    __atomic_store_n(&p->ready, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&wr_tap.alive->process, number, __ATOMIC_RELEASE);
    return true;
}

/* Called by the fork handler, or by the first note of a child that was made in
 * another way. */
bool wr_tap_child(void)
{
    uint32_t none = 0;

    if (!wr_tap.on ||
        !__atomic_compare_exchange_n(&wr_tap.starting, &none, 1, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return false;
    wr_tap_tally_reset();
    if (__atomic_load_n(&wr_tap.control->closed, __ATOMIC_RELAXED) ||
        !begin(wr_tap.number, /* is_fork= */ true))
        wr_tap.on = 0;
    __atomic_store_n(&wr_tap.starting, 0, __ATOMIC_RELEASE);
    return wr_tap.on;
}

static void after_fork(void)
{
    if (!wr_tap.on)
        return;
    wr_tap.alive->process = 0; /* kernels that do not wipe it */
    wr_tap.starting = 0;
    wr_tap_child();
}

/* --- end --- */

void wr_tap_ended(int status)
{
    struct wr_tap_process *p = wr_tap.head;
    struct wr_tap_note n = {.start = wr_tap_begin(),
                            .off = WR_TAP_UNKNOWN,
                            .len = (uint64_t)(unsigned)status,
                            .op = WR_TRACE_EXIT};

    if (!n.start || !wr_tap.alive->process)
        return;
    read_counters(&p->io);
    p->status = status;
    p->end = n.start;
    __atomic_store_n(&p->ended, 1, __ATOMIC_RELEASE);
    wr_tap_put_lasting(&n, 0);
}

void wr_tap_executes(void)
{
    if (wr_tap.on && wr_tap.alive->process && !wr_tap_self.in_vfork)
        read_counters(&wr_tap.head->io);
}

static void on_exit_status(int status, void *arg)
{
    (void)arg;
    wr_tap_ended(status & 255);
}

/* --- the library is loaded --- */

static bool set_up(const char *folder)
{
    long page;

    if (strlen(folder) >= sizeof(wr_tap.folder))
        return false;
    strcpy(wr_tap.folder, folder);
    wr_tap.control = map_control(folder);
    if (!wr_tap.control || wr_tap.control->magic != WR_TAP_MAGIC ||
        wr_tap.control->closed)
        return false;
    page = wr_raw(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page < 0 && page > -4096)
        return false;
    WR_RAW3(SYS_madvise, page, 4096, WR_WIPE_ON_FORK);
    wr_tap.alive = (void *)page;
    wr_tap.tsc = wr_tap.control->tsc;
    return begin(0, /* is_fork= */ false);
}

__attribute__((constructor)) static void loaded(void)
{
    const char *folder = getenv("WEIR_TRACE");
    const char *disabled = getenv("WEIR_TRACE_DISABLE");

    wr_real_resolve();
    if (!folder || *folder != '/' || (disabled && *disabled))
        return;
    wr_tap_keep_environment(folder, getenv("LD_PRELOAD"));
    if (!set_up(folder))
        return;
    pthread_atfork(NULL, NULL, after_fork);
    on_exit(on_exit_status, NULL);
    wr_tap.on = 1;
}
