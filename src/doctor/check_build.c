/* check_build.c - optional parts: mounting, picture codecs, report pages,
 * the engine of training, the helper that knows HDF5, the modules for MPI.
 * SPDX-License-Identifier: Apache-2.0 */
#include "doctor/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/mem.h"
#include "codec/codec.h"
#include "codec/filters.h"
#include "comm/mpi.h"
#include "format/hdf5_helper.h"
#include "mount/mount.h"
#include "report/doc.h"
#include "train/engine.h"

#define REBUILD   "make clean build" /* installs what is missing first */
#define CONTAINER "docker run --device /dev/fuse --cap-add SYS_ADMIN ..."

/* Whether a program of this name is in PATH. */
static bool has_program(const char *name)
{
    const char *at = getenv("PATH");
    char path[PATH_MAX];

    while (at && *at) {
        size_t len = strcspn(at, ":");
        int n = snprintf(path, sizeof(path), "%.*s/%s", (int)len, at, name);

        if (n > 0 && (size_t)n < sizeof(path) && access(path, X_OK) == 0)
            return true;
        at += len + (at[len] == ':');
    }
    return false;
}

static void no_mount(struct wr_finding *f, const char *remedy)
{
    wr_means(f, "'weir mount' does not work; emu:PROFILE:PATH does.");
    wr_remedy(f, WR_HEALTH_MISSING, "%s", remedy);
}

void wr_check_fuse(const struct wr_doctor *d, struct wr_finding *f)
{
    const char *lacks = wr_mount_missing();
    bool helper = has_program("fusermount3");
    char path[PATH_MAX];
    int fd = open(wr_doctor_path(d, "/dev/fuse", path, sizeof(path)),
                  O_RDWR | O_CLOEXEC);
    int e = fd < 0 ? errno : 0;

    if (fd >= 0)
        close(fd);
    if (lacks) {
        wr_observed(f, "%s", lacks);
        no_mount(f, REBUILD);
    } else if (e) {
        wr_observed(f, "/dev/fuse: %s", strerror(e));
        no_mount(f, e == ENOENT   ? "sudo modprobe fuse"
                    : e == EACCES ? "sudo chmod a+rw /dev/fuse"
                                  : CONTAINER);
    } else if (geteuid() != 0 && !helper) {
        wr_observed(f, "no fusermount3, which mounts for users");
        no_mount(f, "sudo apt-get install fuse3");
    } else {
        wr_observed(f, "/dev/fuse%s", helper ? ", fusermount3" : "");
    }
}

/* The names of the codecs that are built, or those that are not with their
 * reasons; how many. */
static size_t list_codecs(bool built, char *buf, size_t cap)
{
    size_t used = 0, n = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < WR_CODEC_COUNT; i++) {
        const struct wr_codec *c = wr_codec_at(i);

        if (built != !c->missing || used >= cap)
            continue;
        used += (size_t)snprintf(buf + used, cap - used, "%s%s%s%s",
                                 n++ ? ", " : "", c->name, built ? "" : ": ",
                                 built ? "" : c->missing);
    }
    return n;
}

void wr_check_pictures(const struct wr_doctor *d, struct wr_finding *f)
{
    char lacking[400];

    list_codecs(/* built= */ true, f->found, sizeof(f->found));
    if (!list_codecs(/* built= */ false, lacking, sizeof(lacking)))
        return;
    wr_means(f, "Other pictures are refused: %s.", lacking);
    wr_remedy(f, WR_HEALTH_LIMITED, REBUILD);
}

void wr_check_filters(const struct wr_doctor *d, struct wr_finding *f)
{
    static const enum wr_filter optional[] = {WR_FILTER_ZSTD, WR_FILTER_LZ4,
                                              WR_FILTER_BLOSC};
    char built[100] = "gzip, LZF", lacking[400] = "";
    size_t b = strlen(built), n = 0;

    for (size_t i = 0; i < WR_ARRAY_LEN(optional); i++) {
        const char *why = wr_filter_missing(optional[i]);
        const char *name = wr_filter_name(optional[i]);

        if (why)
            n += (size_t)snprintf(lacking + n, sizeof(lacking) - n, "%s%s: %s",
                                  n ? ", " : "", name, why);
        else
            b += (size_t)snprintf(built + b, sizeof(built) - b, ", %s", name);
    }
    wr_observed(f, "%s", built);
    if (!n)
        return;
    wr_means(f, "HDF5 data that are packed otherwise are refused: %s.",
             lacking);
    wr_remedy(f, WR_HEALTH_LIMITED, REBUILD);
}

