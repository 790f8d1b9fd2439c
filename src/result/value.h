/* value.h - measured values: one row each, from which all their forms come.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What was measured is a struct; each of its members has one row in a table. A
 * number is a double whatever it counts, NaN where it is not known; a text is a
 * borrowed `const char *`, "" where there is none. From the table come the
 * record (written, read, its schema), what ranks send each other and how they
 * become one, medians, columns and cells, and what two records are compared by. */
#ifndef WR_RESULT_VALUE_H
#define WR_RESULT_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wr_val_kind {
    WR_VAL_REAL = 1, /* double */
    WR_VAL_COUNT,    /* double, a whole number below 2^53 */
    WR_VAL_FLAG,     /* bool; not known is false */
    WR_VAL_MAYBE,    /* double: 1 is true, 0 false */
    WR_VAL_TEXT,     /* const char *; one of `words`, if there are any */
    WR_VAL_GROUP,    /* a struct inside: an object, as `of` says */
    WR_VAL_LIST,     /* struct wr_list of structs, as `of` says */
    WR_VAL_JSON,     /* json_t *: as it is; NULL: left out */
    /* Of structs that are not made for it, always known: */
    WR_VAL_U64,   /* uint64_t */
    WR_VAL_U32,   /* uint32_t, unsigned */
    WR_VAL_TRUTH, /* int: all but 0 is true */
    WR_VAL_CHARS, /* char[] */
};

/* How one value comes of those of all ranks. What is not known is passed over;
 * a row with `derive` is computed again instead. */
enum wr_val_gather {
    WR_OF_FIRST, /* rank 0's */
    WR_OF_SUM,
    WR_OF_MAX,
    WR_OF_MEAN,
    WR_OF_SLOWEST, /* that of the rank that the others waited for */
    WR_OF_MOST,    /* TEXT: that of most ranks; of two, the slowest one's */
    WR_OF_ANY,     /* TEXT: the first that there is */
};

/* What a difference between two records is called. */
enum wr_val_better { WR_IS_RATE = 1, WR_IS_TIME, WR_IS_COST, WR_IS_SHARE };

enum {
    WR_VAL_SPARE = 1,   /* left out of a record where it is not known */
    WR_VAL_INSIDE = 2,  /* only what ranks send each other has it */
    WR_VAL_EACH = 4,    /* what a record says of each rank has it, too; of a
                           LIST: it is of ranks, and has nothing else */
    WR_VAL_NULL = 32,   /* TEXT, GROUP: null where it is not known; a text is
                           NULL then, and may be "" */
    WR_VAL_ZERO = 8,    /* version 1 of records: 0 stands for not known */
    WR_VAL_BELOW_0 = 16 /* the same: -1, and anything below 0 */
};

struct wr_list {
    void *v;
    size_t count, step; /* bytes from one to the next */
};

struct wr_vals;

#define WR_VAL_NOWHERE SIZE_MAX

struct wr_val {
    const char *key; /* in records */
    size_t at;       /* in the struct; WR_VAL_NOWHERE: it follows from others
                        when it is written, as one of the functions says */
    enum wr_val_kind kind;
    enum wr_val_gather gather;
    unsigned flags;
    double (*derive)(const void *all);    /* from the others; NULL: measured */
    const char *(*text)(const void *all); /* the same for TEXT */
    json_t *(*json)(const void *all);     /* for LIST and JSON */
    const struct wr_vals *of; /* GROUP, LIST; JSON that is such a list */
    const char *const *words; /* TEXT: ends with NULL */
    /* For people: the head of its column; what help says about it (no capital,
     * no full stop); it is divided by `unit` (0: 1), with so many digits. */
    const char *head, *help;
    double unit;
    unsigned digits;
    /* Two records are compared by it: the place among those, 0 if not. */
    unsigned compared;
    enum wr_val_better better;
    const char *title; /* there; NULL: the head */
};

/* A table; its rows end with a NULL key. */
struct wr_vals {
    size_t size; /* of the struct */
    const struct wr_val *rows;
};

/* A list of values makes the struct and the rows of its table:
 *     #define POINT(V) V(REAL, x, MAX, .head = "x") V(COUNT, hits, SUM)
 *     WR_VALUES(point, POINT);
 * in a header is struct wr_point_values and declares its table, and
 *     #define THIS struct wr_point_values
 *     const struct wr_vals wr_point_vals = WR_VALS(POINT);
 * is that. GROUP(point) is a kind, too: such a struct inside; LIST(point): a
 * struct wr_list of them. */
#define WR_VALUES(name, list)                                                  \
    struct wr_##name##_values {                                                \
        list(WR_VAL_MEMBER)                                                    \
    };                                                                         \
    extern const struct wr_vals wr_##name##_vals

