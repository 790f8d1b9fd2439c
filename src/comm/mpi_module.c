/* mpi_module.c - MPI: the one source of the modules for Open MPI and MPICH.
 * SPDX-License-Identifier: Apache-2.0
 *
 * No blocking call waits for other ranks but those that MPI offers in no other
 * form (Init, Comm_dup, Finalize, MPI-IO). */
#include "comm/mpi_module.h"

#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#define CHUNK    ((size_t)4 << 20) /* bytes of one broadcast */
#define FLIGHT   4                 /* broadcasts at a time */
#define YIELDS   2000              /* polls before the first sleep */
#define SLEEP_NS 50000
#define READ_MAX ((size_t)1 << 30) /* bytes of one read: MPI counts by int */

/* Signals for which MPI leaves handlers of its own. */
static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};

static int mpi_fail(int code, const char *what, weir_err *err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len = 0, class = MPI_ERR_OTHER;

    MPI_Error_string(code, text, &len);
    MPI_Error_class(code, &class);
    return wr_fail(err, class == MPI_ERR_NO_SUCH_FILE ? WEIR_ENOENT : WEIR_EIO,
                   "%s: %s", what, text);
}

/* --- waiting --- */

static int is_over(const struct wr_mpi_args *a, weir_err *err)
{
    if (atomic_load(&a->cancel))
        return wr_fail(err, WEIR_ECANCELED, "MPI: given up");
    if (wr_clock_ns() > a->deadline_ns)
        return wr_fail(err, WEIR_ETIMEDOUT,
                       "MPI: the other ranks did not come in time");
    return 0;
}

/* Polls: MPI's own waiting cannot be ended, and burns a core that other ranks
 * need. */
static int wait_for(struct wr_mpi_args *a, MPI_Request *request, weir_err *err)
{
    struct timespec nap = {.tv_nsec = SLEEP_NS};
    int done = 0, r = 0;

    for (unsigned k = 0; r == 0; k++) {
        int code = MPI_Test(request, &done, MPI_STATUS_IGNORE);

        if (code != MPI_SUCCESS)
            return mpi_fail(code, "MPI", err);
        if (done)
            return 0;
        if (k < YIELDS)
            sched_yield();
        else
            nanosleep(&nap, NULL);
        r = is_over(a, err);
    }
    return r;
}

/* --- the calls --- */

static int initialize(struct wr_mpi_args *a, weir_err *err)
{
    struct sigaction before[WR_ARRAY_LEN(signals)];
    int code, level = MPI_THREAD_SINGLE;

    for (size_t k = 0; k < WR_ARRAY_LEN(signals); k++)
        sigaction(signals[k], NULL, &before[k]);
    code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    for (size_t k = 0; k < WR_ARRAY_LEN(signals); k++)
        sigaction(signals[k], &before[k], NULL);
    a->ours = true;
    return code == MPI_SUCCESS ? 0 : mpi_fail(code, "MPI_Init_thread", err);
}

/* The program uses MPI itself: weir's thread may call it at the same time. */
static int join_program(weir_err *err)
{
    int level = MPI_THREAD_SINGLE, over = 0;

    MPI_Finalized(&over);
    MPI_Query_thread(&level);
    if (over)
        return wr_fail(err, WEIR_ESTATE, "the program has finalized MPI");
    if (level < MPI_THREAD_MULTIPLE)
        return wr_fail(err, WEIR_ENOTSUP,
                       "the program has initialized MPI for one thread: it "
                       "must ask MPI_Init_thread for MPI_THREAD_MULTIPLE");
    return 0;
}

/* The ranks: those of the program are a communicator of weir's own, because it
 * may call MPI meanwhile. */
static int make_state(struct wr_mpi_args *a, weir_err *err)
{
    MPI_Comm *comm = malloc(sizeof(*comm));
    int code = MPI_SUCCESS;

    if (!comm)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    *comm = MPI_COMM_WORLD;
    if (!a->ours)
        code = MPI_Comm_dup(MPI_COMM_WORLD, comm);
    if (code != MPI_SUCCESS) {
        free(comm);
        return mpi_fail(code, "MPI_Comm_dup", err);
    }
    a->state = comm;
    return 0;
}

static MPI_Comm comm_of(const struct wr_mpi_args *a)
{
    return *(const MPI_Comm *)a->state;
}

