/* place.c - small data sets to convert, and a hash of what came out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <xxhash.h>

#include "../codec/make_picture.h"

static void put_file(const char *path, const void *bytes, size_t len)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

const char *place_file(uint32_t i)
{
    static __thread char name[64];

    snprintf(name, sizeof(name), "class_%u/%04u.jpg",
             i / (PLACE_SAMPLES / PLACE_CLASSES), i);
    return name;
}

void place_make(struct scratch *s, const char *name)
{
    char path[PATH_MAX], below[512];

    assert_int_equal(mkdir(scratch_at(s, name), 0777), 0);
    for (uint32_t i = 0; i < PLACE_CLASSES; i++) {
        snprintf(below, sizeof(below), "%s/class_%u", name, i);
        assert_int_equal(mkdir(scratch_at(s, below), 0777), 0);
    }
    for (uint32_t i = 0; i < PLACE_SAMPLES; i++) {
        struct made pic = make_jpeg(&(struct make_jpeg){
            .width = 24 + i,
            .height = 40 - i,
            .color = i % 5 ? MAKE_RGB : MAKE_GRAY,
        });

        snprintf(below, sizeof(below), "%s/%s", name, place_file(i));
        snprintf(path, sizeof(path), "%s", scratch_at(s, below));
        put_file(path, pic.bytes, pic.len);
        free(pic.bytes);
    }
}

weir_dataset *place_open(struct scratch *s, const char *prefix,
                         const char *name)
{
    weir_dataset_config cfg;
    weir_dataset *ds = NULL;
    char url[PATH_MAX + 100];
    weir_err err = {0};

    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    snprintf(url, sizeof(url), "%s%s", prefix, scratch_at(s, name));
    if (weir_dataset_open(&ds, url, &cfg, &err) < 0)
        fail_msg("%s", err.msg);
    return ds;
}

void place_config(struct scratch *s, const weir_dataset *ds, const char *to,
                  struct wr_convert_config *cfg, char path[512])
{
    wr_convert_defaults(cfg);
    snprintf(path, 512, "%s/%s", s->dir, to);
    cfg->ds = ds;
    cfg->to = to;
    cfg->target = path;
    cfg->threads = 2;
    cfg->shard_bytes = 8000;
    cfg->tensor.picture.width = cfg->tensor.picture.height = 16;
}

/* --- the hash --- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void hash_folder(XXH64_state_t *h, const char *path)
{
    struct dirent **list = NULL;
    int n = scandir(path, &list, NULL, by_name);

    for (int k = 0; k < n; k++) {
        const char *name = list[k]->d_name;
        char below[2 * PATH_MAX];
        struct stat sb;

        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
            snprintf(below, sizeof(below), "%s/%s", path, name);
            assert_int_equal(lstat(below, &sb), 0);
            XXH64_update(h, name, strlen(name) + 1);
            if (S_ISDIR(sb.st_mode)) {
                hash_folder(h, below);
            } else {
                char *bytes = malloc((size_t)sb.st_size + 1);
                FILE *f = fopen(below, "rb");

                assert_true(bytes && f);
                XXH64_update(h, bytes, fread(bytes, 1, (size_t)sb.st_size, f));
                fclose(f);
                free(bytes);
            }
        }
        free(list[k]);
    }
    XXH64_update(h, "/", 1);
    free(list);
}

uint64_t place_hash(struct scratch *s, const char *name)
{
    XXH64_state_t *h;
    uint64_t hash;

    if (!scratch_has(s, name))
        return 0;
    h = XXH64_createState();
    assert_non_null(h);
    XXH64_reset(h, 1);
    hash_folder(h, scratch_at(s, name));
    hash = XXH64_digest(h);
    XXH64_freeState(h);
    return hash;
}

void place_convert(const struct wr_convert_config *cfg,
                   struct wr_convert_result *ret)
{
    weir_err err = {0};

    if (wr_convert_run(cfg, ret, &err) < 0)
        fail_msg("%s", err.msg);
}

uint64_t place_content(const weir_dataset *ds)
{
    weir_pipeline_config cfg;
    weir_pipeline *p = NULL;
    const weir_batch *b;
    uint64_t sum = 0;
    weir_err err;

    weir_pipeline_defaults(&cfg);
    cfg.picture.width = cfg.picture.height = 16;
    cfg.picture.dtype = WEIR_U8;
    cfg.order = WEIR_ORDER_SEQUENTIAL;
    assert_int_equal(weir_pipeline_open(&p, ds, &cfg, &err), 0);
    while (weir_pipeline_next(p, &b, &err) == 1) {
        size_t each = b->bytes / b->count;

        for (uint32_t k = 0; k < b->count; k++) {
            const uint8_t *at = (const uint8_t *)b->data + k * each;
            uint64_t h = b->labels[k] + 1;

            for (size_t i = 0; i < each; i++)
                h = h * 1099511628211u + at[i];
            sum += h * h;
        }
        weir_batch_release(b);
    }
    assert_int_equal(weir_pipeline_bad_count(p), 0);
    weir_pipeline_close(&p);
    return sum;
}
