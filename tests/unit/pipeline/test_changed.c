/* test_changed.c - files that change under an open data set, of every format.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A sample is then bad (WEIR_ECHANGED), or all of it is new; one that was kept
 * before the change may be all old. A data set that is opened anew is new,
 * whatever is kept of it in tiers and index files. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cmocka.h>

#include "../codec/gzip.h"
#include "../format/tensorfiles.h"
#include "base/mem.h"
#include "format/writer.h"
#include "weir/weir.h"

#define N      12
#define SAMPLE 48 /* bytes */

/* Data of version 0 or 1. */
static uint8_t byte_of(unsigned version, unsigned i)
{
    return (uint8_t)(i * 37 + version * 101 + 1);
}

static const uint8_t *bytes_of(unsigned version)
{
    static uint8_t bytes[2][N * SAMPLE];

    for (unsigned i = 0; i < N * SAMPLE; i++)
        bytes[version][i] = byte_of(version, i);
    return bytes[version];
}

/* --- one file or more of each format --- */

static void make_npy(const struct tmpdir *t, unsigned v)
{
    put_npy(t, "a.npy", "|u1", "(12, 48)", bytes_of(v), N * SAMPLE);
}

/* Of another type, but as long. */
static void make_npy_types(const struct tmpdir *t, unsigned v)
{
    float f[N * 4];
    int32_t n[N * 4];

    for (unsigned i = 0; i < N * 4; i++) {
        f[i] = (float)i;
        n[i] = (int32_t)i;
    }
    put_npy(t, "a.npy", v ? "<f4" : "<i4", "(12, 4)", v ? (const void *)f : n,
            sizeof(f));
}

/* Each file is a sample: none is kept open. */
static void make_npy_files(const struct tmpdir *t, unsigned v)
{
    for (unsigned k = 0; k < N; k++) {
        char name[16];

        snprintf(name, sizeof(name), "%02u.npy", k);
        put_npy(t, name, "|u1", "(1, 48)", bytes_of(v) + k * SAMPLE, SAMPLE);
    }
}

static void put_arrays(const struct tmpdir *t, unsigned v, bool deflate)
{
    const struct npz_spec arrays[] = {
        {"x", "|u1", "(12, 40)", bytes_of(v), N * 40, false},
        {"y", "|u1", "(12, 8)", bytes_of(v) + N * 40, N * 8, false},
        {0}};

    put_npz(t, "a.npz", arrays, deflate);
}

static void make_npz(const struct tmpdir *t, unsigned v)
{
    put_arrays(t, v, /* deflate= */ false);
}

static void make_npz_deflated(const struct tmpdir *t, unsigned v)
{
    put_arrays(t, v, /* deflate= */ true);
}

static void make_wt(const struct tmpdir *t, unsigned v)
{
    uint32_t labels[N];

    for (unsigned k = 0; k < N; k++)
        labels[k] = k + v;
    put_wt(t, "a.wt",
           &(struct wt_spec){
               WEIR_U8, 1, {SAMPLE}, N, labels, bytes_of(v), N * SAMPLE});
}

static void make_indexed_binary(const struct tmpdir *t, unsigned v)
{
    uint64_t at[N], len[N];

    for (unsigned k = 0; k < N; k++) {
        at[k] = (v ? N - 1 - k : k) * SAMPLE;
        len[k] = SAMPLE;
    }
    tmpdir_put(t, "a.indexed_binary", bytes_of(v), N * SAMPLE);
    tmpdir_put(t, "a.indexed_binary.off.idx", at, sizeof(at));
    tmpdir_put(t, "a.indexed_binary.sz.idx", len, sizeof(len));
}

/* In version 1 the fields lie elsewhere in their lines. */
static void make_csv(const struct tmpdir *t, unsigned v)
{
    char text[1024];
    int n = snprintf(text, sizeof(text), "a,b,label\n");

    for (unsigned k = 0; k < N; k++)
        n += snprintf(text + n, sizeof(text) - (size_t)n,
                      v ? "1%02u,2,%u\n" : "3,4%02u,%u\n", k, k % 3);
    tmpdir_put(t, "a.csv", text, (size_t)n);
}

