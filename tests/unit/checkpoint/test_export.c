/* test_export.c - copying a step out of a store, and checking such a copy.
 * SPDX-License-Identifier: Apache-2.0 */
#include "steps.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "checkpoint/export.h"

/* --- folders --- */

/* The folder that steps are copied to, "out" in it. */
static void make_outside(const struct steps *s, char ret[STEPS_PATH])
{
    snprintf(ret, STEPS_PATH, "%s/outside", s->root);
    assert_int_equal(mkdir(ret, 0700), 0);
}

static const char *in(const char *dir, const char *name)
{
    static char buf[16][STEPS_PATH + 60]; /* so many in one test */
    static unsigned k;

    k = (k + 1) % 16;
    snprintf(buf[k], sizeof(buf[k]), "%s/%s", dir, name);
    return buf[k];
}

static unsigned entries(const char *dir)
{
    DIR *d = opendir(dir);
    unsigned n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

static char *content(const char *path, size_t *ret_len)
{
    FILE *f = fopen(path, "rb");
    char *bytes = malloc(4 << 20);

    assert_non_null(f);
    assert_non_null(bytes);
    *ret_len = fread(bytes, 1, 4 << 20, f);
    fclose(f);
    return bytes;
}

static void must_be_same(const char *a, const char *b)
{
    size_t a_len, b_len;
    char *x = content(a, &a_len), *y = content(b, &b_len);

    assert_int_equal(a_len, b_len);
    assert_memory_equal(x, y, a_len);
    free(x);
    free(y);
}

/* Whether `dir` has the files of a copy of that step, and nothing else. */
static void must_be_copy(const char *dir, const char *tier, uint64_t step,
                         uint32_t world)
{
    char from[STEPS_PATH], name[40];

    snprintf(from, sizeof(from), "%s/step-%012llu", tier,
             (unsigned long long)step);
    assert_int_equal(entries(dir), world + 1);
    must_be_same(in(dir, "MANIFEST"), in(from, "MANIFEST"));
    for (uint32_t i = 0; i < world; i++) {
        snprintf(name, sizeof(name), "r%05u.safetensors", i);
        must_be_same(in(dir, name), in(from, name));
    }
}

static void flip(const char *path, long offset)
{
    FILE *f = fopen(path, "r+b");
    int c;

    assert_non_null(f);
    assert_int_equal(fseek(f, offset, offset < 0 ? SEEK_END : SEEK_SET), 0);
    c = fgetc(f);
    assert_int_equal(fseek(f, -1, SEEK_CUR), 0);
    assert_int_equal(fputc(c ^ 1, f), c ^ 1);
    assert_int_equal(fclose(f), 0);
}

static int export_to(const struct steps *s, uint64_t step, const char *to,
                     weir_ckpt_found **ret, weir_err *err)
{
    weir_ckpt_config cfg;
    weir_ckpt *c;
    int r;

    steps_config(s, WEIR_CKPT_READ, &cfg);
    c = steps_open(&cfg);
    r = weir_ckpt_export(c, step, to, ret, err);
    steps_close(c);
    return r;
}

/* --- good ones --- */

static void copies_a_step(void **state)
{
    const struct steps *s = *state;
    weir_ckpt_found *found = NULL;
    char outside[STEPS_PATH];
    weir_err err;

    make_outside(s, outside);
    steps_save(s, FAST, (struct step_is){1, 1, 1, 1});
    steps_save(s, FAST, (struct step_is){2, 2, 2, 2});
    assert_int_equal(
        export_to(s, WEIR_LATEST, in(outside, "two"), &found, &err), 1);
    assert_int_equal(found->step, 2);
    assert_int_equal(found->world, 2);
    assert_string_equal(found->tier, "fast");
    assert_int_equal(found->count, 1); /* of both files, once */
    assert_int_equal(found->passed_over_count, 0);
    weir_ckpt_found_free(&found);
    must_be_copy(in(outside, "two"), s->fast, 2, 2);
    assert_int_equal(export_to(s, 1, in(outside, "one/"), NULL, &err), 1);
    must_be_copy(in(outside, "one"), s->fast, 1, 1);
    assert_int_equal(entries(outside), 2);
}

static void nothing_to_copy(void **state)
{
    const struct steps *s = *state;
    char outside[STEPS_PATH];
    weir_err err;

    make_outside(s, outside);
    assert_int_equal(export_to(s, WEIR_LATEST, in(outside, "out"), NULL, &err),
                     0);
    assert_int_equal(export_to(s, 7, in(outside, "out"), NULL, &err),
                     WEIR_ENOENT);
    assert_int_equal(entries(outside), 0);
}

/* --- damaged ones --- */

static void takes_another_copy(void **state)
{
    const struct steps *s = *state;
    weir_ckpt_found *found = NULL;
    char outside[STEPS_PATH], want[STEPS_PATH];
    weir_err err;

    make_outside(s, outside);
    for (int tier = FAST; tier <= SLOW; tier++)
        for (uint64_t step = 1; step <= 2; step++)
            steps_save(s, tier, (struct step_is){step, step, 2, step});
    /* The second file: the first is there by then, and has to go. */
    steps_flip(s, FAST, 2, "r00001.safetensors", 100000);
    assert_int_equal(export_to(s, 2, in(outside, "a"), &found, &err), 1);
    assert_string_equal(found->tier, "slow");
    assert_int_equal(found->passed_over_count, 1);
    snprintf(want, sizeof(want),
             "step 2 on the fast tier: "
             "'%s/step-000000000002/r00001.safetensors': checksum",
             s->fast);
    assert_non_null(strstr(found->passed_over[0], want));
    weir_ckpt_found_free(&found);
    must_be_copy(in(outside, "a"), s->slow, 2, 2);

    steps_flip(s, SLOW, 2, "r00000.safetensors", 20); /* the head */
    assert_int_equal(export_to(s, WEIR_LATEST, in(outside, "b"), &found, &err),
                     1);
    assert_int_equal(found->step, 1);
    assert_int_equal(found->passed_over_count, 2);
    weir_ckpt_found_free(&found);
    must_be_copy(in(outside, "b"), s->fast, 1, 2);

    assert_int_equal(export_to(s, 2, in(outside, "c"), NULL, &err),
                     WEIR_EDAMAGED);
    assert_int_equal(entries(outside), 2);
}

/* A tier that cannot be read, and one that can. */
static void passes_over_what_cannot_be_read(void **state)
{
    const struct steps *s = *state;
    char outside[STEPS_PATH], url[STEPS_PATH];
    weir_ckpt_found *found = NULL;
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    make_outside(s, outside);
    steps_save(s, FAST, (struct step_is){1, 1, 1, 1});
    steps_save(s, FAST, (struct step_is){2, 2, 1, 2});
    steps_config(s, WEIR_CKPT_DRAIN, &cfg);
    cfg.keep_fast = 9;
    c = steps_open(&cfg);
    assert_int_equal(weir_ckpt_drain(c, &err), 0);
    steps_close(c);
    steps_remove(s, SLOW, 2, "MANIFEST");
    steps_config(s, WEIR_CKPT_READ, &cfg);
    snprintf(url, sizeof(url), "fault:eio@~safetensors:%s", s->fast);
    cfg.fast = url;
    c = steps_open(&cfg);
    /* The newest one is not readable, and no older one is taken for it. */
    assert_int_equal(
        weir_ckpt_export(c, WEIR_LATEST, in(outside, "out"), &found, &err),
        WEIR_EIO);
    assert_non_null(strstr(err.msg, "step 2 on the fast tier cannot be read"));
    assert_int_equal(entries(outside), 0);
    assert_int_equal(weir_ckpt_export(c, 1, in(outside, "out"), &found, &err),
                     1);
    assert_string_equal(found->tier, "slow");
    assert_int_equal(found->passed_over_count, 1);
    weir_ckpt_found_free(&found);
    steps_close(c);
    must_be_copy(in(outside, "out"), s->slow, 1, 1);
    assert_int_equal(entries(outside), 1);
}

/* --- where it cannot go --- */

static void never_over_something(void **state)
{
    const struct steps *s = *state;
    char outside[STEPS_PATH];
    weir_err err;

    make_outside(s, outside);
    steps_save_up_to(s, 1);
    assert_int_equal(mkdir(in(outside, "folder"), 0700), 0);
    assert_int_equal(symlink("nowhere", in(outside, "link")), 0);
    assert_int_equal(export_to(s, 1, in(outside, "folder"), NULL, &err),
                     WEIR_EEXIST);
    assert_non_null(strstr(err.msg, "outside/folder': is there already"));
    assert_int_equal(export_to(s, 1, in(outside, "link"), NULL, &err),
                     WEIR_EEXIST);
    assert_non_null(strstr(err.msg, "outside/link'"));
    assert_int_equal(export_to(s, 1, in(outside, "no/out"), NULL, &err),
                     WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "outside/no'"));
    assert_int_equal(entries(outside), 2);
}

