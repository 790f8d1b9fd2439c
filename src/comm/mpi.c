/* mpi.c - ranks that MPI started: MPI for meeting and for many bytes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * "mpi:", "mpi:openmpi", "mpi:mpich": rank 0's address and a random token go to
 * all ranks by MPI, and then they are a star of TCP connections: it notices and
 * names a rank that died, which MPI does not. wr_comm_share and wr_comm_read_all
 * go by MPI; they and opening are called in the same order by all ranks, also if
 * they have several comms. */
#include "comm/mpi.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/module.h"
#include "base/named.h"
#include "comm/comm.h"
#include "comm/launch.h"
#include "comm/meet.h"
#include "comm/mpi_owner.h"
#include "comm/star.h"

/* --- finding and loading the module for an MPI library --- */

#ifdef WR_HAVE_OPENMPI
#define OPENMPI_UNBUILT NULL
#else
#define OPENMPI_UNBUILT UNBUILT("openmpi", "libopenmpi-dev")
#endif
#ifdef WR_HAVE_MPICH
#define MPICH_UNBUILT NULL
#else
#define MPICH_UNBUILT UNBUILT("mpich", "libmpich-dev")
#endif

struct mpi_kind {
    const char *name, *library;
    struct wr_module module;
};

#define UNBUILT(name, dev)                                                     \
    "weir-mpi-" name ".so (Debian: install " dev                               \
    " and build again, meson -D" name "=enabled; or set WEIR_MPI=none)"
#define MODULE(id, without, package_name)                                      \
    {                                                                          \
        .who = "ranks by MPI", .name = "mpi-" id, .tree = "src/comm",          \
        .unbuilt = (without), .library = "", .package = (package_name),        \
        .symbol = "wr_mpi", .bytes = sizeof(struct wr_mpi_args)                \
    }

static const struct mpi_kind kinds[] = {
    {"openmpi", "libmpi.so.40",
     MODULE("openmpi", OPENMPI_UNBUILT, "openmpi-bin")},
    {"mpich", "libmpich.so.12", MODULE("mpich", MPICH_UNBUILT, "mpich")},
};

const char *wr_mpi_loaded(void)
{
    for (size_t k = 0; k < WR_ARRAY_LEN(kinds); k++) {
        void *handle = dlopen(kinds[k].library, RTLD_NOLOAD | RTLD_LAZY);

        if (!handle)
            continue;
        dlclose(handle); /* the count that dlopen added */
        return kinds[k].name;
    }
    return NULL;
}

int wr_mpi_load(const char *name, const struct wr_mpi_module **ret,
                weir_err *err)
{
    const struct mpi_kind *kind = wr_named_find(WR_NAMED(kinds), name);
    const void *module;
    int r = kind ? wr_module_load(&kind->module, &module, err)
                 : wr_fail(err, WEIR_EINVAL,
                           "'%s': no MPI that weir knows (openmpi and mpich "
                           "are)",
                           name);

    if (r == 0)
        *ret = module;
    return r;
}

/* --- the comm --- */

#define MAGIC    UINT64_C(0x77656972206d7069)
#define PATH_CAP 1024

/* What rank 0 tells the others. */
struct invitation {
    uint64_t magic;
    char channel[WR_MEET_CHANNEL];
    unsigned char token[WR_MEET_TOKEN];
    char path[PATH_CAP]; /* empty: rank 0 failed */
};

/* --- which MPI --- */

/* What the URL says, else the MPI that is there, else the launcher's. */
static int choose(const char *rest, char *ret, size_t cap, weir_err *err)
{
    const char *loaded = wr_mpi_loaded();
    struct wr_launch l;
    int r;

    if (loaded && *rest && strcmp(loaded, rest) != 0)
        return wr_fail(err, WEIR_EINVAL,
                       "this program has loaded %s already and cannot use %s "
                       "too (WEIR_MPI, or the launcher)",
                       loaded, rest);
    if (loaded || *rest) {
        snprintf(ret, cap, "%s", loaded ? loaded : rest);
        return 0;
    }
    r = wr_launch_find(&l, err);
    if (r < 0)
        return r;
    if (strncmp(l.url, "mpi:", 4) != 0)
        return wr_fail(err, WEIR_EINVAL,
                       "no MPI has started this process: use \"mpi:openmpi\" "
                       "or \"mpi:mpich\"");
    snprintf(ret, cap, "%.30s", l.url + 4);
    return 0;
}

