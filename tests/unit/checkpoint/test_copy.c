/* test_copy.c - what a copy of a step carries, and what it must not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/crc32c.h"
#include "tier/step.h"

struct two {
    struct wr_tier *fast, *slow; /* the writer's */
};

static struct wr_tier *claimed(const char *path, const char *label)
{
    struct wr_tier *t = NULL;

    assert_int_equal(wr_tier_open(path, label, false, &t, NULL), 0);
    assert_int_equal(wr_tier_claim(t, false, NULL, NULL), 0);
    return t;
}

static struct two open_two(const struct steps *s)
{
    return (struct two){claimed(s->fast, "fast"), claimed(s->slow, "slow")};
}

static void close_two(struct two *t)
{
    wr_tier_close(t->fast);
    wr_tier_close(t->slow);
}

/* --- manifests of newer writers --- */

#define TEXT_MAX 8192

static size_t read_text(const char *tier, char ret[TEXT_MAX])
{
    char path[STEPS_PATH];
    size_t len;
    FILE *f;

    snprintf(path, sizeof(path), "%s/step-000000000001/MANIFEST", tier);
    f = fopen(path, "rb");
    assert_non_null(f);
    len = fread(ret, 1, TEXT_MAX - 1, f);
    ret[len] = '\0';
    fclose(f);
    return len;
}

/* A field more, and the checksum of that. */
static void add_field(const char *tier)
{
    char path[STEPS_PATH], text[TEXT_MAX], new[TEXT_MAX + 100];
    char *line_end;
    int len;
    FILE *f;

    read_text(tier, text);
    line_end = strchr(text, '\n');
    assert_non_null(line_end);
    *line_end = '\0';
    len = snprintf(new, sizeof(new), "{ \"later\": [1, 2.50], %s\n", text + 1);
    snprintf(path, sizeof(path), "%s/step-000000000001/MANIFEST", tier);
    f = fopen(path, "wb");
    assert_non_null(f);
    fprintf(f, "%scrc32c %08x\n", new, wr_crc32c(0, new, (size_t)len));
    assert_int_equal(fclose(f), 0);
}

static void carries_the_manifest_as_it_is(void **state)
{
    const struct steps *s = *state;
    char a[TEXT_MAX], b[TEXT_MAX];
    struct two t;
    weir_err err;

    steps_save_up_to(s, 1);
    add_field(s->fast);
    t = open_two(s);
    if (wr_step_copy(t.fast, t.slow, 1, NULL, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(read_text(s->fast, a), read_text(s->slow, b));
    assert_string_equal(a, b);
    assert_int_equal(wr_step_verify(t.slow, 1, false, NULL, &err), 0);
    close_two(&t);
}

/* --- chunks that are larger than what is written at a time --- */

#define HEAD  4096u
#define DATA  ((size_t)9 << 20)
#define CHUNK ((uint32_t)16 << 20)

static void save_large_chunk(const struct two *t)
{
    char *bytes = calloc(1, HEAD + DATA), path[WR_TIER_PATH];
    uint32_t crc;
    struct wr_st_shard sh = {.size = HEAD + DATA, .data_offset = HEAD};
    struct wr_manifest m = {
        .step = 1, .world = 1, .chunk = CHUNK, .time_ns = 1, .shards = &sh};
    struct wr_pending p;
    struct wr_object *o;

    assert_non_null(bytes);
    memset(bytes + HEAD, 7, DATA);
    crc = wr_crc32c(0, bytes + HEAD, DATA);
    sh.crcs = &crc;
    sh.head_crc = wr_crc32c(0, bytes, HEAD);
    wr_shard_name(0, sh.name);
    wr_manifest_new_id(m.id);
    assert_int_equal(wr_tier_begin(t->fast, 1, HEAD + DATA, &p, NULL), 0);
    wr_pending_shard_path(&p, 0, path);
    assert_int_equal(t->fast->store->ops->object_open(t->fast->store, path,
                                                      WR_OPEN_CREATE, &o, NULL),
                     0);
    assert_int_equal(o->ops->write(o, bytes, HEAD + DATA, 0, NULL), 0);
    assert_int_equal(o->ops->close(o, true, NULL), 0);
    assert_int_equal(wr_tier_publish(t->fast, &p, &m, NULL), 0);
    free(bytes);
}

/* The first pieces of a chunk are on the slow tier before its sum is known:
 * they must not stay. */
static void large_chunks_are_checked(void **state)
{
    const struct steps *s = *state;
    struct two t = open_two(s);
    weir_err err;

    save_large_chunk(&t);
    steps_flip(s, FAST, 1, "r00000.safetensors", HEAD + 5);
    assert_int_equal(wr_step_copy(t.fast, t.slow, 1, NULL, &err),
                     WEIR_EDAMAGED);
    assert_false(wr_tier_has(t.slow, 1));
    assert_int_equal(steps_left(s, SLOW, "t"), 0);
    steps_flip(s, FAST, 1, "r00000.safetensors", HEAD + 5);
    assert_int_equal(wr_step_copy(t.fast, t.slow, 1, NULL, &err), 0);
    assert_int_equal(wr_step_verify(t.slow, 1, false, NULL, &err), 0);
    close_two(&t);
}

/* --- from more files to fewer --- */

struct watcher {
    const struct steps *s;
    unsigned calls, files; /* in tmp-*, at most */
};

static int count_files(void *arg, uint64_t bytes)
{
    struct watcher *w = arg;
    char command[STEPS_PATH + 60];
    unsigned n = 0;
    FILE *f;

    (void)bytes;
    snprintf(command, sizeof(command), "ls %s/.writer-*/*/tmp-* | wc -l",
             w->s->slow);
    f = popen(command, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%u", &n), 1);
    pclose(f);
    w->calls++;
    w->files = n > w->files ? n : w->files;
    return 0;
}

/* The room that the files of ranks that are gone take up was counted as free. */
static void recycles_without_surplus(void **state)
{
    const struct steps *s = *state;
    struct watcher w = {.s = s};
    struct wr_byte_meter meter = {count_files, &w};
    struct two t;
    weir_err err;

    steps_save(s, SLOW, (struct step_is){1, 1, 3, 1});
    steps_save(s, FAST, (struct step_is){2, 2, 1, 2});
    t = open_two(s);
    assert_int_equal(wr_tier_retire(t.slow, 1, &err), 0);
    assert_int_equal(wr_step_copy(t.fast, t.slow, 2, &meter, &err), 0);
    assert_true(w.calls > 0);
    assert_int_equal(w.files, 1);
    assert_int_equal(wr_step_verify(t.slow, 2, false, NULL, &err), 0);
    close_two(&t);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, steps_setup, steps_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(carries_the_manifest_as_it_is),
        TEST(large_chunks_are_checked),
        TEST(recycles_without_surplus),
    };

    return cmocka_run_group_tests_name("copy", tests, NULL, NULL);
}
