/* options.h - one table per command: parsing, help, man page, completion.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A command keeps its settings in one struct and describes each field once:
 *
 *     static const struct wr_option options[] = {
 *         {WR_OPT_UINT_LIST(struct bench_args, threads), .name = "threads",
 *          .letter = 't', .arg = "N,...", .min = 1, .max = 1024,
 *          .def_note = "one per core",
 *          .help = "worker threads; several values make a sweep"},
 *         WR_OPTIONS_END};
 *
 * The struct is zeroed, each `def` is parsed into its field by the same code
 * that parses the command line, then the command line is. Nothing in it needs
 * to be freed: texts are borrowed from argv, lists have a fixed capacity. */
#ifndef WR_CLI_OPTIONS_H
#define WR_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/value.h"
#include "weir/error.h"

#define WR_OPTIONS_MAX 64 /* options of one command, the common ones included */
#define WR_LIST_MAX    64 /* values of one list option */

struct wr_uint_list {
    size_t count;
    uint64_t v[WR_LIST_MAX];
};

struct wr_enum_list {
    size_t count;
    int v[WR_LIST_MAX];
};

struct wr_string_list {
    size_t count;
    const char *v[WR_LIST_MAX]; /* borrowed from argv */
};

enum wr_option_type {
    WR_OPTION_FLAG,      /* bool: --name, --no-name */
    WR_OPTION_UINT,      /* uint64_t */
    WR_OPTION_SIZE,      /* uint64_t, bytes: 4096, 64KiB, 1.5GiB */
    WR_OPTION_DOUBLE,    /* double */
    WR_OPTION_STRING,    /* const char * */
    WR_OPTION_ENUM,      /* int: the value of a choice */
    WR_OPTION_UINT_LIST, /* struct wr_uint_list: 1,2,4 */
    WR_OPTION_ENUM_LIST, /* struct wr_enum_list: a,b */
    WR_OPTION_STRINGS,   /* struct wr_string_list: may be repeated */
};

enum {
    WR_OPTION_HIDDEN = 1, /* works, but no help, man page or completion */
    WR_OPTION_PATH = 2,   /* its text is a path: completion offers files */
    WR_OPTION_OUTPUT = 8, /* a file that is written at the end: that it can be
                             is checked before anything else (outputs.h) */
    WR_OPTION_BYTES = 4,  /* the numbers of a UINT_LIST are sizes: 4KiB,1MiB */
};

struct wr_option {
    const char *name; /* long name without the dashes; NULL ends a table */
    const char *old;  /* earlier long name, still taken; NULL: none */
    char letter;      /* short name, 0 for none */
    enum wr_option_type type;
    size_t offset; /* of the field; type and offset by WR_OPT_... */
    /* A setting of the pipeline (feed_args.h): the field is as there. */
    enum wr_value_type store; /* 0: as `type` says */
    unsigned count;
    bool odd;
    const char *arg;      /* placeholder of the value in help: "N", "SIZE" */
    const char *help;     /* one sentence, no capital, no full stop */
    const char *def;      /* default as text; NULL leaves the field zero */
    const char *def_note; /* shown as the default where it is computed */
    const struct wr_choice *choices; /* of ENUM and ENUM_LIST; words that a
                                        UINT_LIST takes besides numbers */
    double min, max;   /* of numbers (exact below 2^53); max 0: no limit */
    const char *group; /* heading in help, from here on until the next one */
    unsigned flags;
    /* It changes nothing without this other option: "ckpt", or "crop random" if
     * that must have this value. NULL: it stands alone. */
    const char *with;
    /* What the command makes of a number that was given: its own key for it, and
     * what one is worth there. */
    int key;
    double unit;
};

#define WR_OPTIONS_END                                                         \
    {                                                                          \
        .name = NULL                                                           \
    }

