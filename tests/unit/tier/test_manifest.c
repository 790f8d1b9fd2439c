/* test_manifest.c - manifests to text and back, and those that are refused.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../fault/failmalloc.h"
#include "base/rng.h"
#include "codec/crc32c.h"
#include "tier/manifest.h"

#define ID "0123456789abcdef0123456789abcdef"

/* A manifest of two ranks, in parts that tests replace. */
#define SHARD0                                                                 \
    "{\"rank\":0,\"size\":70000,\"data_offset\":4096,"                         \
    "\"head_crc32c\":\"00000001\",\"crc32c\":\"0000000200000003\"}"
#define SHARD1                                                                 \
    "{\"rank\":1,\"size\":4096,\"data_offset\":4096,"                          \
    "\"head_crc32c\":\"ffffffff\",\"crc32c\":\"\",\"pipeline\":\"00ff7f\"}"
#define HEAD                                                                   \
    "{\"schema\":\"weir-checkpoint\",\"version\":1,\"step\":100,\"world\":2,"  \
    "\"time_ns\":1700000000123456789,\"id\":\"" ID "\",\"epoch\":7,"           \
    "\"chunk\":65536,\"shards\":[" SHARD0 "," SHARD1 "],"
#define GOOD HEAD "\"metadata\":{\"model\":\"alex\\nnet\",\"a\":\"\"}}"

/* `json` with the two line ends and its checksum; free(). */
static char *seal(const char *json, size_t *ret_len)
{
    size_t n = strlen(json);
    char *text = malloc(n + 32);

    assert_non_null(text);
    memcpy(text, json, n);
    text[n++] = '\n';
    *ret_len = n + (size_t)snprintf(text + n, 31, "crc32c %08" PRIx32 "\n",
                                    wr_crc32c(0, text, n));
    return text;
}

/* `text` with the first `from` replaced by `to`; free(). */
static char *replace(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    size_t before, size;
    char *out;

    assert_non_null(at);
    before = (size_t)(at - text);
    size = strlen(text) - strlen(from) + strlen(to) + 1;
    out = malloc(size);
    assert_non_null(out);
    snprintf(out, size, "%.*s%s%s", (int)before, text, to, at + strlen(from));
    return out;
}

static void check_refused(const char *text, size_t len, int code,
                          const char *reason)
{
    struct wr_manifest m = {.step = 42};
    weir_err err = {0};
    char *exact = malloc(len ? len : 1); /* reading behind it is seen */

    assert_non_null(exact);
    memcpy(exact, text, len);
    assert_int_equal(wr_manifest_parse(exact, len, "s/MANIFEST", &m, &err),
                     code);
    assert_int_equal(err.code, code);
    assert_int_equal(strncmp(err.msg, "'s/MANIFEST': ", 14), 0);
    if (!strstr(err.msg, reason))
        fail_msg("'%s' is not in '%s'", reason, err.msg);
    assert_int_equal(m.step, 42);
    assert_null(m.shards);
    free(exact);
}

/* GOOD with one thing replaced is refused. */
static void refuse(const char *from, const char *to, int code,
                   const char *reason)
{
    char *json = replace(GOOD, from, to);
    size_t len;
    char *text = seal(json, &len);

    check_refused(text, len, code, reason);
    free(text);
    free(json);
}

