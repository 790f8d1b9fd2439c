/* file_io.c - reads and writes of local files: what the two queues share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "storage/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"

#define AGAIN_MAX 1000u /* about a second */

static bool is_aligned(const struct wr_io *io)
{
    uint64_t bits = io->offset | io->len | (uintptr_t)io->buf;

    return bits % WR_DIRECT_ALIGN == 0;
}

struct wr_span wr_file_span(const struct wr_io *io, bool direct)
{
    uint64_t mask = WR_DIRECT_ALIGN - 1;
    size_t want = io->len + (io->whole ? 1 : 0);
    struct wr_span span = {io->offset, want, direct};

    if (io->op == WR_IO_WRITE)
        return (struct wr_span){io->offset, io->len, direct && is_aligned(io)};
    if (direct) {
        span.offset = io->offset & ~mask;
        span.len = (size_t)(WR_ALIGN_UP(io->offset + want,
                                        (uint64_t)WR_DIRECT_ALIGN) -
                            span.offset);
    }
    assert(span.len <= io->cap);
    return span;
}

int wr_file_fd(const struct wr_io *io, const struct wr_span *span)
{
    struct file_object *fo = (struct file_object *)io->object;

    return !fo ? -1 : span->direct ? wr_file_direct_fd(fo) : fo->fd;
}

bool wr_file_wants_more(const struct wr_io *io, const struct wr_span *span,
                        size_t total, size_t last)
{
    if (last == 0 || total >= span->len)
        return false;
    if (io->op == WR_IO_WRITE)
        return true;
    /* A direct read that ends unaligned has met the end of the file, and
     * going on from there would be refused. */
    if (span->direct)
        return total % WR_DIRECT_ALIGN == 0;
    /* All that was indexed is there, and the byte behind it is not. */
    return !(io->whole && total == io->len);
}

bool wr_file_again(int e, unsigned *again)
{
    if (e == EINTR)
        return true;
    if (e != EAGAIN || ++*again > AGAIN_MAX)
        return false;
    wr_clock_sleep_until(wr_clock_ns() + WR_NS_PER_MS);
    return true;
}

uint64_t wr_file_identity(const struct file_store *fs, const struct stat *sb)
{
    uint64_t ctime_ns = (uint64_t)sb->st_ctim.tv_sec * WR_NS_PER_SEC +
                        (uint64_t)sb->st_ctim.tv_nsec;

    return wr_rng_at(fs->fickle ? 0 : sb->st_ino, (uint64_t)sb->st_size,
                     ctime_ns) |
           1;
}

/* Fails a read that is done if its file is not the one that was meant. */
static void compare_identity(const struct file_store *fs, struct wr_io *io)
{
    const struct file_object *fo = (struct file_object *)io->object;
    struct stat sb;
    int r = (int)TEMP_FAILURE_RETRY(fo ? fstat(fo->fd, &sb)
                                       : fstatat(fs->dir_fd, io->path, &sb, 0));

    if (r < 0) {
        wr_file_settle_errno(io, WR_STEP_READ, 0, errno);
    } else if (wr_file_identity(fs, &sb) != io->identity) {
        io->step = WR_STEP_COMPARE;
        io->result = WEIR_ECHANGED;
    }
}

void wr_file_settle(const struct file_store *fs, struct wr_io *io,
                    const struct wr_span *span, size_t total)
{
    size_t skip = (size_t)(io->offset - span->offset);
    size_t got = total > skip ? total - skip : 0;

    io->data = (uint8_t *)io->buf + skip;
    io->step = io->op == WR_IO_WRITE ? WR_STEP_WRITE : WR_STEP_READ;
    io->os_errno = 0;
    io->got = WR_MIN(got, io->len);
    io->result = got < io->len || (io->whole && got > io->len) ? WEIR_ECHANGED
                                                               : 0;
    if (io->identity && io->result == 0)
        compare_identity(fs, io);
}

void wr_file_settle_errno(struct wr_io *io, enum wr_io_step step, size_t total,
                          int e)
{
    /* Refused for ever so long: the kernel lacks something, nobody has a lock
     * on this. As EAGAIN it would pass for one. */
    if (e == EAGAIN)
        e = ENOBUFS;
    io->data = io->buf;
    io->step = step;
    io->os_errno = e;
    io->got = io->op == WR_IO_WRITE ? total : 0;
    io->result = wr_error_from_errno(e);
}
