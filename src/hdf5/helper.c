/* helper.c - weir-hdf5: tells weir where the data of HDF5 files lie.
 * SPDX-License-Identifier: Apache-2.0
 *
 * weir starts it, and talks to it through one socket (wire.h). Files that are
 * broken or made to break libhdf5 end this process, and nothing else. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hdf5/driver.h"
#include "hdf5/jail.h"
#include "hdf5/look.h"
#include "hdf5/talk.h"
#include "hdf5/wire.h"

/* Answers WR_H5_CREATE: the metadata (WRITE), the datasets with their addresses,
 * and the size of the file. */
void h5_create(struct h5_file *f, struct wr_h5_dataset *list, size_t count);

/* A type as it is stored; negative: there is none. */
static hid_t make_type(const struct wr_h5_dataset *d)
{
    hid_t type;

    switch (d->type) {
    case WR_H5_UNSIGNED:
    case WR_H5_SIGNED:
        type = H5Tcopy(d->type == WR_H5_SIGNED ? H5T_STD_I64LE : H5T_STD_U64LE);
        H5Tset_size(type, d->size);
        break;
    case WR_H5_FLOAT:
        type = H5Tcopy(d->size == 8 ? H5T_IEEE_F64LE : H5T_IEEE_F32LE);
        if (d->size == 2) { /* half precision is a smaller single one */
            H5Tset_fields(type, 15, 10, 5, 0, 10);
            H5Tset_size(type, 2);
            H5Tset_ebias(type, 15);
        }
        break;
    case WR_H5_BOOL: /* as h5py has it */
        type = H5Tenum_create(H5T_STD_I8LE);
        H5Tenum_insert(type, "FALSE", &(signed char){0});
        H5Tenum_insert(type, "TRUE", &(signed char){1});
        return type;
    default:
        return -1;
    }
    if (d->big_endian)
        H5Tset_order(type, H5T_ORDER_BE);
    return type;
}

/* Space for the data is allocated, and left to weir. Chunks whose number is
 * fixed and whose space is allocated at once lie one behind the other, without
 * an index (the "implicit" one). */
static hid_t creation_list(const struct wr_h5_dataset *d)
{
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t chunk[WR_H5_DIMS];

    for (uint32_t k = 0; k < WR_H5_DIMS; k++)
        chunk[k] = d->chunk[k];
    if (d->layout != WR_H5_CHUNKED)
        H5Pset_layout(dcpl, H5D_CONTIGUOUS);
    else if (d->ndim > WR_H5_DIMS ||
             H5Pset_chunk(dcpl, (int)d->ndim, chunk) < 0) {
        H5Pclose(dcpl);
        return -1;
    }
    H5Pset_obj_track_times(dcpl, 0);
    H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);
    return dcpl;
}

/* Where its bytes begin; HADDR_UNDEF: nowhere. */
static haddr_t place_of(struct h5_file *f, hid_t dataset,
                        const struct wr_h5_dataset *d)
{
    const hsize_t first[WR_H5_DIMS] = {0};
    struct h5_note *note = h5_note(f);
    uint32_t mask;
    char unused; /* the armed driver touches no memory */

    if (d->layout != WR_H5_CHUNKED)
        return H5Dget_offset(dataset);
    *note = (struct h5_note){.armed = true};
    H5Dread_chunk(dataset, H5P_DEFAULT, first, &mask, &unused);
    note->armed = false;
    return note->seen ? note->address : HADDR_UNDEF;
}

static bool add(struct h5_file *f, struct wr_h5_dataset *d)
{
    hid_t links = H5Pcreate(H5P_LINK_CREATE), dcpl = creation_list(d);
    hid_t type = make_type(d), space = -1, dataset = -1;
    hsize_t dims[WR_H5_DIMS];
    haddr_t at;

    for (uint32_t k = 0; k < WR_H5_DIMS; k++)
        dims[k] = d->dims[k];
    H5Pset_create_intermediate_group(links, 1);
    if (type >= 0 && dcpl >= 0 && d->ndim <= WR_H5_DIMS)
        space = H5Screate_simple((int)d->ndim, dims, NULL);
    if (space >= 0)
        dataset = H5Dcreate2(h5_file_id(f), d->name, type, space, links, dcpl,
                             H5P_DEFAULT);
    if (dataset < 0)
        return false;
    at = place_of(f, dataset, d);
    d->address = at == HADDR_UNDEF ? 0 : at;
    H5Dclose(dataset);
    H5Sclose(space);
    H5Tclose(type);
    H5Pclose(dcpl);
    H5Pclose(links);
    return true;
}

