/* create.c - the metadata of a new file whose data weir writes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "hdf5/create.h"

#include "hdf5/talk.h"

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
