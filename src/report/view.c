/* view.c - from records to a document: the registry and what views share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/view.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/named.h"
#include "base/units.h"
#include "report/chart.h"
#include "report/say.h"
#include "result/get.h"
#include "report/points.h"
#include "result/bench.h"

#define BAD_SHOWN 20

/* A record of a command that has no view: what stands at its top. */
static void generic_build(struct wr_doc *d, const struct wr_view_record *r,
                          size_t n)
{
    char title[WR_VIEW_NAME], shown[WR_VIEW_NAME];
    struct wr_doc_section *s;
    const char *key;
    json_t *value;

    for (size_t i = 0; i < n; i++) {
        /* Iterating is not const in jansson, but changes nothing. */
        json_t *o = (json_t *)(uintptr_t)r[i].json;

        snprintf(title, sizeof(title), "%s: %s", wr_get_text(o, "command"),
                 r[i].label);
        s = wr_doc_section(d, title);
        wr_doc_note(s, false,
                    "This weir does not know what stands in records "
                    "of this command.");
        wr_view_host(s, r + i);
        json_object_foreach(
            o, key, value) if (strcmp(key, "schema") && strcmp(key, "time") &&
                               strcmp(key, "weir") &&
                               *wr_get_shown(value, shown, sizeof(shown)))
            wr_doc_fact(s, key, "%s", shown);
    }
}

static const struct wr_view generic = {.command = "", .build = generic_build};

/* X(name): the table wr_view_<name> in <name>.c, in the order in which
 * they stand on a page. */
#define WR_VIEW_MAP(X)                                                         \
    X(study)                                                                   \
    X(trace)                                                                   \
    X(plan)                                                                    \
    X(run)                                                                     \
    X(train)                                                                   \
    X(bench)                                                                   \
    X(probe)                                                                   \
    X(replay)                                                                  \
    X(ckpt)

#define DECLARE(name) extern const struct wr_view wr_view_##name;
WR_VIEW_MAP(DECLARE)
#undef DECLARE

static const struct wr_view *const views[] = {
#define ENTRY(name) &wr_view_##name,
    WR_VIEW_MAP(ENTRY)
#undef ENTRY
};

const struct wr_view *wr_view_find(const char *command)
{
    const struct wr_view *v = wr_named_ops(views, WR_ARRAY_LEN(views), command);

    return v ? v : &generic;
}

size_t wr_view_order(const char *command)
{
    size_t i = 0;

    while (i < WR_ARRAY_LEN(views) && strcmp(views[i]->command, command))
        i++;
    return i;
}

/* --- sections --- */

static bool is_wanted(const struct wr_scope *v, unsigned only)
{
    unsigned have = (v->many ? WR_IF_SEVERAL : WR_IF_ONE) |
                    (v->r->alone ? WR_IF_ALONE : WR_IF_BESIDE) |
                    (v->c.count ? WR_IF_ROWS : WR_IF_NO_ROWS);

    return (only & have) == only;
}

static struct wr_list rows_of(const struct wr_table_rule *rule,
                              const struct wr_case *row)
{
    if (!rule->list)
        return (struct wr_list){.count = 1};
    return *(const struct wr_list *)(const void *)((const char *)row->values +
                                                   rule->list);
}

/* Whether one of the rows has a number above 0 in this column. */
static bool has_any(const struct wr_scope *v, const struct wr_table_rule *rule,
                    const struct wr_column *column)
{
    for (size_t k = 0; k < v->c.count; k++) {
        const struct wr_list l = rows_of(rule, &v->c.v[k]);

        for (size_t i = 0; i < l.count; i++)
            if (wr_number_at(rule->list ? wr_list_at(&l, i) : v->c.v[k].values,
                             column->at) > 0)
                return true;
    }
    return false;
}

static unsigned columns_of(const struct wr_scope *v,
                           const struct wr_table_rule *rule)
{
    unsigned which = rule->which ? rule->which(v) : 0;

    for (const struct wr_column *c = rule->columns; wr_column_is(c); c++)
        if (c->if_any && has_any(v, rule, c))
            which |= wr_column_bits(rule->columns, c);
    return which;
}

