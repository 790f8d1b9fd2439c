/* slurm.c - lists of nodes and of tasks, as Slurm writes them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/slurm.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"

/* Letters of a name outside brackets; ':' and the like would change a URL. */
static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

static int no_list(const char *list, weir_err *err)
{
    return wr_fail(err, WEIR_EINVAL, "'%s': no list of nodes", list);
}

int wr_slurm_first_node(const char *list, char *ret, size_t cap, weir_err *err)
{
    char name[256];
    size_t n = 0;
    const char *s = list;

    while (*s && *s != ',') {
        bool bracket = *s == '[';
        size_t len = bracket ? strspn(s + 1, "0123456789") : 1;
        const char *from = bracket ? s + 1 : s;

        if (bracket ? len == 0 : !is_of_name(*s))
            return no_list(list, err);
        if (n + len >= sizeof(name))
            return no_list(list, err);
        memcpy(name + n, from, len);
        n += len;
        s = from + len;
        if (!bracket)
            continue;
        /* the other numbers, which belong to other nodes */
        s += strspn(s, "0123456789-,");
        if (*s++ != ']')
            return no_list(list, err);
    }
    if (n == 0 || n >= cap)
        return no_list(list, err);
    memcpy(ret, name, n);
    ret[n] = '\0';
    return 0;
}

/* The number at *s, below 2^31, which is moved behind it. */
static bool read_number(const char **s, uint32_t *ret)
{
    uint32_t x = 0;
    const char *from = *s;

    for (; **s >= '0' && **s <= '9'; ++*s) {
        if (x > (INT32_MAX - 9) / 10)
            return false;
        x = x * 10 + (uint32_t)(**s - '0');
    }
    *ret = x;
    return *s != from;
}

int wr_slurm_tasks(const char *list, uint32_t node, uint32_t *ret,
                   weir_err *err)
{
    const char *s = list;

    for (;;) {
        uint32_t tasks, nodes = 1;

        if (!read_number(&s, &tasks))
            break;
        if (!strncmp(s, "(x", 2)) {
            s += 2;
            if (!read_number(&s, &nodes) || *s++ != ')')
                break;
        }
        if (node < nodes) {
            *ret = tasks;
            return 0;
        }
        node -= nodes;
        if (*s++ != ',')
            break;
    }
    return wr_fail(err, WEIR_EINVAL,
                   "'%s': not the numbers of tasks of that many nodes", list);
}
