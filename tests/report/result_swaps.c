/* result_swaps.c - swaps neighbours in the tables of values and of columns.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: result-swaps --written        prints what is made of made-up values, and
 *                                      each sentence of them
 *        result-swaps RECORD...        names each swap that changes nothing;
 *                                      neighbours of a command are compared
 *
 * Beside neighbours of tables it swaps those among the series of charts and the
 * values of a sentence, and lets items of sections be left out.
 *
 * What is printed, and the reports of these records, are kept by golden.py: a swap
 * that changes any of them is noticed by that test. The tables are constant: their
 * pages are made writable for it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "report/bench_tables.h"
#include "report/chart.h"
#include "report/columns.h"
#include "report/plan_tables.h"
#include "report/probe_tables.h"
#include "report/report.h"
#include "report/result.h"
#include "report/run_tables.h"
#include "report/say.h"
#include "report/ckpt.h"
#include "report/study.h"
#include "result/cases.h"
#include "result/record.h"

#define WIDE      170 /* as golden.py has it */
#define NARROW    50
#define RANKS     3
#define MANY      5 /* records, of which the last ones make one report */
#define TEXTS_MAX 4000
#define TABLES    99

static const struct {
    const char *name;
    const struct wr_column *list;
} columns[] = {{"cases of bench", wr_bench_case_columns},
               {"runs of bench", wr_bench_run_columns},
               {"ranks of bench", wr_bench_rank_columns},
               {"ways of saving", wr_ckpt_case_columns},
               {"tests of probe", wr_probe_test_columns},
               {"passes of probe", wr_probe_pass_columns},
               {"verdicts of a study", wr_study_verdict_columns}};
static const struct wr_columns *const of_commands[] = {wr_plan_columns,
                                                       wr_run_columns};

/* All tables of values, from those of commands on. */
static const struct wr_vals *tables[TABLES];
static size_t table_count;

static void die(const char *what)
{
    fprintf(stderr, "result-swaps: %s\n", what);
    exit(2);
}

static void add_table(const struct wr_vals *t)
{
    for (size_t i = 0; i < table_count; i++)
        if (tables[i] == t)
            return;
    if (table_count == TABLES)
        die("too many tables");
    tables[table_count++] = t;
    for (const struct wr_val *v = t->rows; v->key; v++)
        if (v->of)
            add_table(v->of);
}

/* --- made-up values --- */

static void *at(void *all, const struct wr_val *v)
{
    return (char *)all + v->at;
}

static void fill_list(const struct wr_val *v, struct wr_list *l, int *n);

static bool all_known;

/* Every value another one; every third is not known, unless all are. */
static void fill_values(const struct wr_vals *t, void *all, int *n)
{
    static char texts[TEXTS_MAX][16];
    static size_t text_count;

    for (const struct wr_val *v = t->rows; v->key; v++) {
        ++*n;
        if (v->kind == WR_VAL_REAL && (all_known || *n % 3))
            *(double *)at(all, v) = all_known ? 3 * *n + 0.25 : *n + 0.5;
        if (v->kind == WR_VAL_COUNT && (all_known || *n % 3))
            *(double *)at(all, v) = all_known ? 3 * *n : *n;
        if (v->kind == WR_VAL_FLAG)
            *(bool *)at(all, v) = *n % 2;
        if (v->kind == WR_VAL_JSON)
            *(json_t **)at(all, v) = json_integer(*n);
        if (v->kind == WR_VAL_GROUP)
            fill_values(v->of, at(all, v), n);
        if (v->kind == WR_VAL_LIST)
            fill_list(v, at(all, v), n);
        if (v->kind != WR_VAL_TEXT || !(all_known || *n % 3))
            continue;
        if (text_count == TEXTS_MAX)
            die("too many texts");
        snprintf(texts[text_count], sizeof(*texts), "text %d", *n);
        *(const char **)at(all, v) = texts[text_count++];
    }
}

static void *new_values(const struct wr_vals *t, int n)
{
    void *all = calloc(1, t->size);

    if (!all)
        die("out of memory");
    wr_vals_clear(t, all);
    fill_values(t, all, &n);
    return all;
}

