/* manifest.c - what a saved step consists of, from and to text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tier/manifest.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"
#include "codec/crc32c.h"
#include "safetensors/hex.h"
#include "codec/json_tree.h"
#include "safetensors/head.h"

#define SCHEMA      "weir-checkpoint"
#define VERSION     1
#define TAIL        "crc32c "
#define TAIL_LEN    (sizeof(TAIL) - 1)
#define TAIL_LINE   (TAIL_LEN + 8 + 1) /* with its digits and line break */
#define WORLD_LIMIT (UINT64_C(1) << 24)

void wr_shard_name(uint32_t rank, char ret[WR_SHARD_NAME])
{
    snprintf(ret, WR_SHARD_NAME, "r%05" PRIu32 ".safetensors", rank);
}

uint64_t wr_manifest_bytes(const struct wr_manifest *m)
{
    uint64_t sum = 0;

    for (uint32_t k = 0; k < m->world; k++)
        sum += m->shards[k].size;
    return sum;
}

void wr_manifest_new_id(char ret[WR_MANIFEST_ID])
{
    uint64_t id[2];

    /* The kernel has random numbers since it started; only a filter of system
     * calls can refuse them. */
    if (getrandom(id, sizeof(id), 0) != (ssize_t)sizeof(id)) {
        id[0] = wr_mix64(wr_clock_ns());
        id[1] = wr_mix64(id[0] + (uint64_t)getpid());
    }
    snprintf(ret, WR_MANIFEST_ID, "%016" PRIx64 "%016" PRIx64, id[0], id[1]);
}

void wr_manifest_done(struct wr_manifest *m)
{
    for (uint32_t k = 0; m->shards && k < m->world; k++)
        wr_shard_done(&m->shards[k]);
    free(m->shards);
    wr_pairs_free(m->metadata, m->metadata_count);
    free(m->text);
    memset(m, 0, sizeof(*m));
}

/* --- from text --- */

static int take_uint(const json_t *object, const char *key, uint64_t max,
                     uint64_t *ret, weir_err *err)
{
    const json_t *v = json_object_get(object, key);

    if (!v)
        return wr_fail(err, WEIR_EFORMAT, "'%s' is missing", key);
    if (!json_is_integer(v) || json_integer_value(v) < 0 ||
        (uint64_t)json_integer_value(v) > max)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s' is no number from 0 to %" PRIu64, key, max);
    *ret = (uint64_t)json_integer_value(v);
    return 0;
}

/* `digits` hexadecimal ones under `key`. */
static int take_hex(const json_t *object, const char *key, size_t digits,
                    const char **ret, weir_err *err)
{
    const json_t *v = json_object_get(object, key);

    if (!v)
        return wr_fail(err, WEIR_EFORMAT, "'%s' is missing", key);
    if (!json_is_string(v) || json_string_length(v) != digits ||
        !wr_hex_is(json_string_value(v), digits))
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s' is no text of %zu hexadecimal digits", key,
                       digits);
    *ret = json_string_value(v);
    return 0;
}

static int take_crcs(const json_t *object, uint32_t chunk,
                     struct wr_st_shard *s, weir_err *err)
{
    const char *head = NULL, *hex = NULL;
    uint64_t n = wr_shard_chunks(s, chunk);
    int r = take_hex(object, "head_crc32c", 8, &head, err);

    if (r < 0)
        return r;
    s->head_crc = wr_hex_u32(head);
    if (n > WR_MANIFEST_MAX / 8)
        return wr_fail(err, WEIR_ELIMIT, "has too many chunks (%" PRIu64 ")",
                       n);
    /* The digits are there before memory for them is asked for. */
    r = take_hex(object, "crc32c", (size_t)n * 8, &hex, err);
    if (r < 0)
        return r;
    s->crcs = malloc((size_t)(n ? n : 1) * sizeof(*s->crcs));
    if (!s->crcs)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < n; k++)
        s->crcs[k] = wr_hex_u32(hex + k * 8);
    return 0;
}

