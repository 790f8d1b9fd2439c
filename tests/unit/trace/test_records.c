/* test_records.c - what a trace has besides events, as bytes and back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "maker.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/records.h"

static const struct wr_trace_info info = {
    .start_wall_ns = UINT64_C(1700000000000000000),
    .end_ns = 5,
    .command = "python3 train.py",
    .host = "node1",
    .kernel = "",
    .weir = "0.1",
    .cores = 8,
    .memory_bytes = 300,
    .available_bytes = 200,
    .complete = true,
    .lost_records = 3,
    .merged = 2,
    .mounts = "/dev/sda1 / ext4 4096\n"};

static const struct wr_trace_numbered processes = {
    .number = 300,
    .process = {.pid = 77,
                .parent = -1,
                .rank = 3,
                .world = 4,
                .start_ns = 1000,
                .end_ns = UINT64_MAX,
                .threads = 9,
                .program = "/bin/sh",
                .argv = "sh -c x",
                .cwd = "/w",
                .host = "node1",
                .rchar = UINT64_MAX,
                .wchar = 0,
                .read_bytes = 127,
                .write_bytes = 128,
                .major_faults = UINT64_MAX}};

static const struct wr_trace_named named = {.number = 70000,
                                            .kind = WR_TRACE_DATA,
                                            .size = UINT64_MAX,
                                            .path = "/data/a.bin",
                                            .path_len = 11};

/* One record of each kind: written, and read again with what is looked at. */
struct kind {
    const char *name;
    void (*put)(struct wr_pack *p);
    bool (*take)(struct wr_packed *p, struct wr_trace_keep *k, bool look);
};

static void put_info(struct wr_pack *p)
{
    wr_trace_put_info(p, &info);
}

static bool take_info(struct wr_packed *p, struct wr_trace_keep *k, bool look)
{
    struct wr_trace_info i = {0};

    if (!wr_trace_take_info(p, k, &i))
        return false;
    if (!look)
        return true;
    assert_int_equal(i.start_wall_ns, info.start_wall_ns);
    assert_int_equal(i.end_ns, 5);
    assert_string_equal(i.command, info.command);
    assert_string_equal(i.host, "node1");
    assert_string_equal(i.kernel, "");
    assert_string_equal(i.weir, "0.1");
    assert_int_equal(i.cores, 8);
    assert_int_equal(i.memory_bytes, 300);
    assert_int_equal(i.available_bytes, 200);
    assert_true(i.complete && !i.anonymous && !i.by_kernel);
    assert_int_equal(i.lost_records, 3);
    assert_int_equal(i.merged, 2);
    assert_string_equal(i.mounts, info.mounts);
    return true;
}

static void put_process(struct wr_pack *p)
{
    wr_trace_put_process(p, &processes);
}

static bool take_process(struct wr_packed *p, struct wr_trace_keep *k,
                         bool look)
{
    struct wr_trace_numbered n = {0};
    const struct wr_trace_process *is = &n.process;

    if (!wr_trace_take_process(p, k, &n))
        return false;
    if (!look)
        return true;
    assert_int_equal(n.number, 300);
    assert_int_equal(is->pid, 77);
    assert_int_equal(is->parent, -1);
    assert_int_equal(is->rank, 3);
    assert_int_equal(is->world, 4);
    assert_int_equal(is->start_ns, 1000);
    assert_true(is->end_ns == UINT64_MAX && is->rchar == UINT64_MAX);
    assert_int_equal(is->threads, 9);
    assert_string_equal(is->program, "/bin/sh");
    assert_string_equal(is->argv, "sh -c x");
    assert_string_equal(is->cwd, "/w");
    assert_string_equal(is->host, "node1");
    assert_int_equal(is->wchar, 0);
    assert_int_equal(is->read_bytes, 127);
    assert_int_equal(is->write_bytes, 128);
    assert_true(is->major_faults == UINT64_MAX);
    return true;
}

static void put_name(struct wr_pack *p)
{
    wr_trace_put_name(p, &named);
}

static bool take_name(struct wr_packed *p, struct wr_trace_keep *k, bool look)
{
    struct wr_trace_named n = {0};

    if (!wr_trace_take_name(p, k, &n))
        return false;
    if (!look)
        return true;
    assert_int_equal(n.number, 70000);
    assert_int_equal(n.kind, WR_TRACE_DATA);
    assert_true(n.size == UINT64_MAX);
    assert_int_equal(n.path_len, 11);
    assert_memory_equal(n.path, "/data/a.bin", 11);
    return true;
}

