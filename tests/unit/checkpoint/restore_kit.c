/* restore_kit.c - stores with saved steps for tests of restoring.
 * SPDX-License-Identifier: Apache-2.0 */
#include "restore_kit.h"

#include <fcntl.h>
#include <inttypes.h>

#include "../safetensors/tensors.h"
#include "safetensors/image.h"

#define MUST(x)                                                                \
    do {                                                                       \
        if ((x) < 0) {                                                         \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #x,         \
                    err.msg);                                                  \
            abort();                                                           \
        }                                                                      \
    } while (0)

static struct wr_tier *writer(const struct kit *k, const char *label)
{
    struct wr_tier *t;
    weir_err err;

    MUST(wr_tier_open(tmpdir_at(&k->dir, label), label, /* create= */ true, &t,
                      &err));
    MUST(wr_tier_claim(t, /* take_over= */ false, NULL, &err));
    return t;
}

void kit_init(struct kit *k)
{
    memset(k, 0, sizeof(*k));
    tmpdir_init(&k->dir);
    k->fast = writer(k, "fast");
    k->slow = writer(k, "slow");
    k->floats = 20000;
}

void kit_done(struct kit *k)
{
    wr_tier_close(k->fast);
    wr_tier_close(k->slow);
    tmpdir_done(&k->dir);
}

/* --- tensors --- */

static size_t bytes_of(const weir_tensor *t)
{
    size_t n = t->dtype == WEIR_F32 ? 4 : t->dtype == WEIR_I64 ? 8 : 1;

    for (uint32_t d = 0; d < t->ndim; d++)
        n *= (size_t)t->shape[d];
    return n;
}

static uint64_t seed_of(uint64_t step, uint32_t rank, size_t n)
{
    return step * 1000 + rank * 10 + n;
}

void kit_state_init(const struct kit *k, struct kit_state *s, uint64_t step,
                    uint32_t rank, bool empty)
{
    const weir_tensor shapes[KIT_TENSORS] = {
        {.name = "w", .dtype = WEIR_F32, .ndim = 1, .shape = {k->floats}},
        {.name = "b", .dtype = WEIR_F32, .ndim = 2, .shape = {3, 5}},
        {.name = "none", .dtype = WEIR_F32, .ndim = 2, .shape = {0, 7}},
        {.name = "scalar", .dtype = WEIR_I64, .ndim = 0},
        {.name = "bytes", .dtype = WEIR_U8, .ndim = 1, .shape = {100 + rank}},
        {.name = "last", .dtype = WEIR_U8, .ndim = 1, .shape = {1}},
    };

    for (size_t n = 0; n < KIT_TENSORS; n++) {
        weir_tensor *t = &s->t[n];
        size_t len = bytes_of(&shapes[n]);

        *t = shapes[n];
        if (k->shared)
            snprintf(s->names[n], sizeof(s->names[n]), "%s", t->name);
        else
            snprintf(s->names[n], sizeof(s->names[n]), "r%u.%s", rank, t->name);
        t->name = s->names[n];
        t->data = calloc(1, len + 1);
        if (!t->data)
            abort();
        if (!empty)
            fill_random(t->data, len, seed_of(step, rank, n));
    }
}

void kit_state_done(struct kit_state *s)
{
    for (size_t n = 0; n < KIT_TENSORS; n++)
        free(s->t[n].data);
}

bool kit_state_is(const struct kit *k, const struct kit_state *s, uint64_t step,
                  uint32_t rank)
{
    struct kit_state saved;
    bool same = true;

    kit_state_init(k, &saved, step, rank, false);
    for (size_t n = 0; n < KIT_TENSORS; n++)
        if (memcmp(s->t[n].data, saved.t[n].data, bytes_of(&saved.t[n])) != 0)
            same = false;
    kit_state_done(&saved);
    return same;
}

/* --- steps --- */

static void save_rank(struct kit *k, struct wr_tier *t,
                      const struct wr_pending *p, struct wr_st_shard *ret)
{
    struct wr_image *img;
    struct kit_state s;
    char path[WR_TIER_PATH];
    struct wr_shard_at to = {.store = t->store, .path = path};
    uint32_t rank = ret->rank;
    weir_err err;

    kit_state_init(k, &s, p->step, rank, false);
    wr_pending_shard_path(p, rank, path);
    MUST(wr_image_new(1, &img, &err));
    MUST(wr_image_plan(img, s.t, KIT_TENSORS, NULL, 0, &err));
    wr_image_fill(img, s.t, /* eager= */ false);
    MUST(wr_shard_write(&to, img, ret, NULL, &err));
    wr_shard_name(rank, ret->name);
    ret->rank = rank;
    MUST(wr_tier_sync_pending(t, p, &err));
    wr_image_free(img);
    kit_state_done(&s);
}

