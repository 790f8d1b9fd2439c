/* fault_rules.c - rules of the fault store: reading them, applying them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "storage/fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/named.h"
#include "base/units.h"

#define HANG_LOOK_NS (2 * WR_NS_PER_MS)

static const struct {
    const char *name;
    enum wr_fault_on on;
    enum wr_fault_what what;
    int os_errno;
} names[] = {
    {"eio", WR_FAULT_READ, WR_FAULT_FAIL, EIO},
    {"enoent", WR_FAULT_READ, WR_FAULT_FAIL, ENOENT},
    {"eacces", WR_FAULT_READ, WR_FAULT_FAIL, EACCES},
    {"emfile", WR_FAULT_READ, WR_FAULT_FAIL, EMFILE},
    {"enomem", WR_FAULT_READ, WR_FAULT_FAIL, ENOMEM},
    {"short", WR_FAULT_READ, WR_FAULT_CUT, 0},
    {"flip", WR_FAULT_READ, WR_FAULT_FLIP, 0},
    {"delay", WR_FAULT_READ, WR_FAULT_WAIT, 0},
    {"write-eio", WR_FAULT_WRITE, WR_FAULT_FAIL, EIO},
    {"write-enospc", WR_FAULT_WRITE, WR_FAULT_FAIL, ENOSPC},
    {"write-short", WR_FAULT_WRITE, WR_FAULT_CUT, 0},
    {"write-delay", WR_FAULT_WRITE, WR_FAULT_WAIT, 0},
    {"write-flip", WR_FAULT_WRITE, WR_FAULT_FLIP, 0},
    {"sync-eio", WR_FAULT_SYNC, WR_FAULT_FAIL, EIO},
    {"sync-enospc", WR_FAULT_SYNC, WR_FAULT_FAIL, ENOSPC},
    {"close-eio", WR_FAULT_CLOSE, WR_FAULT_FAIL, EIO},
    {"open-eio", WR_FAULT_OPEN, WR_FAULT_FAIL, EIO},
    {"open-emfile", WR_FAULT_OPEN, WR_FAULT_FAIL, EMFILE},
    {"create-eio", WR_FAULT_CREATE, WR_FAULT_FAIL, EIO},
    {"create-enospc", WR_FAULT_CREATE, WR_FAULT_FAIL, ENOSPC},
    {"resize-eio", WR_FAULT_RESIZE, WR_FAULT_FAIL, EIO},
    {"resize-enospc", WR_FAULT_RESIZE, WR_FAULT_FAIL, ENOSPC},
    {"lock-eio", WR_FAULT_LOCK, WR_FAULT_FAIL, EIO},
    {"stat-eio", WR_FAULT_STAT, WR_FAULT_FAIL, EIO},
    {"stat-enomem", WR_FAULT_STAT, WR_FAULT_FAIL, ENOMEM},
    {"list-eio", WR_FAULT_LIST, WR_FAULT_FAIL, EIO},
    {"list-emfile", WR_FAULT_LIST, WR_FAULT_FAIL, EMFILE},
    {"mkdir-eio", WR_FAULT_MKDIR, WR_FAULT_FAIL, EIO},
    {"mkdir-enospc", WR_FAULT_MKDIR, WR_FAULT_FAIL, ENOSPC},
    {"remove-eio", WR_FAULT_REMOVE, WR_FAULT_FAIL, EIO},
    {"rename-eio", WR_FAULT_RENAME, WR_FAULT_FAIL, EIO},
    {"rename-enospc", WR_FAULT_RENAME, WR_FAULT_FAIL, ENOSPC},
    {"rename-eperm", WR_FAULT_RENAME, WR_FAULT_FAIL, EPERM},
    {"rename-exdev", WR_FAULT_RENAME, WR_FAULT_FAIL, EXDEV},
    {"rename-late-eio", WR_FAULT_RENAME, WR_FAULT_LATE, EIO},
    {"syncdir-eio", WR_FAULT_SYNC_DIR, WR_FAULT_FAIL, EIO},
    {"hang", WR_FAULT_READ, WR_FAULT_HANG, 0},
};

static int parse_value(struct wr_fault_rule *r, const char *name,
                       const char *value, weir_err *err)
{
    bool must = r->what == WR_FAULT_WAIT || r->what == WR_FAULT_HANG;

    if (r->os_errno ? value != NULL : must && !value)
        return wr_fail(err, WEIR_EINVAL, "fault: '%s' takes %s value", name,
                       value ? "no" : "a");
    if (r->what == WR_FAULT_HANG) {
        r->file = strdup(value);
        return r->file ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    if (value && wr_parse_uint(value, 0, UINT32_MAX, &r->value, err) < 0)
        return WEIR_EINVAL;
    if (r->what == WR_FAULT_WAIT)
        r->value *= WR_NS_PER_MS;
    return 0;
}

static int parse_what(struct wr_fault_rule *r, char *word, weir_err *err)
{
    char *value = strchr(word, '=');
    int k;

    if (value)
        *value++ = '\0';
    k = wr_named_index(WR_NAMED(names), word);
    if (k < 0)
        return wr_fail(err, WEIR_EINVAL, "fault: unknown rule '%s'", word);
    r->on = names[k].on;
    r->what = names[k].what;
    r->os_errno = names[k].os_errno;
    r->has_value = value;
    return parse_value(r, word, value, err);
}

static int parse_when(struct wr_fault_rule *r, char *word, weir_err *err)
{
    size_t len = word ? strlen(word) : 0;

    r->when = WR_FAULT_ALWAYS;
    if (!word)
        return 0;
    if (*word == '~') {
        r->when = WR_FAULT_PATH;
        r->text = strdup(word + 1);
        return r->text ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    r->when = WR_FAULT_ONCE;
    if (*word == '%') {
        r->when = WR_FAULT_EVERY;
        word++;
    } else if (len && word[len - 1] == '+') {
        r->when = WR_FAULT_FROM;
        word[len - 1] = '\0';
    }
    return wr_parse_uint(word, 1, UINT64_MAX, &r->n, err);
}

int wr_fault_parse(struct wr_fault_rules *rules, char *spec, weir_err *err)
{
    char *save = NULL;

    for (char *word = strtok_r(spec, ",", &save); word;
         word = strtok_r(NULL, ",", &save)) {
        struct wr_fault_rule *rule = &rules->rules[rules->count];
        char *when = strchr(word, '@');
        int r;

        if (rules->count == WR_FAULT_RULES)
            return wr_fail(err, WEIR_ELIMIT, "fault: more than %d rules",
                           WR_FAULT_RULES);
        if (when)
            *when++ = '\0';
        r = parse_what(rule, word, err);
        if (r == 0)
            r = parse_when(rule, when, err);
        if (r < 0)
            return r;
        rules->count++;
    }
    return 0;
}

void wr_fault_done(struct wr_fault_rules *rules)
{
    for (unsigned i = 0; i < WR_FAULT_RULES; i++) {
        free(rules->rules[i].text);
        free(rules->rules[i].file);
    }
}

static bool applies(const struct wr_fault_rule *r, uint64_t count,
                    const char *path)
{
    switch (r->when) {
    case WR_FAULT_ALWAYS:
        return true;
    case WR_FAULT_ONCE:
        return count == r->n;
    case WR_FAULT_FROM:
        return count >= r->n;
    case WR_FAULT_EVERY:
        return count % r->n == 0;
    case WR_FAULT_PATH:
        return path && strstr(path, r->text);
    }
    return false;
}

static void hang(const struct wr_fault_rule *r)
{
    while (access(r->file, F_OK) == 0)
        wr_clock_sleep_until(wr_clock_ns() + HANG_LOOK_NS);
}

void wr_fault_hang(struct wr_fault_rules *rules, const char *path)
{
    for (unsigned i = 0; i < rules->count; i++) {
        const struct wr_fault_rule *r = &rules->rules[i];

        if (r->what == WR_FAULT_HANG &&
            (r->when == WR_FAULT_ALWAYS ||
             (r->when == WR_FAULT_PATH && applies(r, 0, path))))
            hang(r);
    }
}

struct wr_fault_verdict wr_fault_judge(struct wr_fault_rules *rules,
                                       enum wr_fault_on on, const char *path)
{
    uint64_t count = atomic_fetch_add(&rules->seen[on], 1) + 1;
    struct wr_fault_verdict v = {0};

    for (unsigned i = 0; i < rules->count; i++) {
        const struct wr_fault_rule *r = &rules->rules[i];

        if ((r->on != on && r->what != WR_FAULT_HANG) ||
            !applies(r, count, path))
            continue;
        if (r->what == WR_FAULT_HANG) {
            hang(r);
        } else if (r->os_errno) {
            v.os_errno = r->os_errno;
            v.late = r->what == WR_FAULT_LATE;
        } else if (r->what == WR_FAULT_CUT) {
            v.cut = r;
        } else if (r->what == WR_FAULT_FLIP) {
            v.flip = r;
        } else {
            v.due_ns = wr_clock_ns() + r->value;
        }
    }
    return v;
}

uint64_t wr_fault_at(const struct wr_fault_rule *r, uint64_t len)
{
    return r->has_value ? r->value : len / 2;
}
