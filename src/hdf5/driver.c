/* driver.c - libhdf5's file driver whose bytes weir reads and writes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "hdf5/driver.h"

#include <stdlib.h>
#include <string.h>
#if H5_VERSION_GE(1, 13, 2)
#include <H5FDdevelop.h>
#endif

#include "hdf5/talk.h"

#define FIRST  ((uint64_t)64 << 10) /* small files need one message */
#define BLOCK  ((uint64_t)4 << 10)
#define BLOCKS 64u
#define LOGGED 256u /* long reads that are remembered */

/* A piece of the file. */
struct h5_block {
    uint64_t offset, len; /* len 0: none */
    uint8_t *bytes;       /* owned */
};

struct h5_file {
    H5FD_t base; /* first */
    hid_t driver, id;
    uint64_t size; /* of the file in storage */
    bool created, opening;
    haddr_t eoa, written; /* end of what is allocated, and written */
    struct h5_note note;
    struct h5_block first, blocks[BLOCKS];
    struct {
        uint64_t offset, len;
    } log[LOGGED]; /* a ring */
    unsigned logged;
};

struct h5_note *h5_note(struct h5_file *f)
{
    return &f->note;
}

hid_t h5_file_id(const struct h5_file *f)
{
    return f->id;
}

/* --- bytes --- */

static bool load(const struct h5_file *f, struct h5_block *b, uint64_t offset,
                 uint64_t most)
{
    uint64_t len = f->size - offset;

    b->len = 0;
    if (len > most)
        len = most;
    if (!b->bytes)
        b->bytes = malloc(most);
    if (!b->bytes || !h5_fetch(offset, len, b->bytes))
        return false;
    b->offset = offset;
    b->len = len;
    return true;
}

/* The block that `offset` lies in; NULL: it cannot be read. */
static const struct h5_block *block_at(struct h5_file *f, uint64_t offset)
{
    struct h5_block *b = &f->first;

    if (offset < FIRST)
        return b->len || load(f, b, 0, FIRST) ? b : NULL;
    offset -= offset % BLOCK;
    b = &f->blocks[offset / BLOCK % BLOCKS];
    if (b->len && b->offset == offset)
        return b;
    return load(f, b, offset, BLOCK) ? b : NULL;
}

static bool fetch_long(struct h5_file *f, uint64_t offset, size_t len,
                       uint8_t *buf)
{
    unsigned k = f->logged++ % LOGGED;

    f->log[k].offset = offset;
    f->log[k].len = len;
    while (len) {
        size_t n = len < WR_H5_READ_MAX ? len : WR_H5_READ_MAX;

        if (!h5_fetch(offset, n, buf))
            return false;
        offset += n;
        buf += n;
        len -= n;
    }
    return true;
}

bool h5_bytes(struct h5_file *f, uint64_t offset, size_t len, void *buf)
{
    uint8_t *to = buf;

    if (offset > f->size || len > f->size - offset)
        return false;
    if (len > BLOCK && offset + len > FIRST)
        return fetch_long(f, offset, len, to);
    while (len) {
        const struct h5_block *b = block_at(f, offset);
        size_t at, n;

        if (!b)
            return false;
        at = (size_t)(offset - b->offset);
        n = (size_t)b->len - at < len ? (size_t)b->len - at : len;
        memcpy(to, b->bytes + at, n);
        offset += n;
        to += n;
        len -= n;
    }
    return true;
}

static bool find_in(struct h5_file *f, uint64_t from, uint64_t have,
                    const void *bytes, size_t len, uint64_t *ret)
{
    uint8_t *all = have >= len ? malloc(have) : NULL;
    const uint8_t *at = NULL;

    if (all && h5_bytes(f, from, have, all))
        at = memmem(all, have, bytes, len);
    if (at)
        *ret = from + (uint64_t)(at - all);
    free(all);
    return at != NULL;
}

bool h5_find_bytes(struct h5_file *f, const void *bytes, size_t len,
                   uint64_t *ret)
{
    unsigned logged = f->logged < LOGGED ? f->logged : LOGGED;
    bool found = find_in(f, 0, f->first.len, bytes, len, ret);

    for (unsigned k = 0; k < BLOCKS && !found; k++) {
        const struct h5_block *b = &f->blocks[k];

        if (b->len) /* what lies in two blocks, too */
            found = find_in(f, b->offset,
                            f->size - b->offset < 4 * BLOCK
                                ? f->size - b->offset
                                : 4 * BLOCK,
                            bytes, len, ret);
    }
    for (unsigned k = 0; k < logged && !found; k++)
        found = find_in(f, f->log[k].offset, f->log[k].len, bytes, len, ret);
    return found;
}

/* --- what libhdf5 calls --- */

/* Files that this one links to have no bytes here: they would be taken for
 * this one. */