static int take_pipeline(const json_t *object, struct wr_st_shard *s,
                         weir_err *err)
{
    const json_t *v = json_object_get(object, "pipeline");
    const char *hex = NULL;
    size_t len = v ? json_string_length(v) & ~(size_t)1 : 0;
    int r;

    if (!v)
        return 0;
    r = take_hex(object, "pipeline", len, &hex, err);
    if (r < 0)
        return r;
    s->pipeline = malloc(len / 2 + 1);
    if (!s->pipeline)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    s->pipeline_len = len / 2;
    wr_hex_bytes(hex, s->pipeline_len, s->pipeline);
    return 0;
}

static int shard_from(const json_t *object, uint32_t chunk,
                      struct wr_st_shard *ret, weir_err *err)
{
    struct wr_st_shard s = {0};
    uint64_t rank = 0;
    int r;

    if (!json_is_object(object))
        return wr_fail(err, WEIR_EFORMAT, "is no object");
    r = take_uint(object, "rank", WORLD_LIMIT - 1, &rank, err);
    if (r == 0)
        r = take_uint(object, "size", INT64_MAX, &s.size, err);
    if (r == 0)
        r = take_uint(object, "data_offset", s.size, &s.data_offset, err);
    if (r == 0 && s.data_offset < 8)
        r = wr_fail(err, WEIR_EFORMAT, "'data_offset' is below 8");
    if (r == 0)
        r = take_crcs(object, chunk, &s, err);
    if (r == 0)
        r = take_pipeline(object, &s, err);
    if (r < 0) {
        wr_shard_done(&s);
        return r;
    }
    s.rank = (uint32_t)rank;
    wr_shard_name(s.rank, s.name);
    *ret = s;
    return 0;
}

static int take_shards(const json_t *doc, struct wr_manifest *m, weir_err *err)
{
    const json_t *list = json_object_get(doc, "shards");
    uint64_t world = 0;
    int r = take_uint(doc, "world", WORLD_LIMIT, &world, err);

    if (r < 0)
        return r;
    if (!world || !json_is_array(list) || json_array_size(list) != world)
        return wr_fail(err, WEIR_EFORMAT,
                       "'shards' is no list of one shard for each rank");
    m->shards = calloc((size_t)world, sizeof(*m->shards));
    if (!m->shards)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    m->world = (uint32_t)world;
    for (uint32_t k = 0; k < m->world; k++) {
        r = shard_from(json_array_get(list, k), m->chunk, &m->shards[k], err);
        if (r == 0 && m->shards[k].rank != k)
            r = wr_fail(err, WEIR_EFORMAT, "has 'rank' %" PRIu32,
                        m->shards[k].rank);
        if (r < 0)
            return wr_fail_prefix(err, r, "shard %" PRIu32, k);
    }
    return 0;
}

static int take_chunk(const json_t *doc, uint32_t *ret, weir_err *err)
{
    uint64_t chunk = 0;
    int r = take_uint(doc, "chunk", WR_CHUNK_MAX, &chunk, err);

    if (r < 0)
        return r;
    if (chunk < WR_CHUNK_MIN || (chunk & (chunk - 1)))
        return wr_fail(err, WEIR_EFORMAT,
                       "'chunk' is no power of 2 from %" PRIu32 " to %" PRIu32,
                       WR_CHUNK_MIN, WR_CHUNK_MAX);
    *ret = (uint32_t)chunk;
    return 0;
}