static void test_fields(void **state)
{
    struct wr_manifest m;
    size_t len, again_len;
    char *text = seal(GOOD, &len), *again;

    (void)state;
    assert_int_equal(wr_manifest_parse(text, len, "M", &m, NULL), 0);
    assert_int_equal(m.step, 100);
    assert_int_equal(m.world, 2);
    assert_int_equal(m.epoch, 7);
    assert_int_equal(m.time_ns, UINT64_C(1700000000123456789));
    assert_string_equal(m.id, ID);
    assert_int_equal(m.chunk, 65536);
    assert_string_equal(m.shards[0].name, "r00000.safetensors");
    assert_int_equal(m.shards[0].size, 70000);
    assert_int_equal(m.shards[0].data_offset, 4096);
    assert_int_equal(m.shards[0].head_crc, 1);
    assert_int_equal(wr_shard_chunks(&m.shards[0], m.chunk), 2);
    assert_int_equal(m.shards[0].crcs[0], 2);
    assert_int_equal(m.shards[0].crcs[1], 3);
    assert_null(m.shards[0].pipeline);
    assert_string_equal(m.shards[1].name, "r00001.safetensors");
    assert_int_equal(m.shards[1].head_crc, 0xffffffff);
    assert_int_equal(wr_shard_chunks(&m.shards[1], m.chunk), 0);
    assert_int_equal(m.shards[1].pipeline_len, 3);
    assert_memory_equal(m.shards[1].pipeline, "\x00\xff\x7f", 3);
    assert_int_equal(m.metadata_count, 2);
    assert_string_equal(m.metadata[0].key, "model");
    assert_string_equal(m.metadata[0].value, "alex\nnet");
    assert_string_equal(m.metadata[1].value, "");
    assert_int_equal(wr_manifest_bytes(&m), 74096);

    again = wr_manifest_text(&m, &again_len);
    assert_int_equal(again_len, len);
    assert_string_equal(again, text);
    free(again);
    wr_manifest_done(&m);
    assert_null(m.shards);
    assert_int_equal(m.world, 0);
    free(text);
}

static void test_unknown_fields(void **state)
{
    struct wr_manifest m;
    size_t len;
    char *json = replace(GOOD, "{\"rank\":0,",
                         "{\"colour\":[1,{\"a\":null}],\"rank\":0,");
    char *json2 = replace(json, "\"step\"", "\"later\":1.5,\"step\"");
    char *text = seal(json2, &len);

    (void)state;
    assert_int_equal(wr_manifest_parse(text, len, "M", &m, NULL), 0);
    assert_int_equal(m.step, 100);
    wr_manifest_done(&m);
    free(text);
    free(json2);
    free(json);
}

static void test_damaged(void **state)
{
    size_t len;
    char *text = seal(GOOD, &len);

    (void)state;
    for (size_t n = 0; n < len; n++)
        check_refused(text, n, WEIR_EDAMAGED, "checksum");
    for (size_t k = 0; k < len; k++) {
        text[k] ^= 0x10;
        check_refused(text, len, WEIR_EDAMAGED, "checksum");
        text[k] ^= 0x10;
    }
    free(text);
    check_refused("hello\n", 6, WEIR_EDAMAGED, "no manifest");
}

static void test_refused(void **state)
{
    (void)state;
    refuse(HEAD, "{,", WEIR_EFORMAT, "not JSON");
    refuse("{\"schema", "\n{\"schema", WEIR_EFORMAT, "more than two lines");
    refuse("\"epoch\":7", "\"epoch\":7,\"epoch\":7", WEIR_EFORMAT, "duplicate");
    refuse("\"rank\":0", "\"rank\":0,\"rank\":0", WEIR_EFORMAT, "duplicate");
    refuse("weir-checkpoint", "weir-record", WEIR_EFORMAT, "'schema'");
    refuse("\"schema\"", "\"scheme\"", WEIR_EFORMAT, "'schema'");
    refuse("\"version\":1", "\"version\":2", WEIR_ENOTSUP,
           "has version 2, this program reads up to 1");
    refuse("\"version\":1", "\"version\":0", WEIR_EFORMAT, "'version' is 0");
    refuse("\"version\":1", "\"version\":true", WEIR_EFORMAT, "'version'");
    refuse("\"step\":100", "\"step\":1000000000000", WEIR_EFORMAT,
           "'step' is no number from 0 to 999999999999");
    refuse("\"step\":100", "\"step\":-1", WEIR_EFORMAT, "'step'");
    refuse("\"step\":100", "\"step\":1.0", WEIR_EFORMAT, "'step'");
    refuse("\"step\":100,", "", WEIR_EFORMAT, "'step' is missing");
    refuse("\"time_ns\":17", "\"time_ns\":-17", WEIR_EFORMAT, "'time_ns'");
    refuse("\"epoch\":7", "\"epoch\":\"7\"", WEIR_EFORMAT, "'epoch'");
    refuse(ID, "0123", WEIR_EFORMAT, "'id' is no text of 32 hexadecimal");
    refuse(ID, "0123456789ABCDEF0123456789abcdef", WEIR_EFORMAT, "'id'");
    refuse("65536", "65537", WEIR_EFORMAT, "'chunk' is no power of 2");
    refuse("65536", "32768", WEIR_EFORMAT, "'chunk' is no power of 2");
    refuse("65536", "0", WEIR_EFORMAT, "'chunk' is no power of 2");
    refuse("65536", "134217728", WEIR_EFORMAT, "'chunk'");
    refuse("\"metadata\":{", "\"metadata\":{\"n\":1,", WEIR_EFORMAT,
           "'metadata': the value of 'n' is no text");
    refuse("\"metadata\":{", "\"meta\":{", WEIR_EFORMAT,
           "'metadata' is no object");
}