/* An error of the target is told as such: it is not the copies that are bad. */
static void target_fails(void **state)
{
    static const struct {
        const char *rules;
        int code;
    } cases[] = {
        {"write-enospc", WEIR_ENOSPC},
        {"write-enospc@~MANIFEST", WEIR_ENOSPC},
        {"write-eio", WEIR_EIO},
        {"write-short", WEIR_EIO},
        {"resize-enospc", WEIR_ENOSPC},
        {"create-eio", WEIR_EIO},
        {"create-enospc@~r00001", WEIR_ENOSPC},
        {"open-eio", WEIR_EIO},
        {"sync-eio", WEIR_EIO},
        {"sync-enospc", WEIR_ENOSPC},
        {"close-eio", WEIR_EIO},
        {"close-eio@~r00000", WEIR_EIO},
        {"mkdir-eio", WEIR_EIO},
        {"mkdir-enospc", WEIR_ENOSPC},
        {"rename-eio@1", WEIR_EIO},
        {"syncdir-eio@1", WEIR_EIO}, /* of the folder */
        {"syncdir-eio@2", WEIR_EIO}, /* of the one around it */
    };
    const struct steps *s = *state;
    char outside[STEPS_PATH], to[STEPS_PATH + 60];
    weir_ckpt_found *found = NULL;
    weir_err err;

    make_outside(s, outside);
    steps_save(s, FAST, (struct step_is){1, 1, 2, 1});
    steps_save(s, SLOW, (struct step_is){1, 1, 2, 1});
    for (size_t i = 0; i < WR_ARRAY_LEN(cases); i++) {
        snprintf(to, sizeof(to), "fault:%s:%s/out", cases[i].rules, outside);
        err.msg[0] = '\0';
        assert_int_equal(export_to(s, WEIR_LATEST, to, &found, &err),
                         cases[i].code);
        if (!strstr(err.msg, "outside/out': ") || strstr(err.msg, "damaged"))
            fail_msg("%s: %s", cases[i].rules, err.msg);
        assert_null(found);
        assert_int_equal(entries(outside), 0);
    }
    /* A sync that fails once costs a new file, not the copy. */
    snprintf(to, sizeof(to), "fault:sync-eio@1:%s/out", outside);
    assert_int_equal(export_to(s, 1, to, &found, &err), 1);
    weir_ckpt_found_free(&found);
    must_be_copy(in(outside, "out"), s->fast, 1, 2);
}