void wr_check_pages(const struct wr_doctor *d, struct wr_finding *f)
{
    const char *lacks = wr_doc_html_missing();

    if (!lacks) {
        wr_observed(f, "built: weir report --html");
        return;
    }
    wr_observed(f, "%s", lacks);
    wr_means(f, "'weir report --html' does not work; text and CSV do.");
    wr_remedy(f, WR_HEALTH_MISSING, REBUILD);
}

/* It is loaded, because its libraries may be gone. */
void wr_check_onednn(const struct wr_doctor *d, struct wr_finding *f)
{
    const struct wr_engine_ops *ops;
    weir_err err = {0};
    int r = wr_engine_load("onednn", &ops, &err);

    if (r == 0) {
        wr_observed(f, "works: the fast engine of weir train");
        return;
    }
    wr_observed(f, r == WEIR_ENOTSUP ? "not built" : "cannot be loaded");
    wr_means(f, "'weir train' uses its reference engine, which is slower. %s.",
             err.msg);
    wr_remedy(f, WR_HEALTH_MISSING, REBUILD);
}

static int drop_bytes(void *arg, const void *bytes, size_t len, uint64_t offset,
                      weir_err *err)
{
    return 0;
}

/* The helper is asked to lay out a file, of which nothing is written: it is
 * found, its libraries are there, and it can lock itself in. */
void wr_check_hdf5(const struct wr_doctor *d, struct wr_finding *f)
{
    struct wr_h5_dataset x = {.name = "x",
                              .layout = WR_H5_CONTIGUOUS,
                              .size = 1,
                              .ndim = 1,
                              .dims = {1}};
    const struct wr_h5_create file = {
        .datasets = &x, .count = 1, .write = drop_bytes};
    struct wr_h5_helper *h = NULL;
    weir_err err = {0};
    uint64_t size;
    int r = wr_h5_helper_new(&h, &err);

    if (r == 0)
        r = wr_h5_create(h, &file, &size, &err);
    wr_h5_helper_free(h);
    if (r == 0) {
        wr_observed(f, "works: weir-hdf5, which parses its files");
        return;
    }
    wr_observed(f, r == WEIR_ENOTSUP ? "no helper" : "the helper fails");
    wr_means(f, "HDF5 files are neither read nor written: %s.", err.msg);
    wr_remedy(f, WR_HEALTH_MISSING, REBUILD);
}

/* Each module is loaded in a process of its own: there must not be two MPIs in
 * one, and their libraries may be gone. 0, or that of wr_mpi_load. */
static int try_mpi(const char *name, weir_err *ret)
{
    const struct wr_mpi_module *m;
    struct wr_child c;
    int r = wr_child_start(&c, /* packets= */ false, NULL);

    if (r == 0) {
        weir_err e = {0};

        if (wr_mpi_load(name, &m, &e) == 0)
            e.code = 0;
        _exit(write(c.out, &e, sizeof(e)) == (ssize_t)sizeof(e) ? 0 : 1);
    }
    ret->code = WEIR_EIO;
    snprintf(ret->msg, sizeof(ret->msg), "cannot be tried");
    if (r < 0)
        return r;
    close(c.out); /* its end is seen */
    if (read(c.in, ret, sizeof(*ret)) != (ssize_t)sizeof(*ret))
        ret->code = WEIR_EIO;
    close(c.in);
    wr_child_reap(c.pid);
    return ret->code;
}

void wr_check_mpi(const struct wr_doctor *d, struct wr_finding *f)
{
    static const char *const names[] = {"openmpi", "mpich"};
    static const char *const titles[] = {"Open MPI", "MPICH"};
    weir_err err, lacks = {0};
    char works[64] = "";

    for (size_t k = 0; k < 2; k++) {
        size_t used = strlen(works);

        if (try_mpi(names[k], &err) == 0)
            snprintf(works + used, sizeof(works) - used, "%s%s",
                     used ? ", " : "", titles[k]);
        else if (!lacks.code)
            lacks = err;
    }
    if (works[0]) {
        wr_observed(f, "works: %s", works);
        return;
    }
    wr_observed(f, "no module");
    wr_means(f,
             "Ranks of mpirun and mpiexec do not meet; those of srun and "
             "torchrun do. %s.",
             lacks.msg);
    wr_remedy(f, WR_HEALTH_MISSING,
              "sudo apt-get install libopenmpi-dev && " REBUILD);
}
