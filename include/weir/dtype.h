/* dtype.h - types of tensor elements, and a tensor in memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_DTYPE_H
#define WEIR_DTYPE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, value, text, bits). The texts are those of safetensors. Values are
 * part of the ABI: never reused, never renumbered. Pipelines deliver the first
 * three. */
#define WEIR_DTYPE_MAP(X)                                                      \
    X(WEIR_F32, 0, "F32", 32)                                                  \
    X(WEIR_F16, 1, "F16", 16)                                                  \
    X(WEIR_U8, 2, "U8", 8)                                                     \
    X(WEIR_BF16, 3, "BF16", 16)                                                \
    X(WEIR_F64, 4, "F64", 64)                                                  \
    X(WEIR_I8, 5, "I8", 8)                                                     \
    X(WEIR_I16, 6, "I16", 16)                                                  \
    X(WEIR_U16, 7, "U16", 16)                                                  \
    X(WEIR_I32, 8, "I32", 32)                                                  \
    X(WEIR_U32, 9, "U32", 32)                                                  \
    X(WEIR_I64, 10, "I64", 64)                                                 \
    X(WEIR_U64, 11, "U64", 64)                                                 \
    X(WEIR_BOOL, 12, "BOOL", 8)                                                \
    X(WEIR_C64, 13, "C64", 64)                                                 \
    X(WEIR_F4, 14, "F4", 4)                                                    \
    X(WEIR_F6_E2M3, 15, "F6_E2M3", 6)                                          \
    X(WEIR_F6_E3M2, 16, "F6_E3M2", 6)                                          \
    X(WEIR_F8_E5M2, 17, "F8_E5M2", 8)                                          \
    X(WEIR_F8_E4M3, 18, "F8_E4M3", 8)                                          \
    X(WEIR_F8_E8M0, 19, "F8_E8M0", 8)                                          \
    X(WEIR_F8_E4M3FNUZ, 20, "F8_E4M3FNUZ", 8)                                  \
    X(WEIR_F8_E5M2FNUZ, 21, "F8_E5M2FNUZ", 8)

enum weir_dtype {
#define WEIR_DTYPE_ENUM(name, value, text, bits) name = (value),
    WEIR_DTYPE_MAP(WEIR_DTYPE_ENUM)
#undef WEIR_DTYPE_ENUM
};

#define WEIR_TENSOR_DIMS 8

/* One tensor: row-major, little-endian, without gaps. Programs have arrays of
 * them: this struct never grows. */
typedef struct weir_tensor {
    const char *name; /* UTF-8, not empty, not "__metadata__" */
    enum weir_dtype dtype;
    uint32_t ndim; /* 0: a scalar */
    uint64_t shape[WEIR_TENSOR_DIMS];
    void *data; /* elements * bits / 8 bytes, which must be a whole number */
} weir_tensor;

#ifdef __cplusplus
}
#endif
#endif