void h5_create(struct h5_file *f, struct wr_h5_dataset *list, size_t count)
{
    bool chunked = false, good;

    for (size_t k = 0; k < count; k++)
        chunked |= list[k].layout == WR_H5_CHUNKED;
    good = h5_file_create(f, chunked);
    for (size_t k = 0; k < count && good; k++) {
        list[k].name[WR_H5_NAME - 1] = '\0';
        good = add(f, &list[k]);
    }
    if (!h5_file_close(f) || !good) {
        h5_error("libhdf5 cannot lay out such a file");
        return;
    }
    for (size_t k = 0; k < count; k++)
        h5_say(WR_H5_DATASET, k, 0, &list[k], sizeof(list[k]));
    h5_say(WR_H5_DONE, h5_file_size(f), 0, NULL, 0);
}

struct helper {
    struct h5_file *file;
    hid_t datasets[WR_H5_DATASETS]; /* negative: one that is refused */
    unsigned count;
    bool too_many;
};

static void close_datasets(struct helper *h)
{
    while (h->count)
        if (h->datasets[--h->count] >= 0)
            H5Dclose(h->datasets[h->count]);
    h->too_many = false;
}

/* --- opening --- */

/* A writer that holds the file, or died with it, leaves a flag. */
static bool is_being_written(struct h5_file *f)
{
    static const uint8_t signature[] = "\211HDF\r\n\032\n";
    uint8_t head[12];

    for (uint64_t at = 0; h5_bytes(f, at, sizeof(head), head);
         at = at ? 2 * at : 512)
        if (!memcmp(head, signature, 8))
            return head[8] >= 3 && (head[11] & 5);
    return false;
}

static void open_file(struct helper *h, uint64_t size)
{
    close_datasets(h);
    if (!h5_file_open(h->file, size))
        h5_error("not an HDF5 file, damaged, or newer than this libhdf5");
    else if (is_being_written(h->file))
        h5_error("a writer has it open, or died before closing it (h5clear -s "
                 "clears that)");
    else
        h5_say(WR_H5_DONE, 0, 0, NULL, 0);
}

/* --- datasets --- */

/* A path that is too long is cut, between two characters. */
static void set_name(struct wr_h5_dataset *d, const char *name)
{
    size_t len = strnlen(name, sizeof(d->name) - 1);

    while (name[len] && len && (name[len] & 0xc0) == 0x80)
        len--;
    memcpy(d->name, name, len);
}

static bool has_room(struct helper *h)
{
    h->too_many = h->count == WR_H5_DATASETS;
    return !h->too_many;
}

static void tell(struct helper *h, const char *name, hid_t dataset)
{
    struct wr_h5_dataset d = {0};

    h->datasets[h->count++] = dataset;
    set_name(&d, name);
    h5_look(h->file, dataset, &d);
    h5_say(WR_H5_DATASET, h->count - 1, 0, &d, sizeof(d));
}

/* One that cannot be opened; `missed`: there are data somewhere. */
static void tell_refused(struct helper *h, const char *name, const char *why,
                         bool missed)
{
    struct wr_h5_dataset d = {.layout = WR_H5_REFUSED, .unreachable = missed};

    h->datasets[h->count++] = -1;
    set_name(&d, name);
    strncpy(d.why, why, sizeof(d.why) - 1);
    h5_say(WR_H5_DATASET, h->count - 1, 0, &d, sizeof(d));
}

static void tell_undecoded(struct helper *h, const char *name)
{
    unsigned major = 0, minor = 0, release = 0;
    char why[WR_H5_WHY];

    H5get_libversion(&major, &minor, &release);
    snprintf(
        why, sizeof(why),
        "libhdf5 %u.%u.%u cannot decode it: damaged, or written by a newer "
        "libhdf5",
        major, minor, release);
    tell_refused(h, name, why, /* missed= */ true);
}

static herr_t visit(hid_t root, const char *name, const H5O_info_t *info,
                    void *arg)
{
    struct helper *h = arg;
    hid_t dataset;

    if (info->type == H5O_TYPE_GROUP || info->type == H5O_TYPE_NAMED_DATATYPE)
        return 0;
    if (!has_room(h))
        return 1;
    if (strlen(name) >= WR_H5_NAME) {
        tell_refused(h, name, "a path of more than 127 bytes",
                     /* missed= */ true);
        return 0;
    }
    dataset = H5Dopen2(root, name, H5P_DEFAULT);
    if (dataset >= 0)
        tell(h, name, dataset);
    else
        tell_undecoded(h, name);
    return 0;
}

