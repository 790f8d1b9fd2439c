/* cmd_mount.c - weir mount: an emulated device as a file system.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/regular.h"
#include "base/units.h"
#include "cli/interrupt.h"
#include "cli/answers.h"
#include "cli/record_json.h"
#include "mount/mount.h"

#define GRACE_MS 3000 /* for the users of a mount that is in use */

struct mount_args {
    const char *profile;
    bool list, unmount, background, json;
    bool read_write, allow_other, force, compensate;
    uint64_t threads;
};

/* --- the list of profiles --- */

/* Keys and units as a profile file has them (docs/formats/profile.md); 0 is no
 * limit, no latency, no seek. */
#define THIS struct wr_seek_point
static const struct wr_vals wr_seek_vals = WR_VALS_OF(WR_VAL_IS(U32, depth),
                                                      WR_VAL_IS(REAL, factor));
#undef THIS

static json_t *law_json(const void *profile)
{
    const struct wr_device_profile *p = profile;

    return wr_vals_list_json(&wr_seek_vals, p->seek_law, p->seek_points,
                             WR_FOR_RECORD);
}

#define THIS struct wr_device_profile
static const struct wr_vals wr_profile_vals = WR_VALS_OF(
    WR_VAL_IS(CHARS, name), WR_VAL_IS(CHARS, title),
    WR_VAL_IS(REAL, read_latency_us), WR_VAL_IS(REAL, write_latency_us),
    WR_VAL_IS(REAL, meta_latency_us), WR_VAL_IS(REAL, sync_latency_us),
    WR_VAL_IS(REAL, read_bytes_per_s, .help = "0: no limit"),
    WR_VAL_IS(REAL, write_bytes_per_s, .help = "0: no limit"),
    WR_VAL_IS(U32, channels, .help = "0: no limit"), WR_VAL_IS(REAL, seek_us),
    WR_VAL_IS(U64, near_bytes),
    WR_VAL_BY(LIST(seek), "seek_law", .json = law_json),
    WR_VAL_IS(U64, write_cache_bytes), WR_VAL_IS(U64, readahead_bytes));
#undef THIS

static json_t *profiles_json(const void *none)
{
    const struct wr_device_profile *p;
    json_t *list = json_array();

    for (unsigned k = 0; (p = wr_device_profile_at(k)); k++)
        json_array_append_new(list,
                              wr_vals_json(&wr_profile_vals, p, WR_FOR_RECORD));
    return list;
}

static const struct wr_vals list_vals = {
    0,
    (const struct wr_val[]){
        WR_VAL_BY(LIST(profile), "profiles", .json = profiles_json), {NULL}}};

static const struct wr_column columns[] = {
    WR_SAY_COLUMN('<', "profile", "{name}",
                  "its name, for --profile and emu:NAME:PATH"),
    WR_SAY_COLUMN('>', "read",
                  "[{?read_bytes_per_s>0}{read_bytes_per_s:millions} MB/s|-]",
                  "bandwidth of the whole device; '-': no limit"),
    WR_SAY_COLUMN('>', "write",
                  "[{?write_bytes_per_s>0}{write_bytes_per_s:millions} MB/s|-]",
                  "the same for writes"),
    WR_SAY_COLUMN('>', "latency",
                  "[{?read_latency_us>0}{read_latency_us:us}|-]",
                  "of each read, before data transfer starts; '-': none"),
    WR_SAY_COLUMN(
        '>', "seek", "[{?seek_us>0}{seek_us:us}|-]",
        "of a single read that does not follow the previous one; '-': none"),
    WR_SAY_COLUMN('>', "channels", "[{?channels>0}{channels}|-]",
                  "requests processed at once; '-': no limit"),
    WR_SAY_COLUMN('<', "stands for", "{title}",
                  "the device that has these numbers"),
    {.head = NULL}};

const struct wr_answer wr_answer_mount_list = {
    .name = "mount-list",
    .of = &list_vals,
    .screen = WR_SCREEN({.each = "profiles", .table = columns}),
    .alone = "profiles",
};