static int mpi_start(struct wr_mpi_args *a, weir_err *err)
{
    int there = 0, r;

    MPI_Initialized(&there);
    a->ours = false;
    r = there ? join_program(err) : initialize(a, err);
    if (r == 0)
        r = make_state(a, err);
    if (r < 0)
        return r;
    MPI_Comm_set_errhandler(comm_of(a), MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &a->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &a->world);
    return 0;
}

/* All chunks with a few in flight. A barrier is last: a rank whose own part is
 * done may have bytes left to send that only further calls move. */
static int mpi_share(struct wr_mpi_args *a, weir_err *err)
{
    MPI_Request flight[FLIGHT];
    size_t sent = 0, begun = 0, ended = 0;
    int r = 0, code;

    while (r == 0 && (sent < a->len || ended < begun)) {
        if (sent < a->len && begun - ended < FLIGHT) {
            size_t n = WR_MIN(a->len - sent, CHUNK);

            code = MPI_Ibcast((char *)a->buf + sent, (int)n, MPI_BYTE, a->root,
                              comm_of(a), &flight[begun++ % FLIGHT]);
            if (code != MPI_SUCCESS)
                return mpi_fail(code, "MPI_Ibcast", err);
            sent += n;
            continue;
        }
        r = wait_for(a, &flight[ended++ % FLIGHT], err);
    }
    if (r < 0)
        return r;
    code = MPI_Ibarrier(comm_of(a), &flight[0]);
    if (code != MPI_SUCCESS)
        return mpi_fail(code, "MPI_Ibarrier", err);
    return wait_for(a, &flight[0], err);
}

static int read_pieces(struct wr_mpi_args *a, MPI_File file, weir_err *err)
{
    for (size_t at = 0; at < a->len; at += READ_MAX) {
        size_t n = WR_MIN(a->len - at, READ_MAX);
        int code = MPI_File_read_at_all(file, (MPI_Offset)(a->offset + at),
                                        (char *)a->buf + at, (int)n, MPI_BYTE,
                                        MPI_STATUS_IGNORE);

        if (code != MPI_SUCCESS)
            return mpi_fail(code, a->path, err);
    }
    return 0;
}

/* The size is asked for: the status of a read behind the end says in some MPIs
 * that all was read. */
static int check_size(struct wr_mpi_args *a, MPI_File file, weir_err *err)
{
    MPI_Offset size = 0;
    int code = MPI_File_get_size(file, &size);

    if (code != MPI_SUCCESS)
        return mpi_fail(code, a->path, err);
    if ((uint64_t)size < a->offset + a->len)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': has %lld bytes, and %llu were to be read from "
                       "offset %llu",
                       a->path, (long long)size, (unsigned long long)a->len,
                       (unsigned long long)a->offset);
    return 0;
}

static int mpi_read(struct wr_mpi_args *a, weir_err *err)
{
    MPI_Info hints = MPI_INFO_NULL;
    MPI_File file;
    char count[16];
    int r, code;

    MPI_Info_create(&hints);
    MPI_Info_set(hints, "romio_cb_read", "enable");
    if (a->readers > 0) {
        snprintf(count, sizeof(count), "%d", a->readers);
        MPI_Info_set(hints, "cb_nodes", count);
    }
    code = MPI_File_open(comm_of(a), a->path, MPI_MODE_RDONLY, hints, &file);
    MPI_Info_free(&hints);
    a->harmless = true;
    if (code != MPI_SUCCESS)
        return mpi_fail(code, a->path, err);
    r = check_size(a, file, err);
    if (r == 0)
        r = read_pieces(a, file, err);
    MPI_File_close(&file);
    return r;
}

static int mpi_finish(struct wr_mpi_args *a, weir_err *err)
{
    int code = MPI_Finalize();

    return code == MPI_SUCCESS ? 0 : mpi_fail(code, "MPI_Finalize", err);
}

extern const struct wr_mpi_module wr_mpi;

__attribute__((visibility("default"))) const struct wr_mpi_module wr_mpi = {
    .made = {WEIR_VERSION, sizeof(struct wr_mpi_args)},
    .name = WR_MPI_NAME,
    .start = mpi_start,
    .share = mpi_share,
    .read = mpi_read,
    .finish = mpi_finish,
};