/* "state R of S", of all ranks but the second. */
static void add_pipeline(struct wr_st_shard *s, uint64_t step)
{
    char text[64];

    if (s->rank == 1)
        return;
    snprintf(text, sizeof(text), "state %u of %" PRIu64, s->rank, step);
    s->pipeline = (uint8_t *)strdup(text);
    s->pipeline_len = strlen(text);
}

void kit_save(struct kit *k, struct wr_tier *t, uint64_t step, uint32_t world)
{
    struct wr_manifest m = {.step = step,
                            .world = world,
                            .epoch = t->epoch,
                            .time_ns = step * 7,
                            .chunk = WR_CHUNK};
    struct wr_pending p;
    weir_err err;

    m.shards = calloc(world, sizeof(*m.shards));
    m.metadata = calloc(1, sizeof(*m.metadata));
    if (!m.shards || !m.metadata)
        abort();
    wr_manifest_new_id(m.id);
    m.metadata_count = 1;
    m.metadata[0].key = strdup("epoch");
    m.metadata[0].value = strdup("three");
    MUST(wr_tier_begin(t, step, 1000000, &p, &err));
    for (uint32_t r = 0; r < world; r++) {
        m.shards[r].rank = r;
        save_rank(k, t, &p, &m.shards[r]);
        add_pipeline(&m.shards[r], step);
    }
    MUST(wr_tier_publish(t, &p, &m, &err));
    wr_manifest_done(&m);
}

/* --- damage --- */

static void flip(const char *path, long at)
{
    FILE *f = fopen(path, "r+b");
    int c;

    if (!f || fseek(f, at, at < 0 ? SEEK_END : SEEK_SET))
        abort();
    at = ftell(f);
    c = fgetc(f);
    if (fseek(f, at, SEEK_SET) || fputc(c ^ 1, f) == EOF || fclose(f))
        abort();
}

void kit_damage(struct kit *k, const char *tier, uint64_t step, uint32_t rank,
                enum kit_damage d)
{
    char shard[600], manifest[600];
    struct stat sb;
    int r = 0;

    snprintf(shard, sizeof(shard),
             "%s/%s/step-%012" PRIu64 "/r%05u.safetensors", k->dir.path, tier,
             step, rank);
    snprintf(manifest, sizeof(manifest), "%s/%s/step-%012" PRIu64 "/MANIFEST",
             k->dir.path, tier, step);
    if (stat(shard, &sb) < 0)
        abort();
    switch (d) {
    case FLIP_SIZE:
        flip(shard, 1);
        break;
    case FLIP_HEAD:
        flip(shard, 12); /* in a name */
        break;
    case FLIP_DATA:
        flip(shard, -1);
        break;
    case NO_FILE:
        r = unlink(shard);
        break;
    case SHORT_FILE:
        r = truncate(shard, sb.st_size - 1);
        break;
    case LONG_FILE:
        r = truncate(shard, sb.st_size + 1);
        break;
    case FLIP_MANIFEST:
        flip(manifest, 60);
        break;
    case NO_MANIFEST:
        r = unlink(manifest);
        break;
    default:
        r = truncate(manifest, 0);
        break;
    }
    if (r < 0)
        abort();
}

/* --- readers --- */

void kit_open(const struct kit *k, weir_ckpt *c, uint32_t rank, uint32_t world,
              bool two_tiers)
{
    char url[400];
    struct wr_comm_config comm = {.url = url,
                                  .channel = "call",
                                  .rank = rank,
                                  .world = world,
                                  .timeout_ms = 60000};
    weir_err err;

    memset(c, 0, sizeof(*c));
    snprintf(url, sizeof(url), "local:%s/s", k->dir.path);
    c->pid = getpid();
    c->cfg.rank = rank;
    c->cfg.world = world;
    c->cfg.role = WEIR_CKPT_READ;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    MUST(wr_tier_open(tmpdir_at(&k->dir, "fast"), "fast", /* create= */ false,
                      &c->near, &err));
    if (two_tiers)
        MUST(wr_tier_open(tmpdir_at(&k->dir, "slow"), "slow",
                          /* create= */ false, &c->far, &err));
    MUST(wr_comm_open(&comm, &c->comm, &err));
}

void kit_close(weir_ckpt *c)
{
    wr_log_done(&c->log);
    wr_tier_close(c->near);
    wr_tier_close(c->far);
    wr_comm_close(c->comm);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
}