/* --- serving --- */

static void note_facts(const struct wr_cli *cli, const struct wr_mount *m,
                       const struct wr_device_profile *p)
{
    const struct mount_args *a = cli->args;
    struct wr_mount_facts f;
    char floor[32], cost[32];

    wr_mount_facts(m, &f);
    if (a->compensate && f.floor_ns) {
        wr_format_ns(floor, sizeof(floor), (double)f.floor_ns);
        wr_format_ns(cost, sizeof(cost), (double)f.cost_ns);
        wr_cli_note(cli,
                    "each request costs %s of the mount's own (%s when it "
                    "waits for the device, which is taken off)",
                    floor, cost);
        if (p->read_latency_us > 0 &&
            p->read_latency_us * 1e3 + p->seek_us * 1e3 < (double)f.floor_ns)
            wr_cli_note(cli,
                        "%s answers in less than that: a lone read takes %s "
                        "here; bandwidths hold",
                        p->name, floor);
    }
    if (f.readahead_wanted && !f.readahead_set)
        wr_cli_note(cli,
                    "read-ahead stays at %" PRIu64 " KiB: only root may set "
                    "the %" PRIu64 " KiB of the profile",
                    f.readahead_bytes / 1024, p->readahead_bytes / 1024);
}

static void note_stats(const struct wr_cli *cli, const struct wr_mount *m,
                       uint64_t took_ns)
{
    struct wr_mount_stats s;
    char reads[32], writes[32], others[32], in[32], out[32];

    wr_mount_stats(m, &s);
    wr_cli_note(cli,
                "%s reads (%s), %s writes (%s), %s other requests in %.1f s",
                wr_format_count(reads, sizeof(reads), s.reads),
                wr_format_bytes(in, sizeof(in), (double)s.read_bytes),
                wr_format_count(writes, sizeof(writes), s.writes),
                wr_format_bytes(out, sizeof(out), (double)s.write_bytes),
                wr_format_count(others, sizeof(others), s.others),
                (double)took_ns / 1e9);
}

/* Waits for a signal (true) or the end of the mount (false). */
static bool wait_for_signal(int signal_fd, int event_fd, int timeout_ms)
{
    struct pollfd fds[2] = {{.fd = signal_fd, .events = POLLIN},
                            {.fd = event_fd, .events = POLLIN}};
    struct signalfd_siginfo info;
    int n;

    do
        n = poll(fds, 2, timeout_ms);
    while (n < 0 && errno == EINTR);
    return n > 0 && fds[0].revents &&
           read(signal_fd, &info, sizeof(info)) == sizeof(info);
}

static void serve(const struct wr_cli *cli, struct wr_mount *m, int signal_fd)
{
    uint64_t start = wr_clock_ns();

    if (wait_for_signal(signal_fd, wr_mount_event(m), -1) && !wr_mount_end(m)) {
        wr_cli_note(cli,
                    "'%s' is in use: out of sight now; what is open gives "
                    "errors in %d s",
                    cli->operands[1], GRACE_MS / 1000);
        wait_for_signal(signal_fd, wr_mount_event(m), GRACE_MS);
    }
    note_stats(cli, m, wr_clock_ns() - start);
    wr_mount_close(m);
}

/* Signals come through a descriptor: they mean the usual end, not a failure. */
static int open_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    if (!wr_signal_is_ignored(SIGHUP)) /* the descriptor would see it */
        sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

/* --- in the background --- */

/* Leaves the terminal and the folder it was started in, which may then be
 * unmounted or removed; the one who waits is told that the mount is up. */
static void detach(const struct wr_cli *cli, int ready_fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (chdir("/") < 0)
        wr_cli_note(cli, "stays in this folder: %s", strerror(errno));
    fflush(cli->out);
    fflush(cli->err);
    if (null >= 0) {
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
        close(null);
    }
    if (write(ready_fd, "r", 1) != 1)
        return; /* nobody waits any more */
    close(ready_fd);
}

