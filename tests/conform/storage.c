/* storage.c - what every storage backend must do, run for each of them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A backend is a line in `backends` and a CASES in main. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "storage_place.h"

static const struct backend backends[] = {
    {"file, any engine", "", WEIR_IO_AUTO, false, false, false, false},
    {"file, blocking", "file:", WEIR_IO_BLOCKING, false, false, false, false},
    {"file, any engine, direct", "", WEIR_IO_AUTO, true, false, false, false},
    {"file, blocking, direct", "", WEIR_IO_BLOCKING, true, false, false, false},
    {"fault without rules", "fault::", WEIR_IO_AUTO, false, false, false,
     false},
    {"fault around fault", "fault::fault::file:", WEIR_IO_BLOCKING, true, false,
     false, false},
    {"file, any engine, lazy", "", WEIR_IO_AUTO, false, true, false, false},
    {"fault, direct, lazy", "fault::", WEIR_IO_AUTO, true, true, false, false},
    {"emulated, no limits", "emu:null:", WEIR_IO_AUTO, false, true, false,
     false},
    {"emulated ssd, direct", "emu:ssd:", WEIR_IO_BLOCKING, true, false, false,
     false},
    {"emulated in a faulty one", "fault::emu:optane:", WEIR_IO_AUTO, false,
     false, false, false},
    {"own, any engine", "", WEIR_IO_AUTO, false, false, true, false},
    {"own, any engine, direct", "", WEIR_IO_AUTO, true, true, true, false},
    {"own, blocking, direct", "", WEIR_IO_BLOCKING, true, false, true, false},
    {"own, emulated in a faulty one", "fault::emu:null:", WEIR_IO_AUTO, true,
     false, true, false},
    {"metered, any engine, lazy", "", WEIR_IO_AUTO, false, true, false, true},
    {"metered, blocking, direct", "", WEIR_IO_BLOCKING, true, false, false,
     true},
    {"own, metered, emulated", "emu:null:", WEIR_IO_AUTO, true, true, true,
     true},
};

/* --- names, folders, objects --- */

static void a_file_is_a_leaf(void **state)
{
    const struct place *pl = *state;
    struct wr_store *st = NULL;
    struct wr_stat sb;
    char *leaf = NULL, url[600];
    weir_err err;

    st = open_store(pl, "/sub/f003.bin", &leaf);
    assert_string_equal(leaf, "f003.bin");
    assert_int_equal(st->ops->stat(st, leaf, &sb, NULL), 0);
    assert_int_equal(sb.size, 4096);
    wr_store_close(st);
    free(leaf);
    st = NULL;
    leaf = NULL;
    snprintf(url, sizeof(url), "%s%s/nothing", pl->be->prefix, pl->dir);
    assert_int_equal(wr_store_open(url, &st, &leaf, &err), WEIR_ENOENT);
    assert_null(st);
    assert_null(leaf);
    assert_non_null(strstr(err.msg, "nothing"));
    wr_store_close(NULL);
}

static void stat_tells_kind_and_size(void **state)
{
    struct wr_store *st = ((struct place *)*state)->st;
    struct wr_stat sb = {.size = 77}, again;
    weir_err err;

    assert_int_equal(st->ops->stat(st, "nothing", &sb, &err), WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "nothing"));
    assert_int_equal(sb.size, 77);
    assert_int_equal(st->ops->stat(st, "", &sb, NULL), 0);
    assert_int_equal(sb.kind, WR_KIND_DIR);
    assert_int_equal(st->ops->stat(st, "sub", &sb, NULL), 0);
    assert_int_equal(sb.kind, WR_KIND_DIR);
    assert_int_equal(st->ops->stat(st, "sub/.", &again, NULL), 0);
    assert_true(sb.dev == again.dev && sb.ino == again.ino);
    assert_int_equal(st->ops->stat(st, "sub/f004.bin", &sb, NULL), 0);
    assert_int_equal(sb.kind, WR_KIND_FILE);
    assert_int_equal(sb.size, 4097);
    assert_true(sb.mtime_ns > UINT64_C(1000000000) * 1000000000);
}

struct seen {
    unsigned files, folders, calls;
    uint64_t bytes;
    unsigned stop_at;
};