static void fill_list(const struct wr_val *v, struct wr_list *l, int *n)
{
    *l = (struct wr_list){new_values(v->of, *n), 1, v->of->size};
    *n += all_known ? 1 : 100;
}

/* Of one table: values that are known in turn, none that is, all of ranks. */
struct made_up {
    void *some[3], *none, *ranks[3];
};

static struct made_up make_up(const struct wr_vals *t)
{
    struct made_up m = {.none = calloc(1, t->size)};

    if (!m.none)
        die("out of memory");
    wr_vals_clear(t, m.none);
    for (int i = 0; i < 3; i++) {
        m.some[i] = new_values(t, i);
        m.ranks[i] = calloc(RANKS, t->size);
        for (int k = 0; m.ranks[i] && k < RANKS; k++) {
            char *to = (char *)m.ranks[i] + (size_t)k * t->size;
            int n = (int[]){20, 0, 40}[k] + i;

            wr_vals_clear(t, to);
            fill_values(t, to, &n);
        }
    }
    return m;
}

static struct made_up all_made_up[TABLES];

static void print_json(FILE *out, json_t *j)
{
    json_dumpf(j, out, JSON_COMPACT);
    fputc('\n', out);
    json_decref(j);
}

/* --- sentences --- */

/* Calls `what` with each sentence of the commands, and values all of which are
 * known, or not all. */
static void each_sentence(void (*what)(FILE *, const struct wr_sentence *,
                                       const struct wr_vals *, const void *),
                          FILE *out, bool known)
{
    static void *made[2][TABLES]; /* kept to the end, as all that is made up */

    for (size_t i = 0; wr_cases_specs[i]; i++) {
        const struct wr_view *view = wr_view_find(wr_cases_specs[i]->command);
        const struct wr_sentence *const *list = view->sentences;

        if (!list) /* a view whose sentences are code */
            continue;
        all_known = known;
        if (!made[known][i])
            made[known][i] = new_values(view->facts, 0);
        all_known = false;
        for (; *list; list++)
            for (const struct wr_sentence *s = *list; s->text; s++)
                what(out, s, view->facts, made[known][i]);
    }
}

static void print_sentence(FILE *out, const struct wr_sentence *s,
                           const struct wr_vals *of, const void *values)
{
    struct wr_sentence always = {.text = s->text};
    char text[WR_SAY_BYTES];

    wr_sentence(&always, of, values, text, sizeof(text));
    fprintf(out, "%s%s%s\n", s->when ? s->when : "", s->when ? ": " : "", text);
}

static void print_written(FILE *out)
{
    each_sentence(print_sentence, out, true);
    each_sentence(print_sentence, out, false);
    for (size_t i = 0; i < table_count; i++) {
        const struct wr_vals *t = tables[i];
        const struct made_up *m = &all_made_up[i];
        void *joined = malloc(t->size);

        if (!joined)
            die("out of memory");
        for (int k = 0; k < 3; k++)
            print_json(out, wr_vals_json(t, m->some[k], WR_FOR_RECORD));
        print_json(out, wr_vals_json(t, m->some[0], WR_FOR_RANKS));
        print_json(out, wr_vals_json(t, m->none, WR_FOR_RECORD));
        print_json(out, wr_vals_json(t, m->none, WR_FOR_RANKS));
        for (int k = 0; k < 3; k++) {
            const struct wr_list ranks = {m->ranks[k], RANKS, t->size};

            memcpy(joined, m->ranks[k], t->size);
            wr_vals_gather(t, joined, &ranks, 1);
            print_json(out, wr_vals_json(t, joined, WR_FOR_RANKS));
            wr_vals_median(t, joined, &ranks);
            print_json(out, wr_vals_json(t, joined, WR_FOR_RANKS));
        }
        free(joined);
    }
    print_json(out, wr_record_schemas());
}

/* --- reports --- */

static const json_t **records;
static size_t record_count;

