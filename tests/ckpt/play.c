/* play.c - a workload of checkpoints as a program, to be killed or cut off.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     play run SCENARIO FAST SLOW LEDGER [VARIANT]
 *     play check SCENARIO FAST SLOW [far] <LEDGER
 *     play scenarios | variants
 *
 * `run` appends what it is promised to LEDGER, a line each, before it goes on.
 * `check` opens the store again and says whether all promises of the ledger are
 * kept; with `far` as if the fast tier were gone. A VARIANT breaks a rule
 * (lax.h). Exits with 0, or 1 and what is wrong. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lax.h"
#include "scenario.h"

struct play {
    const struct scenario *s;
    const char *fast, *slow;
    unsigned lax;
    int ledger;
};

static struct wr_store *open_tier(void *arg, const char *tier)
{
    const struct play *p = arg;
    const char *path = !strcmp(tier, "fast") ? p->fast : p->slow;

    return lax_folder(path, p->lax, stdout);
}

static void tell(void *arg, const struct scn_event *e)
{
    const struct play *p = arg;
    char line[100];
    int n = snprintf(line, sizeof(line),
                     "%" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 "\n",
                     e->what, e->level, e->step, e->salt);

    if (write(p->ledger, line, (size_t)n) != n)
        perror("ledger");
}

static int run(struct play *p)
{
    struct scn_place at = {open_tier, p};
    struct scn_listener to = {tell, p};
    weir_err err;

    if (scn_run(p->s, &at, &to, &err) < 0) {
        printf("%s\n", err.msg);
        return 1;
    }
    return 0;
}

static void read_ledger(struct scn_ledger *l)
{
    char line[100];

    while (fgets(line, sizeof(line), stdin)) {
        struct scn_event e;

        /* The last line may be cut: that promise was never heard. */
        if (strchr(line, '\n') &&
            sscanf(line, "%" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu64,
                   &e.what, &e.level, &e.step, &e.salt) == 4)
            scn_note(l, &e);
    }
}

static int check(struct play *p, enum scn_part part)
{
    static const char *const troubles[] = {"fine", "lost", "torn", "wrong"};
    struct scn_place at = {open_tier, p};
    struct scn_ledger l = {.keep_last = p->s->keep_last};
    struct scn_verdict v;

    read_ledger(&l);
    v = scn_check(p->s, &at, &l, part, NULL);
    if (v.trouble != SCN_FINE)
        printf("%s: %s\n", troubles[v.trouble], v.text);
    return v.trouble != SCN_FINE;
}

static const struct scenario *find_scenario(const char *name)
{
    for (const struct scenario *s = scn_all; s->name; s++)
        if (!strcmp(s->name, name))
            return s;
    return NULL;
}

static unsigned find_variant(const char *name)
{
    for (const struct lax_variant *v = lax_variants; v->name; v++)
        if (!strcmp(v->name, name))
            return v->flags;
    return 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: play run SCENARIO FAST SLOW LEDGER [VARIANT]\n"
                    "       play check SCENARIO FAST SLOW [far] <LEDGER\n"
                    "       play scenarios | variants\n");
    return 2;
}

static int list(const char *what)
{
    if (!strcmp(what, "scenarios"))
        for (const struct scenario *s = scn_all; s->name; s++)
            puts(s->name);
    else if (!strcmp(what, "variants"))
        for (const struct lax_variant *v = lax_variants; v->name; v++)
            puts(v->name);
    else
        return usage();
    return 0;
}

int main(int argc, char **argv)
{
    struct play p = {.ledger = -1};

    if (argc == 2)
        return list(argv[1]);
    if (argc < 5 || !(p.s = find_scenario(argv[2])))
        return usage();
    p.fast = argv[3];
    p.slow = argv[4];
    if (!strcmp(argv[1], "check"))
        return check(&p, argc > 5 ? SCN_FAR : SCN_WHOLE);
    if (strcmp(argv[1], "run") != 0 || argc < 6)
        return usage();
    if (argc > 6 && !(p.lax = find_variant(argv[6])))
        return usage();
    p.ledger = open(argv[5], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (p.ledger < 0) {
        perror(argv[5]);
        return 1;
    }
    return run(&p);
}