static int see(void *arg, const struct wr_entry *e)
{
    struct seen *s = arg;

    if (!strcmp(e->name, ".") || !strcmp(e->name, ".."))
        return -99;
    s->files += e->kind == WR_KIND_FILE;
    s->folders += e->kind == WR_KIND_DIR;
    s->bytes += e->size;
    return ++s->calls == s->stop_at ? 5 : 0;
}

static void list_names_all_entries(void **state)
{
    struct wr_store *st = ((struct place *)*state)->st;
    struct seen seen = {0};
    uint64_t bytes = 0;
    weir_err err;

    for (unsigned f = 0; f < FILES; f++)
        bytes += size_of(f);
    assert_int_equal(st->ops->list(st, "sub", see, &seen, NULL), 0);
    assert_int_equal(seen.files, FILES);
    assert_int_equal(seen.bytes, bytes);
    seen = (struct seen){0};
    assert_int_equal(st->ops->list(st, "", see, &seen, NULL), 0);
    assert_int_equal(seen.files, 0);
    assert_int_equal(seen.folders, 1);
    seen = (struct seen){.stop_at = 3};
    assert_int_equal(st->ops->list(st, "sub", see, &seen, NULL), 5);
    assert_int_equal(seen.calls, 3);
    assert_int_equal(st->ops->list(st, "none", see, &seen, &err), WEIR_ENOENT);
    assert_int_equal(st->ops->list(st, "sub/f001.bin", see, &seen, &err),
                     WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "f001.bin"));
}

static void objects_read(void **state)
{
    struct wr_store *st = ((struct place *)*state)->st;
    struct wr_object *o = NULL;
    uint8_t buf[100];
    weir_err err;
    char *all;
    size_t len;

    assert_int_equal(st->ops->object_open(st, "no", WR_OPEN_READ, &o, &err),
                     WEIR_ENOENT);
    assert_null(o);
    assert_int_equal(
        st->ops->object_open(st, "sub/f010.bin", WR_OPEN_READ, &o, NULL), 0);
    assert_int_equal(o->ops->read(o, buf, 100, 5000, NULL), 100);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(buf[i], byte_of(10, 5000 + i));
    assert_int_equal(o->ops->read(o, buf, 100, LARGE - 7, NULL), 7);
    assert_int_equal(o->ops->read(o, buf, 100, LARGE, NULL), 0);
    assert_int_equal(o->ops->close(o, /* sync= */ false, NULL), 0);
    assert_int_equal(
        wr_store_slurp(st, "sub/f010.bin", LARGE, &all, &len, NULL), 0);
    assert_int_equal(len, LARGE);
    assert_int_equal(all[LARGE], 0);
    assert_int_equal((uint8_t)all[LARGE - 1], byte_of(10, LARGE - 1));
    free(all);
    assert_int_equal(wr_store_slurp(st, "sub/f010.bin", 1000, &all, &len, &err),
                     WEIR_ELIMIT);
    assert_non_null(strstr(err.msg, "f010.bin"));
}

static void objects_write_and_change(void **state)
{
    struct wr_store *st = ((struct place *)*state)->st;
    struct wr_object *o, *other = NULL;
    struct wr_stat sb;
    weir_err err;
    char *text;
    size_t len;

    assert_int_equal(st->ops->change(st, WR_MKDIR, "new", NULL, NULL), 0);
    assert_int_equal(st->ops->change(st, WR_MKDIR, "new", NULL, &err),
                     WEIR_EEXIST);
    assert_int_equal(
        st->ops->object_open(st, "new/a", WR_OPEN_CREATE, &o, NULL), 0);
    assert_int_equal(
        st->ops->object_open(st, "new/a", WR_OPEN_CREATE, &other, &err),
        WEIR_EEXIST);
    assert_null(other);
    assert_int_equal(o->ops->write(o, "world", 5, 6, NULL), 0);
    assert_int_equal(o->ops->write(o, "hello ", 6, 0, NULL), 0);
    assert_int_equal(o->ops->close(o, /* sync= */ true, NULL), 0);
    assert_int_equal(st->ops->change(st, WR_RENAME, "new/a", "new/b", NULL), 0);
    assert_int_equal(st->ops->change(st, WR_SYNC_DIR, "new", NULL, NULL), 0);
    assert_int_equal(st->ops->change(st, WR_SYNC_DIR, "", NULL, NULL), 0);
    assert_int_equal(st->ops->stat(st, "new/a", &sb, NULL), WEIR_ENOENT);
    assert_int_equal(wr_store_slurp(st, "new/b", 100, &text, &len, NULL), 0);
    assert_string_equal(text, "hello world");
    free(text);
    assert_int_equal(st->ops->change(st, WR_REMOVE, "new", NULL, &err),
                     WEIR_EEXIST); /* not empty */
    assert_int_equal(st->ops->change(st, WR_REMOVE, "new/b", NULL, NULL), 0);
    assert_int_equal(st->ops->change(st, WR_REMOVE, "new", NULL, NULL), 0);
    assert_int_equal(st->ops->change(st, WR_REMOVE, "new", NULL, &err),
                     WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "remove"));
}