static void print_report(FILE *out, size_t from, size_t count, bool compare)
{
    static const char *const paths[] = {"a", "b", "c", "d", "e"};
    const struct wr_doc_text_style wide = {.width = WIDE, .utf8 = true};
    const struct wr_doc_text_style narrow = {.width = NARROW, .utf8 = true};
    struct wr_report_spec spec = {.paths = paths,
                                  .records = records + from,
                                  .count = count,
                                  .title = "",
                                  .compare = compare};
    struct wr_comparison c;
    struct wr_doc *d;

    if (compare && !wr_report_comparable(&spec))
        return;
    if (wr_report(&spec, &d, &c, NULL) < 0)
        die("no report");
    wr_doc_print_text(d, &wide, out);
    wr_doc_print_text(d, &narrow, out);
    wr_doc_free(d);
}

/* What is reported of one record, and of it and the next; last of all of many. */
static void print_reports(FILE *out, size_t i)
{
    const struct wr_doc_text_style style = {.width = WIDE, .utf8 = true};

    if (i == record_count) {
        if (i >= MANY)
            print_report(out, i - MANY, MANY, false);
        return;
    }
    if (wr_result_print(records[i], style, out, NULL) < 0)
        die("no result");
    print_report(out, i, 1, false);
    if (i + 1 == record_count)
        return;
    print_report(out, i, 2, false);
    print_report(out, i, 2, true);
}

static void print_columns(FILE *out, const struct wr_column *list)
{
    for (const struct wr_column *c = list; wr_column_is(c); c++)
        if (wr_column_help(c))
            fprintf(out, "%s: %s\n", wr_column_head(c), wr_column_help(c));
}

static void print_help(FILE *out)
{
    for (size_t i = 0; i < WR_ARRAY_LEN(columns); i++)
        print_columns(out, columns[i].list);
    for (size_t i = 0; i < WR_ARRAY_LEN(of_commands); i++)
        for (const struct wr_columns *c = of_commands[i]; c->list; c++)
            print_columns(out, c->list);
}

/* --- swaps --- */

/* Output number i: so the first that differs is soon found. */
static void print_output(FILE *out, size_t i)
{
    if (i == 0)
        print_help(out);
    else if (i == 1)
        print_written(out);
    else
        print_reports(out, i - 2);
}

#define OUTPUTS_MAX 99
static char *expected[OUTPUTS_MAX];

static size_t count_outputs(void)
{
    return record_count + 3;
}

static char *output_of(size_t i)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        die("out of memory");
    print_output(out, i);
    fclose(out);
    return text;
}

static bool is_noticed(void)
{
    bool noticed = false;

    for (size_t i = 0; i < count_outputs() && !noticed; i++) {
        char *text = output_of(i);

        noticed = strcmp(text, expected[i]) != 0;
        free(text);
    }
    return noticed;
}

/* `size` bytes at `x` and `y` change places, x before y. */
static void swap_bytes(char *x, char *y, size_t size)
{
    char held[256];

    if (size > sizeof(held))
        die("a row is too large");
    memcpy(held, x, size);
    memcpy(x, y, size);
    memcpy(y, held, size);
}

static void make_writable(const char *from, const char *to)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)from & ~(page - 1);

    if (mprotect((void *)first, (uintptr_t)to - first, PROT_READ | PROT_WRITE) <
        0)
        die("the tables cannot be changed");
}

/* In a process of its own, which may crash: that is noticed, too. `y` NULL: x
 * becomes as `like`. */
static bool is_change_noticed(char *x, char *y, const void *like, size_t size)
{
    pid_t child;
    int status;

    make_writable(x, (y ? y : x) + size);
    child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) /* of sanitizers */
            _exit(0);
        if (y)
            swap_bytes(x, y, size);
        else
            memcpy(x, like, size);
        _exit(is_noticed() ? 1 : 0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        die("no process for it");
    return status != 0;
}

static bool is_swap_noticed(char *x, char *y, size_t size)
{
    return is_change_noticed(x, y, NULL, size);
}

static bool is_overwrite_noticed(char *x, const void *like, size_t size)
{
    return is_change_noticed(x, NULL, like, size);
}

/* What changes places: members of a row from one to another. */
struct part {
    const char *name;
    size_t from, to; /* bytes */
};
#define PART(type, a, b)                                                       \
    {                                                                          \
#a, offsetof(type, a),                                                 \
            offsetof(type, b) + sizeof(((const type *)0)->b)                   \
    }