static void test_refused_shards(void **state)
{
    (void)state;
    refuse("\"world\":2", "\"world\":3", WEIR_EFORMAT, "'shards'");
    refuse("\"world\":2", "\"world\":99999999", WEIR_EFORMAT, "'world'");
    refuse("\"world\":2", "\"world\":0", WEIR_EFORMAT, "'shards'");
    refuse("\"shards\":[" SHARD0 "," SHARD1 "]", "\"shards\":{}", WEIR_EFORMAT,
           "'shards'");
    refuse(SHARD0, "7", WEIR_EFORMAT, "shard 0: is no object");
    refuse("\"rank\":1", "\"rank\":0", WEIR_EFORMAT, "shard 1: has 'rank' 0");
    refuse("\"size\":70000", "\"size\":4095", WEIR_EFORMAT,
           "shard 0: 'data_offset' is no number from 0 to 4095");
    refuse("\"data_offset\":4096", "\"data_offset\":7", WEIR_EFORMAT,
           "shard 0: 'data_offset' is below 8");
    refuse("\"size\":70000", "\"size\":9223372036854775807", WEIR_ELIMIT,
           "shard 0: has too many chunks");
    refuse("\"size\":70000", "\"size\":9223372036854775808", WEIR_EFORMAT,
           "not JSON");
    refuse("\"00000001\"", "\"0000001\"", WEIR_EFORMAT,
           "shard 0: 'head_crc32c'");
    refuse("\"head_crc32c\"", "\"x\"", WEIR_EFORMAT,
           "shard 0: 'head_crc32c' is missing");
    refuse("0000000200000003", "00000002", WEIR_EFORMAT,
           "shard 0: 'crc32c' is no text of 16 hexadecimal digits");
    refuse("0000000200000003", "000000020000000G", WEIR_EFORMAT, "'crc32c'");
    refuse("0000000200000003", "00000002000\\u000003", WEIR_EFORMAT,
           "not JSON");
    refuse("00ff7f", "00ff7", WEIR_EFORMAT, "shard 1: 'pipeline'");
    refuse("\"00ff7f\"", "1", WEIR_EFORMAT, "shard 1: 'pipeline'");
}

/* Fills a shard at random. */
static void random_shard(struct wr_st_shard *s, uint32_t rank, uint32_t chunk,
                         struct wr_rng *rng)
{
    uint64_t n;

    memset(s, 0, sizeof(*s));
    s->rank = rank;
    wr_shard_name(rank, s->name);
    s->data_offset = 8 + wr_rng_below(rng, 100000);
    s->size = s->data_offset + wr_rng_below(rng, 20) * chunk / 2;
    s->head_crc = (uint32_t)wr_rng_next(rng);
    n = wr_shard_chunks(s, chunk);
    s->crcs = calloc(n + 1, sizeof(*s->crcs));
    for (uint64_t k = 0; k < n; k++)
        s->crcs[k] = (uint32_t)wr_rng_next(rng);
    if (wr_rng_below(rng, 2)) {
        s->pipeline_len = wr_rng_below(rng, 50);
        s->pipeline = malloc(s->pipeline_len + 1);
        for (size_t k = 0; k < s->pipeline_len; k++)
            s->pipeline[k] = (uint8_t)wr_rng_next(rng);
    }
}

static void check_same_shard(const struct wr_st_shard *a,
                             const struct wr_st_shard *b, uint32_t chunk)
{
    assert_int_equal(a->rank, b->rank);
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->size, b->size);
    assert_int_equal(a->data_offset, b->data_offset);
    assert_int_equal(a->head_crc, b->head_crc);
    if (wr_shard_chunks(a, chunk))
        assert_memory_equal(a->crcs, b->crcs, wr_shard_chunks(a, chunk) * 4);
    assert_int_equal(!a->pipeline, !b->pipeline);
    assert_int_equal(a->pipeline_len, b->pipeline_len);
    if (a->pipeline_len)
        assert_memory_equal(a->pipeline, b->pipeline, a->pipeline_len);
}

