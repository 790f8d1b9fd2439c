/* launch.c - how this process was started: its rank, and of how many.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/launch.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/rng.h"
#include "base/units.h"
#include "base/value.h"

/* --- lists of nodes and of tasks, as Slurm writes them --- */

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

/* --- how this process was started --- */

#define PORT_FIRST 20000 /* below the ports that systems hand out */
#define PORT_COUNT 10000

/* A variable, and what it says; NULL: it is not set. */
struct launch_variable {
    const char *name, *text;
};

/* What a launcher says; local_* may be missing. */
struct launch_says {
    const char *by;
    struct launch_variable rank, world, local_rank, local_world;
};

/* --- numbers --- */

static int read_u32(const struct launch_variable *v, uint32_t *ret,
                    weir_err *err)
{
    uint64_t value;
    weir_err e;
    int r;

    if (!v->text)
        return 0; /* as it is */
    r = wr_parse_uint(v->text, 0, UINT32_MAX, &value, &e);
    if (r < 0)
        return wr_fail(err, WEIR_EINVAL, "%s: %s", v->name, e.msg);
    *ret = (uint32_t)value;
    return 0;
}

static int check_numbers(const struct wr_launch *l,
                         const struct launch_says *says, weir_err *err)
{
    if (l->rank >= l->world)
        return wr_fail(err, WEIR_EINVAL,
                       "there is no rank %u of %u ranks (%s, %s)", l->rank,
                       l->world, says->rank.name, says->world.name);
    if (l->local_world > l->world || l->local_rank >= l->local_world)
        return wr_fail(err, WEIR_EINVAL,
                       "there is no rank %u of %u ranks of this host, of %u "
                       "altogether (%s, %s)",
                       l->local_rank, l->local_world, l->world,
                       says->local_rank.name, says->local_world.name);
    return 0;
}

/* The numbers of a launcher that sets both rank and world. */
static int take_numbers(const struct launch_says *says, struct wr_launch *l,
                        weir_err *err)
{
    const struct launch_variable *has = says->rank.text ? &says->rank
                                                        : &says->world;
    const struct launch_variable *lacks = says->rank.text ? &says->world
                                                          : &says->rank;
    int r;

    if (!lacks->text)
        return wr_fail(err, WEIR_EINVAL, "%s is set, and %s is not", has->name,
                       lacks->name);
    l->by = says->by;
    l->local_rank = 0;
    l->local_world = 0;
    r = read_u32(&says->rank, &l->rank, err);
    if (r == 0)
        r = read_u32(&says->world, &l->world, err);
    if (r == 0)
        r = read_u32(&says->local_rank, &l->local_rank, err);
    if (r == 0)
        r = read_u32(&says->local_world, &l->local_world, err);
    if (r == 0 && l->local_world == 0) /* not said: as few as can be */
        l->local_world = l->local_rank + 1;
    return r < 0 ? r : check_numbers(l, says, err);
}

/* --- the launchers --- */

static struct launch_says openmpi_says(void)
{
    return (struct launch_says){
        .by = "Open MPI",
        .rank = {"OMPI_COMM_WORLD_RANK", getenv("OMPI_COMM_WORLD_RANK")},
        .world = {"OMPI_COMM_WORLD_SIZE", getenv("OMPI_COMM_WORLD_SIZE")},
        .local_rank = {"OMPI_COMM_WORLD_LOCAL_RANK",
                       getenv("OMPI_COMM_WORLD_LOCAL_RANK")},
        .local_world = {"OMPI_COMM_WORLD_LOCAL_SIZE",
                        getenv("OMPI_COMM_WORLD_LOCAL_SIZE")}};
}

static struct launch_says mpich_says(void)
{
    return (struct launch_says){
        .by = "MPICH",
        .rank = {"PMI_RANK", getenv("PMI_RANK")},
        .world = {"PMI_SIZE", getenv("PMI_SIZE")},
        .local_rank = {"MPI_LOCALRANKID", getenv("MPI_LOCALRANKID")},
        .local_world = {"MPI_LOCALNRANKS", getenv("MPI_LOCALNRANKS")}};
}

/* The number of tasks of a step, not of the job: a shell in an allocation is
 * no step. */
static struct launch_says slurm_says(void)
{
    return (struct launch_says){
        .by = "Slurm",
        .rank = {"SLURM_PROCID", getenv("SLURM_PROCID")},
        .world = {"SLURM_STEP_NUM_TASKS", getenv("SLURM_STEP_NUM_TASKS")},
        .local_rank = {"SLURM_LOCALID", getenv("SLURM_LOCALID")},
        .local_world = {"SLURM_STEP_TASKS_PER_NODE", NULL}};
}