#define ALL(type)                                                              \
    {                                                                          \
        "row", 0, sizeof(type)                                                 \
    }

static const struct part of_value[] = {
    ALL(struct wr_val),
    PART(struct wr_val, key, key),
    PART(struct wr_val, gather, gather),
    PART(struct wr_val, flags, flags),
    PART(struct wr_val, derive, derive),
    PART(struct wr_val, words, words),
    PART(struct wr_val, head, digits),
    PART(struct wr_val, compared, title),
};
static const struct part of_column[] = {
    ALL(struct wr_column), PART(struct wr_column, head, help),
    PART(struct wr_column, side, if_any),
    PART(struct wr_column, number, show), /* all that a cell comes from */
};

static size_t tried, unnoticed;

static void try_pair(const char *table, const void *row, size_t step,
                     const struct part *parts, size_t count, const char *name)
{
    char *a = (char *)(uintptr_t)row;

    for (size_t i = 0; i < count; i++) {
        size_t size = parts[i].to - parts[i].from;
        char *x = a + parts[i].from, *y = x + step;

        if (!memcmp(x, y, size))
            continue;
        tried++;
        if (is_swap_noticed(x, y, size))
            continue;
        unnoticed++;
        printf("%s, %s and the next: nothing changes with their %s\n", table,
               name, parts[i].name);
    }
}

/* Columns that say what they hold, or nothing would be left to call them by. */
static bool has_head(const struct wr_column *c)
{
    return c->head && (c->number || c->text || c->cell || c->of);
}

/* Whether `t` is `of` or a group of it. */
static bool is_within(const struct wr_vals *t, const struct wr_vals *of)
{
    bool within = t == of;

    for (const struct wr_val *v = of->rows; v->key && !within; v++)
        within = v->kind == WR_VAL_GROUP && is_within(t, v->of);
    return within;
}

/* Records are compared by runs: elsewhere the last part tells nobody anything. */
static size_t count_parts(const struct wr_vals *t)
{
    for (size_t i = 0; wr_cases_specs[i]; i++)
        if (wr_cases_specs[i]->of_run &&
            is_within(t, wr_cases_specs[i]->of_run))
            return WR_ARRAY_LEN(of_value);
    return WR_ARRAY_LEN(of_value) - 1;
}

static void try_columns(const char *name, const struct wr_column *list)
{
    for (const struct wr_column *c = list; wr_column_is(c + 1); c++)
        try_pair(name, c, sizeof(*c), of_column,
                 has_head(c) && has_head(c + 1) ? WR_ARRAY_LEN(of_column) : 1,
                 wr_column_head(c));
}

/* A path that its table has not stays in the text; so it does for conditions. */
static void check_path(const char *path, size_t length,
                       const struct wr_vals *of, const void *values)
{
    char text[WR_SAY_BYTES], lone[WR_SAY_BYTES];

    snprintf(lone, sizeof(lone), "{%.*s}", (int)length, path);
    wr_sentence(&(struct wr_sentence){.text = lone}, of, values, text,
                sizeof(text));
    tried++;
    if (!strchr(text, '{'))
        return;
    unnoticed++;
    printf("%s: the table has no such value\n", lone);
}

/* All of it can be said, and each two of its values that stand beside each other
 * can be told apart. */
