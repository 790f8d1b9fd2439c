/* test_vocabulary.c - one meaning per option letter and name, in all commands.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/feed_args.h"
#include "cli/options.h"
#include "measure/accelerator.h"

/* What a name that several commands have means in all of them. Whoever gives
 * an option a name that is used elsewhere says here that it is the same. */
static const struct {
    const char *name, *meaning;
} shared[] = {
    {"accelerator", "what works on each batch"},
    {"accelerators", "how many accelerators read the data"},
    {"batch", "samples per batch"},
    {"cache", "tiers that keep samples"},
    {"cache-what", "what cache tiers keep"},
    {"channels", "colour channels of a picture as it is delivered"},
    {"check", "look at what is otherwise taken for granted"},
    {"ckpt", "folder of checkpoints, or of their fast tier"},
    {"classes", "how many classes there are"},
    {"columns", "which columns of a list hold the path and the label"},
    {"compare", "measurements against each other"},
    {"crop", "part of each picture that is used"},
    {"crop-center", "side of the center crop"},
    {"decode", "how JPEG is decoded"},
    {"depth", "requests in flight per thread"},
    {"digest", "hash all that is delivered"},
    {"direct", "O_DIRECT"},
    {"dry-run", "say what would be done, and do nothing"},
    {"dtype", "type of the numbers of a tensor"},
    {"epochs", "passes over the data"},
    {"fields", "which fields of each sample, in which order"},
    {"flip", "mirror pictures at random"},
    {"force", "do it although something is there"},
    {"format", "format of the data set that is read"},
    {"holdout", "fraction of the samples kept for validation"},
    {"index-cache", "use and keep index files"},
    {"index-dir", "where index files are kept"},
    {"io", "I/O engine"},
    {"iterations", "batches that are trained on"},
    {"json", "results as JSON"},
    {"keep", "newest checkpoints to keep"},
    {"keep-abandoned", "how many steps that a run has left are kept"},
    {"keep-fast", "drained checkpoints to keep on the fast tier"},
    {"layout", "order of dimensions"},
    {"level", "how far a checkpoint gets before work goes on"},
    {"links", "follow symbolic links in a data set"},
    {"list", "show what there is to choose from"},
    {"memory", "memory that automatic settings may use"},
    {"monitor", "samples per second of the machine's counters"},
    {"normalize", "mean and deviation"},
    {"on-error", "what to do with a sample that cannot be read"},
    {"order", "order of the samples"},
    {"orient", "whether EXIF turns pictures upright"},
    {"only", "parts of a measurement: nothing else is measured"},
    {"page-cache", "state of the page cache before a run"},
    {"part", "training part or held-out part of the data set"},
    {"prefetch", "finished batches kept ahead"},
    {"quick", "less of everything, to be done soon"},
    {"record", "file that the run record is written to"},
    {"repeat", "rounds, the warm-up included"},
    {"resize", "filter"},
    {"root", "where the relative paths of a list start"},
    {"samples", "how many samples"},
    {"samples-per-file", "samples that a file has"},
    {"save-every", "steps of training between two checkpoints"},
    {"scale", "part of the described data"},
    {"schema", "what the fields of a data set are"},
    {"seed", "of all that is random"},
    {"size", "width and height of the pictures"},
    {"slow", "folder of the slow tier of checkpoints"},
    {"slow-device", "the device that is the slow tier of checkpoints"},
    {"fast-device", "the device that is the fast tier of checkpoints"},
    {"split-seed", "seed of the choice of held-out samples"},
    {"steps", "steps of each accelerator in an epoch, at most"},
    {"store", "the id that a store must have"},
    {"threads", "threads that do the work"},
    {"to", "format of the data set that is written"},
    {"verify", "read what was written or is there, and check it"},
    {"width", "of the network, 1: as published"},
};

static bool is_shared(const char *name)
{
    for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
        if (!strcmp(shared[i].name, name))
            return true;
    return false;
}

/* What a value is, whether one is taken or a list. */
static enum wr_option_type kind_of(const struct wr_option *o)
{
    switch (o->type) {
    case WR_OPTION_UINT_LIST:
        return o->flags & WR_OPTION_BYTES ? WR_OPTION_SIZE : WR_OPTION_UINT;
    case WR_OPTION_ENUM_LIST:
        return WR_OPTION_ENUM;
    case WR_OPTION_STRINGS:
        return WR_OPTION_STRING;
    default:
        return o->type;
    }
}

/* The placeholder without the ",..." of a list. */
static bool same_arg(const char *a, const char *b)
{
    size_t la = strcspn(a ? a : "", ","), lb = strcspn(b ? b : "", ",");

    return la == lb && !strncmp(a ? a : "", b ? b : "", la);
}

/* One option of one command. */
struct entry {
    const char *command; /* "" for the common ones */
    const struct wr_option *o;
};

#define ENTRIES_MAX 1024

static size_t add_table(struct entry *list, size_t n, const char *command,
                        const struct wr_option *o)
{
    for (; o && o->name; o++) {
        assert_true(n < ENTRIES_MAX);
        list[n++] = (struct entry){command, o};
    }
    return n;
}

static size_t collect(struct entry *list)
{
    size_t n = add_table(list, 0, "", wr_common_options);

    for (size_t i = 0; wr_commands[i]; i++)
        n = add_table(list, n, wr_commands[i]->name, wr_commands[i]->options);
    return n;
}