static void show_table(struct wr_scope *v, const struct wr_table_rule *rule)
{
    unsigned which = columns_of(v, rule);
    size_t rows = rule->list ? 0 : v->c.left_out, shown = 0;
    size_t most = v->brief && rule->printed_rows ? rule->printed_rows
                                                 : WR_VIEW_ROWS;
    const char *title;
    struct wr_doc_table *t;

    for (size_t k = 0; k < v->c.count; k++)
        rows += rows_of(rule, &v->c.v[k]).count;
    if (rows < rule->least)
        return;
    title = !v->brief ? rule->title : rule->printed ? rule->printed : "";
    t = wr_doc_table_of(v->s, title, rule->columns, which);
    if (rule->fold || (rule->fold_from && rows >= rule->fold_from))
        wr_doc_fold(t);
    for (size_t k = 0; k < v->c.count; k++) {
        const struct wr_case *row = &v->c.v[k];
        const struct wr_list l = rows_of(rule, row);

        for (size_t i = 0; i < l.count && shown < most; i++, shown++)
            wr_cells(t, rule->columns, which,
                     &(struct wr_row){&v->c, k, i, row,
                                      rule->list ? wr_list_at(&l, i) : NULL});
    }
    if (most < WR_VIEW_ROWS && rows > most)
        wr_doc_note(v->s, false, "%s: the first %zu of %zu are in the table.",
                    rule->title, most, rows);
    wr_view_cut(v->s, rule->rows, rows);
}

/* Lists of sentences about each record, one record after the other. */
static void say_all(struct wr_scope *v, const struct wr_sentence *const *lists)
{
    const struct wr_view *view = v->view;
    void *facts = calloc(1, view->facts->size);
    size_t told = view->told ? view->told : v->n;

    if (!facts) {
        wr_doc_fail(v->d);
        return;
    }
    for (size_t i = 0; i < v->n && i < told; i++) {
        view->find_facts(&v->c, i, facts);
        for (size_t k = 0; lists[k]; k++)
            wr_sentences(v->s, v->n > 1 ? v->r[i].label : "", lists[k],
                         view->facts, facts);
    }
    free(facts);
}

static void show_item(struct wr_scope *v, const struct wr_item *i)
{
    if (!is_wanted(v, i->only) || (i->is_needed && !i->is_needed(v)))
        return;
    if (i->table)
        show_table(v, i->table);
    else if (i->chart)
        wr_chart_draw(v, i->chart);
    else if (i->say[0])
        say_all(v, i->say);
    else
        i->show(v);
}

static void show_section(const struct wr_view *view,
                         const struct wr_section *section, const char *title,
                         struct wr_scope *v)
{
    static const struct wr_cases_spec none = {.rows = "none"};

    v->view = view;
    wr_cases_init(&v->c, v->r, v->n, view->rows ? view->rows : &none);
    if (v->c.failed)
        wr_doc_fail(v->d);
    if (is_wanted(v, section->only) &&
        (!section->is_needed || section->is_needed(v))) {
        v->s = section->plain || v->brief
                   ? wr_doc_section(v->d, title)
                   : wr_view_section(v->d, title, v->r, v->n);
        for (const struct wr_item *i = section->items; wr_item_is(i); i++)
            show_item(v, i);
    }
    wr_cases_done(&v->c);
}

/* The sections of a list from `from` on that are of the same kind take turns:
 * all of one record, or group, then all of the next. */
static void show_each(const struct wr_view *view, struct wr_doc *d,
                      const struct wr_section *from, size_t count,
                      const struct wr_view_record *r, size_t n)
{
    char title[WR_VIEW_NAME];

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < count; k++) {
            struct wr_scope v = {.d = d, .r = &r[i], .n = 1, .many = n > 1};

            snprintf(title, sizeof(title), "%s%s%.200s", from[k].title,
                     n > 1 ? ": " : "", n > 1 ? r[i].label : "");
            show_section(view, &from[k], title, &v);
        }
}

