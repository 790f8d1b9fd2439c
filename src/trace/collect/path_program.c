/* path_program.c - the texts of paths that system calls get, copied by the kernel.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/collect/path_program.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

#define MARK      UINT32_C(0x7472ffff) /* no tracepoint has the id 0xffff */
#define TEXT      4096                 /* bytes of a path, with its NUL */
#define TEXT_MASK 8191                 /* what the verifier believes */
#define HEAD      8                    /* mark, which of the call's paths */
#define MOST_CODE 192
#define MOST_LATE 16384 /* paths that are read at the end of their call */
#define KEY       (-32) /* on the stack of 512 bytes */
#define VALUE     (-16)

struct wr_paths {
    int args, room, output, late;
    int programs[2], events[2]; /* of the begin and the end of calls */
};

/* The program as it is being written. */
struct wr_paths_code {
    struct bpf_insn list[MOST_CODE];
    unsigned count;
};

/* --- instructions: the few that are needed --- */

static unsigned put(struct wr_paths_code *c, uint8_t code, unsigned dst,
                    unsigned src, int off, int32_t imm)
{
    c->list[c->count] = (struct bpf_insn){.code = code,
                                          .dst_reg = dst & 15,
                                          .src_reg = src & 15,
                                          .off = (int16_t)off,
                                          .imm = imm};
    return c->count++;
}

static void set(struct wr_paths_code *c, unsigned dst, int32_t imm)
{
    put(c, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm);
}

