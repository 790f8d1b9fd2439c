/* badcalls.c - calls functions of libc with wrong arguments, and says how each
 * call ended.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: badcalls NAME...
 *
 * Each argument is 0 (also NULL), -1 (also a bad descriptor, and a bad pointer),
 * a name, or a stream. Prints a line per call: its arguments, what it returned
 * and errno, or the signal that it died of. Addresses are the same in each run,
 * since they are given as numbers, too. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOM   (1 << 16)
#define BUFFER 0x10000000l /* holds a name, and has room for a result */
#define STREAM 0x20000000l /* a copy of a stream of /dev/null */
#define FIRST  4           /* values of the first two arguments */
#define CALLS  (FIRST * FIRST * 3)

typedef long any_call(long a, ...);

struct outcome {
    long value;
    int error;
    int ended; /* 0: it returned; else the status of the process */
};

struct shared {
    volatile int at; /* the call that is made */
    struct outcome outcomes[CALLS];
};

static long by_number(const char *name)
{
    static const struct {
        const char *name;
        long number;
    } calls[] = {{"io_submit", SYS_io_submit},
                 {"io_getevents", SYS_io_getevents},
                 {"io_pgetevents", SYS_io_pgetevents}};

    for (size_t k = 0; k < sizeof(calls) / sizeof(*calls); k++)
        if (!strcmp(name, calls[k].name))
            return calls[k].number;
    return -1;
}

static int is_one_of(const char *name, const char *list)
{
    const char *at = strstr(list, name);

    return at && at[-1] == ' ' && at[strlen(name)] == ' ';
}

/* The wrappers of these read lists before the call, which the kernel would find
 * to be wrong ones (and nftw makes tables of any size): NULL from the third
 * argument on. */
static int wants_null(const char *name)
{
    return is_one_of(name, " io_submit execve execvpe fexecve posix_spawn "
                           "posix_spawnp execle nftw ");
}

static void arguments(const char *name, int k, long a[4])
{
    static const long values[FIRST] = {0, -1, BUFFER, STREAM};
    static const long numbers[FIRST] = {SYS_openat, SYS_openat2, SYS_read,
                                        SYS_pread64};

    a[0] = values[k % 4];
    a[1] = values[k / 4 % 4];
    a[2] = values[k / 16];
    a[3] = values[(k + k / 4 + k / 16) % 2];
    if (wants_null(name))
        a[2] = a[3] = 0;
    if (!strcmp(name, "syscall"))
        a[0] = numbers[k % 4];
}

static void prepare(void)
{
    FILE *f = fopen("/dev/null", "r+");

    memset((void *)BUFFER, 0, ROOM);
    strcpy((void *)BUFFER, "x");
    if (f)
        memcpy((void *)STREAM, f,
               sizeof(*f) + sizeof(void *)); /* and its table */
}

static void call_once(const char *name, int k, struct outcome *o)
{
    any_call *call = (any_call *)dlsym(RTLD_DEFAULT, name);
    long a[4], r;

    arguments(name, k, a);
    prepare();
    errno = 0;
    if (call) {
        r = call(a[0], a[1], a[2], a[3], a[3], a[3], 0l, 0l);
        o->error = errno;
    } else { /* as libaio does it, which is not loaded */
        r = syscall(by_number(name), a[0], a[1], a[2], a[3], a[3], a[3]);
        r = r < 0 ? -errno : r;
        o->error = 0;
    }
    o->value = (int)r; /* or the lower half of a pointer: is it NULL? */
}

/* In a child, until one of the calls ends it. */
static void call_from(const char *name, int first, struct shared *s)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        for (int k = first; k < CALLS; k++) {
            s->at = k;
            alarm(10);
            call_once(name, k, &s->outcomes[k]);
        }
        s->at = CALLS;
        kill(getpid(), SIGKILL);
    }
    if (waitpid(pid, &status, 0) != pid)
        exit(2);
    if (s->at < CALLS)
        s->outcomes[s->at].ended = status ? status : -1;
}

static void print_call(const char *name, int k, const struct outcome *o)
{
    int has_value = !is_one_of(name, " rewind closefrom sync weir_mark ");
    long a[4];

    arguments(name, k, a);
    printf("%s(%lx, %lx, %lx, %lx): ", name, a[0], a[1], a[2], a[3]);
    if (o->ended)
        printf("ends by %#x\n", (unsigned)o->ended);
    else if (!has_value || o->value < -4096 || o->value > 4096)
        printf("errno %d\n", o->error);
    else
        printf("%ld, errno %d\n", o->value, o->error);
}

static void *map_at(long at)
{
    return mmap((void *)at, ROOM, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

int main(int argc, char **argv)
{
    struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (s == MAP_FAILED || prctl(PR_SET_DUMPABLE, 0) ||
        map_at(BUFFER) != (void *)BUFFER || map_at(STREAM) != (void *)STREAM)
        return 2;
    for (int i = 1; i < argc; i++) {
        memset(s, 0, sizeof(*s));
        for (s->at = -1; s->at < CALLS - 1;)
            call_from(argv[i], s->at + 1, s);
        for (int k = 0; k < CALLS; k++)
            print_call(argv[i], k, &s->outcomes[k]);
    }
    return 0;
}