static void make_json(const struct tmpdir *t, unsigned v)
{
    char text[2048];
    int n = 0;

    for (unsigned k = 0; k < N; k++)
        n += snprintf(text + n, sizeof(text) - (size_t)n,
                      v ? "{\"a\":[1%02u,2],\"label\":%u}\n"
                        : "{\"a\":[3,4%02u],\"label\":%u}\n",
                      k, k % 3);
    tmpdir_put(t, "a.jsonl", text, (size_t)n);
}

static size_t make_picture(unsigned v, unsigned k, uint8_t *to)
{
    static const char head[] = "P6 4 4 255\n";

    memcpy(to, head, sizeof(head) - 1);
    memcpy(to + sizeof(head) - 1, bytes_of(v) + k * SAMPLE, SAMPLE);
    return sizeof(head) - 1 + SAMPLE;
}

static void add_records(const struct wr_writer_ops *w, unsigned v,
                        struct wr_bytes *out)
{
    uint8_t picture[128];

    for (unsigned k = 0; k < N; k++) {
        char key[8];
        struct wr_write_sample s = {.bytes = picture,
                                    .len = make_picture(v, k, picture),
                                    .key = key,
                                    .label = k % 3,
                                    .info = {.kind = WR_PICTURE_PNM}};

        snprintf(key, sizeof(key), "%02u", v ? N - k : k);
        assert_int_equal(w->add(out, &s, NULL), 0);
    }
    if (w->finish)
        assert_int_equal(w->finish(out, NULL), 0);
}

static void make_tar(const struct tmpdir *t, unsigned v)
{
    struct wr_bytes out = {0};

    add_records(&wr_writer_tar, v, &out);
    tmpdir_put(t, "a.tar", out.bytes, out.len);
    free(out.bytes);
}

static void make_tfrecord(const struct tmpdir *t, unsigned v)
{
    struct wr_bytes out = {0};

    add_records(&wr_writer_tfrecord, v, &out);
    tmpdir_put(t, "a.tfrecord", out.bytes, out.len);
    free(out.bytes);
}

static void make_gzip(const struct tmpdir *t, unsigned v)
{
    struct wr_bytes out = {0};
    uint8_t *packed;
    size_t len;

    add_records(&wr_writer_tfrecord, v, &out);
    packed = gzip_member(out.bytes, out.len, &len);
    tmpdir_put(t, "a.tfrecord.gz", packed, len);
    free(packed);
    free(out.bytes);
}

static void make_images(const struct tmpdir *t, unsigned v)
{
    for (unsigned k = 0; k < N; k++) {
        uint8_t picture[128];
        size_t len = make_picture(v, k, picture);
        char name[16];

        snprintf(name, sizeof(name), "%02u.ppm", k);
        tmpdir_put(t, name, picture, len);
    }
}

/* The same pictures in longer files: for RESIZED. */
static void make_longer(const struct tmpdir *t, unsigned v)
{
    for (unsigned k = 0; k < N; k++) {
        static const char head[] = "P6 # a comment\n4 4 255\n";
        uint8_t picture[128];
        char name[16];

        memcpy(picture, head, sizeof(head) - 1);
        memcpy(picture + sizeof(head) - 1, bytes_of(v) + k * SAMPLE, SAMPLE);
        snprintf(name, sizeof(name), "%02u.ppm", k);
        tmpdir_put(t, name, picture, sizeof(head) - 1 + SAMPLE);
    }
}

static void make_list(const struct tmpdir *t, unsigned v)
{
    char text[1024];
    int n = 0;

    make_images(t, v);
    for (unsigned k = 0; k < N; k++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%02u.ppm,%u\n", k,
                      k % 3);
    tmpdir_put(t, "list.txt", text, (size_t)n);
}

static void make_hdf5(const struct tmpdir *t, unsigned v)
{
    struct tmpdir from = {WEIR_TEST_DATA "/hdf5"};
    size_t len;
    char *bytes = tmpdir_get(&from, v ? "stress-1.h5" : "stress-0.h5", &len);

    tmpdir_put(t, "a.h5", bytes, len);
    free(bytes);
}