static void copy(struct wr_paths_code *c, unsigned dst, unsigned src)
{
    put(c, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void add(struct wr_paths_code *c, unsigned dst, int32_t imm)
{
    put(c, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, imm);
}

static void call(struct wr_paths_code *c, int32_t function)
{
    put(c, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

static void load(struct wr_paths_code *c, uint8_t size, unsigned dst,
                 unsigned src, int off)
{
    put(c, BPF_LDX | BPF_MEM | size, dst, src, off, 0);
}

static void load_map(struct wr_paths_code *c, unsigned dst, int fd)
{
    put(c, BPF_LD | BPF_DW | BPF_IMM, dst, BPF_PSEUDO_MAP_FD, 0, fd);
    put(c, 0, 0, 0, 0, 0);
}

/* A jump whose target comes later. */
static unsigned jump(struct wr_paths_code *c, uint8_t how, unsigned dst,
                     int32_t imm)
{
    return put(c, BPF_JMP | how | BPF_K, dst, 0, 0, imm);
}

static void lands(struct wr_paths_code *c, unsigned jump_at)
{
    c->list[jump_at].off = (int16_t)(c->count - jump_at - 1);
}

/* r0 = the map's element with the key that is on the stack at `key`. */
static void look_up(struct wr_paths_code *c, int map, int key)
{
    load_map(c, 1, map);
    copy(c, 2, 10);
    add(c, 2, key);
    call(c, BPF_FUNC_map_lookup_elem);
}

/* r3 = the argument whose place plus one is in r1. */
static void pick_argument(struct wr_paths_code *c, int args_offset)
{
    unsigned to[3];

    for (int k = 0; k < 4; k++) {
        load(c, BPF_DW, 3, 6, args_offset + 8 * k);
        if (k < 3)
            to[k] = jump(c, BPF_JEQ, 1, k + 1);
    }
    for (int k = 0; k < 3; k++)
        lands(c, to[k]);
}

/* Copies the text at r9 into the room (r7), with its head. r0: bytes; 0 and
 * less: its page is not in memory. */
static void read_path(struct wr_paths_code *c, int which)
{
    put(c, BPF_ST | BPF_MEM | BPF_W, 7, 0, 0, (int32_t)MARK);
    put(c, BPF_ST | BPF_MEM | BPF_W, 7, 0, 4, which);
    copy(c, 1, 7);
    add(c, 1, HEAD);
    set(c, 2, TEXT);
    copy(c, 3, 9);
    call(c, BPF_FUNC_probe_read_user_str);
}

/* Sends the room, whose text has r0 bytes. */
static void send_room(struct wr_paths_code *c, const struct wr_paths *p)
{
    copy(c, 5, 0);
    put(c, BPF_ALU64 | BPF_AND | BPF_K, 5, 0, 0, TEXT_MASK);
    add(c, 5, HEAD);
    copy(c, 1, 6);
    load_map(c, 2, p->output);
    put(c, BPF_ALU | BPF_MOV | BPF_K, 3, 0, 0, -1); /* the core that runs it */
    copy(c, 4, 7);
    call(c, BPF_FUNC_perf_event_output);
}

/* The key of the thread's path on the stack. */
static void put_key(struct wr_paths_code *c, int which)
{
    call(c, BPF_FUNC_get_current_pid_tgid);
    put(c, BPF_STX | BPF_MEM | BPF_DW, 10, 0, KEY, 0);
    put(c, BPF_ST | BPF_MEM | BPF_DW, 10, 0, KEY + 8, which);
}

/* r1 = map, r2 = key. */
static void put_late(struct wr_paths_code *c, const struct wr_paths *p)
{
    load_map(c, 1, p->late);
    copy(c, 2, 10);
    add(c, 2, KEY);
}

/* One of the call's paths, when the call begins. r6: record, r7: room, r8: which
 * arguments are paths. */
static void take_path(struct wr_paths_code *c, const struct wr_paths *p,
                      int which, int args_offset)
{
    unsigned none, good, end;

    copy(c, 1, 8);
    put(c, BPF_ALU64 | BPF_RSH | BPF_K, 1, 0, 0, 8 * which);
    put(c, BPF_ALU64 | BPF_AND | BPF_K, 1, 0, 0, 255);
    none = jump(c, BPF_JEQ, 1, 0);
    pick_argument(c, args_offset);
    copy(c, 9, 3);
    read_path(c, which);
    good = jump(c, BPF_JSGT, 0, 0);
    put_key(c, which); /* the call itself will bring it into memory */
    put(c, BPF_STX | BPF_MEM | BPF_DW, 10, 9, VALUE, 0);
    put_late(c, p);
    copy(c, 3, 10);
    add(c, 3, VALUE);
    set(c, 4, BPF_ANY);
    call(c, BPF_FUNC_map_update_elem);
    end = jump(c, BPF_JA, 0, 0);
    lands(c, good);
    send_room(c, p);
    lands(c, end);
    lands(c, none);
}

/* One that could not be read then, when the call ends. */
static void take_late(struct wr_paths_code *c, const struct wr_paths *p,
                      int which, int args_offset)
{
    unsigned none, bad;

    (void)args_offset;
    put_key(c, which);
    put_late(c, p);
    call(c, BPF_FUNC_map_lookup_elem);
    none = jump(c, BPF_JEQ, 0, 0);
    load(c, BPF_DW, 9, 0, 0);
    put_late(c, p);
    call(c, BPF_FUNC_map_delete_elem);
    read_path(c, which);
    bad = jump(c, BPF_JSLE, 0, 0);
    send_room(c, p);
    lands(c, bad);
    lands(c, none);
}

/* Both programs: of calls with paths, each path. `t` has the field id first. */
static void write_code(struct wr_paths_code *c, const struct wr_paths *p,
                       const struct wr_tracepoint *t, bool is_end)
{
    unsigned out[3];

    copy(c, 6, 1);
    load(c, BPF_DW, 1, 6, (int)t->fields[0].offset);
    put(c, BPF_STX | BPF_MEM | BPF_W, 10, 1, -4, 0);
    look_up(c, p->args, -4);
    out[0] = jump(c, BPF_JEQ, 0, 0);
    load(c, BPF_W, 8, 0, 0);
    out[1] = jump(c, BPF_JEQ, 8, 0);
    put(c, BPF_ST | BPF_MEM | BPF_W, 10, 0, -8, 0);
    look_up(c, p->room, -8);
    out[2] = jump(c, BPF_JEQ, 0, 0);
    copy(c, 7, 0);
    for (int which = 0; which < 2; which++)
        (is_end ? take_late : take_path)(c, p, which, (int)t->fields[1].offset);
    for (int k = 0; k < 3; k++)
        lands(c, out[k]);
    set(c, 0, 1); /* the call's own record is written, too */
    put(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* --- loading it --- */

static int bpf(int command, union bpf_attr *a)
{
    return (int)syscall(SYS_bpf, command, a, sizeof(*a));
}

static int make_map(unsigned type, uint32_t key_size, uint32_t value_size,
                    uint32_t entries)
{
    union bpf_attr a;

    memset(&a, 0, sizeof(a));
    a.map_type = type;
    a.key_size = key_size;
    a.value_size = value_size;
    a.max_entries = entries;
    return bpf(BPF_MAP_CREATE, &a);
}

static int fill_args(const struct wr_paths *p,
                     const struct wr_paths_args args[WR_PATHS_CALLS])
{
    union bpf_attr a;

    memset(&a, 0, sizeof(a));
    a.map_fd = (uint32_t)p->args;
    for (uint32_t key = 0; key < WR_PATHS_CALLS; key++) {
        uint32_t value = args[key].first | (uint32_t)args[key].second << 8;

        if (!value)
            continue;
        a.key = (uintptr_t)&key;
        a.value = (uintptr_t)&value;
        if (bpf(BPF_MAP_UPDATE_ELEM, &a) < 0)
            return -1;
    }
    return 0;
}

static int load_program(const struct wr_paths *p, const struct wr_tracepoint *t,
                        bool is_end)
{
    struct wr_paths_code c = {.count = 0};
    union bpf_attr a;

    write_code(&c, p, t, is_end);
    memset(&a, 0, sizeof(a));
    a.prog_type = BPF_PROG_TYPE_TRACEPOINT;
    a.insns = (uintptr_t)c.list;
    a.insn_cnt = c.count;
    /* The kernel lends the functions that it calls to programs under the GPL
     * only; so the instructions above are offered under MIT or GPL-2.0, too. */
    a.license = (uintptr_t) "Dual MIT/GPL";
    return bpf(BPF_PROG_LOAD, &a);
}

/* 0, or -1: errno says why. */
static int make_maps(struct wr_paths *p, const struct wr_rings *rings,
                     const struct wr_paths_args args[WR_PATHS_CALLS])
{
    p->args = make_map(BPF_MAP_TYPE_ARRAY, 4, 4, WR_PATHS_CALLS);
    if (p->args < 0 || fill_args(p, args) < 0)
        return -1;
    p->room = make_map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, HEAD + TEXT_MASK + 1, 1);
    p->output = make_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4,
                         wr_rings_cores(rings));
    p->late = make_map(BPF_MAP_TYPE_HASH, 16, 8, MOST_LATE);
    return p->room < 0 || p->output < 0 || p->late < 0 ? -1 : 0;
}

/* It runs for all processes, whatever event it is given to. That must be one of
 * its own: events that children inherit take it away when a child ends. */
static int attach(struct wr_paths *p, unsigned k, const struct wr_tracepoint *t)
{
    struct perf_event_attr a = {.type = PERF_TYPE_TRACEPOINT,
                                .size = sizeof(a),
                                .config = t->id,
                                .disabled = 1};

    p->programs[k] = load_program(p, t, /* is_end= */ k == 1);
    if (p->programs[k] < 0)
        return -1;
    p->events[k] = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1,
                                PERF_FLAG_FD_CLOEXEC);
    return p->events[k] < 0
               ? -1
               : ioctl(p->events[k], PERF_EVENT_IOC_SET_BPF, p->programs[k]);
}

int wr_paths_open(struct wr_paths **ret, struct wr_rings *rings,
                  const struct wr_tracepoint *enter,
                  const struct wr_tracepoint *leave,
                  const struct wr_paths_args args[WR_PATHS_CALLS],
                  weir_err *err)
{
    struct wr_paths *p = malloc(sizeof(*p));
    int r = 0;

    if (!p)
        return wr_fail(err, WEIR_ENOMEM, "paths of system calls");
    *p = (struct wr_paths){-1, -1, -1, -1, {-1, -1}, {-1, -1}};
    if (make_maps(p, rings, args) < 0)
        r = wr_fail_errno(err, errno, "BPF maps for paths");
    if (r == 0)
        r = wr_rings_output(rings, p->output, err);
    if (r == 0 && (attach(p, 0, enter) < 0 || attach(p, 1, leave) < 0))
        r = wr_fail_errno(err, errno, "a BPF program for paths");
    if (r < 0) {
        wr_paths_close(p);
        return r;
    }
    *ret = p;
    return 0;
}

static void close_one(int fd)
{
    if (fd >= 0)
        close(fd);
}

void wr_paths_close(struct wr_paths *p)
{
    if (!p)
        return;
    for (size_t k = 0; k < 2; k++) {
        close_one(p->events[k]);
        close_one(p->programs[k]);
    }
    close_one(p->args);
    close_one(p->room);
    close_one(p->output);
    close_one(p->late);
    free(p);
}

const char *wr_paths_text(const struct wr_ring_record *r, unsigned *ret_which)
{
    uint32_t mark, which;

    if (r->kind != WR_RING_SAMPLE || r->raw_len <= HEAD)
        return NULL;
    memcpy(&mark, r->raw, 4);
    memcpy(&which, r->raw + 4, 4);
    if (mark != MARK || which > 1 ||
        !memchr(r->raw + HEAD, 0, r->raw_len - HEAD))
        return NULL;
    *ret_which = which;
    return (const char *)r->raw + HEAD;
}