/* Says where a link leads that is not followed; false: it is one that is. */
static bool explain_link(hid_t root, const char *name, const H5L_info_t *info,
                         char *why)
{
    const char *file = "", *path = "";
    char value[WR_H5_WHY] = "";
    unsigned flags;

    if (info->type == H5L_TYPE_HARD ||
        (info->type == H5L_TYPE_SOFT &&
         H5Oexists_by_name(root, name, H5P_DEFAULT) > 0))
        return false;
    H5Lget_val(root, name, value, sizeof(value) - 1, H5P_DEFAULT);
    if (info->type == H5L_TYPE_SOFT) {
        snprintf(why, WR_H5_WHY, "a link to '%.120s', which does not exist",
                 value);
        return true;
    }
    if (info->type == H5L_TYPE_EXTERNAL &&
        info->u.val_size <= sizeof(value) - 1)
        H5Lunpack_elink_val(value, info->u.val_size, &flags, &file, &path);
    snprintf(why, WR_H5_WHY,
             "an external link%s%.70s%s%.70s: name that file instead",
             *file ? " to " : "", file, *file ? "#data=" : "", path);
    return true;
}

/* Links that H5Ovisit does not follow. */
static herr_t visit_link(hid_t root, const char *name, const H5L_info_t *info,
                         void *arg)
{
    struct helper *h = arg;
    char why[WR_H5_WHY];

    if (!explain_link(root, name, info, why))
        return 0;
    if (!has_room(h))
        return 1;
    tell_refused(h, name, why, info->type != H5L_TYPE_SOFT);
    return 0;
}

static bool list_all(struct helper *h)
{
    hid_t file = h5_file_id(h->file);

    if (H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, visit, h, H5O_INFO_BASIC) <
            0 ||
        (!h->too_many &&
         H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, visit_link, h) < 0))
        h5_error("its groups are damaged");
    else if (h->too_many)
        h5_error("more than 1024 datasets: name the ones to read, as "
                 "FILE#data=/path does");
    else
        return true;
    return false;
}

/* Why `name`, which has at most WR_H5_NAME bytes, is not a dataset; false: it
 * is not there at all. */
static bool explain_absence(struct helper *h, const char *name)
{
    hid_t file = h5_file_id(h->file);
    char path[WR_H5_NAME + 1] = "", why[WR_H5_WHY];
    H5L_info_t info;
    H5O_info_t object;

    strncpy(path, name, sizeof(path) - 1);
    for (size_t at = strspn(path, "/"); path[at];) { /* each group on the way */
        char end;

        at += strcspn(path + at, "/");
        end = path[at];
        path[at] = '\0';
        if (H5Lexists(file, path, H5P_DEFAULT) <= 0 ||
            H5Lget_info(file, path, &info, H5P_DEFAULT) < 0)
            return false;
        if (explain_link(file, path, &info, why)) {
            tell_refused(h, name, why, /* missed= */ true);
            return true;
        }
        path[at] = end;
        at += strspn(path + at, "/");
    }
    if (H5Oget_info_by_name2(file, path, &object, H5O_INFO_BASIC, H5P_DEFAULT) <
            0 ||
        object.type == H5O_TYPE_DATASET)
        tell_undecoded(h, name);
    else
        tell_refused(h, name, "a group or a type, not a dataset",
                     /* missed= */ false);
    return true;
}

static bool list_named(struct helper *h, const char *names, size_t len)
{
    for (size_t at = 0; at < len; at += strlen(names + at) + 1) {
        const char *name = names + at;
        bool room = has_room(h);
        hid_t dataset = room ? H5Dopen2(h5_file_id(h->file), name, H5P_DEFAULT)
                             : -1;
        char why[WR_H5_WHY];

        if (dataset >= 0) {
            tell(h, name, dataset);
        } else if (!room || !explain_absence(h, name)) {
            snprintf(why, sizeof(why), "it has no dataset '%.128s'", name);
            h5_error(why);
            return false;
        }
    }
    return true;
}

static void list(struct helper *h, const char *names, size_t len)
{
    close_datasets(h);
    if (len ? list_named(h, names, len) : list_all(h))
        h5_say(WR_H5_DONE, h->count, 0, NULL, 0);
}

/* --- chunks --- */

struct h5_walk {
    struct h5_note *note;
    hid_t dataset;
    struct wr_h5_dataset look;
    bool edges_plain; /* chunks that reach over an edge are not filtered */
    hsize_t at[WR_H5_DIMS];
    struct wr_h5_place places[WR_H5_PLACES];
    unsigned count;
};

static bool is_edge(const struct h5_walk *w)
{
    for (uint32_t k = 0; k < w->look.ndim; k++)
        if (w->look.dims[k] - w->at[k] < w->look.chunk[k])
            return true;
    return false;
}