static void show_groups(const struct wr_view *view, struct wr_doc *d,
                        const struct wr_section *from, size_t count,
                        const struct wr_view_record *r, size_t n)
{
    size_t groups = 0;
    struct wr_view_group *g = view->groups(r, n, &groups);

    if (!g)
        wr_doc_fail(d);
    for (size_t i = 0; g && i < groups; i++)
        for (size_t k = 0; k < count; k++) {
            struct wr_scope v = {.d = d,
                                 .r = g[i].records,
                                 .n = g[i].count,
                                 .many = g[i].count > 1};

            show_section(view, &from[k],
                         from[k].title ? from[k].title : g[i].title, &v);
        }
    wr_view_groups_free(g, groups);
}

/* The records under the names that the view has for them. */
static bool name_records(const struct wr_view *view,
                         const struct wr_view_record *r,
                         struct wr_view_group *named)
{
    size_t n = named->count;

    named->records = calloc(n, sizeof(*named->records));
    named->names = calloc(n, sizeof(*named->names));
    if (!named->records || !named->names)
        return false;
    view->name_records(r, n, named->names);
    for (size_t i = 0; i < n; i++) {
        named->records[i] = r[i];
        named->records[i].label = named->names[i];
    }
    return true;
}

void wr_view_build(const struct wr_view *view, struct wr_doc *d,
                   const struct wr_view_record *r, size_t n)
{
    struct wr_view_group named = {.count = view->most ? WR_MIN(n, view->most)
                                                      : n};

    if (view->build)
        view->build(d, r, n);
    n = named.count;
    if (n > 1 && view->name_records) {
        if (name_records(view, r, &named))
            r = named.records;
        else
            wr_doc_fail(d);
    }
    for (const struct wr_section *s = view->sections; s && s->items;) {
        size_t count = 1;
        struct wr_scope v = {.d = d, .r = r, .n = n, .many = n > 1};

        while (s[count].items && s[count].of == s->of && s->of != WR_OF_ALL)
            count++;
        if (s->of == WR_OF_ALL)
            show_section(view, s, s->title, &v);
        else if (s->of == WR_OF_EACH)
            show_each(view, d, s, count, r, n);
        else
            show_groups(view, d, s, count, r, n);
        s += count;
    }
    free(named.records);
    free(named.names);
}

void wr_view_print(const struct wr_view *view, struct wr_doc *d,
                   const struct wr_view_record *r)
{
    if (view->result)
        view->result(d, r);
    for (const struct wr_section *s = view->printed; s && s->items; s++)
        show_section(view, s, s->title ? s->title : "",
                     &(struct wr_scope){.d = d, .r = r, .n = 1, .brief = true});
}

void wr_view_groups_free(struct wr_view_group *g, size_t count)
{
    for (size_t i = 0; g && i < count; i++) {
        free(g[i].records);
        free(g[i].names);
    }
    free(g);
}

void wr_show_host(struct wr_scope *v)
{
    wr_view_host(v->s, v->r);
}

void wr_show_starved(struct wr_scope *v)
{
    wr_view_starved(v->s, v->r, v->n);
}

/* --- what records are about --- */

/* The two tiers of checkpoints: "emulated optane and hdd". */
static bool emulated_tiers(const json_t *record, char *buf, size_t cap)
{
    char slow[WR_VIEW_NAME / 2];
    bool fast = wr_emulated(wr_get_text(record, "fast"), buf, cap);
    size_t used = strlen(buf);

    if (!wr_emulated(wr_get_text(record, "slow"), slow, sizeof(slow)))
        return fast;
    if (!fast)
        snprintf(buf, cap, "%s (slow tier)", slow);
    else if (strcmp(buf, slow))
        snprintf(buf + used, cap - used, " and %s", slow + strlen("emulated "));
    return true;
}

