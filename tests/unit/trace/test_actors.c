/* test_actors.c - mounts of a trace; its processes: ranks, main ones, workers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "maker.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/analysis_private.h"

/* --- mounts --- */

static const char mount_lines[] = "/dev/sda1 / ext4 4096\n"
                                  "server:/x /data nfs4 1048576\n"
                                  "tmpfs /tmp tmpfs 4096\n"
                                  "broken-line /nowhere\n"
                                  "\n"
                                  "host@tcp:/fs /lustre lustre 4096\n"
                                  "host@tcp:/big /lustre/big lustre 4194304\n"
                                  "weir-lustre /emu fuse.weir 4096\n"
                                  "other-lustre /emu2 fuse.weir 4096\n"
                                  "weir-hdd /emu3 fuse.weir\n"
                                  "/dev/sdb1 /data/local xfs 4096\n"
                                  "/dev/sdc1 /data/local xfs 512\n";

static void check_mounts(const struct wr_trace_analysis *a)
{
    static const struct {
        const char *device, *path, *type;
        uint64_t block;
        bool network, counted, memory;
    } want[] = {
        {"/dev/sda1", "/", "ext4", 4096, false, true, false},
        {"server:/x", "/data", "nfs4", 1048576, true, true, false},
        {"tmpfs", "/tmp", "tmpfs", 4096, false, false, true},
        /* A stripe at least. */
        {"host@tcp:/fs", "/lustre", "lustre", 1048576, true, false, false},
        {"host@tcp:/big", "/lustre/big", "lustre", 4194304, true, false, false},
        {"weir-lustre", "/emu", "fuse.weir", 1048576, true, false, false},
        {"other-lustre", "/emu2", "fuse.weir", 4096, false, false, false},
        {"weir-hdd", "/emu3", "fuse.weir", 0, false, false, false},
        {"/dev/sdb1", "/data/local", "xfs", 4096, false, true, false},
        {"/dev/sdc1", "/data/local", "xfs", 512, false, true, false},
    };

    assert_int_equal(a->mount_count, WR_ARRAY_LEN(want));
    for (size_t k = 0; k < WR_ARRAY_LEN(want); k++) {
        const struct wr_trace_mount *m = &a->mounts[k];

        assert_string_equal(m->device, want[k].device);
        assert_string_equal(m->path, want[k].path);
        assert_string_equal(m->type, want[k].type);
        assert_int_equal(m->block, want[k].block);
        assert_int_equal(m->network, want[k].network);
        assert_int_equal(m->counted, want[k].counted);
        assert_int_equal(m->memory, want[k].memory);
    }
}

static void check_paths(const struct wr_trace_analysis *a)
{
    static const struct {
        const char *path, *device; /* NULL: on none */
    } want[] = {
        {"/", "/dev/sda1"},
        {"/etc/fstab", "/dev/sda1"},
        {"/data", "server:/x"},
        {"/data/train/a.jpg", "server:/x"},
        {"/database/x", "/dev/sda1"},   /* not below /data */
        {"/data/local/x", "/dev/sdc1"}, /* the later one lies over it */
        {"/data/locals", "server:/x"},
        {"/lustre/big/x", "host@tcp:/big"},
        {"/lustre/bigger", "host@tcp:/fs"},
        {"relative", NULL},
        {"", "/dev/sda1"},
    };

    for (size_t k = 0; k < WR_ARRAY_LEN(want); k++) {
        const struct wr_trace_mount *m = wr_trace_mount_of(a, want[k].path);

        if (!want[k].device) {
            assert_null(m);
            continue;
        }
        assert_non_null(m);
        assert_string_equal(m->device, want[k].device);
    }
}

static void test_mounts(void **state)
{
    struct wr_trace_analysis a = {0};
    struct maker m;
    weir_err err;

    (void)state;
    maker_open(&m);
    m.info.mounts = mount_lines;
    a.file = maker_read(&m);
    assert_int_equal(wr_trace_mounts(&a, &err), 0);
    check_mounts(&a);
    check_paths(&a);
    free(a.mounts);
    free(a.mount_text);
    wr_trace_file_close(a.file);
    maker_done(&m);
}

/* --- processes --- */

/* What is known of a process, and what it is taken for. */
struct member {
    int parent, own_rank;
    const char *program, *argv;
    uint64_t start_ms, end_ms, set_bytes;
    int rank, job, main;
    uint32_t generation;
};

#define PYTHON "/usr/bin/python3"
#define OTHER  WR_TRACE_JOB_OTHER
#define MAIN   WR_TRACE_JOB_MAIN
#define WORKER WR_TRACE_JOB_WORKER

struct family {
    struct maker m;
    struct wr_trace_analysis a;
};

static void meet(struct family *f, const struct member *list, size_t count)
{
    *f = (struct family){0};
    maker_open(&f->m);
    for (size_t k = 0; k < count; k++) {
        maker_process(&f->m, list[k].parent, list[k].start_ms, list[k].end_ms);
        f->m.processes[k].rank = list[k].own_rank;
        f->m.processes[k].program = list[k].program;
        f->m.processes[k].argv = list[k].argv;
        maker_again(&f->m, (uint32_t)k);
    }
    f->a.file = maker_read(&f->m);
    f->a.actor_count = count;
    f->a.actors = calloc(count, sizeof(*f->a.actors));
    assert_non_null(f->a.actors);
    for (size_t k = 0; k < count; k++)
        f->a.actors[k].set_bytes = list[k].set_bytes;
    wr_trace_ranks(&f->a);
    wr_trace_jobs(&f->a);
    for (size_t k = 0; k < count; k++) {
        const struct wr_trace_actor *is = &f->a.actors[k];

        if (is->rank != list[k].rank || is->job != list[k].job ||
            is->main != list[k].main || is->generation != list[k].generation)
            fail_msg("process %zu: rank %d, job %d, main %d, generation %u", k,
                     is->rank, is->job, is->main, is->generation);
    }
}