static void through_an_emulated_device(void **state)
{
    const struct steps *s = *state;
    char outside[STEPS_PATH], to[STEPS_PATH + 60];
    weir_err err;

    make_outside(s, outside);
    steps_save_up_to(s, 1);
    snprintf(to, sizeof(to), "emu:nvme:%s/out", outside);
    if (export_to(s, 1, to, NULL, &err) != 1)
        fail_msg("%s", err.msg);
    must_be_copy(in(outside, "out"), s->fast, 1, 1);
    assert_int_equal(entries(outside), 1);
}

/* --- canceled --- */

struct patience {
    unsigned left;
    uint64_t done, total;
};

static int lose_patience(void *arg, uint64_t done, uint64_t total)
{
    struct patience *p = arg;

    assert_true(done <= total);
    p->done = done;
    p->total = total;
    return p->left-- == 0;
}

static void canceled(void **state)
{
    const struct steps *s = *state;
    struct patience p = {0};
    char outside[STEPS_PATH];
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;
    int r = WEIR_ECANCELED;

    make_outside(s, outside);
    steps_save(s, FAST, (struct step_is){1, 1, 2, 1});
    steps_save(s, SLOW, (struct step_is){1, 1, 2, 1});
    steps_config(s, WEIR_CKPT_READ, &cfg);
    cfg.progress = lose_patience;
    cfg.progress_arg = &p;
    c = steps_open(&cfg);
    for (unsigned n = 0; r == WEIR_ECANCELED; n++) {
        assert_int_equal(entries(outside), 0);
        p.left = n;
        r = weir_ckpt_export(c, 1, in(outside, "out"), NULL, &err);
    }
    assert_int_equal(r, 1);
    assert_int_equal(p.done, p.total);
    assert_int_equal(entries(outside), 1);
    steps_close(c);
}