/* The offset of a field, refused by the compiler if it is not a `ctype`. */
#define WR_OPTION_OFFSET(args, field, ctype)                                   \
    (offsetof(args, field) +                                                   \
     0 * sizeof(char[__builtin_types_compatible_p(                             \
                         __typeof__(((args *)0)->field), ctype)                \
                         ? 1                                                   \
                         : -1]))

/* WR_OPT_X(struct x_args, field): .type and .offset in one. */
#define WR_OPT(kind, args, field, ctype)                                       \
    .type = (kind), .offset = WR_OPTION_OFFSET(args, field, ctype)
#define WR_OPT_FLAG(a, f)   WR_OPT(WR_OPTION_FLAG, a, f, bool)
#define WR_OPT_UINT(a, f)   WR_OPT(WR_OPTION_UINT, a, f, uint64_t)
#define WR_OPT_SIZE(a, f)   WR_OPT(WR_OPTION_SIZE, a, f, uint64_t)
#define WR_OPT_DOUBLE(a, f) WR_OPT(WR_OPTION_DOUBLE, a, f, double)
#define WR_OPT_STRING(a, f) WR_OPT(WR_OPTION_STRING, a, f, const char *)
#define WR_OPT_ENUM(a, f)   WR_OPT(WR_OPTION_ENUM, a, f, int)
/* Into what rooms have: a uint32_t or unsigned, an int that is 0 or 1, an enum. */
#define WR_OPT_U32(a, f)                                                       \
    .store = WR_VALUE_U32, WR_OPT(WR_OPTION_UINT, a, f, uint32_t)
#define WR_OPT_YES(a, f)                                                       \
    .store = WR_VALUE_YES, WR_OPT(WR_OPTION_FLAG, a, f, int)
#define WR_OPT_CHOICE(a, f)                                                    \
    .type = WR_OPTION_ENUM,                                                    \
    .offset = offsetof(a, f) +                                                 \
              0 * sizeof(char[sizeof(((a *)0)->f) == sizeof(int) ? 1 : -1])
#define WR_OPT_UINT_LIST(a, f)                                                 \
    WR_OPT(WR_OPTION_UINT_LIST, a, f, struct wr_uint_list)
#define WR_OPT_ENUM_LIST(a, f)                                                 \
    WR_OPT(WR_OPTION_ENUM_LIST, a, f, struct wr_enum_list)
#define WR_OPT_STRINGS(a, f)                                                   \
    WR_OPT(WR_OPTION_STRINGS, a, f, struct wr_string_list)

/* A file that is written at the end; and the one that most commands write. */
#define WR_OPT_OUTPUT(a, f)                                                    \
    WR_OPT_STRING(a, f), .arg = "FILE",                                        \
                         .flags = WR_OPTION_PATH | WR_OPTION_OUTPUT
#define WR_OPT_RECORD(a)                                                       \
    WR_OPT_OUTPUT(a, record), .name = "record", .letter = 'o'

/* A table and the struct that its offsets point into. */
struct wr_option_set {
    const struct wr_option *table; /* borrowed; may be NULL: no options */
    void *args;                    /* borrowed */
    uint64_t given;                /* bit i: entry i was on the command line */
};

/* Parses every `def` into its field. Fails only on a wrong table. */
int wr_options_defaults(struct wr_option_set *set, weir_err *err);

/* Parses argv[0..argc) against several tables (the command's own first, then
 * the common ones). What is not an option is moved to the front of argv, and
 * *ret_operands says how many those are. "--" ends the options. */
int wr_options_parse(struct wr_option_set *sets, size_t set_count, int argc,
                     char **argv, size_t *ret_operands, weir_err *err);

/* WEIR_EINVAL: one was given without the other one that it goes with. */
int wr_options_check(const struct wr_option_set *set, weir_err *err);

/* Whether the option named `name` was on the command line. */
bool wr_options_given(const struct wr_option_set *set, const char *name);

/* Parses the value `text` of `opt` into the struct `args`. The message reads
 * "option --threads: 'x' is not a whole number". */
int wr_option_set_value(const struct wr_option *opt, const char *text,
                        void *args, weir_err *err);

#endif