/* In the parent: the exit code, when the child is up or has failed. */
static int wait_until_up(const struct wr_cli *cli, const struct wr_child *c)
{
    char up;
    int status;

    close(c->out);
    if (wr_read_all(c->in, &up, 1) == 1)
        return WR_EXIT_DONE;
    status = wr_child_reap(c->pid);
    if (WIFEXITED(status) && WEXITSTATUS(status))
        return WEXITSTATUS(status);
    return wr_cli_fail(cli, "the process in the background has died");
}

/* --- the command --- */

static int mount_and_serve(struct wr_cli *cli,
                           const struct wr_device_profile *profile,
                           int ready_fd)
{
    const struct mount_args *a = cli->args;
    const struct wr_mount_config cfg = {
        .source = cli->operands[0],
        .mountpoint = cli->operands[1],
        .profile = profile,
        .threads = (unsigned)a->threads,
        .read_only = !a->read_write,
        .allow_other = a->allow_other,
        .force = a->force,
        .compensate = a->compensate,
    };
    int signal_fd = open_signals();
    struct wr_mount *m;
    weir_err err;

    if (signal_fd < 0)
        return wr_cli_fail(cli, "signalfd: %s", strerror(errno));
    umask(0); /* the kernel has applied the one of who asks */
    if (wr_mount_open(&cfg, &m, &err) < 0) {
        close(signal_fd);
        return wr_cli_fail(cli, "%s", err.msg);
    }
    note_facts(cli, m, profile);
    wr_cli_note(cli, "mounted %s at %s as %s, %s%s", cfg.source, cfg.mountpoint,
                profile->name, cfg.read_only ? "read-only" : "read-write",
                ready_fd < 0 ? "; Ctrl-C unmounts" : "");
    if (ready_fd >= 0)
        detach(cli, ready_fd);
    serve(cli, m, signal_fd);
    close(signal_fd);
    return WR_EXIT_DONE;
}