/* Open MPI ends the process if srun did not prepare for it. */
static int check_srun(const char *name, weir_err *err)
{
    if (strcmp(name, "openmpi") == 0 && getenv("SLURM_STEP_NUM_TASKS") &&
        !getenv("OMPI_COMM_WORLD_SIZE") && !getenv("PMIX_RANK"))
        return wr_fail(err, WEIR_EINVAL,
                       "Open MPI needs srun --mpi=pmix (srun --mpi=pmi2 is for "
                       "MPICH; WEIR_MPI=none meets without MPI)");
    return 0;
}

/* The wrong MPI starts without complaint, as many worlds of one rank. */
static int check_world(const struct wr_mpi_module *m,
                       const struct wr_mpi_args *got,
                       const struct wr_comm_config *cfg, weir_err *err)
{
    if ((uint32_t)got->world == cfg->world && (uint32_t)got->rank == cfg->rank)
        return 0;
    return wr_fail(err, WEIR_EINVAL,
                   "%s says rank %d of %d, but this is rank %u of %u: the "
                   "launcher is that of another MPI (WEIR_MPI chooses)",
                   m->name, got->rank, got->world, cfg->rank, cfg->world);
}

/* --- where rank 0 is --- */

static bool write_address(const struct sockaddr *a, char *buf, size_t cap)
{
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)a;
    const struct sockaddr_in *four = (const struct sockaddr_in *)a;
    char text[INET6_ADDRSTRLEN];

    if (a->sa_family == AF_INET)
        return inet_ntop(AF_INET, &four->sin_addr, buf, (socklen_t)cap);
    if (a->sa_family != AF_INET6 || IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr) ||
        !inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof(text)))
        return false;
    snprintf(buf, cap, "[%s]", text);
    return true;
}

/* All addresses of this machine but loopback, in the form of wr_meet_tcp. */
static void list_addresses(uint16_t port, char *ret, size_t cap)
{
    struct ifaddrs *list, *k;
    char one[INET6_ADDRSTRLEN + 2];
    size_t used = 0;

    ret[0] = '\0';
    if (getifaddrs(&list) < 0)
        return;
    for (k = list; k; k = k->ifa_next) {
        int n;

        if (!k->ifa_addr || (k->ifa_flags & IFF_LOOPBACK) ||
            !(k->ifa_flags & IFF_UP) ||
            !write_address(k->ifa_addr, one, sizeof(one)))
            continue;
        n = snprintf(ret + used, cap - used, "%s%s:%u", used ? "," : "", one,
                     port);
        if ((size_t)n >= cap - used) {
            ret[used] = '\0';
            break;
        }
        used += (size_t)n;
    }
    freeifaddrs(list);
}

static bool is_one_host(void)
{
    struct wr_launch l;

    return wr_launch_find(&l, NULL) == 0 && l.local_world == l.world;
}

/* Rank 0 listens first, so that nobody comes too early. */
static int invite(const struct wr_comm_config *cfg, struct invitation *v,
                  int *ret_fd, weir_err *err)
{
    bool here = is_one_host();
    uint16_t port;
    int fd = wr_meet_tcp_listen(here, &port, err);

    if (fd < 0)
        return fd;
    if (here)
        snprintf(v->path, sizeof(v->path), "127.0.0.1:%u", port);
    else
        list_addresses(port, v->path, sizeof(v->path));
    if (!v->path[0] ||
        getrandom(v->token, sizeof(v->token), 0) != (ssize_t)sizeof(v->token)) {
        close(fd);
        v->path[0] = '\0';
        return wr_fail(err, WEIR_EIO,
                       "rank 0 has no network address that others could reach");
    }
    *ret_fd = fd;
    return 0;
}

