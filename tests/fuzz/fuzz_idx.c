/* fuzz_idx.c - IDX files, images and the labels beside them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first byte of the input says how many bytes the file of labels has (0:
 * there is none), which come next; the rest is that of the images. */
#include "one_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct one_file labels = {.name = "a-labels-idx1-ubyte"};
    struct one_file images = {.name = "a-images-idx3-ubyte"};

    if (!size)
        return 0;
    labels.size = WR_MIN((size_t)data[0], size - 1);
    images.size = size - 1 - labels.size;
    labels.data = malloc(labels.size + 1);
    images.data = malloc(images.size + 1);
    images.beside = labels.size ? &labels : NULL;
    if (labels.data && images.data) {
        memcpy(labels.data, data + 1, labels.size);
        memcpy(images.data, data + 1 + labels.size, images.size);
        one_file_run(&wr_format_idx, &images, NULL, NULL);
    }
    free(labels.data);
    free(images.data);
    return 0;
}
