/* module.h - where modules and other files of weir itself are.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What few users need, or what may be missing on a machine, is in a module: a
 * shared object that is loaded on demand, so that nothing else starts slower or
 * fails without it. */
#ifndef WR_BASE_MODULE_H
#define WR_BASE_MODULE_H

#include <limits.h>

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

/* For messages: WEIR_MODULES if it is set, else NULL; and the last of the other
 * folders. */
const char *wr_module_named(void);
const char *wr_module_installed(void);

#endif
