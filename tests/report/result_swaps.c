/* result_swaps.c - swaps neighbours in the tables of values and of columns.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: result-swaps --written        prints what is made of made-up values
 *        result-swaps RECORD...        names each swap that changes nothing;
 *                                      neighbours of a command are compared
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
#include "record/bench_tables.h"
#include "record/columns.h"
#include "record/probe_tables.h"
#include "record/report.h"
#include "record/result.h"
#include "record/run_tables.h"
#include "record/view_ckpt.h"
#include "result/cases.h"
#include "result/record.h"

#define WIDE      170 /* as golden.py has it */
#define NARROW    50
#define RANKS     3
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
               {"passes of probe", wr_probe_pass_columns}};

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

/* Every value another one; every third number is not known. */
static void fill_values(const struct wr_vals *t, void *all, int *n)
{
    static char texts[TEXTS_MAX][16];
    static size_t text_count;

    for (const struct wr_val *v = t->rows; v->key; v++) {
        ++*n;
        if (v->kind == WR_VAL_REAL && *n % 3)
            *(double *)at(all, v) = *n + 0.5;
        if (v->kind == WR_VAL_COUNT && *n % 3)
            *(double *)at(all, v) = *n;
        if (v->kind == WR_VAL_FLAG)
            *(bool *)at(all, v) = *n % 2;
        if (v->kind == WR_VAL_JSON)
            *(json_t **)at(all, v) = json_integer(*n);
        if (v->kind == WR_VAL_GROUP)
            fill_values(v->of, at(all, v), n);
        if (v->kind == WR_VAL_LIST)
            fill_list(v, at(all, v), n);
        if (v->kind != WR_VAL_TEXT || !(*n % 3))
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
    *n += 100;
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

static void print_written(FILE *out)
{
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
    static const char *const paths[] = {"a", "b"};
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

static void print_reports(FILE *out)
{
    const struct wr_doc_text_style style = {.width = WIDE, .utf8 = true};

    for (size_t i = 0; i < record_count; i++) {
        if (wr_result_print(records[i], style, out, NULL) < 0)
            die("no result");
        print_report(out, i, 1, false);
    }
    for (size_t i = 0; i + 1 < record_count; i++) {
        print_report(out, i, 2, false);
        print_report(out, i, 2, true);
    }
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
    for (const struct wr_columns *c = wr_run_columns; c->list; c++)
        print_columns(out, c->list);
}

/* --- swaps --- */

static void (*const outputs[])(FILE *) = {print_written, print_help,
                                          print_reports};
static char *expected[WR_ARRAY_LEN(outputs)];

static char *output_of(void (*print)(FILE *))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        die("out of memory");
    print(out);
    fclose(out);
    return text;
}

static bool is_noticed(void)
{
    bool noticed = false;

    for (size_t i = 0; i < WR_ARRAY_LEN(outputs) && !noticed; i++) {
        char *text = output_of(outputs[i]);

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

/* In a process of its own, which may crash: that is noticed, too. */
static bool is_swap_noticed(char *x, char *y, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)x & ~(page - 1);
    pid_t child;
    int status;

    if (mprotect((void *)from, (uintptr_t)(y + size) - from,
                 PROT_READ | PROT_WRITE) < 0)
        die("the tables cannot be changed");
    child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) /* of sanitizers */
            _exit(0);
        swap_bytes(x, y, size);
        _exit(is_noticed() ? 1 : 0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        die("no process for it");
    return status != 0;
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
    PART(struct wr_column, side, only),
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

static void try_all(void)
{
    for (size_t i = 0; i < table_count; i++)
        for (const struct wr_val *v = tables[i]->rows; v[1].key; v++)
            try_pair("values", v, sizeof(*v), of_value, count_parts(tables[i]),
                     v->key);
    for (size_t i = 0; i < WR_ARRAY_LEN(columns); i++)
        try_columns(columns[i].name, columns[i].list);
    for (const struct wr_columns *c = wr_run_columns; c->list; c++)
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
    for (size_t i = 0; i < WR_ARRAY_LEN(outputs); i++)
        expected[i] = output_of(outputs[i]);
    if (is_noticed())
        die("the same is not the same again");
    try_all();
    printf("%zu swaps, %zu of them not noticed\n", tried, unnoticed);
    return unnoticed > 0;
}
