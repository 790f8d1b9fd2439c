/* hdf5_helper.c - the program that parses HDF5 files for us, in a jail.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/hdf5_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "base/module.h"
#include "base/shown.h"
#include "base/text.h"

#define PROGRAM  "weir-hdf5"
#define PATIENCE 60 /* seconds without progress */
/* Seconds of CPU time that a file may take: a million chunks take 3, and their
 * index fills 24 MB of the file. */
#define FILE_SECONDS  10
#define BYTES_PER_SEC 1000000
#define PAYLOAD_MAX   ((uint64_t)16 << 20)

struct wr_h5_helper {
    pid_t pid; /* 0: none runs */
    int fd;
    struct wr_object *object; /* borrowed: the file it is about */
    uint64_t size;
    uint64_t chunks, bytes; /* of all files so far */
    unsigned seconds;       /* of CPU time, after which the process ends */
    uint64_t cpu_from_ns;   /* what it had taken before this file */
    uint64_t patience_ns, deadline_ns;
    uint64_t end_ns;  /* of the file, whatever progress there is */
    weir_err lost;    /* code: what could not be read of the file, and why */
    uint8_t *payload; /* owned: of the last message */
    size_t payload_cap;
};

/* --- the program --- */

/* Seconds of CPU time for a file of that size. */
static unsigned file_seconds(uint64_t size)
{
    return FILE_SECONDS +
           (unsigned)WR_MIN(size / BYTES_PER_SEC, WR_H5_SECONDS_MAX / 2);
}