static void put_resident(struct wr_pack *p)
{
    wr_trace_put_resident(
        p, &(struct wr_trace_named){.number = 5, .resident = 4096});
}

static bool take_resident(struct wr_packed *p, struct wr_trace_keep *k,
                          bool look)
{
    struct wr_trace_named n = {0};

    if (!wr_trace_take_resident(p, k, &n))
        return false;
    if (look) {
        assert_int_equal(n.number, 5);
        assert_int_equal(n.resident, 4096);
    }
    return true;
}

static const struct kind kinds[] = {
    {"info", put_info, take_info},
    {"process", put_process, take_process},
    {"name", put_name, take_name},
    {"resident", put_resident, take_resident},
};

static struct wr_packed whole(const struct wr_pack *p, size_t len)
{
    return (struct wr_packed){.at = p->bytes, .end = p->bytes + len};
}

/* Two of a kind, one after the other: all that was put is there, and no more. */
static void test_back(void **state)
{
    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(kinds); k++) {
        struct wr_trace_keep keep = {0};
        struct wr_pack p = {0};
        struct wr_packed from;

        kinds[k].put(&p);
        kinds[k].put(&p);
        assert_false(p.failed);
        from = whole(&p, p.len);
        assert_true(kinds[k].take(&from, &keep, /* look= */ true));
        assert_int_equal(from.end - from.at, p.len / 2);
        assert_true(kinds[k].take(&from, &keep, /* look= */ true));
        assert_ptr_equal(from.at, from.end);
        assert_false(kinds[k].take(&from, &keep, /* look= */ false));
        assert_false(keep.lack);
        wr_trace_keep_done(&keep);
        free(p.bytes);
    }
}

/* A record that ends before its length says so is bad, wherever it is cut. */
static void test_cut(void **state)
{
    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(kinds); k++) {
        struct wr_pack p = {0};

        kinds[k].put(&p);
        for (size_t len = 0; len < p.len; len++) {
            struct wr_trace_keep keep = {0};
            struct wr_packed from = whole(&p, len);

            if (kinds[k].take(&from, &keep, /* look= */ false))
                fail_msg("%s of %zu of %zu bytes", kinds[k].name, len, p.len);
            wr_trace_keep_done(&keep);
        }
        free(p.bytes);
    }
}

/* What a newer version appends is passed over; the next record is found. */
static void test_longer(void **state)
{
    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(kinds); k++) {
        struct wr_trace_keep keep = {0};
        struct wr_pack p = {0}, longer = {0};
        struct wr_packed from, body;
        uint64_t len;

        kinds[k].put(&p);
        body = whole(&p, p.len);
        len = wr_packed_number(&body);
        assert_int_equal(len, body.end - body.at);
        wr_pack_number(&longer, len + 3);
        wr_pack_bytes(&longer, body.at, len);
        wr_pack_bytes(&longer, "new", 3);
        kinds[k].put(&longer);
        from = whole(&longer, longer.len);
        assert_true(kinds[k].take(&from, &keep, /* look= */ true));
        assert_true(kinds[k].take(&from, &keep, /* look= */ true));
        assert_ptr_equal(from.at, from.end);
        wr_trace_keep_done(&keep);
        free(p.bytes);
        free(longer.bytes);
    }
}

/* Texts stay where they are, however many come and however long they are. */
static void test_keep(void **state)
{
    struct wr_trace_keep keep = {0};
    const char *kept[300], *large;
    char text[400], *much = malloc(100000);

    (void)state;
    assert_non_null(much);
    memset(much, 'm', 100000);
    for (size_t k = 0; k < WR_ARRAY_LEN(kept); k++) {
        memset(text, 'a' + (int)(k % 26), sizeof(text));
        kept[k] = wr_trace_keep(&keep, text, k);
    }
    large = wr_trace_keep(&keep, much, 100000);
    assert_string_equal(wr_trace_keep(&keep, NULL, 0), "");
    assert_int_equal(strlen(large), 100000);
    for (size_t k = 0; k < WR_ARRAY_LEN(kept); k++) {
        assert_int_equal(strlen(kept[k]), k);
        assert_true(!k || kept[k][k - 1] == 'a' + (char)(k % 26));
    }
    assert_int_equal(keep.count, 3); /* 64 KiB, the large one, the next */
    wr_trace_keep_done(&keep);
    assert_int_equal(keep.count, 0);
    free(much);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_back),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_longer),
        cmocka_unit_test(test_keep),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
