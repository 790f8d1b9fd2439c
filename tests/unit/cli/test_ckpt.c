/* test_ckpt.c - the actions of weir ckpt, on a store of three steps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../checkpoint/saves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/commands.h"

struct answered {
    char *out, *err;
    size_t out_len, err_len;
    int code;
};

static const struct wr_command *find_ckpt(void)
{
    for (size_t k = 0; wr_commands[k]; k++)
        if (!strcmp(wr_commands[k]->name, "ckpt"))
            return wr_commands[k];
    fail_msg("there is no weir ckpt");
    return NULL;
}

/* `line` with the fast folder for each "F" that stands alone, the slow one for
 * "S", and a new folder for "N". */
static struct answered ask(const struct saves *s, const char *line)
{
    struct answered a = {0};
    struct wr_cli cli = {.out = open_memstream(&a.out, &a.out_len),
                         .err = open_memstream(&a.err, &a.err_len),
                         .width = 80};
    char copy[200], other[300], fast[300], slow[300];
    char *argv[16], *save = NULL, *word;
    int argc = 0;

    snprintf(copy, sizeof(copy), "%s", line);
    snprintf(fast, sizeof(fast), "%s", s->fast);
    snprintf(slow, sizeof(slow), "%s", s->slow);
    snprintf(other, sizeof(other), "%s/new", s->root);
    for (word = strtok_r(copy, " ", &save); word;
         word = strtok_r(NULL, " ", &save))
        argv[argc++] = !strcmp(word, "F")   ? fast
                       : !strcmp(word, "S") ? slow
                       : !strcmp(word, "N") ? other
                                            : word;
    a.code = wr_command_run(find_ckpt(), &cli, argc, argv);
    fclose(cli.out);
    fclose(cli.err);
    return a;
}

static void answered_done(struct answered *a)
{
    free(a->out);
    free(a->err);
}

struct question {
    const char *line;
    int code;
    const char *out, *err; /* what is in it; NULL: nothing at all */
};

static void ask_all(const struct saves *s, const struct question *q,
                    size_t count)
{
    for (size_t k = 0; k < count; k++) {
        struct answered a = ask(s, q[k].line);

        if (a.code != q[k].code ||
            (q[k].out ? !strstr(a.out, q[k].out) : *a.out) ||
            (q[k].err ? !strstr(a.err, q[k].err) : *a.err))
            fail_msg("'%s': %d\n%s\n%s", q[k].line, a.code, a.out, a.err);
        answered_done(&a);
    }
}

/* Steps 10, 20 and 30 of the fast folder. */
static void fill(struct saves *s)
{
    weir_ckpt_config cfg = saves_config(s, (struct saves_tiers){0});
    weir_ckpt *c;

    cfg.keep_last = 0;
    c = saves_open(&cfg);
    for (uint64_t step = 10; step <= 30; step += 10)
        saves_must(s, c, step, WEIR_LEVEL_VERIFIED);
    saves_close(c);
}

static json_t *ask_json(const struct saves *s, const char *line)
{
    struct answered a = ask(s, line);
    json_t *j = json_loads(a.out, JSON_DECODE_ANY, NULL);

    if (a.code != WR_EXIT_DONE || !j)
        fail_msg("'%s': %d\n%s\n%s", line, a.code, a.out, a.err);
    answered_done(&a);
    return j;
}

static json_int_t number(const json_t *j, const char *key)
{
    assert_true(json_is_integer(json_object_get(j, key)));
    return json_integer_value(json_object_get(j, key));
}

