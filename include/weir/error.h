/* error.h - error codes and messages of libweir.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every fallible function returns 0 (or a count) on success and a negative
 * WEIR_E... on failure. Its last parameter is a `weir_err *`, which may be
 * NULL; on failure it receives the code and a message that names the thing
 * and the reason, on success it is left untouched.
 */
#ifndef WEIR_ERROR_H
#define WEIR_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WEIR_API __attribute__((visibility("default")))
#else
#define WEIR_API
#endif

/* X(name, value, text). Values are part of the ABI: never reused, never
 * renumbered; gaps are left for relatives. */
#define WEIR_ERROR_MAP(X)                                                      \
    X(WEIR_EINVAL, -10, "invalid argument")                                    \
    X(WEIR_ENOMEM, -11, "out of memory")                                       \
    X(WEIR_EMFILE, -12, "out of file descriptors")                             \
    X(WEIR_EIO, -20, "input/output error")                                     \
    X(WEIR_ENOENT, -21, "not found")                                           \
    X(WEIR_EACCES, -22, "permission denied")                                   \
    X(WEIR_EEXIST, -23, "already exists")                                      \
    X(WEIR_ENOSPC, -24, "no space left")                                       \
    X(WEIR_EBUSY, -25, "in use")                                               \
    X(WEIR_EFORMAT, -30, "malformed data")                                     \
    X(WEIR_ELIMIT, -31, "over a safety limit")                                 \
    X(WEIR_ECHANGED, -32, "changed since it was indexed")                      \
    X(WEIR_EDAMAGED, -33, "damaged")                                           \
    X(WEIR_ENOTSUP, -40, "not supported")                                      \
    X(WEIR_ECANCELED, -41, "canceled")                                         \
    X(WEIR_ESTATE, -42, "wrong state")                                         \
    X(WEIR_EFENCED, -43, "another writer took over")                           \
    X(WEIR_ETIMEDOUT, -44, "timed out")                                        \
    X(WEIR_ESTALE, -45, "older than what is there")

enum weir_error {
    WEIR_OK = 0,
#define WEIR_ERROR_ENUM(name, value, text) name = (value),
    WEIR_ERROR_MAP(WEIR_ERROR_ENUM)
#undef WEIR_ERROR_ENUM
};

/* Filled on failure. `msg` is NUL-terminated text for a person. Callers keep it
 * where they like, usually on the stack; nothing needs to be freed. */
typedef struct weir_err {
    int code;      /* WEIR_E..., negative */
    int os_errno;  /* underlying errno, or 0 */
    char msg[500]; /* "'train/cat/1.jpg': truncated: ..." */
} weir_err;

/* Text of an error code ("malformed data"); never NULL, static storage.
 * Safe from any thread. */
WEIR_API const char *weir_strerror(int code);

/* Name of an error code ("WEIR_EFORMAT"); never NULL, static storage.
 * Safe from any thread. */
WEIR_API const char *weir_error_name(int code);

#ifdef __cplusplus
}
#endif
#endif