static uint64_t cpu_ns(pid_t pid)
{
    struct timespec ts = {0};
    clockid_t clock;

    if (!pid || clock_getcpuclockid(pid, &clock) != 0 ||
        clock_gettime(clock, &ts) < 0)
        return 0;
    return (uint64_t)ts.tv_sec * WR_NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

static int fail_missing(const char *path, weir_err *err)
{
#ifdef WR_HAVE_HDF5
    return wr_fail(err, WEIR_ENOTSUP,
                   "HDF5 is read by a helper program, and '%s' cannot be "
                   "started: install weir's package again, or name it in "
                   "WEIR_HDF5_HELPER",
                   path);
#else
    return wr_fail(err, WEIR_ENOTSUP,
                   "weir was built without HDF5: install libhdf5-dev and build "
                   "it again ('%s' cannot be started)",
                   path);
#endif
}

static int find_program(char buf[PATH_MAX], weir_err *err)
{
    const char *told = secure_getenv("WEIR_HDF5_HELPER");
    weir_err why;
    int r = 0;

    if (told && *told)
        snprintf(buf, PATH_MAX, "%s", told);
    else
        r = wr_weir_file("", WR_LIBEXECDIR, PROGRAM, buf, &why);
    if (r == WEIR_ENOENT)
        return fail_missing(buf, err);
    return r < 0 ? wr_fail(err, r, "HDF5 helper: %s", why.msg) : 0;
}

static int spawn(const char *path, int fd, unsigned seconds, pid_t *ret)
{
    char limit[16];
    char *const argv[] = {(char[]){PROGRAM}, limit, NULL};
    char *const env[] = {NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    int r;

    snprintf(limit, sizeof(limit), "%u", seconds);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK |
                                        POSIX_SPAWN_SETSIGDEF |
                                        POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setpgroup(&attr, 0); /* ^C is weir's business */
    r = posix_spawn_file_actions_init(&files);
    for (int k = 0; k < 3 && r == 0; k++)
        r = posix_spawn_file_actions_addopen(&files, k, "/dev/null", O_RDWR, 0);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&files, fd, WR_H5_FD);
    if (r == 0)
        r = posix_spawn_file_actions_addclosefrom_np(&files, WR_H5_FD + 1);
    if (r == 0)
        r = posix_spawn(ret, path, &files, &attr, argv, env);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return r;
}

static int start(struct wr_h5_helper *h, weir_err *err)
{
    char path[PATH_MAX];
    int fds[2], r;

    if (h->pid)
        return 0;
    r = find_program(path, err);
    if (r < 0)
        return r;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return wr_fail_errno(err, errno, "HDF5 helper: no socket");
    h->seconds = 6 * FILE_SECONDS + file_seconds(h->size);
    r = spawn(path, fds[1], h->seconds, &h->pid);
    close(fds[1]);
    if (r == 0) {
        h->fd = fds[0];
        return 0;
    }
    close(fds[0]);
    h->pid = 0;
    if (wr_err_is_lack(wr_error_from_errno(r)) || r == EAGAIN)
        return wr_fail_errno(err, r, "HDF5 helper: cannot start it");
    return fail_missing(path, err);
}

/* Ends it; what became of it is told. */
static void stop(struct wr_h5_helper *h, char *how, size_t cap)
{
    int status = 0;

    snprintf(how, cap, "ended");
    if (!h->pid)
        return;
    close(h->fd);
    if (waitpid(h->pid, &status, WNOHANG) == 0) {
        struct timespec nap = {.tv_nsec = 20 * 1000 * 1000};

        nanosleep(&nap, NULL); /* one that crashes takes a moment */
        if (waitpid(h->pid, &status, WNOHANG) == 0) {
            kill(h->pid, SIGKILL);
            waitpid(h->pid, &status, 0);
        }
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        snprintf(how, cap, "took more than its CPU time");
    else if (WIFSIGNALED(status))
        snprintf(how, cap, "ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status))
        snprintf(how, cap, "ended with status %d", WEXITSTATUS(status));
    h->pid = 0;
}

static void kill_it(struct wr_h5_helper *h)
{
    int status;

    if (!h->pid)
        return;
    close(h->fd);
    kill(h->pid, SIGKILL);
    waitpid(h->pid, &status, 0);
    h->pid = 0;
}

/* --- messages --- */

static int fail_gone(struct wr_h5_helper *h, weir_err *err)
{
    char how[64];

    stop(h, how, sizeof(how));
    return wr_fail(err, WEIR_EFORMAT, "the HDF5 helper %s on this file", how);
}

static int fail_lie(struct wr_h5_helper *h, const char *what, weir_err *err)
{
    kill_it(h);
    return wr_fail(err, WEIR_EFORMAT,
                   "the HDF5 helper answered nonsense on this file: %s", what);
}

/* An error that is not the helper's word leaves it in the middle of an
 * answer. */
static int fail_here(struct wr_h5_helper *h, int r)
{
    kill_it(h);
    return r;
}

static int send_all(struct wr_h5_helper *h, const void *bytes, size_t len,
                    weir_err *err)
{
    for (size_t done = 0; done < len;) {
        struct pollfd p = {.fd = h->fd, .events = POLLOUT};
        ssize_t n = send(h->fd, (const char *)bytes + done, len - done,
                         MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EAGAIN) {
            if (wr_clock_ns() > h->deadline_ns)
                return fail_gone(h, err);
            poll(&p, 1, 100);
        } else if (n < 0 && errno != EINTR) {
            return fail_gone(h, err);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int say(struct wr_h5_helper *h, const struct wr_h5_head *what,
               const void *payload, weir_err *err)
{
    struct wr_h5_head head = *what;
    int r;

    head.version = WR_H5_VERSION;
    r = send_all(h, &head, sizeof(head), err);
    return r < 0 ? r : send_all(h, payload, (size_t)head.len, err);
}

/* The file has taken too long, by one of the three measures. */
static int fail_late(struct wr_h5_helper *h, weir_err *err)
{
    uint64_t now = wr_clock_ns();
    bool over = cpu_ns(h->pid) >
                h->cpu_from_ns + file_seconds(h->size) * WR_NS_PER_SEC;

    if (!over && now <= h->deadline_ns && now <= h->end_ns)
        return 0;
    kill_it(h);
    if (over)
        return wr_fail(err, WEIR_EFORMAT,
                       "the HDF5 helper took more than %u s of CPU time on "
                       "this file",
                       file_seconds(h->size));
    return wr_fail(err, WEIR_EFORMAT,
                   "the HDF5 helper did not %s for %" PRIu64 " s on this file",
                   now > h->end_ns ? "finish" : "answer",
                   h->patience_ns / WR_NS_PER_SEC +
                       (now > h->end_ns ? file_seconds(h->size) : 0));
}

static int recv_all(struct wr_h5_helper *h, void *bytes, size_t len,
                    weir_err *err)
{
    for (size_t done = 0; done < len;) {
        struct pollfd p = {.fd = h->fd, .events = POLLIN};
        ssize_t n = recv(h->fd, (char *)bytes + done, len - done, MSG_DONTWAIT);

        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return fail_gone(h, err);
        if (n < 0) {
            int r = fail_late(h, err);

            if (r < 0)
                return r;
            poll(&p, 1, 100);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static void be_patient(struct wr_h5_helper *h)
{
    h->deadline_ns = wr_clock_ns() + h->patience_ns;
}

/* Reads for the helper; what the storage takes is not its fault. */
static int serve(struct wr_h5_helper *h, const struct wr_h5_head *asked,
                 weir_err *err)
{
    struct wr_h5_head answer = {.kind = WR_H5_BYTES, .len = asked->number};
    uint64_t start = wr_clock_ns();

    if (!h->object || asked->number > WR_H5_READ_MAX ||
        asked->offset > h->size || asked->number > h->size - asked->offset)
        return fail_lie(h, "a read outside of the file", err);
    if (!wr_grow(&h->payload, &h->payload_cap, (size_t)asked->number + 1, 1))
        return fail_here(h, wr_fail(err, WEIR_ENOMEM, "out of memory"));
    if (wr_object_read_fully(h->object, h->payload, (size_t)asked->number,
                             asked->offset, &h->lost) < 0)
        answer = (struct wr_h5_head){.kind = WR_H5_FAIL};
    h->deadline_ns += wr_clock_ns() - start;
    h->end_ns += wr_clock_ns() - start;
    return say(h, &answer, h->payload, err);
}

/* What it ends an answer with: it is about the file, unless the file could not
 * be read. */
static int fail_said(struct wr_h5_helper *h, size_t len, weir_err *err)
{
    char why[WR_H5_WHY] = "", shown[2 * WR_H5_WHY];

    if (h->lost.code) {
        int code = h->lost.code;

        wr_fail(err, code, "%s", h->lost.msg);
        h->lost.code = 0;
        return code;
    }
    memcpy(why, h->payload, WR_MIN(len, sizeof(why) - 1));
    return wr_fail(
        err, WEIR_EFORMAT, "%s",
        wr_text_show(why, /* controls= */ true, shown, sizeof(shown)));
}

/* The next message that is an answer; its payload is in h->payload. */
static int hear(struct wr_h5_helper *h, struct wr_h5_head *ret, weir_err *err)
{
    int r;

    for (;;) {
        r = recv_all(h, ret, sizeof(*ret), err);
        if (r < 0)
            return r;
        if (ret->version != WR_H5_VERSION)
            return fail_lie(h, "another version", err);
        if (ret->kind != WR_H5_READ)
            break;
        r = serve(h, ret, err);
        if (r < 0)
            return r;
    }
    if (ret->len > PAYLOAD_MAX)
        return fail_lie(h, "a message too long", err);
    if (!wr_grow(&h->payload, &h->payload_cap, (size_t)ret->len + 1, 1))
        return fail_here(h, wr_fail(err, WEIR_ENOMEM, "out of memory"));
    r = recv_all(h, h->payload, (size_t)ret->len, err);
    if (r == 0 && ret->kind == WR_H5_ERROR)
        r = fail_said(h, (size_t)ret->len, err);
    return r;
}

/* --- asking --- */

int wr_h5_helper_new(struct wr_h5_helper **ret, weir_err *err)
{
    const char *patience = secure_getenv("WEIR_HDF5_PATIENCE");
    struct wr_h5_helper *h = calloc(1, sizeof(*h));
    long seconds = patience ? strtol(patience, NULL, 10) : 0;

    if (!h)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (seconds < 1 || seconds > 86400)
        seconds = PATIENCE;
    h->patience_ns = (uint64_t)seconds * WR_NS_PER_SEC;
    *ret = h;
    return 0;
}

void wr_h5_helper_free(struct wr_h5_helper *h)
{
    if (!h)
        return;
    kill_it(h);
    free(h->payload);
    free(h);
}

static int ask(struct wr_h5_helper *h, const struct wr_h5_head *what,
               const void *payload, weir_err *err)
{
    int r = start(h, err);

    h->lost.code = 0;
    be_patient(h);
    return r < 0 ? r : say(h, what, payload, err);
}

/* Another process starts if this one's time is not enough for the file. */
static void begin_file(struct wr_h5_helper *h, struct wr_object *o,
                       uint64_t size)
{
    h->cpu_from_ns = cpu_ns(h->pid);
    if (h->cpu_from_ns / WR_NS_PER_SEC + file_seconds(size) > h->seconds) {
        kill_it(h);
        h->cpu_from_ns = 0;
    }
    h->object = o;
    h->size = size;
    h->bytes += size;
    h->end_ns = wr_clock_ns() + h->patience_ns +
                file_seconds(size) * WR_NS_PER_SEC;
}

int wr_h5_open(struct wr_h5_helper *h, struct wr_object *o, uint64_t size,
               weir_err *err)
{
    const struct wr_h5_head what = {.kind = WR_H5_OPEN, .number = size};
    struct wr_h5_head head;
    int r;

    begin_file(h, o, size);
    r = ask(h, &what, NULL, err);
    if (r == 0)
        r = hear(h, &head, err);
    if (r == 0 && head.kind != WR_H5_DONE)
        r = fail_lie(h, "no answer to a file", err);
    return r;
}

int wr_h5_list(struct wr_h5_helper *h, const char *names, size_t len,
               struct wr_h5_array **ret, size_t *ret_count, weir_err *err)
{
    const struct wr_h5_head what = {.kind = WR_H5_LIST, .len = len};
    struct wr_h5_array *list = NULL;
    size_t count = 0, cap = 0;
    struct wr_h5_head head;
    int r = ask(h, &what, names, err);

    while (r == 0) {
        struct wr_h5_dataset d;

        r = hear(h, &head, err);
        if (r < 0 || head.kind == WR_H5_DONE)
            break;
        if (head.kind != WR_H5_DATASET || head.len != sizeof(d) ||
            count == WR_H5_DATASETS) {
            r = fail_lie(h, "no list of datasets", err);
            break;
        }
        if (!wr_grow(&list, &cap, count + 1, sizeof(*list))) {
            r = fail_here(h, wr_fail(err, WEIR_ENOMEM, "out of memory"));
            break;
        }
        memcpy(&d, h->payload, sizeof(d));
        r = wr_h5_check(&d, h->size, &list[count], err);
        if (r < 0)
            fail_lie(h, "a dataset without a name", err);
        count++;
    }
    if (r < 0) {
        free(list);
        return r;
    }
    *ret = list;
    *ret_count = count;
    return 0;
}

/* The next places of a list that is not full. */
static int take_places(struct wr_h5_helper *h, const struct wr_h5_array *a,
                       const struct wr_h5_head *head, struct wr_h5_place *list,
                       uint64_t *count, weir_err *err)
{
    uint64_t n = head->len / sizeof(*list);
    int r = 0;

    if (head->kind != WR_H5_PLACED || head->len % sizeof(*list) ||
        n > a->chunks - *count)
        return fail_lie(h, "no list of chunks", err);
    memcpy(list + *count, h->payload, (size_t)head->len);
    for (uint64_t k = 0; k < n && r == 0; k++)
        r = wr_h5_check_place(a, &list[*count + k], h->size, err);
    *count += n;
    if (r < 0)
        fail_here(h, wr_fail_prefix(err, r, "dataset '/%s'",
                                    wr_show(a->said.name).text));
    else if (n)
        be_patient(h);
    return r;
}

/* Chunks that were never written take no byte of a file, and 64 of memory
 * each: there are not many more of them than all files so far could hold. */
static int count_chunks(struct wr_h5_helper *h, const struct wr_h5_array *a,
                        weir_err *err)
{
    if (a->chunks > wr_h5_chunks_max(h->bytes) - h->chunks)
        return wr_fail(err, WEIR_ELIMIT,
                       "dataset '/%s': %" PRIu64 " chunks, %" PRIu64
                       " with those before, of files of %" PRIu64 " bytes: "
                       "%" PRIu64 " are allowed",
                       wr_show(a->said.name).text, a->chunks,
                       h->chunks + a->chunks, h->bytes,
                       wr_h5_chunks_max(h->bytes));
    h->chunks += a->chunks;
    return 0;
}

int wr_h5_places(struct wr_h5_helper *h, size_t number,
                 const struct wr_h5_array *a, struct wr_h5_place **ret,
                 weir_err *err)
{
    const struct wr_h5_head what = {.kind = WR_H5_CHUNKS, .number = number};
    struct wr_h5_place *list;
    struct wr_h5_head head;
    uint64_t count = 0;
    int r = count_chunks(h, a, err);

    if (r < 0)
        return r;
    list = malloc((a->chunks + 1) * sizeof(*list));
    r = list ? ask(h, &what, NULL, err)
             : wr_fail(err, WEIR_ENOMEM, "out of memory");
    while (r == 0) {
        r = hear(h, &head, err);
        if (r < 0 || head.kind == WR_H5_DONE)
            break;
        r = take_places(h, a, &head, list, &count, err);
    }
    if (r == 0 && count != a->chunks)
        r = fail_lie(h, "chunks are missing", err);
    if (r < 0) {
        free(list);
        h->chunks -= a->chunks;
        return r;
    }
    *ret = list;
    return 0;
}

/* --- files that are written --- */

/* The next of an answer to CREATE; 1: it is complete. */
static int take_created(struct wr_h5_helper *h, const struct wr_h5_create *c,
                        const struct wr_h5_head *head, size_t *count,
                        weir_err *err)
{
    struct wr_h5_dataset d;

    if (head->kind == WR_H5_DONE)
        return *count == c->count ? 1
                                  : fail_lie(h, "datasets are missing", err);
    if (head->kind == WR_H5_WRITE)
        return c->write(c->arg, h->payload, (size_t)head->len, head->offset,
                        err);
    if (head->kind != WR_H5_DATASET || head->len != sizeof(d) ||
        *count == c->count)
        return fail_lie(h, "no file was laid out", err);
    memcpy(&d, h->payload, sizeof(d));
    c->datasets[(*count)++].address = d.address;
    return 0;
}

/* Each dataset has its place behind the one before. */
static int check_created(struct wr_h5_helper *h, const struct wr_h5_create *c,
                         uint64_t size, weir_err *err)
{
    uint64_t end = 0;

    for (size_t k = 0; k < c->count; k++) {
        struct wr_h5_array a;
        size_t bytes;

        if (wr_h5_check(&c->datasets[k], size, &a, err) < 0 || a.code ||
            !wr_mul_ok(a.chunks, a.chunk_bytes, &bytes))
            return fail_lie(h, "a dataset outside of its file", err);
        bytes = a.said.layout == WR_H5_CHUNKED ? bytes : a.bytes;
        if (bytes && (a.said.address < end || a.said.address > size ||
                      bytes > size - a.said.address))
            return fail_lie(h, "a dataset outside of its file", err);
        end = bytes ? a.said.address + bytes : end;
    }
    return 0;
}

int wr_h5_create(struct wr_h5_helper *h, const struct wr_h5_create *c,
                 uint64_t *ret_size, weir_err *err)
{
    const struct wr_h5_head what = {.kind = WR_H5_CREATE,
                                    .len = c->count * sizeof(*c->datasets)};
    struct wr_h5_head head;
    size_t count = 0;
    int r;

    begin_file(h, NULL, 0);
    r = ask(h, &what, c->datasets, err);
    while (r == 0) {
        r = hear(h, &head, err);
        if (r == 0)
            r = take_created(h, c, &head, &count, err);
    }
    if (r < 0)
        return fail_here(h, r);
    r = check_created(h, c, head.number, err);
    if (r == 0)
        *ret_size = head.number;
    return r;
}