static void test_random(void **state)
{
    struct wr_rng rng = {.seed = 5};

    (void)state;
    for (int round = 0; round < 200; round++) {
        struct wr_manifest m = {0}, got;
        size_t len, again_len;
        char *text, *again;

        m.world = 1 + (uint32_t)wr_rng_below(&rng, 9);
        m.step = wr_rng_below(&rng, WEIR_STEP_MAX);
        m.epoch = wr_rng_next(&rng) >> 1;
        m.time_ns = wr_rng_next(&rng) >> 1;
        m.chunk = WR_CHUNK_MIN << wr_rng_below(&rng, 11);
        wr_manifest_new_id(m.id);
        m.shards = calloc(m.world, sizeof(*m.shards));
        for (uint32_t k = 0; k < m.world; k++)
            random_shard(&m.shards[k], k, m.chunk, &rng);
        text = wr_manifest_text(&m, &len);
        assert_non_null(text);
        assert_int_equal(strlen(text), len);
        assert_int_equal(wr_manifest_parse(text, len, "M", &got, NULL), 0);
        assert_int_equal(got.step, m.step);
        assert_int_equal(got.world, m.world);
        assert_int_equal(got.epoch, m.epoch);
        assert_int_equal(got.time_ns, m.time_ns);
        assert_string_equal(got.id, m.id);
        for (uint32_t k = 0; k < m.world; k++)
            check_same_shard(&m.shards[k], &got.shards[k], m.chunk);
        again = wr_manifest_text(&got, &again_len);
        assert_string_equal(again, text);
        free(again);
        free(text);
        wr_manifest_done(&got);
        wr_manifest_done(&m);
    }
}

static void test_one_shard(void **state)
{
    struct wr_rng rng = {.seed = 6};
    struct wr_st_shard s, got = {.size = 42};
    weir_err err;
    size_t len;
    char *text;

    (void)state;
    for (uint32_t rank = 0; rank < 100; rank++) {
        random_shard(&s, rank, WR_CHUNK, &rng);
        text = wr_shard_text(&s, WR_CHUNK, &len);
        assert_int_equal(wr_shard_parse(text, len, WR_CHUNK, &got, NULL), 0);
        check_same_shard(&s, &got, WR_CHUNK);
        free(text);
        wr_shard_done(&s);
        wr_shard_done(&got);
    }
    assert_int_equal(wr_shard_parse("{}", 2, WR_CHUNK, &got, &err),
                     WEIR_EFORMAT);
    assert_string_equal(err.msg, "shard: 'rank' is missing");
    assert_int_equal(wr_shard_parse("[", 1, WR_CHUNK, &got, &err),
                     WEIR_EFORMAT);
}

static void test_ids(void **state)
{
    char a[WR_MANIFEST_ID], b[WR_MANIFEST_ID];

    (void)state;
    wr_manifest_new_id(a);
    wr_manifest_new_id(b);
    assert_int_equal(strspn(a, "0123456789abcdef"), 32);
    assert_int_equal(strlen(b), 32);
    assert_string_not_equal(a, b);
}

static void test_names(void **state)
{
    char name[WR_SHARD_NAME];

    (void)state;
    wr_shard_name(7, name);
    assert_string_equal(name, "r00007.safetensors");
    wr_shard_name(UINT32_MAX, name);
    assert_string_equal(name, "r4294967295.safetensors");
}

/* A lack of memory says nothing about a manifest: it must not look damaged, or
 * a restore would pass over to an older step. */
static void test_memory_is_short(void **state)
{
    size_t len;
    char *text = seal(GOOD, &len);
    unsigned long count, failed = 0;
    struct wr_manifest m;
    weir_err err;

    (void)state;
    if (!fm_can_fail()) {
        free(text);
        skip();
    }
    fm_start(0, 0);
    assert_int_equal(wr_manifest_parse(text, len, "m", &m, &err), 0);
    count = fm_stop();
    wr_manifest_done(&m);
    for (unsigned long n = 0; n < count; n++) {
        int r;

        fm_start(n, n + 1);
        r = wr_manifest_parse(text, len, "m", &m, &err);
        fm_stop();
        if (r == 0)
            wr_manifest_done(&m);
        else if (r != WEIR_ENOMEM)
            fail_msg("allocation %lu of %lu: %s", n, count, err.msg);
        failed += r < 0;
    }
    assert_true(failed > 0);
    free(text);
}

