/* golden_sets.c - the data sets of the golden test, the same on every machine.
 * SPDX-License-Identifier: Apache-2.0 */
#include "golden_sets.h"

#include <fcntl.h>
#include <stdint.h>

#include "../codec/gzip.h"
#include "../format/tarfiles.h"
#include "../format/tensorfiles.h"
#include "../format/tfrecords.h"
#include "golden_pictures.h"

#define TREE   60
#define SHARDS 4
#define SHARD  11
#define GONE   "bad/bee/026.bmp"
#define GROWN  "bad/cow/045.ppm"

static const char *const classes[] = {"ant", "bee", "cow"};

/* One line per set. */
static const struct gs_set sets[] = {
    {"tree", "tree", false},
    {"png", "png", true},
    {"bad", "bad", false},
    {"list", "list.csv", false},
    {"numbers", "plain.tsv", false},
    {"npy-u8", "npy-u8.npy", false},
    {"npy-f16", "npy-f16", false},
    {"npy-f32", "npy-f32", false},
    {"wt-u8", "wt-u8", false},
    {"wt-f16", "wt-f16", false},
    {"wt-f32", "wt-f32.wt", false},
    {"tfrecord", "tfrecord", false},
    {"tfrecord-gz", "tfrecord-gz", false},
    {"tfrecord-bad", "tfrecord-bad", false},
    {"tar", "tar", false},
    {"tar-gz", "tar-gz", false},
    {"tar-bad", "tar-bad", false},
};

const struct gs_set *gs_at(unsigned k)
{
    return k < sizeof(sets) / sizeof(sets[0]) ? &sets[k] : NULL;
}

const struct gs_set *gs_find(const char *name)
{
    for (unsigned k = 0; gs_at(k); k++)
        if (!strcmp(gs_at(k)->name, name))
            return gs_at(k);
    return NULL;
}

/* --- trees and lists --- */

static enum gp_kind kind_of(uint32_t i)
{
    static const enum gp_kind kinds[] = {GP_PPM, GP_BMP, GP_JPEG, GP_PGM,
                                         GP_GRAY_JPEG};

    return kinds[i % 5];
}

static void put_picture(const struct tmpdir *t, const char *tree, uint32_t i,
                        enum gp_kind kind)
{
    static uint8_t bytes[GP_CAP];
    size_t len = gp_make(kind, i, bytes);
    bool bad = !strcmp(tree, "bad");
    char name[64];

    if (bad && i % 13 == 5)
        len = len * 2 / 3;
    if (bad && i % 11 == 3)
        memset(bytes, 'x', len);
    if (bad && i == 50)
        len = 0;
    snprintf(name, sizeof(name), "%s/%s/%03u.%s", tree, classes[i * 3 / TREE],
             i, gp_ext(kind));
    tmpdir_put(t, name, bytes, len);
}

static void make_tree(const struct tmpdir *t, const char *tree)
{
    bool png = !strcmp(tree, "png");
    char name[64];

    tmpdir_mkdir(t, tree);
    for (unsigned k = 0; k < 3; k++) {
        snprintf(name, sizeof(name), "%s/%s", tree, classes[k]);
        tmpdir_mkdir(t, name);
        snprintf(name, sizeof(name), "%s/%s/movie.avi", tree, classes[k]);
        tmpdir_put_text(t, name, "not a picture");
    }
    for (uint32_t i = 0; i < TREE; i++)
        put_picture(t, tree, i, png && i % 3 ? GP_PNG : kind_of(i));
}

/* Pictures of the tree in another order, with words and with numbers. */
static void make_lists(const struct tmpdir *t)
{
    static const char *const words[] = {"zebra", "10", "yak", "\"owl, brown\""};
    FILE *f = fopen(tmpdir_at(t, "list.csv"), "wb");
    FILE *g = fopen(tmpdir_at(t, "plain.tsv"), "wb");

    if (!f || !g)
        abort();
    fputs("class,path\n", f);
    for (uint32_t k = 0; k < 40; k++) {
        uint32_t i = k * 17 % TREE;
        char path[64];

        snprintf(path, sizeof(path), "tree/%s/%03u.%s", classes[i * 3 / TREE],
                 i, gp_ext(kind_of(i)));
        fprintf(f, "%s,%s%s\n", words[k % 4], k == 9 ? "gone/" : "", path);
        fprintf(g, k % 7 == 3 ? "%s\n" : "%s\t%u\n", path, k * k % 1000);
    }
    if (fclose(f) || fclose(g))
        abort();
}