static void check_sentence(FILE *out, const struct wr_sentence *s,
                           const struct wr_vals *of, const void *values)
{
    const struct wr_sentence plain = {.text = s->text};
    char said[WR_SAY_BYTES], again[WR_SAY_BYTES], text[WR_SAY_BYTES];

    if (!wr_sentence(&plain, of, values, said, sizeof(said))) {
        unnoticed++;
        printf("cannot be said: %s\n", s->text);
    }
    for (const char *a = strchr(s->text, '{'), *b; a; a = b) {
        size_t m = strcspn(a, "}") + 1, n;

        b = a + 1 + strspn(a + 1, "?!");
        check_path(b, strcspn(b, ":?=<>}"), of, values);
        b = strchr(a + 1, '{');
        n = b ? strcspn(b, "}") + 1 : 0;
        if (!b || (m == n && !memcmp(a, b, m)) || memchr(a, '?', m) ||
            memchr(b, '?', n))
            continue;
        snprintf(text, sizeof(text), "%.*s%.*s%.*s%.*s%s", (int)(a - s->text),
                 s->text, (int)n, b, (int)(b - a - (long)m), a + m, (int)m, a,
                 b + n);
        wr_sentence(&(struct wr_sentence){.text = text}, of, values, again,
                    sizeof(again));
        tried++;
        if (strcmp(said, again))
            continue;
        unnoticed++;
        printf("two values can change places in: %s\n", s->text);
    }
    for (const char *p = s->when; p; p = strchr(p, ' '), p += p != NULL)
        check_path(p + (*p == '!'), strcspn(p + (*p == '!'), "=<> "), of,
                   values);
}

static const struct part of_series[] = {
    ALL(struct wr_chart_series), PART(struct wr_chart_series, key, key),
    PART(struct wr_chart_series, name, name)};

static void try_chart(const struct wr_chart_rule *rule)
{
    for (const struct wr_chart_series *s = rule->series; s[1].key; s++)
        try_pair(rule->is.title, s, sizeof(*s), of_series,
                 WR_ARRAY_LEN(of_series), s->name);
}

/* Whether a report notices that an item is not there: the last one is, twice. */
static void try_left_out(const struct wr_section *section,
                         const struct wr_item *item)
{
    const struct wr_item *none = item;
    char *from = (char *)(uintptr_t)item;

    while (wr_item_is(none + 1))
        none++;
    tried++;
    if (item != none && !is_overwrite_noticed(from, none, sizeof(*item))) {
        unnoticed++;
        printf("%s: nothing changes without item %zu\n",
               section->title ? section->title : "",
               (size_t)(item - section->items) + 1);
    }
}

static void try_sections(const struct wr_section *list)
{
    for (; list && list->items; list++)
        for (const struct wr_item *i = list->items; wr_item_is(i); i++) {
            try_left_out(list, i);
            if (i->chart && i->chart->series)
                try_chart(i->chart);
            if (i->table)
                try_columns(i->table->title, i->table->columns);
        }
}

static void try_all(void)
{
    each_sentence(check_sentence, stdout, true);
    for (size_t i = 0; wr_cases_specs[i]; i++) {
        const struct wr_view *view = wr_view_find(wr_cases_specs[i]->command);

        try_sections(view->sections);
        try_sections(view->printed);
    }
    for (size_t i = 0; i < table_count; i++)
        for (const struct wr_val *v = tables[i]->rows; v[1].key; v++)
            try_pair("values", v, sizeof(*v), of_value, count_parts(tables[i]),
                     v->key);
    for (size_t i = 0; i < WR_ARRAY_LEN(columns); i++)
        try_columns(columns[i].name, columns[i].list);
    for (size_t i = 0; i < WR_ARRAY_LEN(of_commands); i++)
        for (const struct wr_columns *c = of_commands[i]; c->list; c++)
            try_columns(c->title, c->list);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; wr_cases_specs[i]; i++)
        add_table(wr_cases_specs[i]->of);
    for (size_t i = 0; wr_cases_specs[i]; i++)
        if (wr_cases_specs[i]->head)
            add_table(wr_cases_specs[i]->head);
    for (size_t i = 0; i < table_count; i++)
        all_made_up[i] = make_up(tables[i]);
    if (argc == 2 && !strcmp(argv[1], "--written")) {
        print_written(stdout);
        return 0;
    }
    records = calloc((size_t)argc, sizeof(*records));
    for (int i = 1; records && i < argc; i++)
        records[record_count++] = json_load_file(argv[i], 0, NULL);
    if (!record_count)
        die("records, please");
    if (count_outputs() > OUTPUTS_MAX)
        die("too many records");
    for (size_t i = 0; i < count_outputs(); i++)
        expected[i] = output_of(i);
    if (is_noticed())
        die("the same is not the same again");
    try_all();
    printf("%zu swaps, %zu of them not noticed\n", tried, unnoticed);
    return unnoticed > 0;
}