/* --- when it was saved, and after what --- */

#define STORE "\"store\":\"5fa58d409a9c5d2f9004fec5c98a4520\","
#define TURN  "\"generation\":3,\"seq\":17,"
#define NONCE "\"nonce\":\"" ID "\","
#define FROM                                                                   \
    "\"from\":{\"generation\":2,\"seq\":9,\"nonce\":\"" ID "\",\"step\":90},"
#define CHUNK "\"chunk\""

static struct wr_manifest parsed(const char *fields)
{
    char add[400], *json, *text;
    struct wr_manifest m = {0};
    weir_err err;
    size_t len;

    snprintf(add, sizeof(add), "%s" CHUNK, fields);
    json = replace(GOOD, CHUNK, add);
    text = seal(json, &len);
    if (wr_manifest_parse(text, len, "m", &m, &err) < 0)
        fail_msg("%s", err.msg);
    free(json);
    free(text);
    return m;
}

static void test_lineage(void **state)
{
    struct wr_manifest m = parsed(STORE TURN NONCE FROM), again;
    size_t len;
    char *text = wr_manifest_text(&m, &len);

    (void)state;
    assert_string_equal(m.store, "5fa58d409a9c5d2f9004fec5c98a4520");
    assert_int_equal(m.turn.generation, 3);
    assert_int_equal(m.turn.seq, 17);
    assert_int_equal(m.turn.part, 0);
    assert_int_equal(m.turn.step, 100);
    assert_string_equal(m.turn.nonce, ID);
    assert_true(m.continues);
    assert_int_equal(m.from.generation, 2);
    assert_int_equal(m.from.seq, 9);
    assert_int_equal(m.from.step, 90);
    assert_string_equal(m.from.nonce, ID);
    assert_non_null(text);
    assert_int_equal(wr_manifest_parse(text, len, "m", &again, NULL), 0);
    assert_memory_equal(&again.turn, &m.turn, sizeof(m.turn));
    assert_memory_equal(&again.from, &m.from, sizeof(m.from));
    wr_manifest_done(&again);
    wr_manifest_done(&m);
    free(text);

    m = parsed(STORE TURN "\"part\":5," FROM); /* no nonce */
    assert_int_equal(m.turn.part, 5);
    assert_string_equal(m.turn.nonce, "");
    wr_manifest_done(&m);
    m = parsed(STORE TURN NONCE);
    assert_false(m.continues);
    wr_manifest_done(&m);
    m = parsed(TURN NONCE FROM); /* of no store: it counts nowhere */
    assert_string_equal(m.store, "");
    assert_int_equal(m.turn.generation, 0);
    assert_int_equal(m.turn.step, 100);
    assert_false(m.continues);
    wr_manifest_done(&m);
}

static void test_refused_lineage(void **state)
{
    static const char *const bad[] = {
        STORE NONCE, /* when? */
        STORE TURN "\"nonce\":\"0123\",",
        STORE TURN "\"nonce\":7,",
        STORE TURN "\"part\":-1,",
        STORE TURN "\"from\":[2,9,90],",
        STORE TURN "\"from\":{\"generation\":2,\"seq\":9},",
        STORE TURN "\"from\":{\"generation\":2,\"step\":9},",
        (STORE TURN "\"from\":{\"generation\":2,\"seq\":9,\"step\":"
                    "1000000000000},"),
        "\"store\":\"5fa5\"," TURN,
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char add[400], *json, *text;
        size_t len;

        snprintf(add, sizeof(add), "%s" CHUNK, bad[i]);
        json = replace(GOOD, CHUNK, add);
        text = seal(json, &len);
        check_refused(text, len, WEIR_EFORMAT, "");
        free(json);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lineage),
        cmocka_unit_test(test_refused_lineage),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_unknown_fields),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_shards),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_one_shard),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_memory_is_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