static int mount_in_background(struct wr_cli *cli,
                               const struct wr_device_profile *profile)
{
    struct wr_child c;
    weir_err err;
    int r = wr_child_start(&c, /* packets= */ false, &err);

    if (r < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    if (r > 0)
        return wait_until_up(cli, &c);
    close(c.in);
    setsid();
    return mount_and_serve(cli, profile, c.out);
}

static int unmount(const struct wr_cli *cli)
{
    const struct mount_args *a = cli->args;
    weir_err err;

    if (cli->operand_count != 1)
        return wr_cli_usage(cli, "--unmount takes one argument: MOUNTPOINT");
    if (wr_mount_remove(cli->operands[0], a->force, &err) < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    return WR_EXIT_DONE;
}

static int mount_run(struct wr_cli *cli)
{
    const struct mount_args *a = cli->args;
    struct wr_device_profile profile;
    weir_err err;

    if (a->json && !a->list)
        return wr_cli_usage(cli, "--json goes with --list");
    if (a->list)
        return wr_cli_answer(cli, &wr_answer_mount_list, NULL, a->json);
    if (a->unmount)
        return unmount(cli);
    if (cli->operand_count != 2)
        return wr_cli_usage(cli, "two arguments are needed: SOURCE MOUNTPOINT");
    if (!a->profile)
        return wr_cli_usage(cli, "--profile is missing (--list shows them)");
    if (wr_device_profile_find(a->profile, &profile, &err) < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    return a->background ? mount_in_background(cli, &profile)
                         : mount_and_serve(cli, &profile, -1);
}

static const struct wr_option options[] = {
    {WR_OPT_STRING(struct mount_args, profile), .name = "profile",
     .arg = "PROFILE",
     .help = "the device: a name from --list, or a profile file (a path that "
             "contains '/' or ends in .profile)"},
    {WR_OPT_FLAG(struct mount_args, list), .name = "list", .letter = 'l',
     .help = "show the profiles, mount nothing"},
    {WR_OPT_FLAG(struct mount_args, json), .name = "json",
     .help = "with --list: print the profiles as JSON"},
    {WR_OPT_FLAG(struct mount_args, unmount), .name = "unmount", .letter = 'u',
     .help = "unmount MOUNTPOINT, served by another weir"},
    {WR_OPT_FLAG(struct mount_args, background), .name = "background",
     .help = "return as soon as it is mounted; serve in the background until "
             "it is unmounted"},
    {WR_OPT_FLAG(struct mount_args, read_write), .name = "read-write",
     .help = "allow changes through the mount: they are made in SOURCE"},
    {WR_OPT_FLAG(struct mount_args, allow_other), .name = "allow-other",
     .help = "other users may use it, and do all as you; needs "
             "user_allow_other in /etc/fuse.conf; not for root"},
    {WR_OPT_FLAG(struct mount_args, force), .name = "force", .letter = 'f',
     .help = "mount over the contents of MOUNTPOINT; with --unmount: even "
             "while it is in use"},
    {WR_OPT_FLAG(struct mount_args, compensate), .name = "compensate",
     .def = "yes",
     .help = "do not measure the cost of the mount itself, nor subtract it "
             "from the device's times"},
    {WR_OPT_UINT(struct mount_args, threads), .name = "threads", .letter = 't',
     .arg = "N", .min = 1, .max = 32, .def_note = "two more than cores",
     .help = "threads that serve requests"},
    WR_OPTIONS_END};

static const struct wr_columns tables[] = {{"of --list", columns},
                                           {NULL, NULL}};

static const struct wr_operand operands[] = {
    {WR_ARGUMENT("SOURCE", WR_OPERAND_OPTIONAL | WR_OPERAND_PATH),
     .help = "folder with the files; it should be faster than the device"},
    {WR_ARGUMENT("MOUNTPOINT", WR_OPERAND_OPTIONAL | WR_OPERAND_PATH),
     .help = "an empty folder outside SOURCE, where they appear"},
    {.name = NULL}};

static const struct wr_help_example examples[] = {
    {"weir mount --profile hdd photos /mnt/hdd",
     "read 'photos' as from a hard disk, until Ctrl-C"},
    {"weir mount --background --profile lustre photos /mnt/lustre",
     "the same as from a parallel file system, in the background"},
    {"weir mount --read-write --profile ssd scratch /mnt/ssd",
     "a device to write to, which changes 'scratch'"},
    {"weir mount --unmount /mnt/lustre", "end it"},
    {"weir mount --list", "the devices that can be emulated"},
    {NULL, NULL}};

const struct wr_command wr_cmd_mount = {
    .name = "mount",
    .group = WR_GROUP_MEASURE,
    .summary = "mount a folder as if it were on another device",
    .description =
        "Shows SOURCE at MOUNTPOINT as a file system (FUSE) whose requests "
        "take as long as on the device of the profile: any program can run on "
        "a hard disk, an SSD or a parallel file system that the machine does "
        "not have. Reads, writes, syncs and changes of names take time; "
        "lookups of names and attributes do not. The page cache works as on a "
        "disk: 'weir cache drop' makes the next read go to the device.\n\n"
        "Nothing can be changed through the mount, unless --read-write asks "
        "for it: then all changes are made in SOURCE immediately, and a file "
        "removed there is gone. An emulated device cannot "
        "be faster than SOURCE: keep SOURCE in memory or on a fast disk. At "
        "the start the cost of the mount itself is measured and subtracted "
        "from each request's time.\n\n"
        "Serves until Ctrl-C, SIGTERM or SIGHUP, or until it is unmounted by "
        "'weir mount --unmount', fusermount3 -u or umount; all of these end it "
        "normally.",
    .operands = operands,
    .options = options,
    .args_size = sizeof(struct mount_args),
    .columns = tables,
    .examples = examples,
    .run = mount_run,
};
