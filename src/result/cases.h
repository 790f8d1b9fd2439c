/* cases.h - the cases of benchmarks and the tests of probes, as rows.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row is something that was run several times with some settings. Rows of
 * several records stand in one list, and are called by what differs among
 * them. Everything in it is borrowed from the records. */
#ifndef WR_RESULT_CASES_H
#define WR_RESULT_CASES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "result/value.h"

/* A record that is shown. */
struct wr_view_record {
    const char *path;  /* borrowed: as it was given */
    const char *label; /* borrowed: short, and no other has it */
    const json_t *json;
    bool alone; /* the report has no other record: sections say all of it */
    bool told;  /* the settings of its cases tell it from the others: what cases
                   are called need not */
    struct wr_list cases; /* their values, once read: wr_view_record_read */
};

#define WR_CASE_RUNS_MAX 256 /* runs of a case beyond are not looked at */
#define WR_CASE_KEYS_MAX 32  /* settings that differ */
#define WR_CASES_MAX     20000

struct wr_case {
    size_t record; /* number of its record */
    const json_t *json;
    const json_t *settings; /* object, or NULL */
    const json_t *runs;     /* list, or NULL */
    size_t warm_up;         /* runs in front that do not count */
    /* Of commands whose values have a table, all borrowed from the record's: the
     * case; each counted run, and behind the last one of which nothing is known;
     * and the medians of those. */
    const void *values;
    struct wr_list list;
    const void *median;
};

struct wr_cases {
    const struct wr_view_record *records; /* borrowed */
    size_t record_count;
    struct wr_case *v; /* owned */
    size_t count, cap;
    const char *varying[WR_CASE_KEYS_MAX]; /* settings that differ */
    size_t varying_count;
    size_t left_out; /* rows beyond WR_CASES_MAX */
    bool failed;     /* memory ran out */
};

/* Where rows are found in a record. */
struct wr_cases_spec {
    const char *command;
    const char *rows; /* list of them: "cases"; NULL: the record is one */
    const struct wr_vals *head; /* what stands beside them; or NULL */
    const char *settings;       /* object in each; NULL: the row itself */
    const char *const *keys; /* settings that tell rows apart, ends with NULL;
                                NULL: all */
    const char *runs;        /* list of each row; NULL: "runs" */
    const struct wr_vals *of, *of_run; /* values of a row, of a run; NULL: it
                                          has none */
    size_t runs_at;                    /* the list of runs in a row's */
};

/* Of the commands whose values have tables; NULL ends. */
extern const struct wr_cases_spec *const wr_cases_specs[];

/* Reads the values of all its cases, which wr_cases_init looks for; false: memory
 * is short. A record of another command has none. */
bool wr_view_record_read(struct wr_view_record *r);
void wr_view_record_done(struct wr_view_record *r);

/* The rows of all records. */
void wr_cases_init(struct wr_cases *c, const struct wr_view_record *records,
                   size_t record_count, const struct wr_cases_spec *spec);
void wr_cases_done(struct wr_cases *c);

bool wr_cases_varies(const struct wr_cases *c, const char *key);

/* "run-a: 4 threads, cold": the record, when there are several and settings do
 * not tell, and what differs but for `without` (may be NULL). Returns buf. */
char *wr_cases_label(const struct wr_cases *c, size_t k, const char *without,
                     char *buf, size_t cap);

/* The same, or `none` where nothing differs. */
char *wr_cases_name(const struct wr_cases *c, size_t k, const char *none,
                    char *buf, size_t cap);

/* Whether a setting only says how much was measured: between records it makes
 * no difference that is worth a name. */
bool wr_case_is_amount(const char *key);

/* Appends ", threads 4" and the like for one setting. */
void wr_case_setting(const struct wr_case *row, const char *key, char *buf,
                     size_t cap);

/* The number at `at` of the values of each counted run into v
 * (WR_CASE_RUNS_MAX); how many are known. */
size_t wr_case_numbers(const struct wr_case *row, size_t at, double *v);

/* An entry of `$defs` for each command whose values have tables; NULL: memory is
 * short. */
json_t *wr_record_schemas(void);

#endif
