/* hdf5_fake.c - a helper that does to weir what a file asks it to do.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first bytes of a file say how the helper behaves when it is opened:
 * crash, hang, garbage and so on; "good" is a dataset of 4 samples of 8 bytes at
 * offset 64. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hdf5/wire.h"

#define WORD  16
#define HOLES 600000u /* chunks that were never written */

static void take(void *buf, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = read(WR_H5_FD, (char *)buf + done, len - done);

        if (n <= 0)
            _exit(0);
        done += (size_t)n;
    }
}

static void give(const void *buf, size_t len)
{
    if (write(WR_H5_FD, buf, len) != (ssize_t)len)
        _exit(0);
}

static void say(uint32_t kind, uint64_t number, uint64_t offset,
                const void *payload, uint64_t len)
{
    const struct wr_h5_head head = {.version = WR_H5_VERSION,
                                    .kind = kind,
                                    .number = number,
                                    .offset = offset,
                                    .len = len};

    give(&head, sizeof(head));
    if (payload)
        give(payload, (size_t)len);
}

static void read_word(char *ret)
{
    struct wr_h5_head head;

    say(WR_H5_READ, WORD, 0, NULL, 0);
    take(&head, sizeof(head));
    take(ret, WORD);
    ret[WORD - 1] = '\0';
}

static void crash_or_hang(const char *word)
{
    char garbage[200];

    if (!strcmp(word, "crash"))
        abort();
    if (!strcmp(word, "exit"))
        _exit(7);
    while (!strcmp(word, "hang"))
        pause();
    if (!strcmp(word, "garbage")) {
        memset(garbage, 0x5a, sizeof(garbage));
        give(garbage, sizeof(garbage));
    }
    if (!strcmp(word, "long"))
        say(WR_H5_DONE, 0, 0, NULL, UINT64_MAX / 2);
    if (!strcmp(word, "outside"))
        say(WR_H5_READ, 100, 1 << 30, NULL, 0);
    while (!strcmp(word, "reads")) { /* for ever */
        char scratch[WORD];

        read_word(scratch);
    }
    if (!strcmp(word, "error"))
        say(WR_H5_ERROR, 0, 0, "because\033[2J", 12);
}

static struct wr_h5_dataset dataset(const char *word)
{
    struct wr_h5_dataset d = {.name = "x",
                              .layout = WR_H5_CONTIGUOUS,
                              .type = WR_H5_UNSIGNED,
                              .size = 1,
                              .ndim = 2,
                              .dims = {4, 8},
                              .chunk = {1, 8},
                              .address = 64};

    if (!strcmp(word, "far"))
        d.address = UINT64_MAX - 4;
    if (!strcmp(word, "huge"))
        d.dims[0] = d.dims[1] = UINT64_MAX / 2;
    if (!strcmp(word, "dims"))
        d.ndim = 99;
    if (!strcmp(word, "type"))
        d.type = 77;
    if (!strcmp(word, "noname"))
        memset(d.name, 'x', sizeof(d.name));
    if (!strcmp(word, "latin"))
        memcpy(d.name, "\xff\xfe", 3);
    if (!strncmp(word, "chunk", 5))
        d.layout = WR_H5_CHUNKED;
    if (!strcmp(word, "numbers")) {
        d.layout = WR_H5_UNWRITTEN;
        d.ndim = 1;
        d.dims[0] = (uint64_t)65 << 20;
    }
    if (!strcmp(word, "chunkhole"))
        d.dims[0] = HOLES;
    if (!strcmp(word, "chunkholes"))
        d.dims[0] = 2 * HOLES;
    if (!strcmp(word, "chunk0"))
        d.chunk[1] = 0;
    if (!strcmp(word, "chunkfilter")) {
        d.filter_count = 1;
        d.filters[0] = 4242;
    }
    if (!strcmp(word, "chunkfilters"))
        d.filter_count = 4000;
    return d;
}

static void list(const char *word)
{
    struct wr_h5_dataset d = dataset(word);

    say(WR_H5_DATASET, 0, 0, &d, sizeof(d));
    for (unsigned k = 0; k < 2000 && !strcmp(word, "many"); k++)
        say(WR_H5_DATASET, 0, 0, &d, sizeof(d));
    say(WR_H5_DONE, 1, 0, NULL, 0);
}

static void tell_holes(void)
{
    static struct wr_h5_place p[WR_H5_PLACES];

    for (unsigned k = 0; k < WR_H5_PLACES; k++)
        p[k] = (struct wr_h5_place){.address = WR_H5_UNALLOCATED};
    for (unsigned left = HOLES, n; left; left -= n) {
        n = left < WR_H5_PLACES ? left : WR_H5_PLACES;
        say(WR_H5_PLACED, 0, 0, p, n * sizeof(p[0]));
    }
    say(WR_H5_DONE, 0, 0, NULL, 0);
}

static void chunks(const char *word)
{
    struct wr_h5_place p[5];

    if (!strcmp(word, "chunkhole")) {
        tell_holes();
        return;
    }
    for (unsigned k = 0; k < 5; k++)
        p[k] = (struct wr_h5_place){.address = 64 + 8 * k, .stored = 8};
    if (!strcmp(word, "chunkfar"))
        p[2].address = 1 << 20;
    if (!strcmp(word, "chunksize"))
        p[2].stored = 7;
    say(WR_H5_PLACED, 0, 0, p,
        (strcmp(word, "chunkmore") ? strcmp(word, "chunkless") ? 4 : 3 : 5) *
            sizeof(p[0]));
    say(WR_H5_DONE, 0, 0, NULL, 0);
}

int main(void)
{
    char word[WORD] = "";

    for (;;) {
        struct wr_h5_head head;
        char payload[4096];

        take(&head, sizeof(head));
        take(payload, head.len < sizeof(payload) ? (size_t)head.len : 0);
        if (head.kind == WR_H5_OPEN) {
            read_word(word);
            crash_or_hang(word);
            if (strcmp(word, "error") != 0)
                say(WR_H5_DONE, 0, 0, NULL, 0);
        } else if (head.kind == WR_H5_LIST) {
            list(word);
        } else {
            chunks(word);
        }
    }
}