/* Is it a manifest, and of a version that this code knows? */
static int check_schema(const json_t *doc, weir_err *err)
{
    const char *schema = json_string_value(json_object_get(doc, "schema"));
    uint64_t version = 0;
    int r;

    if (!schema || strcmp(schema, SCHEMA) != 0)
        return wr_fail(err, WEIR_EFORMAT, "no manifest: 'schema' is not '%s'",
                       SCHEMA);
    r = take_uint(doc, "version", INT64_MAX, &version, err);
    if (r < 0)
        return r;
    if (version > VERSION)
        return wr_fail(err, WEIR_ENOTSUP,
                       "has version %" PRIu64 ", this program reads up to %d",
                       version, VERSION);
    if (version < 1)
        return wr_fail(err, WEIR_EFORMAT, "'version' is 0");
    return 0;
}

static int take_nonce(const json_t *doc, struct wr_ordinal *t, weir_err *err)
{
    const char *nonce;
    int r;

    if (!json_object_get(doc, "nonce"))
        return 0;
    r = take_hex(doc, "nonce", WR_MANIFEST_ID - 1, &nonce, err);
    if (r == 0)
        memcpy(t->nonce, nonce, WR_MANIFEST_ID);
    return r;
}

static int take_turn(const json_t *doc, struct wr_ordinal *t, weir_err *err)
{
    int r = take_uint(doc, "generation", INT64_MAX, &t->generation, err);

    if (r == 0)
        r = take_uint(doc, "seq", INT64_MAX, &t->seq, err);
    if (r == 0 && json_object_get(doc, "part"))
        r = take_uint(doc, "part", INT64_MAX, &t->part, err);
    return r < 0 ? r : take_nonce(doc, t, err);
}

/* Manifests of earlier versions do not say. */
static int take_lineage(const json_t *doc, struct wr_manifest *m, weir_err *err)
{
    const json_t *from = json_object_get(doc, "from");
    const char *store;
    int r = 0;

    m->turn.step = m->step;
    if (!json_object_get(doc, "store"))
        return 0;
    r = take_hex(doc, "store", WR_MANIFEST_ID - 1, &store, err);
    if (r == 0)
        r = take_turn(doc, &m->turn, err);
    if (r == 0 && from && !json_is_object(from))
        r = wr_fail(err, WEIR_EFORMAT, "'from' is not an object");
    if (r == 0 && from)
        r = take_turn(from, &m->from, err);
    if (r == 0 && from)
        r = take_uint(from, "step", WEIR_STEP_MAX - 1, &m->from.step, err);
    m->continues = from != NULL;
    if (r == 0)
        memcpy(m->store, store, WR_MANIFEST_ID);
    return r;
}

static int manifest_from(const json_t *doc, struct wr_manifest *m,
                         weir_err *err)
{
    const char *id = NULL;
    int r = check_schema(doc, err);

    if (r == 0)
        r = take_uint(doc, "step", WEIR_STEP_MAX - 1, &m->step, err);
    if (r == 0)
        r = take_uint(doc, "time_ns", INT64_MAX, &m->time_ns, err);
    if (r == 0)
        r = take_uint(doc, "epoch", INT64_MAX, &m->epoch, err);
    if (r == 0)
        r = take_hex(doc, "id", WR_MANIFEST_ID - 1, &id, err);
    if (r == 0)
        r = take_lineage(doc, m, err);
    if (r == 0)
        r = take_chunk(doc, &m->chunk, err);
    if (r == 0)
        r = take_shards(doc, m, err);
    if (r == 0)
        r = wr_pairs_parse(json_object_get(doc, "metadata"), "'metadata'",
                           &m->metadata, &m->metadata_count, err);
    if (r == 0)
        memcpy(m->id, id, WR_MANIFEST_ID);
    return r;
}

