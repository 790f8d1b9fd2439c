/* shardfile.c - the file of one shard: hidden, then complete.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/shardfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* So many bytes are written as they are. */
#define MANY ((size_t)64 << 10)

void wr_shardfile_hidden(uint64_t shard, char buf[WR_CONVERT_NAME_MAX])
{
    snprintf(buf, WR_CONVERT_NAME_MAX, WR_STAGE_HIDDEN "%05" PRIu64, shard);
}

void wr_shardfile_bad(uint64_t shard, char buf[WR_CONVERT_NAME_MAX])
{
    snprintf(buf, WR_CONVERT_NAME_MAX, ".bad-%05" PRIu64, shard);
}

int wr_shardfile_open(const struct wr_convert_plan *p, struct wr_stage *st,
                      struct wr_convert_shard *s, weir_err *err)
{
    char name[WR_CONVERT_NAME_MAX];
    int r;

    if (!p->ext)
        return 0;
    wr_shardfile_hidden(s->number, name);
    r = wr_stage_create(st, name, &s->object, err);
    return r < 0 || !p->kind->open ? r : p->kind->open(p, s, err);
}

int wr_shardfile_flush(struct wr_stage *st, struct wr_convert_shard *s,
                       size_t most, weir_err *err)
{
    int r = s->ahead.len > most ? wr_stage_write(st, s->object, s->ahead.bytes,
                                                 s->ahead.len, s->end, err)
                                : 0;

    if (s->ahead.len > most) {
        s->end += s->ahead.len;
        s->ahead.len = 0;
    }
    return r;
}

int wr_shardfile_append(struct wr_stage *st, struct wr_convert_shard *s,
                        const void *bytes, size_t len, weir_err *err)
{
    uint8_t *room;
    bool many = len >= MANY;
    int r = wr_shardfile_flush(st, s, many ? 0 : WR_SHARDFILE_AHEAD - len, err);

    if (r == 0 && many) {
        r = wr_stage_write(st, s->object, bytes, len, s->end, err);
        s->end += len;
        return r;
    }
    room = r == 0 && len ? wr_bytes_room(&s->ahead, len) : NULL;
    if (!room)
        return r < 0 || !len ? r : wr_fail(err, WEIR_ENOMEM, "out of memory");
    memcpy(room, bytes, len);
    s->ahead.len += len;
    return 0;
}

int wr_shardfile_note_bad(struct wr_stage *st, const struct wr_convert_shard *s,
                          weir_err *err)
{
    char name[WR_CONVERT_NAME_MAX];

    if (!s->bad.len)
        return 0;
    wr_shardfile_bad(s->number, name);
    return wr_stage_put(st, name, s->bad.bytes, s->bad.len, err);
}

int wr_shardfile_finish(const struct wr_convert_plan *p, struct wr_stage *st,
                        struct wr_convert_shard *s, weir_err *err)
{
    char hidden[WR_CONVERT_NAME_MAX], name[WR_CONVERT_NAME_MAX];
    struct wr_object *o = s->object;
    int r = wr_shardfile_flush(st, s, 0, err);

    if (r == 0)
        r = wr_shardfile_note_bad(st, s, err);
    if (r < 0)
        return r;
    s->object = NULL;
    r = wr_stage_sync(st, o, err);
    if (r < 0)
        return r;
    wr_shardfile_hidden(s->number, hidden);
    wr_convert_plan_shard_name(p, s->number, name);
    return wr_stage_rename(st, hidden, name, err);
}

void wr_shardfile_free(const struct wr_convert_plan *p,
                       struct wr_convert_shard *s)
{
    if (!s)
        return;
    if (s->object)
        s->object->ops->close(s->object, /* sync= */ false, NULL);
    if (s->arrays)
        p->to_arrays->free(s->arrays);
    free(s->ahead.bytes);
    free(s->labels);
    free(s->bad.bytes);
    free(s);
}