void gs_harm(const struct tmpdir *t)
{
    char gone[600];
    FILE *f = fopen(tmpdir_at(t, GROWN), "ab");

    if (!f || fputs("more", f) < 0 || fclose(f))
        abort();
    snprintf(gone, sizeof(gone), "%s.away", tmpdir_at(t, GONE));
    if (rename(tmpdir_at(t, GONE), gone))
        abort();
}

void gs_mend(const struct tmpdir *t)
{
    char gone[600];

    snprintf(gone, sizeof(gone), "%s.away", tmpdir_at(t, GONE));
    if (rename(gone, tmpdir_at(t, GONE)))
        abort();
    put_picture(t, "bad", 45, kind_of(45));
}

/* --- tensors --- */

/* `len` bytes of noise; halves and floats are all finite. */
static const uint8_t *noise(uint32_t seed, size_t len, size_t elem)
{
    static uint8_t bytes[200000];

    if (len > sizeof(bytes))
        abort();
    for (uint32_t k = 0; k < len; k++)
        bytes[k] = gp_noise(seed, k);
    for (size_t k = elem - 1; elem > 1 && k < len; k += elem)
        bytes[k] &= 0xbb;
    return bytes;
}

static void make_npy(const struct tmpdir *t)
{
    put_npy(t, "npy-u8.npy", "|u1", "(70, 6, 5, 3)", noise(1, 6300, 1), 6300);
    tmpdir_mkdir(t, "npy-f16");
    tmpdir_mkdir(t, "npy-f32");
    put_npy(t, "npy-f16/a.npy", "<f2", "(40, 9)", noise(2, 720, 2), 720);
    put_npy(t, "npy-f16/b.npy", "<f2", "(23, 9)", noise(3, 414, 2), 414);
    put_npy(t, "npy-f32/1.npy", "<f4", "(30, 4, 4)", noise(4, 1920, 4), 1920);
    put_npy(t, "npy-f32/2.npy", "<f4", "(31, 4, 4)", noise(5, 1984, 4), 1984);
}

static void make_wt(const struct tmpdir *t)
{
    uint32_t labels[64];
    char name[32];

    tmpdir_mkdir(t, "wt-u8");
    tmpdir_mkdir(t, "wt-f16");
    for (uint32_t f = 0; f < 3; f++) {
        struct wt_spec w = {.dtype = 2,
                            .ndim = 3,
                            .dims = {5, 4, 3},
                            .count = 20 + f,
                            .labels = labels};

        for (uint32_t k = 0; k < 64; k++)
            labels[k] = k % 9 == 4 ? UINT32_MAX : k * 3 + f;
        w.data_len = w.count * 60;
        w.data = noise(10 + f, w.data_len, 1);
        snprintf(name, sizeof(name), "wt-u8/%u.wt", f);
        put_wt(t, name, &w);
        w.dtype = 1;
        w.ndim = 1;
        memset(w.dims, 0, sizeof(w.dims));
        w.dims[0] = 30;
        w.data = noise(20 + f, w.data_len, 2);
        snprintf(name, sizeof(name), "wt-f16/%u.wt", f);
        put_wt(t, name, &w);
    }
    put_wt(t, "wt-f32.wt",
           &(struct wt_spec){.ndim = 2,
                             .dims = {3, 7},
                             .count = 50,
                             .data = noise(30, 4200, 4),
                             .data_len = 4200});
}

/* --- shards --- */

/* `bytes` as they are in NAME, and packed in NAME-gz. */
static void put_shard(const struct tmpdir *t, const char *name, uint32_t shard,
                      const char *ext, const uint8_t *bytes, size_t len)
{
    size_t packed_len;
    uint8_t *packed = gzip_member(bytes, len, &packed_len);
    char path[64];

    snprintf(path, sizeof(path), "%s/%u.%s", name, shard, ext);
    tmpdir_put(t, path, bytes, len);
    snprintf(path, sizeof(path), "%s-gz/%u.%s.gz", name, shard, ext);
    tmpdir_put(t, path, packed, packed_len);
    free(packed);
}