/* The length of the first line, its checksum verified. */
static int check_sum(const char *text, size_t len, size_t *ret_line,
                     weir_err *err)
{
    const char *tail;
    uint32_t sum;

    if (len > WR_MANIFEST_MAX)
        return wr_fail(err, WEIR_ELIMIT, "has %zu bytes, over the limit of %zu",
                       len, WR_MANIFEST_MAX);
    tail = len > TAIL_LINE ? text + len - TAIL_LINE : NULL;
    if (!tail || tail[-1] != '\n' || tail[TAIL_LINE - 1] != '\n' ||
        memcmp(tail, TAIL, TAIL_LEN) != 0 || !wr_hex_is(tail + TAIL_LEN, 8))
        return wr_fail(err, WEIR_EDAMAGED,
                       "cut off, or no manifest: its last line is no checksum");
    sum = wr_crc32c(0, text, len - TAIL_LINE);
    if (sum != wr_hex_u32(tail + TAIL_LEN))
        return wr_fail(err, WEIR_EDAMAGED,
                       "checksum mismatch: it is %08" PRIx32
                       ", the last line says %.8s",
                       sum, tail + TAIL_LEN);
    *ret_line = len - TAIL_LINE - 1;
    return 0;
}

static int parse_line(const char *text, size_t len, struct wr_manifest *ret,
                      weir_err *err)
{
    struct wr_manifest m = {0};
    json_t *doc = NULL;
    int r = wr_json_load(text, len, JSON_REJECT_DUPLICATES, &doc, err);

    if (r < 0)
        return r;
    r = manifest_from(doc, &m, err);
    json_decref(doc);
    if (r < 0)
        wr_manifest_done(&m);
    else
        *ret = m;
    return r;
}

static int parse(const char *text, size_t len, struct wr_manifest *ret,
                 weir_err *err)
{
    size_t line = 0;
    int r = check_sum(text, len, &line, err);

    if (r < 0)
        return r;
    if (memchr(text, '\n', line))
        return wr_fail(err, WEIR_EFORMAT, "has more than two lines");
    r = parse_line(text, line, ret, err);
    /* Its checksum is good, so what is wrong is most likely not the text:
     * jansson leaves out values that it has no memory for. */
    return r == WEIR_EFORMAT ? parse_line(text, line, ret, err) : r;
}

int wr_manifest_parse(const char *text, size_t len, const char *name,
                      struct wr_manifest *ret, weir_err *err)
{
    int r = parse(text, len, ret, err);

    return r < 0 ? wr_fail_prefix(err, r, "'%s'", name) : 0;
}

int wr_shard_parse(const char *text, size_t len, uint32_t chunk,
                   struct wr_st_shard *ret, weir_err *err)
{
    json_t *doc = NULL;
    int r = wr_json_load(text, len, JSON_REJECT_DUPLICATES, &doc, err);

    if (r == 0)
        r = shard_from(doc, chunk, ret, err);
    json_decref(doc);
    return r < 0 ? wr_fail_prefix(err, r, "shard") : 0;
}

/* --- to text --- */

static bool put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

static bool put_uint(json_t *object, const char *key, uint64_t value)
{
    return put(object, key, json_integer((json_int_t)value));
}

static bool put_crcs(json_t *object, const char *key, const uint32_t *crcs,
                     size_t count)
{
    char *hex = malloc(count * 8 + 1);
    bool ok;

    if (!hex)
        return false;
    for (size_t k = 0; k < count; k++)
        wr_hex_put_u32(crcs[k], hex + k * 8);
    ok = put(object, key, json_stringn_nocheck(hex, count * 8));
    free(hex);
    return ok;
}

static bool put_pipeline(json_t *object, const struct wr_st_shard *s)
{
    char *hex;
    bool ok;

    if (!s->pipeline)
        return true;
    hex = malloc(s->pipeline_len * 2 + 1);
    if (!hex)
        return false;
    wr_hex_put_bytes(s->pipeline, s->pipeline_len, hex);
    ok = put(object, "pipeline",
             json_stringn_nocheck(hex, s->pipeline_len * 2));
    free(hex);
    return ok;
}

