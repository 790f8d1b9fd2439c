/* shard_sum.c - the checksums of a shard, checked read by read.
 * SPDX-License-Identifier: Apache-2.0 */
#include "safetensors/shard_sum.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "codec/crc32c.h"
#include "safetensors/head.h"

#define HEAD_MAX ((uint64_t)WR_ST_MAX_JSON + 8)

uint64_t wr_shard_chunks(const struct wr_st_shard *s, uint32_t chunk)
{
    uint64_t data = s->size - s->data_offset;

    return data / chunk + (data % chunk != 0);
}

void wr_shard_done(struct wr_st_shard *s)
{
    free(s->crcs);
    free(s->pipeline);
    memset(s, 0, sizeof(*s));
}

int wr_sum_init(struct wr_sum *m, const char *path, const struct wr_st_shard *s,
                uint32_t chunk, weir_err *err)
{
    if (s->data_offset > HEAD_MAX || s->data_offset > s->size || !chunk)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': a head of %" PRIu64 " bytes cannot be", path,
                       s->data_offset);
    *m = (struct wr_sum){.path = path, .s = s, .chunk = chunk};
    return 0;
}

int wr_sum_result(const struct wr_sum *m, const struct wr_io *io, weir_err *err)
{
    if (io->result == WEIR_ECHANGED)
        return wr_fail(err, WEIR_EDAMAGED,
                       "'%s': ends at byte %" PRIu64 ", should have %" PRIu64,
                       m->path, io->offset + io->got, m->s->size);
    return io->result < 0 ? wr_io_error(io, m->path, err) : 0;
}

int wr_sum_add(struct wr_sum *m, uint64_t offset, const uint8_t *bytes,
               size_t len, weir_err *err)
{
    const struct wr_st_shard *s = m->s;
    uint64_t at = offset, stop = offset + len;

    while (at < stop) {
        bool head = at < s->data_offset;
        uint64_t k = head ? 0 : (at - s->data_offset) / m->chunk;
        uint64_t begin = head ? 0 : s->data_offset + k * m->chunk;
        uint64_t end = head ? s->data_offset
                            : WR_MIN(begin + m->chunk, s->size);
        uint64_t part = WR_MIN(end, stop);

        m->crc = wr_crc32c(at == begin ? 0 : m->crc, bytes + (at - offset),
                           (size_t)(part - at));
        if (part == end && m->crc != (head ? s->head_crc : s->crcs[k]))
            return wr_fail(err, WEIR_EDAMAGED,
                           "'%s': checksum mismatch in bytes %" PRIu64
                           " to %" PRIu64,
                           m->path, begin, end);
        at = part;
    }
    return 0;
}