static const struct form {
    const char *name, *leaf; /* leaf "": the folder */
    void (*make)(const struct tmpdir *t, unsigned version);
    bool shared; /* samples share bytes that stay in memory */
    bool whole;  /* each sample is a file and says itself what it is */
    bool floats;
} forms[] = {
    {"npy", "a.npy", make_npy, false, false, false},
    {"npy of another type", "a.npy", make_npy_types, false, false, true},
    {"npy files", "", make_npy_files, false, false, false},
    {"npz", "a.npz", make_npz, false, false, false},
    {"npz deflated", "a.npz", make_npz_deflated, true, false, false},
    {"wt", "a.wt", make_wt, false, false, false},
    {"indexed binary", "a.indexed_binary", make_indexed_binary, false, false,
     false},
    {"csv", "a.csv", make_csv, false, false, true},
    {"json", "a.jsonl", make_json, false, false, true},
    {"tar", "a.tar", make_tar, false, false, false},
    {"tfrecord", "a.tfrecord", make_tfrecord, false, false, false},
    {"gzip", "a.tfrecord.gz", make_gzip, true, false, false},
    {"images", "", make_images, false, true, false},
    {"list", "list.txt", make_list, false, true, false},
#if WEIR_TEST_HDF5
    {"hdf5", "a.h5", make_hdf5, true, false, false},
#endif
};

/* --- what is done to them --- */

enum change { REPLACED, REWRITTEN, RESIZED, TRUNCATED, GROWN, CHANGES };
static const char *const change_names[] = {"replaced", "rewritten", "resized",
                                           "truncated", "grown"};

static void set_old(const char *path)
{
    const struct timespec old[2] = {{.tv_sec = 1600000000},
                                    {.tv_sec = 1600000000}};

    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
}

