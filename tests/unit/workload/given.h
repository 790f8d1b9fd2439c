/* given.h - descriptions from text, for tests.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_WORKLOAD_GIVEN_H
#define TEST_WORKLOAD_GIVEN_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/workload.h"

/* The notes of the last description, a line each. */
struct given_notes {
    char text[4096];
    unsigned count;
};

static inline void given_note(void *arg, const char *text)
{
    struct given_notes *n = arg;
    size_t used = strlen(n->text);

    snprintf(n->text + used, sizeof(n->text) - used, "%s\n", text);
    n->count++;
}

/* Fails the test with the message when the text is not accepted. */
static inline struct wr_workload *given(const char *text, const char *override,
                                        struct given_notes *notes)
{
    struct wr_workload *w = NULL;
    weir_err err = {0};

    if (wr_workload_parse("my.yaml", text, strlen(text),
                          (const char *const[]){override}, override ? 1 : 0,
                          notes ? given_note : NULL, notes, &w, &err) < 0)
        fail_msg("%s", err.msg);
    return w;
}

/* The message that the text is refused with; static memory. */
static inline const char *refused(const char *text, const char *override)
{
    static weir_err err;
    struct wr_workload *w = NULL;
    int r;

    memset(&err, 0, sizeof(err));
    r = wr_workload_parse("my.yaml", text, strlen(text),
                          (const char *const[]){override}, override ? 1 : 0,
                          NULL, NULL, &w, &err);
    if (r == 0)
        fail_msg("accepted: %s %s", text, override ? override : "");
    assert_null(w);
    assert_int_equal(r, err.code);
    return err.msg;
}

#endif