static bool next_chunk(struct h5_walk *w)
{
    for (uint32_t k = w->look.ndim; k-- > 0;) {
        w->at[k] += w->look.chunk[k];
        if (w->at[k] < w->look.dims[k])
            return true;
        w->at[k] = 0;
    }
    return false;
}

/* The innermost error is that the chunk has no address, not that the index
 * could not be read. */
static herr_t look_for_absence(unsigned n, const H5E_error2_t *e, void *arg)
{
    *(bool *)arg |= n == 0 && !strcmp(e->func_name, "H5D__chunk_direct_read");
    return 0;
}

static bool is_unallocated(const struct h5_walk *w)
{
    hsize_t stored = 0;
    bool absent = false;

    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, look_for_absence, &absent);
    return absent ||
           (H5Dget_chunk_storage_size(w->dataset, w->at, &stored) >= 0 &&
            !stored);
}

static bool place(struct h5_walk *w, struct wr_h5_place *ret)
{
    char unused; /* the armed driver touches no memory */
    uint32_t mask = 0;
    herr_t r;

    *w->note = (struct h5_note){.armed = true};
    r = H5Dread_chunk(w->dataset, H5P_DEFAULT, w->at, &mask, &unused);
    w->note->armed = false;
    if (r >= 0 && w->note->seen) {
        *ret = (struct wr_h5_place){w->note->address, w->note->len, mask, 0};
        if (w->edges_plain && is_edge(w))
            ret->mask = UINT32_MAX;
        return true;
    }
    if (!is_unallocated(w))
        return false;
    *ret = (struct wr_h5_place){.address = WR_H5_UNALLOCATED};
    return true;
}

static void flush(struct h5_walk *w)
{
    h5_say(WR_H5_PLACED, 0, 0, w->places, w->count * sizeof(w->places[0]));
    w->count = 0;
}

static bool is_empty(const struct wr_h5_dataset *d)
{
    for (uint32_t k = 0; k < d->ndim; k++)
        if (!d->dims[k])
            return true;
    return false;
}

static bool walk_chunks(struct h5_walk *w)
{
    bool more = !is_empty(&w->look);

    while (more) {
        if (w->count == WR_H5_PLACES)
            flush(w);
        if (!place(w, &w->places[w->count]))
            return false;
        w->count++;
        more = next_chunk(w);
    }
    flush(w);
    return true;
}

static bool keeps_edges_plain(hid_t dataset)
{
    hid_t dcpl = H5Dget_create_plist(dataset);
    unsigned options = 0;

    H5Pget_chunk_opts(dcpl, &options);
    H5Pclose(dcpl);
    return options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS;
}

static void chunks(struct helper *h, uint64_t number)
{
    bool known = number < h->count && h->datasets[number] >= 0;
    struct h5_walk *w = known ? calloc(1, sizeof(*w)) : NULL;

    if (w) {
        w->dataset = h->datasets[number];
        h5_look(h->file, w->dataset, &w->look);
    }
    if (!w || w->look.layout != WR_H5_CHUNKED) {
        h5_error("no such chunks");
        free(w);
        return;
    }
    w->note = h5_note(h->file);
    w->edges_plain = keeps_edges_plain(w->dataset);
    if (walk_chunks(w))
        h5_say(WR_H5_DONE, 0, 0, NULL, 0);
    else
        h5_error("the index of its chunks is damaged");
    free(w);
}

/* What weir says that the files may take; a little for those who start it by
 * hand. */
static unsigned allowed_seconds(int argc, char **argv)
{
    unsigned long told = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

    return told > 0 && told <= WR_H5_SECONDS_MAX ? (unsigned)told : 20;
}

int main(int argc, char **argv)
{
    struct helper *h = h5_end_with_weir() ? calloc(1, sizeof(*h)) : NULL;

    H5dont_atexit();
    H5open();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0);
    if (!h || !(h->file = h5_file_new()) ||
        !h5_jail(allowed_seconds(argc, argv)))
        _exit(2);
    for (;;) {
        struct wr_h5_head head;
        void *payload;

        h5_hear(&head, &payload);
        switch (head.kind) {
        case WR_H5_OPEN:
            open_file(h, head.number);
            break;
        case WR_H5_LIST:
            list(h, payload, head.len);
            break;
        case WR_H5_CHUNKS:
            chunks(h, head.number);
            break;
        case WR_H5_CREATE:
            close_datasets(h);
            h5_create(h->file, payload,
                      head.len / sizeof(struct wr_h5_dataset));
            break;
        default:
            _exit(3);
        }
        free(payload);
    }
}