static void local_paths_lead_to_the_file(void **state)
{
    const struct place *pl = *state;
    char path[600];

    if (pl->be->own) { /* who takes the path follows links */
        assert_false(pl->st->ops->local_path(pl->st, "sub", path, 600));
        return;
    }
    assert_true(
        pl->st->ops->local_path(pl->st, "sub/f001.bin", path, sizeof(path)));
    assert_int_equal(access(path, R_OK), 0);
    assert_false(pl->st->ops->local_path(pl->st, "sub/f001.bin", path, 5));
}

#define CASES(b)                                                               \
    CASE(a_file_is_a_leaf, b), CASE(stat_tells_kind_and_size, b),              \
        CASE(list_names_all_entries, b), CASE(objects_read, b),                \
        CASE(objects_write_and_change, b),                                     \
        CASE(local_paths_lead_to_the_file, b), CASE(random_ranges, b),         \
        CASE(ranges_of_open_objects, b), CASE(bad_places, b),                  \
        CASE(changed_files, b), CASE(closing_with_reads_in_flight, b),         \
        CASE(a_full_queue_takes_no_more, b), CASE(no_files_are_refused, b),    \
        CASE(random_writes, b), CASE(writes_past_the_end, b),                  \
        CASE(mixed_reads_and_writes, b),                                       \
        CASE(closing_with_writes_in_flight, b),                                \
        CASE(writes_where_none_can_be, b), CASE(open_to_write_what_exists, b), \
        CASE(sync_and_resize, b), CASE(space_is_known, b),                     \
        CASE(renames_that_replace_nothing, b), CASE(folders_that_swap, b),     \
        CASE(locks_have_one_holder, b), CASE(stores_in_memory_forget, b)
#define OWN_CASES(b)                                                           \
    CASE(links_are_not_followed, b), CASE(paths_stay_below, b),                \
        CASE(strange_files_are_not_opened, b),                                 \
        CASE(a_root_may_be_behind_links, b),                                   \
        CASE(folders_that_become_links, b)
#define CASE(fn, b)                                                            \
    {                                                                          \
#fn " (" #b ")", fn, place_setup, place_teardown, &bes[b]              \
    }

/* As a kernel that has neither openat2 nor renames that replace nothing. */
static void forget_calls(void)
{
    static struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                 offsetof(struct seccomp_data, args[4])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RENAME_NOREPLACE, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {WR_ARRAY_LEN(code), code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) ||
        syscall(SYS_openat2, 0, NULL, NULL, 0) != -1 || errno != ENOSYS)
        exit(77);
}

int main(int argc, char **argv)
{
    struct backend bes[WR_ARRAY_LEN(backends)];
    const struct CMUnitTest tests[] = {
        CASES(0),      CASES(1),      CASES(2),      CASES(3),      CASES(4),
        CASES(5),      CASES(6),      CASES(7),      CASES(8),      CASES(9),
        CASES(10),     CASES(11),     CASES(12),     CASES(13),     CASES(14),
        OWN_CASES(11), OWN_CASES(12), OWN_CASES(13), OWN_CASES(14), CASES(15),
        CASES(16),     CASES(17),     OWN_CASES(17),
    };

    if (argc > 1 && !strcmp(argv[1], "--old-kernel"))
        forget_calls();
    memcpy(bes, backends, sizeof(bes));
    for (size_t b = 0; b < WR_ARRAY_LEN(backends); b++)
        print_message("backend %zu: %s\n", b, backends[b].name);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