static bool emulated(const json_t *record, char *buf, size_t cap)
{
    return wr_emulated(wr_get_text(record, "dataset.url"), buf, cap) ||
           wr_emulated(wr_get_text(record, "path"), buf, cap) ||
           wr_emulated(wr_get_text(record, "config.data"), buf, cap) ||
           emulated_tiers(record, buf, cap);
}

bool wr_view_is_emulated(const json_t *record)
{
    char name[WR_VIEW_NAME];

    return emulated(record, name, sizeof(name));
}

struct wr_doc_section *wr_view_section(struct wr_doc *d, const char *title,
                                       const struct wr_view_record *r, size_t n)
{
    char device[WR_VIEW_NAME], other[WR_VIEW_NAME], text[2 * WR_VIEW_NAME];
    size_t count = 0;
    bool same = true;

    for (size_t i = 0; i < n; i++) {
        if (!emulated(r[i].json, other, sizeof(other)))
            continue;
        if (!count++)
            snprintf(device, sizeof(device), "%s", other);
        same &= !strcmp(device, other);
    }
    if (!count)
        return wr_doc_section(d, title);
    snprintf(text, sizeof(text), "%s, %s", title,
             count < n ? "some of it emulated"
             : same    ? device
                       : "emulated devices");
    return wr_doc_section(d, text);
}

char *wr_view_device(const json_t *record, char *buf, size_t cap)
{
    const json_t *fs = wr_get_object(record, "host.file_system");
    const char *profile = wr_get_text(record, "device_profile");
    const char *device = wr_get_text(fs, "device");
    const char *model = wr_get_text(fs, "model");
    const char *type = wr_get_text(fs, "type");

    if (*profile) {
        snprintf(buf, cap, "emulated %s", profile);
        return buf;
    }
    if (emulated(record, buf, cap))
        return buf;
    snprintf(buf, cap, "%s%s%s%s%s%s", device, *model ? " (" : "", model,
             *model ? ")" : "", *device && *type ? ", " : "", type);
    return buf;
}

static void host_facts(struct wr_doc_section *s, const struct wr_view_record *r)
{
    const json_t *host = wr_get_object(r->json, "host");
    double memory = wr_get_number(host, "memory_bytes");
    double cores = wr_get_number(host, "cores");
    char text[WR_VIEW_NAME], bytes[32];

    wr_doc_fact(s, "Record", "%s", r->path);
    wr_doc_fact(s, "Made", "%s by weir %s", wr_get_text(r->json, "time"),
                wr_get_text(r->json, "weir"));
    if (*wr_get_text(host, "name"))
        wr_doc_fact(s, "Host", "%s, %s", wr_get_text(host, "name"),
                    wr_get_text(host, "kernel"));
    if (*wr_get_text(host, "cpu") || cores > 0)
        wr_doc_fact(
            s, "CPU", "%s%s%.0f cores, %s memory", wr_get_text(host, "cpu"),
            *wr_get_text(host, "cpu") ? ", " : "", isnan(cores) ? 0 : cores,
            wr_format_bytes(bytes, sizeof(bytes), isnan(memory) ? 0 : memory));
    if (*wr_view_device(r->json, text, sizeof(text)))
        wr_doc_fact(s, "Storage", "%s", text);
}

void wr_view_host(struct wr_doc_section *s, const struct wr_view_record *r)
{
    if (r->alone)
        host_facts(s, r);
}