static unsigned complain(const struct entry *a, const struct entry *b,
                         const char *what)
{
    print_error("weir %s --%s and weir %s --%s: %s\n", a->command, a->o->name,
                b->command, b->o->name, what);
    return 1;
}

/* Two options of one name. */
static unsigned compare(const struct entry *a, const struct entry *b)
{
    unsigned bad = 0;

    if (a->o->letter != b->o->letter)
        bad += complain(a, b, "one name, two letters");
    if (kind_of(a->o) != kind_of(b->o))
        bad += complain(a, b, "one name, two types");
    if (!same_arg(a->o->arg, b->o->arg))
        bad += complain(a, b, "one name, two placeholders of the value");
    if (!is_shared(a->o->name))
        bad += complain(a, b, "one name: is it one meaning? add it to shared");
    return bad;
}

static unsigned check_pair(const struct entry *a, const struct entry *b)
{
    bool same_name = !strcmp(a->o->name, b->o->name);

    if (same_name)
        return compare(a, b);
    if (a->o->letter && a->o->letter == b->o->letter)
        return complain(a, b, "one letter, two names");
    return 0;
}

static void test_one_meaning(void **state)
{
    static struct entry list[ENTRIES_MAX];
    size_t n = collect(list);
    unsigned bad = 0;

    (void)state;
    assert_true(n > 100); /* the tables were really walked */
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            bad += check_pair(&list[i], &list[k]);
    assert_int_equal(bad, 0);
}

/* An earlier name that is taken must not hide another option of the command,
 * nor one of the common ones. */
static void test_old_names(void **state)
{
    static struct entry list[ENTRIES_MAX];
    size_t n = collect(list);
    unsigned bad = 0;

    (void)state;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n && list[i].o->old; k++)
            if (!strcmp(list[i].o->old, list[k].o->name) &&
                (!*list[k].command ||
                 !strcmp(list[i].command, list[k].command)))
                bad += complain(&list[i], &list[k], "old name is in use");
    assert_int_equal(bad, 0);
}

/* The help of --accelerator names those that are emulated, and no other. */
static void test_accelerators(void **state)
{
    const struct wr_accelerator *a;
    char expected[256] = "";

    (void)state;
    for (size_t k = 0; (a = wr_accelerator_at(k)); k++)
        if (a->kind == WR_ACCELERATOR_EMULATED) {
            strcat(expected, a->name);
            strcat(expected, ", ");
        }
    strcat(expected, "or ms=");
    assert_memory_equal(WR_HELP_ACCELERATORS, expected, strlen(expected));
}

static bool takes(const char *command, const char *option, const char *word)
{
    for (size_t i = 0; wr_commands[i]; i++)
        for (const struct wr_option *o = wr_commands[i]->options; o && o->name;
             o++)
            if (!strcmp(wr_commands[i]->name, command) &&
                !strcmp(o->name, option))
                return wr_choice_find(o->choices, word, &(int){0}, NULL) == 0;
    return false;
}

/* Whatever weir can write, the commands that write take. */
static void test_writers(void **state)
{
    static const char *const pictures[] = {
#define WRITER(name, help) #name,
#include "format/formats.def"
    };
    static const char *const tensors[] = {
#define ARRAY_WRITER(name, help) #name,
#define FIELD_WRITER(name, help) #name,
#include "format/formats.def"
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(pictures); k++)
        if (!takes("convert", "to", pictures[k]))
            fail_msg("weir convert does not take --to %s", pictures[k]);
    for (size_t k = 0; k < WR_ARRAY_LEN(tensors); k++)
        if (!takes("convert", "to", tensors[k]) ||
            !takes("gen", "to", tensors[k]))
            fail_msg("weir convert or gen does not take --to %s", tensors[k]);
    assert_false(takes("gen", "to", "nothing"));
}

/* The checks above can fail. */
static void test_checks_can_fail(void **state)
{
    static const struct wr_option a[] = {
        {.name = "size", .letter = 's', .type = WR_OPTION_STRING, .arg = "WxH"},
        {.name = "size", .letter = 's', .type = WR_OPTION_SIZE, .arg = "SIZE"},
        {.name = "seed", .letter = 's', .type = WR_OPTION_UINT, .arg = "N"},
        {.name = "mine", .type = WR_OPTION_FLAG},
        {.name = "size",
         .letter = 's',
         .type = WR_OPTION_STRINGS,
         .arg = "WxH,..."}};
    struct entry e[5];

    (void)state;
    for (size_t i = 0; i < 5; i++)
        e[i] = (struct entry){i ? "b" : "a", &a[i]};
    assert_int_equal(check_pair(&e[0], &e[1]), 2); /* type and placeholder */
    assert_int_equal(check_pair(&e[0], &e[2]), 1); /* letter */
    assert_int_equal(check_pair(&e[0], &e[3]), 0);
    assert_int_equal(check_pair(&e[3], &e[3]), 1); /* not said to be shared */
    assert_int_equal(check_pair(&e[0], &e[4]), 0); /* a list of the same */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_meaning),
        cmocka_unit_test(test_old_names),
        cmocka_unit_test(test_accelerators),
        cmocka_unit_test(test_writers),
        cmocka_unit_test(test_checks_can_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
