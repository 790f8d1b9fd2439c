/* trace_tables.c - tables of a traced program.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/trace_tables.h"

#include <math.h>

#include "base/mem.h"
#include "base/units.h"
#include "result/get.h"
#include "record/view.h"
#include "record/view_say.h"

#define ROWS_FOLDED 30 /* a table with more is folded */

/* A table of a list of objects, one row each. */
struct list_table {
    const char *key, *title, *columns, *rows;
    void (*row)(struct wr_doc_table *t, const json_t *o, size_t number);
};

static void list_table(struct wr_doc_section *s, const json_t *j,
                       const struct list_table *spec)
{
    const json_t *list = wr_get_list(j, spec->key);
    size_t n = json_array_size(list);
    struct wr_doc_table *t;

    if (!n)
        return;
    t = wr_doc_table(s, spec->title, spec->columns);
    for (size_t i = 0; i < n && i < WR_VIEW_ROWS; i++)
        spec->row(t, json_array_get(list, i), i + 1);
    if (n > ROWS_FOLDED)
        wr_doc_fold(t);
    wr_view_cut(s, spec->rows, n);
}

static void bytes_cell(struct wr_doc_table *t, const json_t *o, const char *key)
{
    double v = wr_get_number(o, key);
    char text[32];

    if (v >= 0)
        wr_doc_shown(t, v, "%s", wr_format_bytes(text, sizeof(text), v));
    else
        wr_doc_cell(t, "-");
}

static void span_cells(struct wr_doc_table *t, const json_t *o)
{
    double from = wr_get_number(o, "from_s");

    wr_doc_number(t, from, 2);
    wr_say_time_cell(t, wr_get_number(o, "to_s") - from);
}

static void epoch_row(struct wr_doc_table *t, const json_t *o, size_t number)
{
    double time = wr_get_number(o, "to_s") - wr_get_number(o, "from_s");

    wr_doc_number(t, (double)number, 0);
    span_cells(t, o);
    wr_doc_number(t, wr_get_number(o, "files"), 0);
    bytes_cell(t, o, "read_bytes");
    wr_say_rate_cell(t, wr_get_number(o, "read_bytes") / time);
    wr_doc_number(t, wr_get_number(o, "reads"), 0);
    wr_say_time_cell(t, wr_get_number(o, "read_s"));
}

void wr_trace_epoch_table(struct wr_doc_section *s, const json_t *j)
{
    list_table(s, j,
               &(struct list_table){"epochs", "Epochs",
                                    ">epoch|>from s|>time|>files|>read|>rate|"
                                    ">reads|>in reads",
                                    "epochs", epoch_row});
}

static void phase_row(struct wr_doc_table *t, const json_t *o, size_t number)
{
    (void)number;
    wr_doc_cell(t, "%s", wr_get_text(o, "kind"));
    span_cells(t, o);
    bytes_cell(t, o, "read_bytes");
    bytes_cell(t, o, "written_bytes");
    wr_doc_number(t, wr_get_number(o, "metadata"), 0);
}

void wr_trace_phase_table(struct wr_doc_section *s, const json_t *j)
{
    list_table(s, j,
               &(struct list_table){"phases", "Phases",
                                    "<phase|>from s|>time|>read|>written|"
                                    ">metadata calls",
                                    "phases", phase_row});
}

static void save_row(struct wr_doc_table *t, const json_t *o, size_t number)
{
    double time = wr_get_number(o, "to_s") - wr_get_number(o, "from_s");

    wr_doc_number(t, (double)number, 0);
    span_cells(t, o);
    bytes_cell(t, o, "bytes");
    wr_say_rate_cell(t, wr_get_number(o, "bytes") / time);
    wr_say_time_cell(t, wr_get_number(o, "write_s"));
    wr_say_time_cell(t, wr_get_number(o, "sync_s"));
    wr_doc_cell(t, "%s", wr_get_true(o, "waits") ? "yes" : "no");
    wr_doc_cell(t, "%s", wr_get_text(o, "path"));
}

void wr_trace_save_table(struct wr_doc_section *s, const json_t *j)
{
    list_table(s, j,
               &(struct list_table){"saves", "Checkpoints and other saves",
                                    ">save|>from s|>time|>size|>rate|"
                                    ">writing|>syncing|<main thread waits|"
                                    "<largest file",
                                    "saves", save_row});
}

static void latency_row(struct wr_doc_table *t, const json_t *o, size_t number)
{
    static const char *const keys[] = {"total_s", "p50_s", "p99_s", "p999_s",
                                       "max_s"};

    (void)number;
    wr_doc_cell(t, "%s", wr_get_text(o, "call"));
    wr_doc_number(t, wr_get_number(o, "count"), 0);
    for (size_t k = 0; k < WR_ARRAY_LEN(keys); k++)
        wr_say_time_cell(t, wr_get_number(o, keys[k]));
}

void wr_trace_latency_table(struct wr_doc_section *s, const json_t *j)
{
    list_table(s, j,
               &(struct list_table){"latencies", "Calls and their times",
                                    "<call|>calls|>total|>p50|>p99|>p99.9|>max",
                                    "kinds of calls", latency_row});
}

static void file_row(struct wr_doc_table *t, const json_t *o, size_t number)
{
    (void)number;
    wr_say_time_cell(t, wr_get_number(o, "seconds"));
    wr_doc_number(t, wr_get_number(o, "opens"), 0);
    wr_doc_number(t, wr_get_number(o, "reads"), 0);
    bytes_cell(t, o, "read_bytes");
    wr_doc_number(t, wr_get_number(o, "writes"), 0);
    bytes_cell(t, o, "written_bytes");
    wr_doc_cell(t, "%s", wr_get_text(o, "path"));
}

void wr_trace_file_table(struct wr_doc_section *s, const json_t *j)
{
    list_table(s, j,
               &(struct list_table){"files", "Files with most time in calls",
                                    ">time|>opens|>reads|>read|>writes|"
                                    ">written|<file",
                                    "files", file_row});
}

static void example_row(struct wr_doc_table *t, const json_t *o, size_t number)
{
    (void)number;
    wr_doc_number(t, wr_get_number(o, "at_s"), 3);
    wr_doc_cell(t, "%s", wr_get_text(o, "path"));
    wr_doc_cell(t, "%s", wr_get_text(o, "detail"));
}

void wr_trace_example_table(struct wr_doc_section *s, const json_t *finding)
{
    list_table(s, finding,
               &(struct list_table){"examples", "Examples", ">at s|<file|<what",
                                    "examples", example_row});
}
