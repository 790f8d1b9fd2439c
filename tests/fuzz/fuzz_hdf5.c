/* fuzz_hdf5.c - answers of an HDF5 helper that lies: what is accepted, is in the
 * file.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The input is a dataset, then places of chunks. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/hdf5_answer.h"

#define SIZE 100000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_places(const struct wr_h5_array *a, const uint8_t *data,
                       size_t size)
{
    struct wr_h5_place p;

    for (; size >= sizeof(p); data += sizeof(p), size -= sizeof(p)) {
        memcpy(&p, data, sizeof(p));
        if (wr_h5_check_place(a, &p, SIZE, NULL) == 0 &&
            p.address != WR_H5_UNALLOCATED &&
            (p.address > SIZE || p.stored > SIZE - p.address))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_h5_choice *choice = malloc(sizeof(*choice));
    struct wr_h5_dataset d = {0};
    struct wr_h5_array a;
    char text[64] = "";

    memcpy(&d, data, size < sizeof(d) ? size : sizeof(d));
    memcpy(text, data, size < sizeof(text) ? size : sizeof(text) - 1);
    wr_h5_choice_parse(text, choice, NULL);
    if (wr_h5_check(&d, SIZE, &a, NULL) == 0) {
        wr_h5_choice_detect(&a, 1, choice, NULL);
        if (a.code == 0 && a.said.layout == WR_H5_CONTIGUOUS &&
            (a.said.address > SIZE || a.bytes > SIZE - a.said.address))
            abort();
        if (a.code == 0 && a.said.layout == WR_H5_CHUNKED && size > sizeof(d))
            try_places(&a, data + sizeof(d), size - sizeof(d));
    }
    free(choice);
    return 0;
}