static int check_invitation(const struct invitation *v, const char *channel,
                            weir_err *err)
{
    if (v->magic != MAGIC || !memchr(v->path, '\0', sizeof(v->path)) ||
        strncmp(v->channel, channel, sizeof(v->channel)) != 0)
        return wr_fail(err, WEIR_ESTATE,
                       "the ranks do different things: rank 0 does not open "
                       "channel '%s'",
                       channel);
    if (!v->path[0])
        return wr_fail(err, WEIR_EIO, "rank 0 cannot listen");
    return 0;
}

/* The ranks' connections, made with what MPI carried. */
static int connect_ranks(const struct wr_mpi_module *module,
                         const struct wr_comm_config *cfg, const char *channel,
                         struct wr_comm **ret, weir_err *err)
{
    struct wr_mpi_patience patience = {.timeout_ms = cfg->timeout_ms};
    struct wr_meet m = {.ops = &wr_meet_tcp};
    struct invitation v = {.magic = MAGIC};
    struct wr_mpi_args args = {.buf = &v, .len = sizeof(v)};
    weir_err mine;
    int r, own = 0;

    snprintf(v.channel, sizeof(v.channel), "%s", channel);
    if (cfg->rank == 0)
        own = invite(cfg, &v, &m.listener, &mine);
    r = wr_mpi_run(module->share, &args, &patience, err);
    if (r == 0 && own < 0)
        r = wr_fail_as(err, own, &mine);
    if (r == 0)
        r = check_invitation(&v, channel, err);
    if (r < 0) {
        if (m.listener > 0)
            close(m.listener);
        return r;
    }
    m.path = v.path;
    m.token = v.token;
    r = wr_star_open(&wr_comm_mpi, cfg, &m, ret, err);
    if (r == 0)
        (*ret)->module = module;
    return r;
}

static int mpi_open(const char *rest, const struct wr_comm_config *cfg,
                    struct wr_comm **ret, weir_err *err)
{
    const struct wr_mpi_module *module;
    struct wr_mpi_args started;
    const char *channel;
    char name[32];
    int r = wr_star_channel(cfg, &channel, err);

    if (r == 0)
        r = choose(rest, name, sizeof(name), err);
    if (r == 0)
        r = check_srun(name, err);
    if (r == 0)
        r = wr_mpi_load(name, &module, err);
    if (r == 0)
        r = wr_mpi_start(module, cfg->timeout_ms, &started, err);
    if (r == 0)
        r = check_world(module, &started, cfg, err);
    if (r == 0)
        r = connect_ranks(module, cfg, channel, ret, err);
    return r;
}

/* --- calls --- */

static int look(void *arg, weir_err *err)
{
    return wr_star_alive(arg, err);
}

static int by_mpi(struct wr_comm *c, wr_mpi_call call,
                  const struct wr_mpi_args *args, weir_err *err)
{
    struct wr_mpi_patience p = {
        .timeout_ms = c->timeout_ms, .look = look, .arg = c};

    return wr_mpi_run(call, args, &p, err);
}

static int mpi_share(struct wr_comm *c, void *buf, size_t len, uint32_t root,
                     weir_err *err)
{
    const struct wr_mpi_module *module = c->module;
    struct wr_mpi_args args = {.buf = buf, .len = len, .root = (int)root};

    return by_mpi(c, module->share, &args, err);
}

static int mpi_read_all(struct wr_comm *c, const struct wr_comm_read *what,
                        void *buf, weir_err *err)
{
    const struct wr_mpi_module *module = c->module;
    struct wr_mpi_args args = {.buf = buf,
                               .len = what->len,
                               .offset = what->offset,
                               .readers = (int)what->readers};

    if (strlen(what->path) >= sizeof(args.path) || what->readers > INT_MAX ||
        what->offset > INT64_MAX - what->len)
        return wr_fail(err, WEIR_EINVAL, "'%s': cannot be read by MPI-IO",
                       what->path);
    snprintf(args.path, sizeof(args.path), "%s", what->path);
    return by_mpi(c, module->read, &args, err);
}

const struct wr_comm_ops wr_comm_mpi = {
    .name = "mpi",
    .help = "processes that mpirun, mpiexec or srun started (Open MPI, MPICH)",
    .open = mpi_open,
    .share = mpi_share,
    .read_all = mpi_read_all,
};
