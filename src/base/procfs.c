/* procfs.c - what the texts of /proc and /sys say.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"

int wr_procfs_read(int fd, char *buf, size_t cap)
{
    ssize_t n = TEMP_FAILURE_RETRY(pread(fd, buf, cap - 1, 0));

    if (n < 0)
        return -errno;
    buf[n] = '\0';
    return (int)n;
}

int wr_procfs_read_path(const char *path, char *buf, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int n;

    if (fd < 0)
        return -errno;
    n = wr_procfs_read(fd, buf, cap);
    close(fd);
    return n;
}

/* The next number of the line; false at its end, and for what is none or is
 * cut. */
static bool next_number(const char **at, uint64_t *ret)
{
    const char *s = *at + strspn(*at, " \t");
    uint64_t v;

    if (!wr_take_digits(&s, NULL, &v) ||
        (*s != ' ' && *s != '\t' && *s != '\n'))
        return false;
    *at = s;
    *ret = v;
    return true;
}

static size_t numbers(const char *at, uint64_t *values, size_t cap)
{
    size_t n = 0;

    while (n < cap && next_number(&at, &values[n]))
        n++;
    return n;
}

size_t wr_procfs_fields(const char *text, const struct wr_procfs_field *fields,
                        size_t count)
{
    size_t found = 0;
    const char *end;

    for (; found < count && (end = strchr(text, '\n')); text = end + 1)
        for (size_t i = 0; i < count; i++) {
            size_t len = strlen(fields[i].name);
            uint64_t v;

            if (strncmp(text, fields[i].name, len) ||
                !numbers(text + len, &v, 1))
                continue;
            *fields[i].value = v * fields[i].unit;
            found++;
        }
    return found;
}

bool wr_procfs_cpu(const char *text, struct wr_procfs_cpu *ret)
{
    uint64_t v[7] = {0}; /* user nice system idle iowait irq softirq */

    if (strncmp(text, "cpu ", 4) || numbers(text + 4, v, 7) < 4)
        return false;
    ret->busy = v[0] + v[1] + v[2] + v[5] + v[6];
    ret->iowait = v[4];
    return true;
}

bool wr_procfs_cores(const char *text, const cpu_set_t *which,
                     struct wr_procfs_cores *ret)
{
    struct wr_procfs_cores sum = {0};
    const char *end;

    for (; (end = strchr(text, '\n')) && !strncmp(text, "cpu", 3);
         text = end + 1) {
        uint64_t v[9] = {0}; /* number, then as above, and steal */

        if (text[3] == ' ' || numbers(text + 3, v, 9) < 5 ||
            v[0] >= CPU_SETSIZE || !CPU_ISSET(v[0], which))
            continue;
        sum.count++;
        sum.busy += v[1] + v[2] + v[3] + v[6] + v[7];
        sum.idle += v[4] + v[5];
        sum.steal += v[8];
    }
    if (!sum.count || sum.count != (unsigned)CPU_COUNT(which))
        return false;
    *ret = sum;
    return true;
}

bool wr_procfs_resident(const char *text, uint64_t *ret_pages)
{
    uint64_t v[2];

    if (numbers(text, v, 2) < 2)
        return false;
    *ret_pages = v[1];
    return true;
}

bool wr_procfs_disk(const char *text, struct wr_procfs_disk *ret)
{
    uint64_t v[11];

    if (numbers(text, v, 11) < 11)
        return false;
    *ret = (struct wr_procfs_disk){.reads = v[0],
                                   .read_sectors = v[2],
                                   .writes = v[4],
                                   .write_sectors = v[6],
                                   .busy_ms = v[9],
                                   .queue_ms = v[10]};
    return true;
}

uint64_t wr_procfs_grown(uint64_t from, uint64_t to)
{
    if (to >= from)
        return to - from;
    return from <= UINT32_MAX ? (uint32_t)(to - from) : 0;
}

/* "\040" and its like, in place. */
static void unescape_octal(char *s)
{
    char *to = s;

    for (; *s; to++) {
        if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] && s[3]) {
            *to = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
            s += 4;
        } else {
            *to = *s++;
        }
    }
    *to = '\0';
}

/* ID PARENT DEV ROOT POINT OPTIONS ... - TYPE SOURCE ... */
bool wr_procfs_mount(char *line, struct wr_procfs_mount *ret)
{
    char *rest = strstr(line, " - ");
    char *save, *field[5], *type, *source;

    if (!rest)
        return false;
    *rest = '\0';
    rest += 3;
    for (int i = 0; i < 5; i++) {
        field[i] = strtok_r(i ? NULL : line, " ", &save);
        if (!field[i])
            return false;
    }
    type = strtok_r(rest, " \n", &save);
    source = strtok_r(NULL, " \n", &save);
    if (!type || !source)
        return false;
    unescape_octal(field[4]);
    unescape_octal(source);
    *ret = (struct wr_procfs_mount){field[2], field[4], type, source};
    return true;
}