static struct launch_says torch_says(void)
{
    return (struct launch_says){
        .by = "torchrun",
        .rank = {"RANK", getenv("RANK")},
        .world = {"WORLD_SIZE", getenv("WORLD_SIZE")},
        .local_rank = {"LOCAL_RANK", getenv("LOCAL_RANK")},
        .local_world = {"LOCAL_WORLD_SIZE", getenv("LOCAL_WORLD_SIZE")}};
}

/* RANK and WORLD_SIZE are common names: they count with an address. */
static bool is_torch(const struct launch_says *says)
{
    return says->rank.text && says->world.text && getenv("MASTER_ADDR") &&
           getenv("MASTER_PORT");
}

static int take_slurm(struct wr_launch *l, weir_err *err)
{
    struct launch_variable node = {"SLURM_NODEID", getenv("SLURM_NODEID")};
    const char *list = getenv("SLURM_STEP_TASKS_PER_NODE");
    struct launch_says says = slurm_says();
    uint32_t number = 0;
    int r = take_numbers(&says, l, err);

    if (r < 0 || !list)
        return r;
    r = read_u32(&node, &number, err);
    if (r == 0)
        r = wr_slurm_tasks(list, number, &l->local_world, err);
    return r < 0 ? r : check_numbers(l, &says, err);
}

/* Scripts set RANK and WORLD_SIZE for themselves too; then they must say what
 * the launcher says. */
static int check_torch(const struct wr_launch *l, weir_err *err)
{
    struct launch_says says = torch_says();
    struct wr_launch other = {0};
    int r = is_torch(&says) ? take_numbers(&says, &other, err) : 0;

    if (r < 0 || !other.by ||
        (other.rank == l->rank && other.world == l->world))
        return r;
    return wr_fail(err, WEIR_EINVAL,
                   "RANK and WORLD_SIZE say rank %u of %u, and %s says rank %u "
                   "of %u: unset those that are wrong",
                   other.rank, other.world, l->by, l->rank, l->world);
}

static int check_pmix(const struct wr_launch *l, weir_err *err)
{
    struct launch_variable v = {"PMIX_RANK", getenv("PMIX_RANK")};
    uint32_t rank = l->rank;
    int r = read_u32(&v, &rank, err);

    if (r < 0 || rank == l->rank)
        return r;
    return wr_fail(err, WEIR_EINVAL,
                   "PMIX_RANK says rank %u, and OMPI_COMM_WORLD_RANK rank %u",
                   rank, l->rank);
}

/* Leaves `l` as it is when there is none. */
static int take_launcher(struct wr_launch *l, weir_err *err)
{
    struct launch_says openmpi = openmpi_says(), mpich = mpich_says(),
                       slurm = slurm_says(), torch = torch_says();
    int r;

    if (is_torch(&torch) && getenv("TORCHELASTIC_RUN_ID"))
        return take_numbers(&torch, l, err);
    if (openmpi.rank.text || openmpi.world.text) {
        r = take_numbers(&openmpi, l, err);
        if (r == 0)
            r = check_pmix(l, err);
    } else if (mpich.local_rank.text && mpich.rank.text) {
        r = take_numbers(&mpich, l, err);
    } else if (slurm.world.text) {
        r = take_slurm(l, err);
    } else if (mpich.rank.text) {
        r = take_numbers(&mpich, l, err);
    } else if (is_torch(&torch)) {
        return take_numbers(&torch, l, err);
    } else if (getenv("PMIX_RANK")) {
        return wr_fail(err, WEIR_ENOTSUP,
                       "PMIX_RANK is set by a launcher that does not say how "
                       "many ranks there are (WORLD_SIZE, RANK, MASTER_ADDR "
                       "and MASTER_PORT would)");
    } else {
        return 0;
    }
    return r < 0 ? r : check_torch(l, err);
}

/* --- where they meet --- */

/* Ranks of one host need no network. The folder is found when they meet: here
 * nothing is made. */
static void at_a_socket(struct wr_launch *l, const char *job, const char *step)
{
    snprintf(l->url, sizeof(l->url), "local:@%.200s.%.32s", job, step);
}

