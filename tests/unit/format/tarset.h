/* tarset.h - data sets of tar archives that tests make, and what is in them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_FORMAT_TARSET_H
#define TEST_FORMAT_TARSET_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/format.h"
#include "tarfiles.h"
#include "weir/dataset.h"

static struct tarfile tar; /* what is made next; too large for the stack */

static inline int try_open(const struct tmpdir *t, const char *name,
                           weir_dataset **ds, weir_err *err)
{
    weir_dataset_config cfg;

    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    return weir_dataset_open(ds, name ? tmpdir_at(t, name) : t->path, &cfg,
                             err);
}

static inline weir_dataset *open_at(const struct tmpdir *t, const char *name)
{
    weir_dataset *ds = NULL;
    weir_err err;

    if (try_open(t, name, &ds, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(weir_dataset_format(ds), "tar");
    return ds;
}

/* `tar` as the only archive of a data set. */
static inline weir_dataset *open_tar(struct tmpdir *t)
{
    tmpdir_init(t);
    tar_put(t, "a.tar", &tar);
    return open_at(t, "a.tar");
}

static inline void done(weir_dataset *ds, const struct tmpdir *t)
{
    weir_dataset_close(&ds);
    tmpdir_done(t);
    tar.len = 0;
}

/* Sample i has this key, these bytes and this label. */
static inline void check(const weir_dataset *ds, uint64_t i, const char *key,
                         const char *bytes, uint32_t label)
{
    char name[256], got[5000], text[256];
    struct wr_object *o;
    weir_sample s;

    assert_int_equal(weir_dataset_sample(ds, i, name, sizeof(name), &s, NULL),
                     0);
    weir_dataset_key(ds, i, got, sizeof(got));
    assert_string_equal(got, key);
    assert_int_equal(s.label, label);
    assert_int_equal(s.length, strlen(bytes));
    assert_int_equal(
        ds->store->ops->object_open(ds->store, s.name, WR_OPEN_READ, &o, NULL),
        0);
    assert_int_equal(o->ops->read(o, text, s.length, s.offset, NULL), s.length);
    assert_memory_equal(text, bytes, s.length);
    o->ops->close(o, /* sync= */ false, NULL);
}

/* The only issue names the archive and says this. */
static inline void check_issue(const weir_dataset *ds, const char *what,
                               int code)
{
    const weir_issue *issue = weir_dataset_issue(ds, 0);
    const char *reason;

    assert_int_equal(weir_dataset_issue_count(ds), 1);
    assert_string_equal(issue->name, "a.tar");
    assert_int_equal(issue->code, code);
    assert_non_null(issue->reason);
    reason = issue->reason ? issue->reason : ""; /* for the compiler */
    if (!strstr(reason, what))
        fail_msg("'%s' is not in '%s'", what, reason);
}

#endif
