/* forms.h - the same pictures as tensors, PNG and JPEG of one size.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_STUDY_FORMS_H
#define WR_STUDY_FORMS_H

#include "study/data.h"

/* Called about ten times a second; a return other than 0 cancels. */
struct wr_forms_watch {
    int (*progress)(void *arg, uint64_t done, uint64_t total);
    void *arg;
};

/* Makes `samples` pictures of kind->form and kind->side at `path`, which
 * appears whole or not at all. */
int wr_forms_make(const struct wr_data_kind *kind, uint64_t samples,
                  const char *path, const struct wr_forms_watch *watch,
                  weir_err *err);

/* Whether a form can be made by this build; else *ret_why (static). */
bool wr_forms_can(const char *form, const char **ret_why);

#endif