static json_t *shard_json(const struct wr_st_shard *s, uint32_t chunk)
{
    json_t *object = json_object();

    if (object && put_uint(object, "rank", s->rank) &&
        put_uint(object, "size", s->size) &&
        put_uint(object, "data_offset", s->data_offset) &&
        put_crcs(object, "head_crc32c", &s->head_crc, 1) &&
        put_crcs(object, "crc32c", s->crcs,
                 (size_t)wr_shard_chunks(s, chunk)) &&
        put_pipeline(object, s))
        return object;
    json_decref(object);
    return NULL;
}

static bool put_shards(json_t *doc, const struct wr_manifest *m)
{
    json_t *list = json_array();

    for (uint32_t k = 0; list && k < m->world; k++)
        if (json_array_append_new(list, shard_json(&m->shards[k], m->chunk))) {
            json_decref(list);
            return false;
        }
    return put(doc, "shards", list);
}

static bool put_turn(json_t *doc, const struct wr_ordinal *t)
{
    return put_uint(doc, "generation", t->generation) &&
           put_uint(doc, "seq", t->seq) &&
           (!t->part || put_uint(doc, "part", t->part)) &&
           (!t->nonce[0] || put(doc, "nonce", json_string(t->nonce)));
}

static bool put_lineage(json_t *doc, const struct wr_manifest *m)
{
    json_t *from;

    if (!m->store[0])
        return true;
    if (!put(doc, "store", json_string(m->store)) || !put_turn(doc, &m->turn))
        return false;
    if (!m->continues)
        return true;
    from = json_object();
    if (from && put_turn(from, &m->from) &&
        put_uint(from, "step", m->from.step))
        return put(doc, "from", from);
    json_decref(from);
    return false;
}

static json_t *manifest_json(const struct wr_manifest *m)
{
    json_t *doc = json_object();

    if (doc && put(doc, "schema", json_string(SCHEMA)) &&
        put_uint(doc, "version", VERSION) && put_uint(doc, "step", m->step) &&
        put_uint(doc, "world", m->world) &&
        put_uint(doc, "time_ns", m->time_ns) &&
        put(doc, "id", json_string(m->id)) &&
        put_uint(doc, "epoch", m->epoch) && put_lineage(doc, m) &&
        put_uint(doc, "chunk", m->chunk) && put_shards(doc, m) &&
        put(doc, "metadata", wr_pairs_json(m->metadata, m->metadata_count)))
        return doc;
    json_decref(doc);
    return NULL;
}

/* `object`, which is taken, with `extra` bytes of room behind it. Measured first:
 * a text that jansson allocates would have to be copied for that room. */
static char *dump(json_t *object, size_t extra, size_t *ret_len)
{
    size_t len = object ? json_dumpb(object, NULL, 0, JSON_COMPACT) : 0;
    char *text = len ? malloc(len + extra + 1) : NULL;

    if (text && json_dumpb(object, text, len, JSON_COMPACT) != len) {
        free(text);
        text = NULL;
    }
    json_decref(object);
    if (!text)
        return NULL;
    text[len] = '\0';
    *ret_len = len;
    return text;
}

char *wr_manifest_text(const struct wr_manifest *m, size_t *ret_len)
{
    size_t len;
    char *text = dump(manifest_json(m), 1 + TAIL_LINE, &len);

    if (!text)
        return NULL;
    text[len++] = '\n';
    snprintf(text + len, TAIL_LINE + 1, TAIL "%08" PRIx32 "\n",
             wr_crc32c(0, text, len));
    *ret_len = len + TAIL_LINE;
    return text;
}

char *wr_manifest_as_read(const struct wr_manifest *m, size_t *ret_len)
{
    char *text;

    if (!m->text)
        return wr_manifest_text(m, ret_len);
    text = malloc(m->text_len + 1);
    if (!text)
        return NULL;
    memcpy(text, m->text, m->text_len);
    text[m->text_len] = '\0';
    *ret_len = m->text_len;
    return text;
}

char *wr_shard_text(const struct wr_st_shard *s, uint32_t chunk,
                    size_t *ret_len)
{
    return dump(shard_json(s, chunk), 0, ret_len);
}