static enum gp_kind kind_in_shard(uint32_t i)
{
    return i % 2 ? GP_BMP : kind_of(i);
}

static void put_example(struct buf *ret, uint32_t i)
{
    static uint8_t bytes[GP_CAP];
    struct buf features = {.len = 0};
    char key[32];
    int n = snprintf(key, sizeof(key), "dir/%03u.%s", i,
                     gp_ext(kind_in_shard(i)));

    features_bytes(&features, "image/filename", key, (size_t)n);
    if (i % 6 != 5)
        features_int(&features, "image/class/label", i % 10, i % 2);
    features_bytes(&features, "image/encoded", bytes,
                   gp_make(kind_in_shard(i), i, bytes));
    features_int(&features, "image/width", 20, 1);
    ret->len = 0;
    record_put_features(ret, &features);
}

/* The bad ones have a flipped bit in every seventh record. */
static void make_tfrecords(const struct tmpdir *t)
{
    static uint8_t shard[SHARD * sizeof(struct buf)];
    static struct buf record;
    char name[64];

    tmpdir_mkdir(t, "tfrecord");
    tmpdir_mkdir(t, "tfrecord-gz");
    tmpdir_mkdir(t, "tfrecord-bad");
    for (uint32_t s = 0; s < SHARDS; s++) {
        size_t len = 0, ends[SHARD];

        for (uint32_t k = 0; k < SHARD; k++) {
            put_example(&record, s * SHARD + k);
            memcpy(shard + len, record.at, record.len);
            ends[k] = len += record.len;
        }
        put_shard(t, "tfrecord", s, "tfrecord", shard, len);
        for (uint32_t k = 0; k < SHARD; k++)
            if ((s * SHARD + k) % 7 == 2)
                shard[ends[k] - 100] ^= 4;
        snprintf(name, sizeof(name), "tfrecord-bad/%u.tfrecord", s);
        tmpdir_put(t, name, shard, len);
    }
}

static void put_members(struct tarfile *tar, uint32_t i, bool bad)
{
    static uint8_t bytes[GP_CAP];
    size_t len = gp_make(kind_in_shard(i), i, bytes);
    char name[64], label[32];

    if (bad && i % 9 == 4)
        memset(bytes, 0, len);
    snprintf(label, sizeof(label), i % 3 ? "%u" : "{\"label\": %u}", i % 12);
    snprintf(name, sizeof(name), "d/%04u.%s", i, i % 3 ? "cls" : "json");
    if (i % 5 != 4)
        tar_file(tar, name, label);
    snprintf(name, sizeof(name), "d/%04u.%s", i, gp_ext(kind_in_shard(i)));
    tar_head(tar, '0', name, len);
    tar_data(tar, bytes, len);
}

static void make_tars(const struct tmpdir *t)
{
    static struct tarfile tar, bad;
    char name[64];

    tmpdir_mkdir(t, "tar");
    tmpdir_mkdir(t, "tar-gz");
    tmpdir_mkdir(t, "tar-bad");
    for (uint32_t s = 0; s < SHARDS; s++) {
        tar.len = bad.len = 0;
        for (uint32_t k = 0; k < SHARD; k++) {
            put_members(&tar, s * SHARD + k, false);
            put_members(&bad, s * SHARD + k, true);
        }
        tar_end(&tar);
        tar_end(&bad);
        put_shard(t, "tar", s, "tar", tar.bytes, tar.len);
        snprintf(name, sizeof(name), "tar-bad/%u.tar", s);
        tar_put(t, name, &bad);
    }
}

static int age_one(const char *path, const struct stat *sb, int flag,
                   struct FTW *ftw)
{
    const struct timespec times[2] = {{1000000000, 0}, {1000000000, 0}};

    (void)sb;
    (void)flag;
    (void)ftw;
    return utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

void gs_make(const struct tmpdir *t)
{
    make_tree(t, "tree");
    make_tree(t, "png");
    make_tree(t, "bad");
    make_lists(t);
    make_npy(t);
    make_wt(t);
    make_tfrecords(t);
    make_tars(t);
    /* An index is not kept of files that may still be changing. */
    if (nftw(t->path, age_one, 16, FTW_PHYS | FTW_DEPTH))
        abort();
}
