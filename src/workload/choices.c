/* choices.c - the words that keys of a description take.
 * SPDX-License-Identifier: Apache-2.0 */
#include "workload/choices.h"

#include <string.h>

#include "workload/derive.h"

const struct wr_choice wr_wl_frameworks[] = {
    {"tensorflow", WR_WL_TENSORFLOW, NULL},
    {"pytorch", WR_WL_PYTORCH, NULL},
    {NULL, 0, NULL},
};

const struct wr_choice wr_wl_formats[] = {
    {"tfrecord", WR_WL_TFRECORD, NULL},
    {"hdf5", WR_WL_HDF5, NULL},
    {"csv", WR_WL_CSV, NULL},
    {"npz", WR_WL_NPZ, NULL},
    {"npy", WR_WL_NPY, NULL},
    {"jpeg", WR_WL_JPEG, NULL},
    {"png", WR_WL_PNG, NULL},
    {"indexed_binary", WR_WL_INDEXED_BINARY, NULL},
    {"mmap_indexed_binary", WR_WL_MMAP_INDEXED_BINARY, NULL},
    {"synthetic", WR_WL_SYNTHETIC, NULL},
    {"hdf5_opt", WR_WL_HDF5_OPT, NULL},
    {"parquet", WR_WL_PARQUET, NULL},
    {"jsonl", WR_WL_JSONL, NULL},
    {"tar", WR_WL_TAR, NULL},
    {"tensor", WR_WL_TENSOR, NULL},
    {NULL, 0, NULL},
};

/* YAML 1.1 reads a bare `off` as false, and tools write it back so. */
const struct wr_choice wr_wl_shuffles[] = {
    {"off", WR_WL_SHUFFLE_OFF, NULL},
    {"seed", WR_WL_SHUFFLE_SEED, NULL},
    {"random", WR_WL_SHUFFLE_RANDOM, NULL},
    {"false", WR_WL_SHUFFLE_OFF, NULL},
    {NULL, 0, NULL},
};

const struct wr_choice wr_wl_accesses[] = {
    {"auto", WR_WL_ACCESS_AUTO, NULL},
    {"multi", WR_WL_ACCESS_MULTI, NULL},
    {"shared", WR_WL_ACCESS_SHARED, NULL},
    {"same", WR_WL_ACCESS_SAME, NULL},
    {"collective", WR_WL_ACCESS_COLLECTIVE, NULL},
    {"mpio", WR_WL_ACCESS_MPIIO, NULL}, /* DLIO's spelling */
    {"mpiio", WR_WL_ACCESS_MPIIO, NULL},
    {"posix", WR_WL_ACCESS_POSIX, NULL},
    {NULL, 0, NULL},
};

const struct wr_choice wr_wl_read_types[] = {
    {"on_demand", WR_WL_ON_DEMAND, NULL},
    {"memory", WR_WL_MEMORY, NULL},
    {NULL, 0, NULL},
};

const struct wr_choice wr_wl_consumes[] = {
    {"drop", WR_WL_DROP, "read and forgotten"},
    {"read", WR_WL_READ, "delivered as they are stored"},
    {"decode", WR_WL_DECODE, "decoded into tensors"},
    {NULL, 0, NULL},
};

const struct wr_choice wr_wl_contents[] = {
    {"noise", WR_WL_NOISE, "bytes that cannot be compressed"},
    {"photos", WR_WL_PHOTOS, "JPEG files or records like ImageNet's"},
    {NULL, 0, NULL},
};

const struct wr_choice wr_wl_laws[] = {
    {"normal", WR_WL_NORMAL, NULL},   {"uniform", WR_WL_UNIFORM, NULL},
    {"gamma", WR_WL_GAMMA, NULL},     {"exponential", WR_WL_EXPONENTIAL, NULL},
    {"poisson", WR_WL_POISSON, NULL}, {NULL, 0, NULL},
};

/* The value is the size in bytes. */
const struct wr_choice wr_wl_element_types[] = {
    {"uint8", 1, NULL},   {"int8", 1, NULL},    {"uint16", 2, NULL},
    {"int16", 2, NULL},   {"uint32", 4, NULL},  {"int32", 4, NULL},
    {"uint64", 8, NULL},  {"int64", 8, NULL},   {"float16", 2, NULL},
    {"float32", 4, NULL}, {"float64", 8, NULL}, {"bool", 1, NULL},
    {"half", 2, NULL},    {"single", 4, NULL},  {"double", 8, NULL},
    {"float", 8, NULL},   {"int", 8, NULL},     {"u1", 1, NULL},
    {"i1", 1, NULL},      {"u2", 2, NULL},      {"i2", 2, NULL},
    {"u4", 4, NULL},      {"i4", 4, NULL},      {"u8", 8, NULL},
    {"i8", 8, NULL},      {"f2", 2, NULL},      {"f4", 4, NULL},
    {"f8", 8, NULL},      {NULL, 0, NULL},
};

/* The value is the size in bytes. */
const struct wr_choice wr_wl_state_types[] = {
    {"fp16", 2, NULL}, {"bf16", 2, NULL},  {"fp32", 4, NULL}, {"fp64", 8, NULL},
    {"int8", 1, NULL}, {"uint8", 1, NULL}, {NULL, 0, NULL},
};

const struct wr_choice wr_wl_loaders[] = {
    {"tensorflow", 0, NULL},  {"pytorch", 1, NULL}, {"dali", 2, NULL},
    {"native_dali", 3, NULL}, {"custom", 4, NULL},  {"none", 5, NULL},
    {"synthetic", 6, NULL},   {NULL, 0, NULL},
};

const struct wr_choice wr_wl_compressions[] = {
    {"none", 0, NULL},   {"gzip", 1, NULL}, {"lzf", 2, NULL}, {"bz2", 3, NULL},
    {"snappy", 6, NULL}, {"zip", 4, NULL},  {"xz", 5, NULL},  {NULL, 0, NULL},
};

const struct wr_choice wr_wl_modes[] = {
    {"default", false, NULL},
    {"subset", true, NULL},
    {NULL, 0, NULL},
};

unsigned wr_wl_element_bytes(const char *type)
{
    int bytes = 0;

    return type && wr_choice_find(wr_wl_element_types, type, &bytes, NULL) == 0
               ? (unsigned)bytes
               : 0;
}
