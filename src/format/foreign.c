/* foreign.c - files of other software that weir does not read, by name.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/foreign.h"

#include <string.h>

#include "base/le.h"
#include "base/mem.h"
#include "codec/picture.h"
#include "format/shards.h"

#define HEAD_BYTES 512u
#define AS_ARRAYS  "; save its columns as .npz, .csv or .jsonl, which weir reads"
#define BY_GZIP    "; unpack it, or pack it by gzip, which weir reads"

/* What a file begins with. */
struct magic {
    const char *bytes;
    size_t len;
    const char *name;
};
#define MAGIC(bytes, name)                                                     \
    {                                                                          \
        bytes, sizeof(bytes) - 1, name                                         \
    }

static const struct magic magics[] = {
    MAGIC("PAR1", "a Parquet file" AS_ARRAYS),
    MAGIC("ARROW1", "an Arrow or Feather file" AS_ARRAYS),
    MAGIC("FEA1", "a Feather file" AS_ARRAYS),
    MAGIC("ORC", "an ORC file" AS_ARRAYS),
    MAGIC("Obj\1", "an Avro file" AS_ARRAYS),
    MAGIC("SQLite format 3", "an SQLite database" AS_ARRAYS),
    MAGIC("CDF\1", "a NetCDF-3 file; nccopy -k nc4 makes it NetCDF-4, which "
                   "weir reads as HDF5"),
    MAGIC("CDF\2", "a NetCDF-3 file; nccopy -k nc4 makes it NetCDF-4, which "
                   "weir reads as HDF5"),
    MAGIC("CDF\5", "a NetCDF-3 file; nccopy -k nc4 makes it NetCDF-4, which "
                   "weir reads as HDF5"),
    MAGIC("MATLAB 5.0", "a MATLAB file before version 7.3; save it by -v7.3, "
                        "which weir reads as HDF5"),
    MAGIC("\x28\xb5\x2f\xfd", "compressed by zstd" BY_GZIP),
    MAGIC("\xfd"
          "7zXZ",
          "compressed by xz" BY_GZIP),
    MAGIC("BZh", "compressed by bzip2" BY_GZIP),
    MAGIC("\x04\x22\x4d\x18", "compressed by LZ4" BY_GZIP),
    MAGIC("7z\xbc\xaf", "a 7z archive; unpack it, or pack its files by tar"),
    MAGIC("Rar!", "a RAR archive; unpack it, or pack its files by tar"),
    MAGIC("PK\3\4", "a zip archive (a .pt of PyTorch is one, too) that is not "
                    "called .npz; unpack it, or pack its files by tar"),
    MAGIC("{", "one JSON object; weir reads an array of samples (.json) or one "
               "sample per line (.jsonl)"),
    MAGIC("[", "JSON that is not an array of objects or arrays; as one sample "
               "per line (.jsonl) weir reads it"),
};

static bool is_pickle(const uint8_t *head, size_t len)
{
    return len > 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5 &&
           strchr("}]c\x95(K\x8c\x8a", head[2]) && head[2];
}

/* A length of 8 bytes, then the header, which is an object. */
static bool is_safetensors(const uint8_t *head, size_t len)
{
    return len > 9 && wr_le64(head) >= 2 && wr_le64(head) < 100000000 &&
           head[8] == '{';
}

static const char *name_head(const uint8_t *head, size_t len)
{
    size_t text = len >= 3 && !memcmp(head, "\xef\xbb\xbf", 3) ? 3 : 0;

    if (is_pickle(head, len))
        return "a Python pickle, which can run any program when it is loaded; "
               "save its arrays by numpy.savez (.npz)";
    if (is_safetensors(head, len))
        return "a safetensors file, of which a tensor is not a sample; weir "
               "ckpt show lists what it holds";
    if (wr_picture_probe(head, len) != WR_PICTURE_UNKNOWN)
        return "a picture whose name does not end like one (.jpg, .png)";
    while (text < len && strchr(" \t\r\n", head[text]) && head[text])
        text++;
    for (size_t k = 0; k < WR_ARRAY_LEN(magics); k++) {
        const struct magic *m = &magics[k];
        size_t at = *m->bytes == '{' || *m->bytes == '[' ? text : 0;

        if (len - at >= m->len && !memcmp(head + at, m->bytes, m->len))
            return m->name;
    }
    return memchr(head, '\0', len)
               ? "a binary file of a kind that weir does not know"
               : NULL;
}

const char *wr_foreign_name(struct wr_store *st, const char *path,
                            int *ret_lack)
{
    uint8_t head[HEAD_BYTES];
    int64_t n = wr_shard_head(st, path, head, sizeof(head));

    *ret_lack = n < 0 ? (int)n : 0;
    return n > 0 ? name_head(head, (size_t)n) : NULL;
}
