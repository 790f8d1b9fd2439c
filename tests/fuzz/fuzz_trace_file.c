/* fuzz_trace_file.c - any bytes as a trace file: opened, walked over, analysed,
 * shown and exported.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/le.h"
#include "report/result.h"
#include "trace/coding.h"
#include "trace/export.h"
#include "trace/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Puts right checksums on chunks, or nothing behind them is ever reached. */
static void seal(uint8_t *bytes, size_t size)
{
    struct wr_chunk c;

    for (size_t at = WR_TRACE_HEAD; at < size && size - at >= WR_CHUNK_HEAD &&
                                    !wr_chunk_parse(bytes + at, &c) &&
                                    c.stored <= size - at - WR_CHUNK_HEAD;
         at += WR_CHUNK_HEAD + c.stored)
        wr_le_put(bytes + at + 24,
                  XXH3_64bits_withSeed(bytes + at + WR_CHUNK_HEAD, c.stored,
                                       XXH3_64bits(bytes + at, 24)),
                  8);
}

struct totals {
    const struct wr_trace_file *f;
    uint64_t events, counts, bytes;
};

static int see_events(void *arg, const struct wr_trace_event *e, size_t n)
{
    struct totals *t = arg;

    for (size_t k = 0; k < n; k++) {
        t->bytes += e[k].bytes + e[k].start_ns + e[k].dur_ns;
        if (e[k].file != WR_TRACE_NO_FILE)
            t->bytes += strlen(wr_trace_file_name(t->f, e[k].file)->path);
        t->bytes += wr_trace_file_process(t->f, e[k].process)->start_ns;
    }
    t->events += n;
    return 0;
}

static int see_counts(void *arg, const struct wr_trace_counts *c)
{
    struct totals *t = arg;

    t->bytes += strlen(wr_trace_file_name(t->f, c->file)->path);
    t->counts++;
    return 0;
}

static void walk(struct wr_trace_file *f)
{
    struct totals t = {.f = f};
    weir_err err = {0};

    if (wr_trace_file_walk(f, see_events, &t, &err) < 0) {
        if (!err.msg[0])
            abort();
    } else if (t.events != wr_trace_file_events(f)) {
        abort();
    }
    err.msg[0] = '\0';
    if (wr_trace_file_walk_counts(f, see_counts, &t, &err) < 0) {
        if (!err.msg[0])
            abort();
    } else if (t.counts != wr_trace_file_counts(f)) {
        abort();
    }
}

static void show(struct wr_trace_file *f, const char *path)
{
    FILE *out = fopen("/dev/null", "we");
    json_t *record = NULL;
    weir_err err = {0};

    if (!out)
        abort();
    if (wr_trace_record_load(path, NULL, /* brief= */ false, &record, &err) ==
        0) {
        if (wr_result_print(record, (struct wr_doc_text_style){.width = 80},
                            out, &err) < 0)
            abort();
        wr_trace_export_csv(f, out, &err);
        wr_trace_export_chrome(f, out, &err);
        wr_trace_export_darshan(f, out, &err);
    } else if (record || !err.msg[0]) {
        abort();
    }
    json_decref(record);
    fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("trace", MFD_CLOEXEC);
    uint8_t *bytes = malloc(size + 1);
    struct wr_trace_file *f = NULL;
    weir_err err = {0};
    char path[64];

    if (!bytes || fd < 0)
        abort();
    if (size)
        memcpy(bytes, data, size);
    seal(bytes, size);
    if (write(fd, bytes, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (wr_trace_file_open(&f, path, &err) == 0) {
        walk(f);
        show(f, path);
    } else if (f || !err.msg[0]) {
        abort();
    }
    wr_trace_file_close(f);
    free(bytes);
    close(fd);
    return 0;
}
