/* shardfile.c - the file of one shard: hidden, then complete.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/shardfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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
    int r = 0;

    s->end = 0;
    if (p->kind->head_room)
        r = p->kind->head_room(p, s->number, &s->end, err);
    wr_shardfile_hidden(s->number, name);
    return r < 0 ? r : wr_stage_create(st, name, &s->object, err);
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
    int r = wr_shardfile_note_bad(st, s, err);

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

void wr_shardfile_done(struct wr_convert_shard *s)
{
    if (s->object)
        s->object->ops->close(s->object, /* sync= */ false, NULL);
    free(s->all.out.bytes);
    free(s->all.labels);
    free(s->bad.bytes);
    *s = (struct wr_convert_shard){0};
}