static void part(struct family *f)
{
    free(f->a.actors);
    wr_trace_file_close(f->a.file);
    maker_done(&f->m);
}

/* One that copies itself, two at a time, twice. */
static void test_workers(void **state)
{
    static const struct member list[] = {
        {-1, -1, PYTHON, "train.py", 0, 100, 0, -1, MAIN, 0, 0},
        {0, -1, PYTHON, "train.py", 10, 40, 1000, -1, WORKER, 0, 1},
        {0, -1, PYTHON, "train.py", 12, 41, 1000, -1, WORKER, 0, 1},
        {0, -1, PYTHON, "train.py", 50, 90, 1000, -1, WORKER, 0, 2},
        {0, -1, PYTHON, "x -c multiprocessing.spawn", 50, 90, 900, -1, WORKER,
         0, 2},
        {0, -1, PYTHON, "-c from spawn_main", 51, 90, 900, -1, WORKER, 0, 2},
        /* Looks at a file or two; another program; another script. */
        {0, -1, PYTHON, "train.py", 20, 30, 9, -1, OTHER, -1, 0},
        {0, -1, "/bin/cp", "train.py", 20, 30, 800, -1, MAIN, 7, 0},
        {0, -1, PYTHON, "test.py", 20, 30, 800, -1, MAIN, 8, 0},
    };
    struct family f;

    (void)state;
    meet(&f, list, WR_ARRAY_LEN(list));
    assert_int_equal(f.a.workers, 5);
    assert_int_equal(f.a.mains, 3);
    assert_int_equal(f.a.generations, 2);
    assert_int_equal(f.a.workers_at_once, 3);
    assert_int_equal(f.a.ranks, 0);
    part(&f);
}

/* Ranks are those of the nearest ancestor that says one. A rank whose parent has
 * another one is nobody's worker, and a grandchild's main process is the top. */
static void test_ranks(void **state)
{
    static const struct member list[] = {
        {-1, -1, "/bin/mpirun", "mpirun", 0, 100, 0, -1, OTHER, -1, 0},
        {0, 0, PYTHON, "train.py", 0, 100, 500, 0, MAIN, 1, 0},
        {0, 1, PYTHON, "train.py", 0, 100, 500, 1, MAIN, 2, 0},
        {1, -1, PYTHON, "train.py", 5, 90, 500, 0, WORKER, 1, 1},
        {3, -1, PYTHON, "train.py", 6, 90, 500, 0, WORKER, 1, 1},
        {2, 1025, PYTHON, "train.py", 5, 90, 500, 1025, MAIN, 5, 0},
        {2, 7, PYTHON, "train.py", 5, 90, 0, 7, OTHER, -1, 0},
    };
    struct family f;

    (void)state;
    meet(&f, list, WR_ARRAY_LEN(list));
    assert_int_equal(f.a.ranks, 3); /* 1025 counts as 1 */
    assert_int_equal(f.a.workers, 2);
    assert_int_equal(f.a.workers_at_once, 2);
    part(&f);
}

/* --- how the files are shared --- */

static void test_access(void **state)
{
    static const struct {
        uint32_t ranks;
        uint64_t files, shared, same, bytes;
        uint64_t reads, consecutive, sequential;
        const char *text;
    } cases[] = {
        {0, 1, 0, 0, 90, 100, 100, 100,
         "one file, read one request behind the other"},
        {1, 9, 0, 0, 90, 100, 90, 100,
         "many files, read one request behind the other"},
        {1, 2, 0, 0, 90, 100, 89, 90, "many files, read forwards with gaps"},
        {1, 2, 0, 0, 90, 100, 0, 89, "many files, read here and there"},
        {2, 2, 0, 0, 90, 100, 90, 90,
         "each rank has files of its own, read one request behind the other; "
         "2.5 to 4.0 MB per rank"},
        {2, 2, 1, 30, 90, 100, 90, 90,
         "ranks share files and read different places, read one request "
         "behind the other; 2.5 to 4.0 MB per rank"},
        {2, 2, 1, 31, 90, 100, 90, 90,
         "ranks share files and read the same places, read one request behind "
         "the other; 2.5 to 4.0 MB per rank"},
    };
    struct wr_trace_actor actors[] = {{.rank = 0, .set_bytes = 3000000},
                                      {.rank = 1, .set_bytes = 2500000},
                                      {.rank = 0, .set_bytes = 1000000},
                                      {.rank = -1, .set_bytes = 9000000},
                                      {.rank = 2, .set_bytes = 0}};

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        const struct wr_trace_analysis a = {
            .actors = actors,
            .actor_count = WR_ARRAY_LEN(actors),
            .ranks = cases[k].ranks,
            .set_files = cases[k].files,
            .shared_files = cases[k].shared,
            .same_bytes = cases[k].same,
            .set_bytes = cases[k].bytes,
            .set_reads = cases[k].reads,
            .set_consecutive = cases[k].consecutive,
            .set_sequential = cases[k].sequential};
        char text[200], tiny[12];

        assert_string_equal(wr_trace_access_text(&a, text, sizeof(text)),
                            cases[k].text);
        wr_trace_access_text(&a, tiny, sizeof(tiny));
        assert_memory_equal(tiny, cases[k].text, sizeof(tiny) - 1);
        assert_int_equal(tiny[sizeof(tiny) - 1], '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mounts),
        cmocka_unit_test(test_workers),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_access),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
