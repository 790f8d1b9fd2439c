/* fuzz_manifest.c - manifests of saved steps.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/crc32c.h"
#include "tier/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_shard(const struct wr_st_shard *s, uint32_t chunk)
{
    struct wr_st_shard again;
    size_t len;
    char *text = wr_shard_text(s, chunk, &len);

    if (s->data_offset < 8 || s->data_offset > s->size || !text)
        abort();
    for (uint64_t k = wr_shard_chunks(s, chunk); k; k--)
        if (s->crcs[k - 1] && !chunk) /* reads all of them */
            abort();
    if (wr_shard_parse(text, len, chunk, &again, NULL) < 0)
        abort();
    wr_shard_done(&again);
    free(text);
}

static bool is_same_turn(const struct wr_ordinal *a, const struct wr_ordinal *b)
{
    return a->generation == b->generation && a->seq == b->seq &&
           a->part == b->part && a->step == b->step &&
           !strcmp(a->nonce, b->nonce);
}

/* When it was saved, and after what, is written as it was read. */
static void check_lineage(const struct wr_manifest *m,
                          const struct wr_manifest *again)
{
    if (strcmp(m->store, again->store) != 0 || m->turn.step != m->step ||
        m->from.step >= WEIR_STEP_MAX || m->continues != again->continues ||
        !is_same_turn(&m->turn, &again->turn) ||
        !is_same_turn(&m->from, &again->from))
        abort();
}

/* What was read holds together, and its text is always the same. */
static void check(const struct wr_manifest *m)
{
    struct wr_manifest again;
    size_t len, again_len;
    char *text = wr_manifest_text(m, &len), *again_text;

    if (!text || strlen(text) != len || m->step >= WEIR_STEP_MAX || !m->world)
        abort();
    for (uint32_t k = 0; k < m->world; k++) {
        if (m->shards[k].rank != k)
            abort();
        check_shard(&m->shards[k], m->chunk);
    }
    if (wr_manifest_parse(text, len, "again", &again, NULL) < 0)
        abort();
    check_lineage(m, &again);
    again_text = wr_manifest_text(&again, &again_len);
    if (!again_text || strcmp(text, again_text) != 0)
        abort();
    wr_manifest_done(&again);
    free(again_text);
    free(text);
}

static void parse(const char *text, size_t len)
{
    struct wr_manifest m;
    weir_err err;

    if (wr_manifest_parse(text, len, "m", &m, &err) < 0)
        return;
    check(&m);
    wr_manifest_done(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *sealed = malloc(size + 32);
    struct wr_st_shard s;
    size_t len = size;

    parse((const char *)data, size);
    /* With a checksum that agrees, so that what is inside is reached. */
    memcpy(sealed, data, size);
    sealed[len++] = '\n';
    len += (size_t)snprintf(sealed + len, 31, "crc32c %08" PRIx32 "\n",
                            wr_crc32c(0, sealed, len));
    parse(sealed, len);
    free(sealed);
    if (wr_shard_parse((const char *)data, size, WR_CHUNK_MIN, &s, NULL) == 0) {
        check_shard(&s, WR_CHUNK_MIN);
        wr_shard_done(&s);
    }
    return 0;
}