/* Writes over it until its ctime is another one: clocks tick coarsely. */
static void write_over(const char *path, const char *bytes, size_t len)
{
    struct stat before, now;
    int fd = open(path, O_WRONLY);

    assert_true(fd >= 0 && fstat(fd, &before) == 0);
    do {
        assert_int_equal(pwrite(fd, bytes, len, 0), (ssize_t)len);
        assert_int_equal(fstat(fd, &now), 0);
    } while (now.st_ctim.tv_sec == before.st_ctim.tv_sec &&
             now.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
    assert_int_equal(ftruncate(fd, (off_t)len), 0);
    close(fd);
}

static void change_file(const struct tmpdir *from, const struct tmpdir *to,
                        const char *name, enum change how)
{
    const char *path = tmpdir_at(to, name);
    size_t len, old_len;
    char *bytes = tmpdir_get(from, name, &len);
    char *old = tmpdir_get(to, name, &old_len);

    switch (how) {
    case REPLACED:
        tmpdir_put(to, "new.tmp", bytes, len);
        set_old(tmpdir_at(to, "new.tmp"));
        assert_int_equal(rename(tmpdir_at(to, "new.tmp"), path), 0);
        break;
    case REWRITTEN:
    case RESIZED: /* in place, so that no folder changes */
        write_over(path, bytes, len);
        break;
    case TRUNCATED:
        assert_int_equal(truncate(path, (off_t)old_len / 2), 0);
        break;
    default:
        old = realloc(old, 2 * old_len);
        assert_non_null(old);
        memcpy(old + old_len, old, old_len);
        write_over(path, old, 2 * old_len);
    }
    set_old(path); /* as if nothing had happened */
    free(old);
    free(bytes);
}

/* It changes before the first epoch; between two; after one of an earlier
 * pipeline of the same data set, which filled the tiers. */
enum when { IDLE, RUNNING, FILLED };
static const char *const when_names[] = {"", ", running", ", filled"};

struct scene {
    const struct form *form;
    struct tmpdir root, version[2], longer, live; /* longer: of version 1 */
    uint64_t hash[2][N];
    char index[512], tier[512]; /* index "": none */
    const char *cache;
    enum change how;
    enum when when;
};

static void for_all(const struct scene *s, const struct tmpdir *from,
                    void (*fn)(const struct scene *s, const struct tmpdir *from,
                               const char *name))
{
    DIR *dir = opendir(from->path);
    struct dirent *d;

    assert_non_null(dir);
    while ((d = readdir(dir)))
        if (d->d_name[0] != '.')
            fn(s, from, d->d_name);
    closedir(dir);
}

static void change_one(const struct scene *s, const struct tmpdir *from,
                       const char *name)
{
    if (strcmp(name, "list.txt") != 0)
        change_file(from, &s->live, name, s->how);
}

static void restore_one(const struct scene *s, const struct tmpdir *from,
                        const char *name)
{
    size_t len;
    char *bytes = tmpdir_get(from, name, &len);

    tmpdir_put(&s->live, name, bytes, len);
    set_old(tmpdir_at(&s->live, name));
    free(bytes);
}

/* --- reading --- */

static weir_dataset *open_set(const struct scene *s, const struct tmpdir *t)
{
    weir_dataset_config cfg;
    weir_dataset *ds = NULL;
    char url[512];
    weir_err err;

    weir_dataset_defaults(&cfg);
    cfg.index_dir = s->index;
    snprintf(url, sizeof(url), "%s/%s", t->path, s->form->leaf);
    if (weir_dataset_open(&ds, url, &cfg, &err) < 0)
        fail_msg("%s: %s", s->form->name, err.msg);
    return ds;
}

static weir_pipeline *open_pipeline(const struct scene *s,
                                    const weir_dataset *ds)
{
    weir_pipeline_config cfg;
    weir_pipeline *p = NULL;
    weir_err err;

    weir_pipeline_defaults(&cfg);
    cfg.picture.dtype = s->form->floats ? WEIR_F32 : WEIR_U8;
    cfg.picture.width = cfg.picture.height = 4;
    cfg.order = WEIR_ORDER_SEQUENTIAL;
    cfg.block_samples = 1;
    cfg.batch = cfg.threads = cfg.depth = 1;
    cfg.prefetch = 0; /* nothing is read before it is asked for */
    cfg.epochs = 2;
    cfg.cache = s->cache;
    if (weir_pipeline_open(&p, ds, &cfg, &err) < 0)
        fail_msg("%s", err.msg);
    return p;
}

static uint64_t hash_of(const weir_batch *b)
{
    uint64_t h = 0;

    for (uint32_t k = 0; k < b->field_count; k++)
        h = XXH64(b->fields[k].data, b->fields[k].bytes, h);
    return h;
}

/* Takes one epoch; ret[i] is the hash of sample i, 0 where it did not come. */
static void take_epoch(weir_pipeline *p, uint64_t epoch, uint64_t ret[N])
{
    memset(ret, 0, N * sizeof(*ret));
    for (;;) {
        const weir_batch *b;
        int r = weir_pipeline_next(p, &b, NULL);

        if (r <= 0) /* not one sample is left */
            return;
        assert_int_equal(b->epoch, epoch);
        assert_true(b->count == 1 && b->ids[0] < N);
        ret[b->ids[0]] = hash_of(b);
        r = b->ids[0] == N - 1;
        weir_batch_release(b);
        if (r)
            return;
    }
}

static void learn(struct scene *s)
{
    for (unsigned v = 0; v < 2; v++) {
        weir_dataset *ds = open_set(s, &s->version[v]);
        weir_pipeline *p = open_pipeline(s, ds);

        take_epoch(p, 0, s->hash[v]);
        weir_pipeline_close(&p);
        weir_dataset_close(&ds);
    }
    for (unsigned k = 0; k < N; k++)
        assert_true(s->hash[0][k] && s->hash[1][k] &&
                    s->hash[0][k] != s->hash[1][k]);
}

static void check_bad(const struct scene *s, const weir_pipeline *p)
{
    for (uint64_t k = 0; k < weir_pipeline_bad_count(p); k++) {
        const weir_bad_sample *b = weir_pipeline_bad(p, k);

        if (b->code != WEIR_ECHANGED)
            fail_msg("%s %s: %s", s->form->name, change_names[s->how], b->text);
    }
}

static void check_samples(const struct scene *s, const uint64_t got[N],
                          bool may_be_old)
{
    for (unsigned k = 0; k < N; k++)
        if (got[k] && !(s->form->whole && got[k] == s->hash[1][k]) &&
            !(may_be_old && got[k] == s->hash[0][k]))
            fail_msg("%s %s, %s%s: sample %u is %s", s->form->name,
                     change_names[s->how], s->cache ? s->cache : "no cache",
                     when_names[s->when], k,
                     got[k] == s->hash[0][k]   ? "old"
                     : got[k] == s->hash[1][k] ? "new"
                                               : "a mixture");
}

static void open_anew(struct scene *s)
{
    weir_dataset *ds = open_set(s, &s->live);
    weir_pipeline *p = open_pipeline(s, ds);
    uint64_t got[N];
    weir_stats st;

    if (s->how == RESIZED)
        assert_true(weir_dataset_index_reused(ds)); /* it has the old sizes */
    for (unsigned epoch = 0; epoch < 1u + s->form->whole; epoch++) {
        take_epoch(p, epoch, got);
        for (unsigned k = 0; k < N; k++)
            if (got[k] != s->hash[1][k])
                fail_msg("%s %s, %s, opened anew: sample %u is %s",
                         s->form->name, change_names[s->how],
                         s->cache ? s->cache : "no cache", k,
                         got[k] == s->hash[0][k] ? "old" : "bad or a mixture");
    }
    weir_pipeline_stats(p, &st);
    assert_int_equal(st.cache_damaged, 0);
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
}

static void play(struct scene *s)
{
    bool running = s->when == RUNNING;
    bool kept = running && (s->cache || s->form->shared);
    uint64_t got[N];
    weir_dataset *ds;
    weir_pipeline *p, *earlier = NULL; /* its memory tier lasts as long */

    for_all(s, &s->version[0], restore_one);
    set_old(s->live.path);
    ds = open_set(s, &s->live);
    p = s->when != IDLE ? open_pipeline(s, ds) : NULL;
    if (p) {
        take_epoch(p, 0, got);
        assert_memory_equal(got, s->hash[0], sizeof(got));
    }
    for_all(s, s->how == RESIZED ? &s->longer : &s->version[1], change_one);
    if (!running) {
        earlier = p;
        p = open_pipeline(s, ds);
    }
    take_epoch(p, running, got);
    check_bad(s, p);
    check_samples(s, got, kept);
    weir_pipeline_close(&earlier);
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
    if (s->how <= RESIZED)
        open_anew(s);
}

/* With tiers and index files of its own. */
static void play_alone(struct scene *s, unsigned k)
{
    const char *const caches[] = {NULL, "ram:8MiB", s->tier};
    char name[16];

    snprintf(name, sizeof(name), "kept-%u-%u", s->how, k);
    tmpdir_mkdir(&s->root, name);
    snprintf(s->index, sizeof(s->index), "%s/%s/index", s->root.path, name);
    snprintf(s->tier, sizeof(s->tier), "%s/%s:8MiB", s->root.path, name);
    s->cache = caches[k / 3];
    s->when = k % 3;
    play(s);
}

static void test_form(void **state)
{
    struct scene s = {.form = *state};

    tmpdir_init(&s.root);
    for (unsigned v = 0; v < 2; v++) {
        snprintf(s.version[v].path, sizeof(s.version[v].path), "%.200s/%u",
                 s.root.path, v);
        tmpdir_mkdir(&s.root, v ? "1" : "0");
        s.form->make(&s.version[v], v);
    }
    snprintf(s.live.path, sizeof(s.live.path), "%.200s/live", s.root.path);
    tmpdir_mkdir(&s.root, "live");
    snprintf(s.longer.path, sizeof(s.longer.path), "%.200s/longer",
             s.root.path);
    tmpdir_mkdir(&s.root, "longer");
    make_longer(&s.longer, 1);
    learn(&s);
    for (s.how = 0; s.how < CHANGES; s.how++)
        for (unsigned k = 0; k < 9 && (s.how != RESIZED || s.form->whole); k++)
            play_alone(&s, k);
    tmpdir_done(&s.root);
}

int main(void)
{
    struct CMUnitTest tests[WR_ARRAY_LEN(forms)];

    for (size_t k = 0; k < WR_ARRAY_LEN(forms); k++)
        tests[k] = (struct CMUnitTest){
            .name = forms[k].name,
            .test_func = test_form,
            .initial_state = (void *)(uintptr_t)&forms[k]};
    return _cmocka_run_group_tests("changed", tests, WR_ARRAY_LEN(forms), NULL,
                                   NULL);
}
