/* merge_names.c - files of several traces, each with one number.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A path is the same file in all traces of one host, and on all hosts if it lies
 * on a file system that they share. Names that are two in one trace stay two. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/mem.h"
#include "trace/merge_private.h"

static bool is_shared(const struct wr_merge_input *in, const char *path)
{
    const struct wr_trace_mount *mount = *path == '/' ? wr_trace_mount_of(
                                                            in->mounts, path)
                                                      : NULL;

    return mount && mount->network;
}

/* Whether the name `n` of the output is that of a path of `in`. */
static bool is_name(const struct wr_merge *m, const struct wr_merge_name *n,
                    const struct wr_merge_input *in,
                    const struct wr_merge_name *wanted)
{
    const struct wr_merge_input *of = &m->inputs[n->input];

    if (n->nth != wanted->nth || n->kind != wanted->kind ||
        strcmp(n->path, wanted->path) != 0)
        return false;
    if (wr_trace_file_info(in->file)->anonymous ||
        wr_trace_file_info(of->file)->anonymous)
        return of == in;
    return (n->shared && wanted->shared) ||
           (*in->host && !strcmp(of->host, in->host));
}

/* The larger of what two traces know. */
static uint64_t known_most(uint64_t a, uint64_t b)
{
    if (a == UINT64_MAX || b == UINT64_MAX)
        return WR_MIN(a, b);
    return WR_MAX(a, b);
}

static bool add_name(struct wr_merge *m, uint64_t key,
                     const struct wr_merge_name *name, uint32_t *ret)
{
    struct wr_map_number *at;

    if (!wr_grow(&m->names, &m->name_cap, m->name_count + 1, sizeof(*m->names)))
        return false;
    at = wr_map_add(&m->numbers, key);
    if (!at)
        return false;
    at->number = *ret = (uint32_t)m->name_count++;
    m->names[*ret] = *name;
    return true;
}

/* The number of the name, which may have to be made; one that this trace has
 * given away already is another file of that path. */
static bool number_of(struct wr_merge *m, uint32_t input,
                      struct wr_merge_name wanted, const uint8_t *used,
                      uint32_t *ret)
{
    const uint64_t key = wr_map_hashed(
        XXH3_64bits(wanted.path, strlen(wanted.path)));
    const struct wr_merge_input *in = &m->inputs[input];
    struct wr_map_number *at;

    wanted.input = input;
    for (;; wanted.nth++) {
        at = wr_map_find(&m->numbers, key);
        while (at && !is_name(m, &m->names[at->number], in, &wanted))
            at = wr_map_next(&m->numbers, at);
        if (!at)
            return add_name(m, key, &wanted, ret);
        *ret = at->number;
        if (!(used[*ret / 8] >> (*ret % 8) & 1))
            break;
    }
    m->names[*ret].size = known_most(m->names[*ret].size, wanted.size);
    m->names[*ret].resident = known_most(m->names[*ret].resident,
                                         wanted.resident);
    return true;
}

static bool number_input(struct wr_merge *m, uint32_t input)
{
    struct wr_merge_input *in = &m->inputs[input];
    size_t n = wr_trace_file_names(in->file);
    uint8_t *used = calloc((m->name_count + n) / 8 + 1, 1);
    bool good = used != NULL;

    in->names = calloc(n + 1, sizeof(*in->names));
    good = good && in->names;
    for (size_t k = 0; good && k < n; k++) {
        const struct wr_trace_name *name = wr_trace_file_name(in->file, k);
        const char *path = name->path ? name->path : "";
        uint32_t number = 0;

        good = number_of(m, input,
                         (struct wr_merge_name){.path = path,
                                                .kind = name->kind,
                                                .shared = is_shared(in, path),
                                                .size = name->size,
                                                .resident = name->resident},
                         used, &number);
        if (good) {
            used[number / 8] |= (uint8_t)(1 << number % 8);
            in->names[k] = number;
        }
    }
    free(used);
    return good;
}

int wr_merge_names(struct wr_merge *m, weir_err *err)
{
    for (uint32_t k = 0; k < m->count; k++)
        if (!number_input(m, k))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
    m->sum.names = m->name_count;
    return 0;
}
