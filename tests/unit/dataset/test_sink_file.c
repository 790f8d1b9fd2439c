/* test_sink_file.c - one file of a data set, in every form.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../gen/scratch.h"
#include "dataset/sink_file.h"

#define SAMPLES 3000u
#define SIDE    16u

static const struct wr_sink_maker maker = {.command = "weir test",
                                           .job_file = ".weir-test",
                                           .comment = "",
                                           .replaces = "it",
                                           .other = "another"};

static const struct wr_gen_shape shape = {WEIR_U8, 1, {SIDE}};
static const weir_field fields[] = {
    {.name = "x",
     .kind = WEIR_FIELD_TENSOR,
     .dtype = WEIR_U8,
     .ndim = 1,
     .dims = {SIDE}},
    {.name = "y",
     .kind = WEIR_FIELD_SCALAR,
     .dtype = WEIR_U32,
     .is_label = true},
};

static struct wr_sink *open_sink(struct scratch *s)
{
    static char target[512];
    const struct wr_sink_config cfg = {
        .maker = &maker, .url = target, .job = "j\n"};
    struct wr_sink *sink = NULL;

    snprintf(target, sizeof(target), "%s/t", s->dir);
    assert_int_equal(wr_sink_open(&sink, &cfg, NULL), 0);
    return sink;
}

static void make_sample(uint32_t k, uint8_t x[SIDE])
{
    for (uint32_t i = 0; i < SIDE; i++)
        x[i] = (uint8_t)(k * 7 + i);
}

/* `count` of the `samples` that were announced. */
static void add_samples(struct wr_sink_file *f, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        uint8_t x[SIDE];
        const struct wr_slice values[] = {{x, SIDE},
                                          {(const uint8_t *)&k, sizeof(k)}};
        const struct wr_write_sample w = {.key = "",
                                          .label = k,
                                          .fields = fields,
                                          .values = values,
                                          .field_count = 2};

        make_sample(k, x);
        assert_int_equal(
            f->form->arrays || f->form->records
                ? wr_sink_file_add(f, &w, NULL)
                : wr_sink_file_add_tensors(f, x, SIDE, &k, 1, NULL),
            0);
    }
}

static void make_file(struct wr_sink *sink, const char *path,
                      const struct wr_file_form *form, uint32_t samples,
                      uint32_t count)
{
    const struct wr_file_layout layout = {
        .samples = samples,
        .fields = fields,
        .field_count = form->arrays && form->arrays->single ? 1 : 2,
        .shape = &shape,
        .labels = true};
    struct wr_sink_file f;
    uint64_t files, bytes;

    assert_int_equal(wr_sink_file_open(&f, sink, path, form, &layout, NULL), 0);
    add_samples(&f, count);
    wr_sink_file_look(sink, path, form, &files, &bytes);
    assert_int_equal(files, 0); /* not before it is complete */
    assert_int_equal(wr_sink_file_finish(&f, NULL), 0);
    wr_sink_file_look(sink, path, form, &files, &bytes);
    assert_int_equal(files, f.files);
    assert_int_equal(bytes, f.bytes);
    wr_sink_file_done(&f);
}

/* Every form: the samples are in the file, and what belongs beside it is
 * there. */
static void every_form(void **state)
{
    static const struct form_case {
        const char *name, *path;
        uint64_t files;
    } cases[] = {
        {"wt", "a.wt", 1},       {"npy", "b.npy", 2},
        {"npz", "c.npz", 1},     {"csv", "d.csv", 1},
        {"jsonl", "e.jsonl", 1}, {"indexed_binary", "f.bin", 3},
        {"tensor", "g.wt", 1},
    };
    struct scratch *s = *state;
    struct wr_sink *sink = open_sink(s);
    struct wr_file_form form;
    uint64_t files, bytes;

    for (unsigned k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        assert_true(wr_file_form_find(cases[k].name, &form));
        make_file(sink, cases[k].path, &form, SAMPLES, SAMPLES);
        wr_sink_file_look(sink, cases[k].path, &form, &files, &bytes);
        assert_int_equal(files, cases[k].files);
        assert_true(bytes >= (uint64_t)SAMPLES * SIDE);
    }
    assert_false(wr_file_form_find("docx", &form));
    assert_int_equal(wr_sink_commit(sink, NULL), 0);
    wr_sink_close(sink, /* drop= */ false);
}

/* Fewer samples than announced: the file is as one of so many, though its head
 * is smaller than the room that was left. */
static void fewer_samples(void **state)
{
    static const char *const names[][3] = {{"wt", "a.wt", "b.wt"},
                                           {"npy", "a.npy", "b.npy"}};
    struct scratch *s = *state;
    struct wr_sink *sink = open_sink(s);
    struct wr_file_form form;

    for (unsigned k = 0; k < 2; k++) {
        size_t more_len = 0, few_len = 0;
        unsigned char *more, *few;
        char path[64];

        assert_true(wr_file_form_find(names[k][0], &form));
        make_file(sink, names[k][1], &form, SAMPLES, 5);
        make_file(sink, names[k][2], &form, 5, 5);
        snprintf(path, sizeof(path), ".t.part/%s", names[k][1]);
        more = scratch_read(s, path, &more_len);
        snprintf(path, sizeof(path), ".t.part/%s", names[k][2]);
        few = scratch_read(s, path, &few_len);
        assert_int_equal(more_len, few_len);
        assert_memory_equal(more, few, few_len);
        free(more);
        free(few);
    }
    wr_sink_close(sink, /* drop= */ true);
    assert_int_equal(scratch_entries(s, ""), 0);
}

/* What was not finished leaves nothing. */
static void dropped(void **state)
{
    const struct wr_file_layout layout = {.samples = SAMPLES,
                                          .fields = fields,
                                          .field_count = 2,
                                          .shape = &shape};
    static const char *const names[] = {"wt", "npz", "csv"};
    struct scratch *s = *state;
    struct wr_sink *sink = open_sink(s);
    struct wr_file_form form;
    struct wr_sink_file f;

    for (unsigned k = 0; k < 3; k++) {
        assert_true(wr_file_form_find(names[k], &form));
        assert_int_equal(wr_sink_file_open(&f, sink, "f", &form, &layout, NULL),
                         0);
        add_samples(&f, 10);
        wr_sink_file_done(&f);
        assert_int_equal(scratch_entries(s, ".t.part"), 1);
    }
    wr_sink_close(sink, /* drop= */ true);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_form),
        TEST(fewer_samples),
        TEST(dropped),
    };

    return cmocka_run_group_tests_name("sink_file", tests, NULL, NULL);
}