static void test_ls(void **state)
{
    static const struct question asked[] = {
        {"ls F", 0, "\n3 steps, ", NULL},
        {"ls F", 0, "verified", NULL},
        {"ls", 2, NULL, "argument FOLDER is missing"},
        {"ls F --step 10", 2, NULL, "ls does not take --step"},
        {"ls N", 1, NULL, "weir ckpt: "},
    };
    struct saves *s = *state;
    json_t *list;

    fill(s);
    ask_all(s, asked, WR_ARRAY_LEN(asked));
    list = ask_json(s, "ls F --json");
    assert_int_equal(json_array_size(list), 3);
    for (size_t k = 0; k < 3; k++) {
        const json_t *e = json_array_get(list, k);

        assert_int_equal(number(e, "step"), 10 * (k + 1));
        assert_int_equal(number(e, "world"), 1);
        assert_true(number(e, "bytes") > SAVES_COUNT * 4);
        assert_string_equal(json_string_value(json_object_get(e, "fast")),
                            "verified");
        assert_null(json_object_get(e, "slow")); /* there is one folder */
        assert_true(json_is_false(json_object_get(e, "pinned")));
    }
    json_decref(list);
}

static void test_show(void **state)
{
    static const struct question asked[] = {
        {"show F", 0, "step 30, saved ", NULL},
        {"show F --step 20", 0, "step 20, saved ", NULL},
        {"show F --step 20", 0, "by 1 rank", NULL},
        {"show F --step 20", 0, "\n1 tensor, ", NULL},
        {"show F --step 11", 1, NULL, "step 11"},
    };
    struct saves *s = *state;
    json_t *shown;

    fill(s);
    ask_all(s, asked, WR_ARRAY_LEN(asked));
    shown = ask_json(s, "show F --step 10 --json");
    assert_int_equal(number(shown, "step"), 10);
    assert_int_equal(json_array_size(json_object_get(shown, "tensors")), 1);
    assert_int_equal(
        number(json_array_get(json_object_get(shown, "tensors"), 0), "bytes"),
        SAVES_COUNT * 4);
    json_decref(shown);
}

/* Every copy is read; what is wrong with one is said of that one. */
static void test_verify(void **state)
{
    static const struct question good[] = {
        {"verify F", 0, "3 steps good, ", NULL},
        {"verify F --step 20", 0, "1 step good, ", NULL},
    };
    static const struct question bad[] = {
        {"verify F", 1, "DAMAGED", "1 of 3 steps damaged"},
        {"verify F --step 20", 1, "DAMAGED", "1 of 1 step damaged"},
        {"verify F --step 10", 0, "1 step good, ", NULL},
    };
    struct saves *s = *state;

    fill(s);
    ask_all(s, good, WR_ARRAY_LEN(good));
    saves_damage(s->fast, 20);
    ask_all(s, bad, WR_ARRAY_LEN(bad));
}

static void test_pins(void **state)
{
    static const struct question asked[] = {
        {"pin F --step 10", 0, "", NULL},
        {"ls F", 0, "pinned", NULL},
        {"prune F --keep 1 --dry-run", 0, "", NULL},
        {"ls F", 0, "\n3 steps, ", NULL},
        {"prune F --keep 1", 0, "", NULL},
        {"ls F", 0, "\n2 steps, ", NULL}, /* 30, and 10, which is pinned */
        {"show F --step 20", 1, NULL, "step 20"},
        {"unpin F --step 10", 0, "", NULL},
        {"prune F --keep 1", 0, "", NULL},
        {"ls F", 0, "\n1 step, ", NULL},
        {"pin F", 2, NULL, "give --step"},
    };
    struct saves *s = *state;

    fill(s);
    for (size_t k = 0; k < WR_ARRAY_LEN(asked); k++) {
        struct answered a = ask(s, asked[k].line);

        if (a.code != asked[k].code ||
            (asked[k].out && !strstr(a.out, asked[k].out)) ||
            (asked[k].err && !strstr(a.err, asked[k].err)))
            fail_msg("'%s': %d\n%s\n%s", asked[k].line, a.code, a.out, a.err);
        answered_done(&a);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, saves_setup, saves_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_ls),
        TEST(test_show),
        TEST(test_verify),
        TEST(test_pins),
    };

    saves_in_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
