/* check.h - what a check is, and how it says what it found.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_DOCTOR_CHECK_H
#define WR_DOCTOR_CHECK_H

#include "doctor/doctor.h"

/* The package of the newest kernel for this machine. */
#ifdef __aarch64__
#define WR_DOCTOR_KERNEL "linux-image-arm64"
#else
#define WR_DOCTOR_KERNEL "linux-image-amd64"
#endif

struct wr_check {
    const char *name;
    bool essential;
    bool per_path; /* f->path is set */
    /* Says at least wr_observed; health is WR_HEALTH_OK at first. */
    void (*run)(const struct wr_doctor *d, struct wr_finding *f);
};

/* What was found, and what it means for weir. */
void wr_observed(struct wr_finding *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void wr_means(struct wr_finding *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* It is not as it should be; the command that mends it ("" for none). */
void wr_remedy(struct wr_finding *f, enum wr_health health, const char *fmt,
               ...) __attribute__((format(printf, 3, 4)));

/* The text of a small file below d->root; its length, or a negative errno. */
int wr_doctor_read(const struct wr_doctor *d, const char *path, char *buf,
                   size_t cap);

/* The path below d->root, in buf, which is returned. */
const char *wr_doctor_path(const struct wr_doctor *d, const char *path,
                           char *buf, size_t cap);

/* A field of /proc/self/status ("Seccomp:"); 0 when it is not there. */
unsigned long long wr_doctor_status(const struct wr_doctor *d,
                                    const char *field);

/* The kernel's version as 100 * major + minor; 0 when it is not known. */
unsigned wr_doctor_kernel(const struct wr_doctor *d);

/* The checks, one function each; a check_*.c has those of one subject. */
#define WR_CHECK_MAP(X)                                                        \
    /* name, essential, per path, function */                                  \
    X("kernel", false, false, wr_check_kernel)                                 \
    X("cores", false, false, wr_check_cores)                                   \
    X("memory", true, false, wr_check_memory)                                  \
    X("open files", true, false, wr_check_files)                               \
    X("locked memory", false, false, wr_check_memlock)                         \
    X("io_uring", false, false, wr_check_uring)                                \
    X("cache state", false, false, wr_check_residency)                         \
    X("drop caches", false, false, wr_check_drop)                              \
    X("kernel trace", false, false, wr_check_kernel_trace)                     \
    X("index folder", false, false, wr_check_index)                            \
    X("mount", false, false, wr_check_fuse)                                    \
    X("pictures", false, false, wr_check_pictures)                             \
    X("packed data", false, false, wr_check_filters)                           \
    X("report pages", false, false, wr_check_pages)                            \
    X("oneDNN", false, false, wr_check_onednn)                                 \
    X("HDF5", false, false, wr_check_hdf5)                                     \
    X("MPI", false, false, wr_check_mpi)                                       \
    X("file system", true, true, wr_check_fs)                                  \
    X("O_DIRECT", false, true, wr_check_direct)                                \
    X("disk counters", false, true, wr_check_disks)

#define WR_CHECK_DECLARE(name, essential, per_path, run)                       \
    void run(const struct wr_doctor *d, struct wr_finding *f);
WR_CHECK_MAP(WR_CHECK_DECLARE)
#undef WR_CHECK_DECLARE

#endif