static H5FD_t *drv_open(const char *name, unsigned flags, hid_t fapl,
                        haddr_t max)
{
    struct h5_file *const *f = H5Pget_driver_info(fapl);

    (void)name, (void)flags, (void)max;
    return f && (*f)->opening ? &(*f)->base : NULL;
}

static herr_t drv_close(H5FD_t *base)
{
    (void)base;
    return 0;
}

static herr_t drv_query(const H5FD_t *base, unsigned long *ret)
{
    (void)base;
    *ret = 0;
    return 0;
}

static haddr_t drv_get_eoa(const H5FD_t *base, H5FD_mem_t type)
{
    (void)type;
    return ((const struct h5_file *)base)->eoa;
}

static herr_t drv_set_eoa(H5FD_t *base, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    ((struct h5_file *)base)->eoa = end;
    return 0;
}

static haddr_t drv_get_eof(const H5FD_t *base, H5FD_mem_t type)
{
    const struct h5_file *f = (const struct h5_file *)base;

    (void)type;
    if (!f->created)
        return f->size;
    return f->written > f->eoa ? f->written : f->eoa;
}

static herr_t drv_read(H5FD_t *base, H5FD_mem_t type, hid_t dxpl, haddr_t at,
                       size_t len, void *buf)
{
    struct h5_file *f = (struct h5_file *)base;

    (void)dxpl;
    if (f->note.armed && type == H5FD_MEM_DRAW) {
        f->note.seen = true;
        f->note.address = at;
        f->note.len = len;
        return 0;
    }
    return !f->created && h5_bytes(f, at, len, buf) ? 0 : -1;
}

static herr_t drv_write(H5FD_t *base, H5FD_mem_t type, hid_t dxpl, haddr_t at,
                        size_t len, const void *buf)
{
    struct h5_file *f = (struct h5_file *)base;

    (void)type, (void)dxpl;
    if (!f->created)
        return -1;
    h5_say(WR_H5_WRITE, 0, at, buf, len);
    if (at + len > f->written)
        f->written = at + len;
    return 0;
}

static herr_t drv_truncate(H5FD_t *base, hid_t dxpl, hbool_t closing)
{
    (void)base, (void)dxpl, (void)closing;
    return 0;
}

static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 13, 2)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)600,
#endif
    .name = "weir",
    .maxaddr = (haddr_t)1 << 62,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(struct h5_file *),
    .open = drv_open,
    .close = drv_close,
    .query = drv_query,
    .get_eoa = drv_get_eoa,
    .set_eoa = drv_set_eoa,
    .get_eof = drv_get_eof,
    .read = drv_read,
    .write = drv_write,
    .truncate = drv_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

/* --- files --- */

struct h5_file *h5_file_new(void)
{
    struct h5_file *f = calloc(1, sizeof(*f));

    if (f) {
        f->driver = H5FDregister(&driver);
        f->id = -1;
    }
    return f;
}

static hid_t access_list(struct h5_file *f)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);

    H5Pset_driver(fapl, f->driver, &f);
    H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG);
    return fapl;
}

/* Memory of blocks is kept for the next file. */
static void reset(struct h5_file *f, uint64_t size, bool created)
{
    h5_file_close(f);
    memset(&f->base, 0, sizeof(f->base));
    f->size = size;
    f->created = created;
    f->eoa = f->written = 0;
    f->note = (struct h5_note){0};
    f->first.len = 0;
    for (unsigned k = 0; k < BLOCKS; k++)
        f->blocks[k].len = 0;
    f->logged = 0;
}

bool h5_file_open(struct h5_file *f, uint64_t size)
{
    hid_t fapl;

    reset(f, size, /* created= */ false);
    fapl = access_list(f);
    f->opening = true;
    f->id = H5Fopen("file", H5F_ACC_RDONLY, fapl);
    f->opening = false;
    H5Pclose(fapl);
    return f->id >= 0;
}

bool h5_file_create(struct h5_file *f, bool chunked)
{
    hid_t fapl, fcpl;

    reset(f, 0, /* created= */ true);
    /* No times: the same data are the same file, whenever it is made. */
    fcpl = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_obj_track_times(fcpl, 0);
    fapl = access_list(f);
    H5Pset_small_data_block_size(fapl, 0); /* data lie in order */
    if (chunked)
        H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_LATEST);
    f->opening = true;
    f->id = H5Fcreate("file", H5F_ACC_TRUNC, fcpl, fapl);
    f->opening = false;
    H5Pclose(fcpl);
    H5Pclose(fapl);
    return f->id >= 0;
}

bool h5_file_close(struct h5_file *f)
{
    bool closed = f->id < 0 || H5Fclose(f->id) >= 0;

    f->id = -1;
    return closed;
}

uint64_t h5_file_size(const struct h5_file *f)
{
    return f->created ? drv_get_eof(&f->base, H5FD_MEM_DEFAULT) : f->size;
}
