/* test_golden.c - the bytes that conversions write, against kept digests.
 * SPDX-License-Identifier: Apache-2.0
 *
 * tests/data/golden/converted.txt has a line per conversion; with --write it is
 * made anew. The sources are those of the golden test of pipelines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../format/tmpdir.h"
#include "../pipeline/golden_sets.h"
#include "place.h"

struct job {
    const char *name, *set, *to;
    enum weir_dtype dtype; /* of tensors */
    uint64_t shard_bytes;
    bool shuffle;
    enum weir_part part; /* of 0.25 that is held out */
};

/* One line per conversion; two shards are made at once. */
static const struct job jobs[] = {
    {"tree-tfrecord", "tree", "tfrecord", WEIR_F32, 40000, false, 0},
    {"tree-tfrecord-shuffled", "tree", "tfrecord", WEIR_F32, 40000, true, 0},
    {"tree-tar", "tree", "tar", WEIR_F32, 40000, false, 0},
    {"tree-tar-one", "tree", "tar", WEIR_F32, 0, false, 0},
    {"tree-tensor", "tree", "tensor", WEIR_U8, 20000, false, 0},
    {"tree-npy", "tree", "npy", WEIR_F16, 20000, true, 0},
    {"numbers-tfrecord", "numbers", "tfrecord", WEIR_F32, 30000, true, 0},
    {"numbers-tar", "numbers", "tar", WEIR_F32, 30000, false, 0},
    {"tfrecord-tar", "tfrecord", "tar", WEIR_F32, 30000, false, 0},
    {"tfrecord-gz-tar", "tfrecord-gz", "tar", WEIR_F32, 30000, false, 0},
    {"tfrecord-gz-tensor", "tfrecord-gz", "tensor", WEIR_F32, 0, true, 0},
    {"tar-tfrecord", "tar", "tfrecord", WEIR_F32, 30000, false, 0},
    {"tar-gz-tfrecord", "tar-gz", "tfrecord", WEIR_F32, 30000, true, 0},
    {"tar-gz-npy", "tar-gz", "npy", WEIR_U8, 9000, false, 0},
    {"bad-tfrecord", "bad", "tfrecord", WEIR_F32, 40000, false, 0},
    {"bad-tensor", "bad", "tensor", WEIR_U8, 9000, false, 0},
    {"tfrecord-bad-tar", "tfrecord-bad", "tar", WEIR_F32, 30000, false, 0},
    {"tree-train", "tree", "tar", WEIR_F32, 40000, true, WEIR_PART_TRAIN},
    {"tree-held-out", "tree", "tensor", WEIR_U8, 0, false, WEIR_PART_HELD_OUT},
};

#define JOBS (sizeof(jobs) / sizeof(jobs[0]))

static struct tmpdir tmp;
static bool writes;

static uint64_t digest_of(const struct job *j)
{
    const struct gs_set *set = gs_find(j->set);
    struct wr_convert_config cfg;
    struct wr_convert_result res;
    struct scratch s = {0};
    weir_dataset *ds;
    char path[512];
    uint64_t h;

    snprintf(s.dir, sizeof(s.dir), "%s", tmp.path);
    ds = place_open(&s, "", set->path);
    place_config(&s, ds, j->to, &cfg, path);
    snprintf(path, sizeof(path), "%s/out-%s", tmp.path, j->name);
    cfg.name = "x";
    cfg.shard_bytes = j->shard_bytes;
    cfg.shuffle = j->shuffle;
    cfg.seed = 3;
    cfg.tensor.picture.dtype = j->dtype;
    cfg.tensor.holdout = j->part ? 0.25f : 0;
    cfg.tensor.part = j->part;
    place_convert(&cfg, &res);
    /* The job file knows the inodes of the source. */
    assert_int_equal(remove(strcat(path, "/.weir-convert")), 0);
    *strrchr(path, '/') = '\0';
    h = place_hash(&s, strrchr(path, '/') + 1) * 31 + res.samples;
    for (size_t k = 0; k < res.bad_count; k++)
        for (const char *c = res.bad_text[k]; *c; c++)
            h = h * 1099511628211u + (uint8_t)*c;
    wr_convert_result_done(&res);
    weir_dataset_close(&ds);
    return h;
}

static uint64_t kept(const char *name)
{
    FILE *f = fopen(WR_GOLDEN_CONVERTED, "r");
    unsigned long long digest = 0;
    char line[200], found[64];

    assert_non_null(f);
    while (fgets(line, sizeof(line), f))
        if (sscanf(line, "%63s %llx", found, &digest) == 2 &&
            !strcmp(found, name))
            break;
        else
            digest = 0;
    fclose(f);
    return digest;
}

static void conversions_write_what_they_wrote(void **state)
{
    FILE *f = writes ? fopen(WR_GOLDEN_CONVERTED, "w") : NULL;
    unsigned wrong = 0;

    (void)state;
    for (size_t k = 0; k < JOBS; k++) {
        uint64_t digest = digest_of(&jobs[k]);

        if (f)
            fprintf(f, "%s %016llx\n", jobs[k].name,
                    (unsigned long long)digest);
        else if (digest != kept(jobs[k].name)) {
            print_error("%s: %016llx, not as it was\n", jobs[k].name,
                        (unsigned long long)digest);
            wrong++;
        }
    }
    if (f)
        assert_int_equal(fclose(f), 0);
    assert_int_equal(wrong, 0);
}

static int set_up(void **state)
{
    (void)state;
    tmpdir_init(&tmp);
    gs_make(&tmp);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tmpdir_done(&tmp);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conversions_write_what_they_wrote),
    };

    writes = argc > 1 && !strcmp(argv[1], "--write");
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
