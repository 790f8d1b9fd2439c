/* view.h - from records to a document: one view a command.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A view is one file with its lists of sections, and one line in view.c. A
 * section is a list of items, which add facts, sentences, tables and charts of
 * some records of the command; they must bear any JSON. */
#ifndef WR_REPORT_VIEW_H
#define WR_REPORT_VIEW_H

#include "result/cases.h"
#include "report/doc.h"

/* Points of all series of one kind of chart together, and of one series: so a
 * page stays small however many records there are. */
#define WR_VIEW_POINTS        60000
#define WR_VIEW_SERIES_POINTS 2000
#define WR_VIEW_ROWS          5000 /* rows of a table */
#define WR_VIEW_NAME          300  /* bytes of a label, enough */

/* Records that belong together, and what their section is called. */
struct wr_view_group {
    struct wr_view_record *records; /* owned; labels are borrowed or `names` */
    char (*names)[WR_VIEW_NAME];    /* owned: labels that say what differs */
    size_t count;
    char title[WR_VIEW_NAME]; /* "Reading alone, by device and threads" */
};

struct wr_view;

/* What an item of a section tells about. */
struct wr_scope {
    const struct wr_view *view;
    struct wr_doc *d;
    struct wr_doc_section *s;
    const struct wr_view_record *r; /* borrowed */
    size_t n;
    struct wr_cases c; /* their rows */
    bool many;         /* the command has other records, too */
    bool brief;        /* the command itself prints it: tables have no titles */
};

/* When there is an item or a section; bits that all must be true. */
enum {
    WR_IF_ONE = 1,     /* the command has one record */
    WR_IF_SEVERAL = 2, /* it has several */
    WR_IF_ALONE = 4,   /* the report has no other record */
    WR_IF_BESIDE = 8,  /* it has */
    WR_IF_ROWS = 16,   /* there are cases, or tests, ... */
    WR_IF_NO_ROWS = 32,
};

/* A table with a row for each case, or for each of a list that cases have. It
 * is left out if nothing is in it, unless it has a row for each case. */
struct wr_table_rule {
    const char *title; /* of a report */
    const char *rows;  /* "epochs", when there are too many */
    const struct wr_column *columns;
    size_t list;  /* where it lies in a case's values; 0: a row a case */
    size_t least; /* rows, or it says nothing */
    /* Bits of columns that stand there beside those with `if_any`; may be NULL. */
    unsigned (*which)(const struct wr_scope *v);
    bool fold;
    size_t fold_from; /* rows from which on it is folded, too; 0: never */
    /* In what the command itself prints: its title (NULL: none), and the most
     * rows (0: all). */
    const char *printed;
    size_t printed_rows;
};

struct wr_chart_rule;
struct wr_sentence;

/* One of these. */
struct wr_item {
    void (*show)(struct wr_scope *v);
    const struct wr_table_rule *table;
    const struct wr_chart_rule *chart;
    const struct wr_sentence
        *say[5];   /* lists, of each record one after the other */
    unsigned only; /* WR_IF_... */
    bool (*is_needed)(const struct wr_scope *v); /* NULL: always */
};

/* A list of items. */
#define WR_ITEMS(...)                                                          \
    (const struct wr_item[])                                                   \
    {                                                                          \
        __VA_ARGS__,                                                           \
        {                                                                      \
            .show = NULL                                                       \
        }                                                                      \
    }

static inline bool wr_item_is(const struct wr_item *i)
{
    return i->show || i->table || i->chart || i->say[0];
}

/* Of which records; neighbours of the same kind take turns. */
enum wr_section_of { WR_OF_ALL, WR_OF_EACH, WR_OF_GROUP };

struct wr_section {
    const char *title; /* EACH: and the label of one of several; GROUP: NULL is
                          the group's */
    bool plain;        /* the title does not say that devices were emulated */
    const struct wr_item *items; /* ends with zeros; NULL ends the list */
    enum wr_section_of of;
    unsigned only;                               /* WR_IF_... */
    bool (*is_needed)(const struct wr_scope *v); /* NULL: always */
};

