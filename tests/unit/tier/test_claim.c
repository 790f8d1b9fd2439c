/* test_claim.c - one writer a tier: locks, epochs, fences, leftovers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tier_help.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/mem.h"

static int claim_code(const char *url, bool take_over, weir_err *err)
{
    struct wr_tier *t = open_at(url);
    int r = wr_tier_claim(t, take_over, NULL, err);

    wr_tier_close(t);
    return r;
}

/* --- the lock --- */

static void a_second_claim_is_refused(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    char want[400];
    weir_err err;

    assert_int_equal(t->epoch, 1);
    assert_int_equal(claim_code(p->tier, false, &err), WEIR_EBUSY);
    snprintf(want, sizeof(want), "'%s': another process writes there", p->tier);
    assert_string_equal(err.msg, want);
    assert_int_equal(wr_tier_check_claim(t, NULL), 0);
    wr_tier_close(t);
    t = claimed_at(p->tier);
    assert_int_equal(t->epoch, 2); /* the refused one did not count */
    wr_tier_close(t);
}

/* A process that claims, says so, and waits to be killed. */
static pid_t holder(const char *url)
{
    struct wr_tier *t;
    int fds[2];
    char c = 0;
    pid_t pid;

    assert_int_equal(pipe(fds), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (wr_tier_open(url, "fast", true, &t, NULL) < 0 ||
            wr_tier_claim(t, false, NULL, NULL) < 0 ||
            write(fds[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(fds[1]);
    assert_int_equal(read(fds[0], &c, 1), 1);
    close(fds[0]);
    return pid;
}

static void processes_keep_each_other_out(void **state)
{
    struct place *p = *state;
    struct wr_tier *t;
    weir_err err;
    pid_t pid = holder(p->tier);

    assert_int_equal(claim_code(p->tier, false, &err), WEIR_EBUSY);
    t = open_at(p->tier);
    assert_true(wr_tier_is_claimed(t));
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_false(wr_tier_is_claimed(t));
    assert_false(wr_tier_is_claimed(t)); /* asking takes nothing */
    wr_tier_close(t);
    t = claimed_at(p->tier); /* the dead leave no lock */
    assert_true(wr_tier_is_claimed(t));
    assert_int_equal(t->epoch, 2);
    wr_tier_close(t);
}

/* --- the fence --- */

static void taking_over_fences(void **state)
{
    struct place *p = *state;
    struct wr_tier *old = claimed_at(p->tier), *new = open_at(p->tier);
    struct wr_manifest m = manifest_of(old, 1, 1);
    struct wr_pending pend;
    uint64_t swept = 0;
    weir_err err;

    assert_int_equal(wr_tier_begin(old, 1, BYTES, &pend, NULL), 0);
    assert_int_equal(put_shard(old, &pend, 0, 'x', NULL), 0);
    assert_int_equal(wr_tier_claim(new, /* take_over= */ true, &swept, &err),
                     0);
    assert_int_equal(new->epoch, 2);
    assert_int_equal(swept, 1); /* what the old one was at */
    assert_int_equal(wr_tier_check_claim(new, NULL), 0);
    assert_int_equal(wr_tier_check_claim(old, &err), WEIR_EFENCED);
    assert_non_null(strstr(err.msg, "another writer took over (epoch 2, "));
    assert_true(wr_tier_publish(old, &pend, &m, &err) < 0);
    assert_false(there(p, "step-000000000001"));

    /* The old one begins anew: no step of it appears either. */
    assert_int_equal(save(old, 2, 1, &err), WEIR_EFENCED);
    assert_int_equal(count_like(p, "step-", NULL), 0);
    assert_int_equal(count_left(p, "t", NULL), 0);
    must_save(new, 2, 1);
    wr_manifest_done(&m);
    wr_tier_close(old);
    wr_tier_close(new);
}

/* Who took over keeps others out, also when the old one is gone and it has not
 * noticed yet. */
static void the_lock_comes_later(void **state)
{
    struct place *p = *state;
    struct wr_tier *old = claimed_at(p->tier), *new = open_at(p->tier);
    weir_err err;

    assert_int_equal(wr_tier_claim(new, /* take_over= */ true, NULL, &err), 0);
    assert_false(new->locked);
    must_save(new, 1, 1);
    assert_false(new->locked);
    assert_int_equal(claim_code(p->tier, false, &err), WEIR_EBUSY);
    wr_tier_close(old);
    assert_int_equal(claim_code(p->tier, false, &err), WEIR_EBUSY);
    assert_int_equal(wr_tier_check_claim(new, NULL), 0);
    must_save(new, 2, 1);
    assert_true(new->locked);
    assert_int_equal(claim_code(p->tier, false, &err), WEIR_EBUSY);
    must_save(new, 3, 1);
    wr_tier_close(new);
    assert_int_equal(claim_code(p->tier, false, &err), 0);
}

/* Its folder is what makes it the writer, not the number. */
static void same_number_of_another_fences(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    weir_err err;

    assert_int_equal(rmdir(at(p, t->work)), 0);
    assert_int_equal(wr_tier_check_claim(t, &err), WEIR_EFENCED);
    plant_dir(p, ".writer-000000000001/" ID);
    assert_int_equal(wr_tier_check_claim(t, &err), WEIR_EFENCED);
    assert_int_equal(rmdir(at(p, ".writer-000000000001/" ID)), 0);
    assert_int_equal(rmdir(at(p, ".writer-000000000001")), 0);
    assert_int_equal(wr_tier_check_claim(t, &err), WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "is gone: was the folder removed"));
    wr_tier_close(t);
}

/* What the version before counted in: it says where to go on, and what makes no
 * sense there stops nobody. */
static void epochs_of_before(void **state)
{
    static const struct {
        const char *text;
        uint64_t next;
    } cases[] = {
        {"41", 42},
        {"7 " ID "\n", 8},
        {"", 1},
        {"x", 1},
        {"-1", 1},
        {" 1", 1},
        {"999999999999\n", 1}, /* one more has no name */
        {"9223372036854775807\n", 1},
        {"99999999999999999999999999\n", 1},
    };
    struct place *p = *state;

    for (size_t i = 0; i < WR_ARRAY_LEN(cases); i++) {
        struct wr_tier *t = open_at(p->tier);

        plant_dir(p, ".weir");
        plant(p, ".weir/epoch", cases[i].text);
        assert_int_equal(wr_tier_claim(t, false, NULL, NULL), 0);
        assert_int_equal(t->epoch, cases[i].next);
        assert_false(there(p, ".weir/epoch"));
        assert_int_equal(wr_tier_check_claim(t, NULL), 0);
        wr_tier_close(t);
        assert_int_equal(remove_tree(p->tier), 0);
    }
}

static void own_folder_in_the_way(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = open_at(p->tier);
    weir_err err;

    plant(p, ".weir", "a file");
    assert_true(wr_tier_claim(t, false, NULL, &err) < 0);
    assert_non_null(strstr(err.msg, ".weir"));
    unlink(at(p, ".weir"));
    plant_dir(p, "elsewhere");
    assert_int_equal(symlink("elsewhere", at(p, ".weir")), 0);
    assert_true(wr_tier_claim(t, false, NULL, &err) < 0);
    assert_false(there(p, "elsewhere/lock"));
    assert_int_equal(count_in(p, "", ".writer-", NULL), 0);
    wr_tier_close(t);
}

/* --- the sweep --- */

static void sweeps_leftovers(void **state)
{
    static const char *const dirs[] = {
        ".tmp-000000000009-" ID,
        ".tmp-000000000009-" ID2,
        ".trash-" ID,
        ".trash-" ID2,
        ".slot-" ID,
    };
    static const char *const files[] = {
        ".weir/pin-000000000009",
        ".weir/verified-000000000009",
        ".weir/epoch.new-" ID,
        ".weir/pin-000000000001.new-" ID,
        ".weir/verified-000000000001.new-" ID,
    };
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    char path[300];
    uint64_t swept;

    must_save(t, 1, 1);
    assert_int_equal(wr_tier_mark(t, WR_MARK_PIN, 1, "", NULL), 0);
    assert_int_equal(wr_tier_mark(t, WR_MARK_VERIFIED, 1, ID, NULL), 0);
    must_save(t, 2, 1);
    assert_int_equal(wr_tier_retire(t, 2, NULL), 0); /* the slot that stays */
    wr_tier_close(t);
    for (size_t i = 0; i < WR_ARRAY_LEN(dirs); i++) {
        plant_dir(p, dirs[i]);
        snprintf(path, sizeof(path), "%s/r00000.safetensors", dirs[i]);
        plant(p, path, "half");
        snprintf(path, sizeof(path), "%s/link", dirs[i]);
        assert_int_equal(symlink("/etc/passwd", at(p, path)), 0);
    }
    for (size_t i = 0; i < WR_ARRAY_LEN(files); i++)
        plant(p, files[i], "");

    t = open_at(p->tier);
    assert_int_equal(wr_tier_claim(t, false, &swept, NULL), 0);
    assert_int_equal(swept, WR_ARRAY_LEN(dirs) + WR_ARRAY_LEN(files));
    for (size_t i = 0; i < WR_ARRAY_LEN(dirs); i++)
        assert_false(there(p, dirs[i]));
    for (size_t i = 0; i < WR_ARRAY_LEN(files); i++)
        assert_false(there(p, files[i]));
    assert_int_equal(count_left(p, "slot-", NULL), 1);
    assert_int_equal(count_left(p, "t", NULL), 0);
    assert_true(wr_tier_marked(t, WR_MARK_PIN, 1, NULL, 0));
    assert_true(wr_tier_marked(t, WR_MARK_VERIFIED, 1, NULL, 0));
    must_be_good(t, 1);
    wr_tier_close(t);

    t = open_at(p->tier);
    assert_int_equal(wr_tier_claim(t, false, &swept, NULL), 0);
    assert_int_equal(swept, 0);
    wr_tier_close(t);
}

/* What was left fills the medium: it goes when not even a folder fits. */
static void claims_a_full_medium(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    uint64_t swept = 0;
    char url[400], slot[256], path[400];
    weir_err err;

    must_save(t, 1, 1);
    must_save(t, 2, 1);
    assert_int_equal(wr_tier_retire(t, 1, NULL), 0);
    wr_tier_close(t);
    assert_int_equal(count_left(p, "slot-", slot), 1);
    snprintf(path, sizeof(path), "%.53s/tmp-000000000003-" ID, slot);
    plant_dir(p, path);
    snprintf(path, sizeof(path),
             "%.53s/tmp-000000000003-" ID "/r00000.safetensors", slot);
    plant(p, path, "half");
    snprintf(url, sizeof(url), "fault:mkdir-enospc@2:%s", p->tier);
    t = open_at(url);
    assert_int_equal(wr_tier_claim(t, false, &swept, &err), 0);
    assert_int_equal(swept, 1);
    assert_int_equal(count_left(p, "t", NULL), 0);
    assert_int_equal(count_left(p, "slot-", NULL), 0);
    must_be_good(t, 2);
    wr_tier_close(t);

    snprintf(url, sizeof(url), "fault:mkdir-enospc@~.writer:%s", p->tier);
    assert_int_equal(claim_code(url, false, &err), WEIR_ENOSPC);
    assert_non_null(strstr(err.msg, "/.writer-000000000003'"));
    t = claimed_at(p->tier);
    must_be_good(t, 2);
    wr_tier_close(t);
}

/* Names that look like weir's, and kinds that weir does not make. */
static void leaves_foreign_alone(void **state)
{
    static const char *const dirs[] = {
        ".tmp-9",
        ".tmp-000000000009",
        ".tmp-000000000009-",
        ".tmp-000000000009-" ID "0",
        ".tmp-00000000009-" ID,
        ".trash-abc",
        ".trash-ABCDEF0123456789abcdef0123456789",
        ".trash-" ID ".old",
        ".slot-1",
        "trash-" ID,
        "step-.trash-" ID,
        "data",
    };
    static const char *const files[] = {
        ".tmp-000000000009-" ID,
        ".trash-" ID,
        ".slot-" ID,
        ".slot-" ID2,
        "notes.txt",
        ".weir/pin-9",
        ".weir/pin-000000000009x",
        ".weir/other",
        ".weir/lock.new-" ID,
        ".weir/epoch.new-1",
        ".weir/pin-verified-000000000009",
    };
    struct place *p = *state;
    struct wr_tier *t;
    char path[300];
    uint64_t swept;

    wr_tier_close(claimed_at(p->tier));
    for (size_t i = 0; i < WR_ARRAY_LEN(dirs); i++) {
        plant_dir(p, dirs[i]);
        snprintf(path, sizeof(path), "%s/canary", dirs[i]);
        plant(p, path, "sings");
    }
    for (size_t i = 0; i < WR_ARRAY_LEN(files); i++)
        plant(p, files[i], "sings");
    assert_int_equal(symlink("data", at(p, ".trash-" ID2)), 0);
    plant_dir(p, ".weir/pin-000000000008");

    t = open_at(p->tier);
    assert_int_equal(wr_tier_claim(t, false, &swept, NULL), 0);
    assert_int_equal(swept, 0);
    must_save(t, 1, 1);
    assert_int_equal(wr_tier_retire(t, 1, NULL), 0);
    assert_int_equal(wr_tier_spare(t, /* drop= */ true, NULL, NULL), 0);
    wr_tier_close(t);
    for (size_t i = 0; i < WR_ARRAY_LEN(dirs); i++) {
        snprintf(path, sizeof(path), "%s/canary", dirs[i]);
        assert_true(there(p, path));
    }
    for (size_t i = 0; i < WR_ARRAY_LEN(files); i++)
        assert_true(there(p, files[i]));
    assert_true(there(p, ".trash-" ID2));
    assert_true(there(p, ".weir/pin-000000000008"));
}

static void not_below_a_foreign_folder(void **state)
{
    struct place *p = *state;
    char name[256], path[400];
    weir_err err;

    wr_tier_close(claimed_at(p->tier));
    plant_dir(p, ".trash-" ID);
    plant_dir(p, ".trash-" ID "/empty"); /* nothing is lost with it */
    plant_dir(p, ".trash-" ID "/mine");
    plant(p, ".trash-" ID "/mine/canary", "sings");
    plant(p, ".trash-" ID "/z", "");
    for (int i = 0; i < 2; i++) { /* no reason to refuse it, again and again */
        assert_int_equal(claim_code(p->tier, false, &err), 0);
        assert_int_equal(count_left(p, "trash-", name), 1);
        assert_int_equal(count_in(p, name, "", NULL), 1);
        snprintf(path, sizeof(path), "%s/mine/canary", name);
        assert_true(there(p, path));
    }
    unlink(at(p, path));
    assert_int_equal(claim_code(p->tier, false, &err), 0);
    assert_int_equal(count_left(p, "trash-", NULL), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, place_setup, place_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_second_claim_is_refused),
        TEST(processes_keep_each_other_out),
        TEST(taking_over_fences),
        TEST(the_lock_comes_later),
        TEST(same_number_of_another_fences),
        TEST(epochs_of_before),
        TEST(own_folder_in_the_way),
        TEST(sweeps_leftovers),
        TEST(claims_a_full_medium),
        TEST(leaves_foreign_alone),
        TEST(not_below_a_foreign_folder),
    };

    return cmocka_run_group_tests_name("tier_claim", tests, NULL, NULL);
}