void wr_view_hosts(struct wr_doc *d, const struct wr_view_record *r, size_t n)
{
    struct wr_doc_table *t = wr_doc_table(
        wr_doc_section(d, "Records and machines"), "Records",
        "<record|<file|<command|<time|<host|<kernel|<CPU|>cores|<storage");
    char text[WR_VIEW_NAME];

    for (size_t i = 0; i < n && i < WR_VIEW_ROWS; i++) {
        const json_t *host = wr_get_object(r[i].json, "host");

        wr_doc_cell(t, "%s", r[i].label);
        wr_doc_cell(t, "%s", r[i].path);
        wr_doc_cell(t, "%s", wr_get_text(r[i].json, "command"));
        wr_doc_cell(t, "%s", wr_get_text(r[i].json, "time"));
        wr_doc_cell(t, "%s", wr_get_text(host, "name"));
        wr_doc_cell(t, "%s", wr_get_text(host, "kernel"));
        wr_doc_cell(t, "%s", wr_get_text(host, "cpu"));
        wr_doc_number(t, wr_get_number(host, "cores"), 0);
        wr_doc_cell(t, "%s", wr_view_device(r[i].json, text, sizeof(text)));
    }
}

char *wr_cores_text(const struct wr_cores_values *c, char *buf, size_t cap)
{
    double most = fmax(0, fmax(c->others, fmax(c->stolen, c->throttled)));
    double count = fmax(0, c->count);
    const char *who = most == c->throttled ? "a CPU limit (cgroup) took"
                      : most == c->stolen  ? "the hypervisor took"
                                           : "other programs had";

    snprintf(buf, cap, "%s %.1f of %.0f core%s, this one had %.1f", who, most,
             count, count == 1 ? "" : "s", fmax(0, c->own));
    return buf;
}

bool wr_view_was_starved(const json_t *record)
{
    const json_t *cases = wr_get_list(record, "cases");

    if (json_is_true(wr_get(record, "cores.starved")))
        return true;
    for (size_t i = 0; i < json_array_size(cases); i++)
        if (json_is_true(wr_get(json_array_get(cases, i), "result.starved")))
            return true;
    return false;
}

void wr_view_starved(struct wr_doc_section *s, const struct wr_view_record *r,
                     size_t n)
{
    char text[WR_VIEW_NAME];

    for (size_t i = 0; i < n && i < WR_VIEW_ROWS; i++) {
        struct wr_cores_values cores;

        wr_vals_read(&wr_cores_vals, json_object_get(r[i].json, "cores"),
                     &cores);
        if (cores.starved)
            wr_doc_note(s, true,
                        "%s%sStarved: %s. The figures may be too low: measure "
                        "again on an idle machine.",
                        n > 1 ? r[i].label : "", n > 1 ? ": " : "",
                        wr_cores_text(&cores, text, sizeof(text)));
    }
}

void wr_show_bad(struct wr_scope *v)
{
    const json_t *o = v->c.count ? v->c.v[v->c.count - 1].json : v->r->json;
    const json_t *list = wr_get_list(o, "bad");
    double times = wr_get_number(o, "bad_count");
    size_t n = json_array_size(list);
    struct wr_doc_section *s;
    char title[96];

    if (!(times > 0))
        return;
    snprintf(title, sizeof(title), "%zu bad sample%s skipped", n,
             n == 1 ? "" : "s");
    if (times > (double)n)
        snprintf(title + strlen(title), sizeof(title) - strlen(title),
                 ", %.0f times in all", times);
    s = wr_doc_section(v->d, title);
    for (size_t i = 0; i < n && i < BAD_SHOWN; i++) {
        const json_t *one = json_array_get(list, i);

        wr_doc_note(s, false, "%s",
                    json_is_string(one) ? json_string_value(one)
                                        : wr_get_text(one, "text"));
    }
    if (n > BAD_SHOWN)
        wr_doc_note(s, false, "... and %zu more (--json lists them)",
                    n - BAD_SHOWN);
}

void wr_view_cut(struct wr_doc_section *s, const char *rows, size_t count)
{
    if (count > WR_VIEW_ROWS)
        wr_doc_note(s, true, "Of %zu %s only the first %d are in the table.",
                    count, rows, WR_VIEW_ROWS);
}

size_t wr_view_share(size_t series_count)
{
    size_t share = WR_VIEW_POINTS / WR_MAX(series_count, (size_t)1);

    return WR_MIN(WR_MAX(share, (size_t)WR_THIN_MIN),
                  (size_t)WR_VIEW_SERIES_POINTS);
}