struct wr_view {
    const char *command; /* of its records */
    /* The most important first: at most `room` sentences on top of the page,
     * and as many figures. NULL: nothing. */
    void (*summarize)(struct wr_doc *d, const struct wr_view_record *r,
                      size_t n, size_t room);
    const struct wr_cases_spec *rows; /* NULL: records have none */
    /* Of a report, and what the command itself prints of one record. */
    const struct wr_section *sections, *printed;
    size_t most; /* records that have sections; 0: all */
    /* What sentences are made of: a table, and its values of one record. All lists
     * of sentences; NULL ends. */
    const struct wr_vals *facts;
    void (*find_facts)(const struct wr_cases *c, size_t record, void *ret);
    const struct wr_sentence *const *sentences;
    size_t told; /* records that sentences tell of; 0: all */
    /* What each of several is called in all sections; NULL: its label. */
    void (*name_records)(const struct wr_view_record *r, size_t n,
                         char (*names)[WR_VIEW_NAME]);
    /* Which records are one GROUP; NULL: memory is short. */
    struct wr_view_group *(*groups)(const struct wr_view_record *r, size_t n,
                                    size_t *ret_count);
    /* Of views without lists: all records, and what the command prints. */
    void (*build)(struct wr_doc *d, const struct wr_view_record *r, size_t n);
    void (*result)(struct wr_doc *d, const struct wr_view_record *r);
    bool numbers; /* then charts are tables of their numbers */
};

/* The sections of a view of the records of its command. */
void wr_view_build(const struct wr_view *view, struct wr_doc *d,
                   const struct wr_view_record *r, size_t n);
/* What the command prints of a record. */
void wr_view_print(const struct wr_view *view, struct wr_doc *d,
                   const struct wr_view_record *r);

void wr_view_groups_free(struct wr_view_group *g, size_t count);

/* Items of many views: what the records were made on, that others had the
 * cores, and a section with the samples that could not be read, by name: `bad` and
 * `bad_count` (of all epochs) of the last case, or of the record. */
void wr_show_host(struct wr_scope *v);
void wr_show_starved(struct wr_scope *v);
void wr_show_bad(struct wr_scope *v);

/* The view of a command; one of plain facts when it is not known. */
const struct wr_view *wr_view_find(const char *command);

/* The place of a command on a page: conclusions first, unknown ones last. */
size_t wr_view_order(const char *command);

/* A section of these records; its title says when devices were emulated. */
struct wr_doc_section *wr_view_section(struct wr_doc *d, const char *title,
                                       const struct wr_view_record *r,
                                       size_t n);

/* What a record that is alone was made on; of several that stands once, in a
 * section of its own. */
void wr_view_host(struct wr_doc_section *s, const struct wr_view_record *r);
void wr_view_hosts(struct wr_doc *d, const struct wr_view_record *r, size_t n);

/* "emulated hdd", "nvme0n1 (Model), ext4"; "" when it is not known. */
char *wr_view_device(const json_t *record, char *buf, size_t cap);

/* Whether its data or tiers were on emulated devices. */
bool wr_view_is_emulated(const json_t *record);

/* Warns, first of all, of records that were made while others had the cores. */
void wr_view_starved(struct wr_doc_section *s, const struct wr_view_record *r,
                     size_t n);

/* Whether all of it, or one of its cases, was. */
bool wr_view_was_starved(const json_t *record);

/* "other programs had 1.1 of 2 cores, this one 0.8" */
struct wr_cores_values;
char *wr_cores_text(const struct wr_cores_values *c, char *buf, size_t cap);

/* Says when a table has not all of its rows: "cases". */
void wr_view_cut(struct wr_doc_section *s, const char *rows, size_t count);

/* Points a series may have when there are so many. */
size_t wr_view_share(size_t series_count);

#endif
