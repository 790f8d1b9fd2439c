/* module.h - where modules are: shared objects that are loaded on demand.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What few users need, or what may be missing on a machine, is in a module, so
 * that nothing else starts slower or fails without it. */
#ifndef WR_BASE_MODULE_H
#define WR_BASE_MODULE_H

#include <stdbool.h>
#include <stddef.h>

/* The path of weir-NAME.so into buf: from the folders of $WEIR_MODULES
 * (separated by colons) alone if it is set, else from beside the running program
 * (the folder `tree` of a build tree, or ../lib/weir of an installation), else
 * from where weir was installed to. */
bool wr_module_find(const char *name, const char *tree, char *buf, size_t cap);

/* For messages: WEIR_MODULES if it is set, else NULL; and the last of the other
 * folders. */
const char *wr_module_named(void);
const char *wr_module_installed(void);

#endif
