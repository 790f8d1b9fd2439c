/* module.h - where modules and other files of weir itself are.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What few users need, or what may be missing on a machine, is in a module: a
 * shared object that is loaded on demand, so that nothing else starts slower or
 * fails without it. */
#ifndef WR_BASE_MODULE_H
#define WR_BASE_MODULE_H

#include <limits.h>
#include <stddef.h>

#include "weir/error.h"

/* A file that belongs to this weir, into buf: beside the object that this code
 * is in (the command, or libweir.so), or in folder `tree` of a build tree that
 * the object is in; in `place`, which is relative to the prefix, of the
 * installation that the object belongs to, wherever it was moved to; or of where
 * weir was installed. Where a program that uses libweir lies does not matter.
 * WEIR_ENOENT: it is in none of them, and buf names the last. WEIR_EACCES: it is
 * in one, but others than those who can change the object itself can change it
 * there; the message says who. */
int wr_weir_file(const char *tree, const char *place, const char *name,
                 char buf[PATH_MAX], weir_err *err);

/* The path of weir-NAME.so into buf: from the folders of $WEIR_MODULES
 * (separated by colons) alone if it is set, whoever owns them; else as
 * wr_weir_file finds it in LIBDIR/weir. */
int wr_module_find(const char *name, const char *tree, char buf[PATH_MAX],
                   weir_err *err);

/* A module, and what to say when it cannot be had. */
struct wr_module {
    const char *who;       /* begins the messages: "engine 'onednn'" */
    const char *name;      /* of weir-NAME.so */
    const char *tree;      /* its folder in a build tree */
    const char *unbuilt;   /* "it (Debian: ...)"; NULL: it was built */
    const char *library;   /* in the name of what it needs, */
    const char *package;   /* which this installs */
    void (*prepare)(void); /* before it is loaded; NULL: nothing */
    const char *symbol;    /* that it exports: begins with wr_module_made */
    size_t bytes;
};

/* What a module was built from, so that one of another build is refused, not
 * called. */
struct wr_module_made {
    int version;  /* WEIR_VERSION */
    size_t bytes; /* of the structures that it shares with weir */
};

/* Finds and loads a module; *ret is its symbol. It is never unloaded. */
int wr_module_load(const struct wr_module *m, const void **ret, weir_err *err);

#endif