/* --- lone files --- */

static int check(const char *url, struct patience *p, weir_err *err)
{
    struct wr_byte_count meter = {.progress = lose_patience, .arg = p};
    struct wr_store *st = NULL;
    char *leaf = NULL;
    int r;

    assert_int_equal(wr_store_open(url, &st, &leaf, err), 0);
    assert_non_null(leaf);
    r = wr_export_check(&(struct wr_shard_at){st, leaf}, p ? &meter : NULL,
                        err);
    free(leaf);
    wr_store_close(st);
    return r;
}

static void checks_a_lone_file(void **state)
{
    const struct steps *s = *state;
    struct patience p = {.left = 1000};
    char outside[STEPS_PATH], file[STEPS_PATH + 60];
    weir_err err;

    make_outside(s, outside);
    steps_save_up_to(s, 1);
    assert_int_equal(export_to(s, 1, in(outside, "out"), NULL, &err), 1);
    snprintf(file, sizeof(file), "%s/out/r00000.safetensors", outside);
    assert_int_equal(check(file, &p, &err), 0);
    assert_int_equal(p.done, p.total);
    p.left = 0;
    assert_int_equal(check(file, &p, &err), WEIR_ECANCELED);
    flip(file, -1); /* data */
    assert_int_equal(check(file, NULL, &err), WEIR_EDAMAGED);
    flip(file, -1);
    flip(file, 4096); /* the first byte of data */
    assert_int_equal(check(file, NULL, &err), WEIR_EDAMAGED);
    assert_non_null(strstr(err.msg, "'r00000.safetensors': checksum mismatch"));
    flip(file, 4096);
    for (long at = 0; at <= 8; at++) { /* size of the head, its brace */
        flip(file, at);
        assert_true(check(file, NULL, &err) < 0);
        flip(file, at);
    }
    assert_int_equal(check(file, NULL, &err), 0);
    assert_int_equal(truncate(file, 100000), 0);
    assert_true(check(file, NULL, &err) < 0);
}

/* Files of others: whole, but nothing to compare them with; and sums of another
 * file. */
static void checks_foreign_files(void **state)
{
    static const struct {
        const char *head;
        int code;
    } cases[] = {
        {"{\"w\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}",
         WEIR_ENOTSUP},
        {"{\"__metadata__\":{\"weir.crc32c\":\"\"},"
         "\"w\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}",
         WEIR_EFORMAT},
        {"{\"__metadata__\":{\"weir.crc32c\":\"0123456x\"},"
         "\"w\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}",
         WEIR_EFORMAT},
        {"{\"__metadata__\":{\"weir.crc32c\":\"0123456789abcdef\"},"
         "\"w\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}",
         WEIR_EFORMAT},
        {"{\"__metadata__\":{\"weir.crc32c\":\"01234567\"},"
         "\"w\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}",
         WEIR_EDAMAGED},
        /* of the four bytes below */
        {"{\"__metadata__\":{\"weir.crc32c\":\"48674bc7\"},"
         "\"w\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}",
         0},
    };
    const struct steps *s = *state;
    char outside[STEPS_PATH];
    weir_err err;

    make_outside(s, outside);
    for (size_t i = 0; i < WR_ARRAY_LEN(cases); i++) {
        FILE *f = fopen(in(outside, "a.safetensors"), "wb");
        uint64_t len = strlen(cases[i].head);

        assert_non_null(f);
        fwrite(&len, 8, 1, f);
        fputs(cases[i].head, f);
        fwrite("\0\0\0\0", 1, 4, f);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(check(in(outside, "a.safetensors"), NULL, &err),
                         cases[i].code);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, steps_setup, steps_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(copies_a_step),
        TEST(nothing_to_copy),
        TEST(takes_another_copy),
        TEST(passes_over_what_cannot_be_read),
        TEST(never_over_something),
        TEST(target_fails),
        TEST(through_an_emulated_device),
        TEST(canceled),
        TEST(checks_a_lone_file),
        TEST(checks_foreign_files),
    };

    return cmocka_run_group_tests_name("export", tests, NULL, NULL);
}