#define WR_VAL_MEMBER(k, member, ...) WR_TYPE_##k member;
#define WR_VAL_ROW(k, member, g, ...)                                          \
    {.key = #member,                                                           \
     .at = offsetof(THIS, member),                                             \
     .gather = WR_OF_##g,                                                      \
     WR_KIND_##k,                                                              \
     ##__VA_ARGS__},
/* The row of a member of any struct, under its own name and under another one,
 * and of what follows from its members. */
#define WR_VAL_IS(k, member, ...) WR_VAL_OF(k, #member, member, ##__VA_ARGS__)
#define WR_VAL_OF(k, name, member, ...)                                        \
    {                                                                          \
        .key = name, .at = offsetof(THIS, member), WR_KIND_##k, ##__VA_ARGS__  \
    }
#define WR_VAL_BY(k, name, ...)                                                \
    {                                                                          \
        .key = name, .at = WR_VAL_NOWHERE, WR_KIND_##k, ##__VA_ARGS__          \
    }
/* A group of the same struct. */
#define WR_VAL_ALL(k, name, ...)                                               \
    {                                                                          \
        .key = name, .at = 0, WR_KIND_##k, ##__VA_ARGS__                       \
    }
#define WR_VALS_OF(...)                                                        \
    {                                                                          \
        sizeof(THIS), (const struct wr_val[])                                  \
        {                                                                      \
            __VA_ARGS__,                                                       \
            {                                                                  \
                .key = NULL                                                    \
            }                                                                  \
        }                                                                      \
    }
#define WR_VALS(list)                                                          \
    {                                                                          \
        sizeof(THIS), (const struct wr_val[])                                  \
        {                                                                      \
            list(WR_VAL_ROW)                                                   \
            {                                                                  \
                .key = NULL                                                    \
            }                                                                  \
        }                                                                      \
    }

#define WR_TYPE_REAL        double
#define WR_TYPE_COUNT       double
#define WR_TYPE_FLAG        bool
#define WR_TYPE_MAYBE       double
#define WR_TYPE_TEXT        const char *
#define WR_TYPE_JSON        json_t *
#define WR_TYPE_GROUP(name) struct wr_##name##_values
#define WR_TYPE_LIST(name)  struct wr_list
#define WR_KIND_REAL        .kind = WR_VAL_REAL
#define WR_KIND_COUNT       .kind = WR_VAL_COUNT
#define WR_KIND_FLAG        .kind = WR_VAL_FLAG
#define WR_KIND_MAYBE       .kind = WR_VAL_MAYBE
#define WR_KIND_TEXT        .kind = WR_VAL_TEXT
#define WR_KIND_JSON        .kind = WR_VAL_JSON
#define WR_KIND_GROUP(name) .kind = WR_VAL_GROUP, .of = &wr_##name##_vals
#define WR_KIND_LIST(name)  .kind = WR_VAL_LIST, .of = &wr_##name##_vals
#define WR_KIND_U64         .kind = WR_VAL_U64
#define WR_KIND_U32         .kind = WR_VAL_U32
#define WR_KIND_TRUTH       .kind = WR_VAL_TRUTH
#define WR_KIND_CHARS       .kind = WR_VAL_CHARS

/* Nothing is known. */
void wr_vals_clear(const struct wr_vals *t, void *to);

/* Whom an object is for. */
enum wr_val_for {
    WR_FOR_RECORD,
    WR_FOR_RANKS, /* all there is */
    WR_FOR_EACH,  /* a record, of one of several ranks */
};
/* NULL: memory is short. What is no number becomes null. */
json_t *wr_vals_json(const struct wr_vals *t, const void *from,
                     enum wr_val_for whom);

/* For a record, of what was filled in to be written: its lists and its JSON are
 * freed. NULL, too, if there was not memory for the whole of it. */
json_t *wr_vals_give(const struct wr_vals *t, void *from, bool whole);

/* Memory for `count` of them, of which nothing is known, in a list that was
 * cleared; for wr_vals_give or wr_vals_done to free. NULL: memory is short. */
void *wr_list_new(const struct wr_vals *t, struct wr_list *l, size_t count);
/* The same of an array of such structs. */
json_t *wr_vals_list_json(const struct wr_vals *t, const void *first,
                          size_t count, enum wr_val_for whom);

/* From any JSON: what is missing or of another type is not known. Texts and JSON
 * are borrowed from `o`; lists are to be freed, and have behind the last one
 * another of which nothing is known. False: memory is short. */
bool wr_vals_read(const struct wr_vals *t, const json_t *o, void *to);
void wr_vals_done(const struct wr_vals *t, void *of);
/* The same of a list of them; what is no list is empty. */
bool wr_vals_read_list(const struct wr_vals *t, const json_t *list,
                       struct wr_list *ret);

/* `to` has the values of rank 0 and becomes those of all; `parts` are all ranks'. */
void wr_vals_gather(const struct wr_vals *t, void *to,
                    const struct wr_list *parts, size_t slowest);
void wr_vals_derive(const struct wr_vals *t, void *of);

/* Of each number the median of those of `parts`, into `to`; of nothing else.
 * Nothing is known if memory is short. */
void wr_vals_median(const struct wr_vals *t, void *to,
                    const struct wr_list *parts);

/* The row of the member at `at`, also of one inside a group. */
const struct wr_val *wr_vals_at(const struct wr_vals *t, size_t at);
/* The row that is compared in this place, from 1; *ret_at is where it lies. */
const struct wr_val *wr_vals_compared(const struct wr_vals *t, unsigned place,
                                      size_t *ret_at);

/* A JSON Schema of such an object. */
json_t *wr_vals_schema(const struct wr_vals *t, enum wr_val_for whom);

static inline const void *wr_list_at(const struct wr_list *l, size_t k)
{
    return (const char *)l->v + k * l->step;
}

static inline const char *wr_text_at(const void *of, size_t at)
{
    const char *s = *(const char *const *)(const void *)((const char *)of + at);

    return s ? s : "";
}

static inline double wr_known_or(double x, double other)
{
    return x == x ? x : other;
}

static inline double wr_number_at(const void *of, size_t at)
{
    return *(const double *)(const void *)((const char *)of + at);
}

#endif