static int meet_slurm(struct wr_launch *l, weir_err *err)
{
    struct launch_variable job = {"SLURM_JOB_ID", getenv("SLURM_JOB_ID")};
    struct launch_variable step = {"SLURM_STEP_ID", getenv("SLURM_STEP_ID")};
    const char *nodes = getenv("SLURM_STEP_NODELIST");
    uint32_t j = 0, s = 0;
    char node[256];
    int r = read_u32(&job, &j, err);

    if (r == 0)
        r = read_u32(&step, &s, err);
    if (r < 0)
        return r;
    if (!job.text || !step.text || !nodes)
        return wr_fail(err, WEIR_EINVAL,
                       "SLURM_STEP_NUM_TASKS is set, and SLURM_JOB_ID, "
                       "SLURM_STEP_ID or SLURM_STEP_NODELIST is not");
    if (l->local_world == l->world) {
        at_a_socket(l, job.text, step.text);
        return 0;
    }
    r = wr_slurm_first_node(nodes, node, sizeof(node), err);
    if (r < 0)
        return wr_fail_prefix(err, r, "SLURM_STEP_NODELIST");
    snprintf(l->url, sizeof(l->url), "tcp:%s:%u", node,
             (unsigned)(PORT_FIRST + wr_rng_at(j, s, 0) % PORT_COUNT));
    return 0;
}

static int meet_torch(struct wr_launch *l, weir_err *err)
{
    struct launch_variable v = {"MASTER_PORT", getenv("MASTER_PORT")};
    const char *host = getenv("MASTER_ADDR");
    bool six = strchr(host, ':') && host[0] != '[';
    uint32_t port = 0;
    int r = read_u32(&v, &port, err);

    if (r < 0)
        return r;
    if (port == 0 || port > UINT16_MAX || !*host || strlen(host) > 255 ||
        strpbrk(host, ", /"))
        return wr_fail(err, WEIR_EINVAL,
                       "MASTER_ADDR and MASTER_PORT, '%s' and '%s': no address",
                       host, v.text);
    /* The port itself is torch's. */
    port = port < UINT16_MAX ? port + 1 : port - 1;
    snprintf(l->url, sizeof(l->url), "tcp:%s%s%s:%u", six ? "[" : "", host,
             six ? "]" : "", port);
    return 0;
}

/* "openmpi" or "mpich": what the launcher speaks; NULL: no MPI. */
static const char *mpi_of(const struct wr_launch *l)
{
    if (!strcmp(l->by, "Open MPI"))
        return "openmpi";
    if (!strcmp(l->by, "MPICH"))
        return "mpich";
    if (!strcmp(l->by, "torchrun"))
        return NULL;
    if (getenv("PMIX_RANK"))
        return "openmpi";
    return getenv("PMI_RANK") ? "mpich" : NULL;
}

static int meet_without_mpi(struct wr_launch *l, weir_err *err)
{
    const char *job = getenv("PMIX_NAMESPACE");

    if (!strcmp(l->by, "Slurm"))
        return meet_slurm(l, err);
    if (!strcmp(l->by, "torchrun"))
        return meet_torch(l, err);
    if (l->local_world == l->world && job && !strchr(job, '/')) {
        at_a_socket(l, job, "0");
        return 0;
    }
    return wr_fail(err, WEIR_ENOTSUP,
                   "WEIR_MPI=none: %u ranks that %s started do not meet "
                   "without MPI",
                   l->world, l->by);
}

static int find_url(struct wr_launch *l, weir_err *err)
{
    static const struct wr_choice names[] = {{.name = "openmpi"},
                                             {.name = "mpich"},
                                             {.name = "none"},
                                             {.name = NULL}};
    const char *mpi = getenv("WEIR_MPI");
    int unused, r;

    if (mpi && *mpi) {
        r = wr_choice_find(names, mpi, &unused, err);
        if (r < 0)
            return wr_fail_prefix(err, r, "WEIR_MPI");
    } else {
        mpi = mpi_of(l);
    }
    if (!mpi || !strcmp(mpi, "none"))
        return meet_without_mpi(l, err);
    snprintf(l->url, sizeof(l->url), "mpi:%s", mpi);
    return 0;
}

int wr_launch_find(struct wr_launch *ret, weir_err *err)
{
    struct wr_launch l = {.world = 1, .local_world = 1};
    int r = take_launcher(&l, err);

    if (r == 0 && l.world > 1)
        r = find_url(&l, err);
    if (r < 0)
        return r;
    if (gethostname(l.host, sizeof(l.host) - 1) < 0)
        snprintf(l.host, sizeof(l.host), "?");
    *ret = l;
    return 0;
}
