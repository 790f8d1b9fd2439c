/* corpus.h - encoded pictures from the corpora of the fuzzers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TEST_CORPUS_H
#define WR_TEST_CORPUS_H

#include <stdio.h>
#include <stdlib.h>

#include "make_picture.h"

/* The picture in tests/fuzz/corpus/NAME, without the byte in front that says
 * how it is to be decoded. The bytes are the caller's. */
static inline struct made corpus_picture(const char *name)
{
    char path[512];
    struct made m = {0};
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", WR_CORPUS, name);
    f = fopen(path, "rb");
    m.bytes = malloc(65536);
    if (!f || !m.bytes || fgetc(f) == EOF) {
        perror(path);
        abort();
    }
    m.len = fread(m.bytes, 1, 65536, f);
    fclose(f);
    return m;
}

#endif
