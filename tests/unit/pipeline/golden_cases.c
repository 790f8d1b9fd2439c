/* golden_cases.c - the configurations of the golden test, as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "golden_cases.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"

#define SMALL "width=16 height=12 dtype=u8 batch=7 threads=2 depth=4 "
#define FOUR  "threads=4 depth=3 prefetch=2 "

/* One line per configuration. Those that differ in threads, depth, prefetch,
 * I/O or caches alone must have the digest of their neighbour. */
static const struct gc_case cases[] = {
    /* formats */
    {"tree", "tree", SMALL},
    {"tree-index-file", "tree", SMALL "index=1"},
    {"png", "png", SMALL},
    {"png-f16-nchw", "png", SMALL "dtype=f16 layout=nchw"},
    {"list", "list", SMALL},
    {"list-sequential", "list", SMALL "order=sequential"},
    {"list-index-file", "list", SMALL "index=1"},
    {"numbers", "numbers", SMALL "order=sequential epochs=2"},
    {"npy-u8", "npy-u8", SMALL},
    {"npy-u8-to-f32", "npy-u8", SMALL "dtype=f32"},
    {"npy-u8-to-f16-nchw", "npy-u8", SMALL "dtype=f16 layout=nchw"},
    {"npy-u8-nchw", "npy-u8", SMALL "layout=nchw order=sequential"},
    {"npy-f16", "npy-f16", SMALL "dtype=f16"},
    {"npy-f32", "npy-f32", SMALL "dtype=f32 epochs=2"},
    {"wt-u8", "wt-u8", SMALL},
    {"wt-u8-to-f32-nchw", "wt-u8", SMALL "dtype=f32 layout=nchw"},
    {"wt-f16", "wt-f16", SMALL "dtype=f16 order=sequential"},
    {"wt-f32", "wt-f32", SMALL "dtype=f32"},
    {"wt-crop-refused", "wt-f32", SMALL "dtype=f32 crop=center"},
    {"tfrecord", "tfrecord", SMALL},
    {"tfrecord-sequential", "tfrecord", SMALL "order=sequential"},
    {"tfrecord-index-file", "tfrecord", SMALL "index=1"},
    {"tfrecord-gz", "tfrecord-gz", SMALL},
    {"tfrecord-gz-sequential", "tfrecord-gz", SMALL "order=sequential"},
    {"tfrecord-gz-index-file", "tfrecord-gz", SMALL "index=1"},
    {"tfrecord-gz-f32", "tfrecord-gz", SMALL "dtype=f32 epochs=2 " FOUR},
    {"tar", "tar", SMALL},
    {"tar-sequential", "tar", SMALL "order=sequential"},
    {"tar-gz", "tar-gz", SMALL},
    {"tar-gz-index-file", "tar-gz", SMALL "index=1"},
    {"tar-gz-sequential", "tar-gz", SMALL "order=sequential threads=1"},
    /* orders */
    {"tree-seed", "tree", SMALL "seed=12345678901 epochs=3"},
    {"tree-block", "tree", SMALL "order=block block=5 window=3 epochs=2"},
    {"tree-block-auto", "tree", SMALL "order=block epochs=2"},
    {"tfrecord-block", "tfrecord", SMALL "order=block block=4 window=2"},
    {"tfrecord-gz-block", "tfrecord-gz", SMALL "order=block block=4 window=2"},
    {"tar-block", "tar", SMALL "order=block block=3 window=4 epochs=2"},
    {"wt-u8-block", "wt-u8", SMALL "order=block block=8 window=2 epochs=2"},
    {"npy-f32-block", "npy-f32", SMALL "dtype=f32 order=block block=7"},
    /* pictures */
    {"f32", "tree", SMALL "dtype=f32"},
    {"f32-nchw", "tree", SMALL "dtype=f32 layout=nchw"},
    {"f16", "tree", SMALL "dtype=f16"},
    {"mean-std", "tree", SMALL "dtype=f32 mean=0.25 std=0.75"},
    {"gray", "tree", SMALL "channels=1"},
    {"gray-f16-nchw", "tree", SMALL "channels=1 dtype=f16 layout=nchw"},
    {"enlarged", "tree", SMALL "width=70 height=61 dtype=f32"},
    {"noaa", "tree", SMALL "resize=bilinear-noaa"},
    {"area", "tree", SMALL "resize=area dtype=f32"},
    {"fast", "tree", SMALL "decode=fast width=5 height=4"},
    {"fast-f32", "tree", SMALL "decode=fast dtype=f32"},
    {"center", "tree", SMALL "crop=center"},
    {"center-half", "tree", SMALL "crop=center crop-center=0.5 dtype=f16"},
    {"random", "tree", SMALL "crop=random epochs=2"},
    {"random-flip", "tree", SMALL "crop=random flip=1 epochs=2 dtype=f32"},
    {"flip", "tree", SMALL "flip=1 seed=9"},
    {"orient", "tree", SMALL "orient=exif"},
    {"orient-random", "tree", SMALL "orient=exif crop=random flip=1 epochs=2"},
    {"png-random", "png", SMALL "crop=random flip=1 resize=area"},
    {"tar-random", "tar", SMALL "crop=random crop-least=0.5 crop-wide=2"},
    /* stages */
    {"read", "tree", SMALL "stages=read"},
    {"decode", "tree", SMALL "stages=decode"},
    {"tfrecord-gz-read", "tfrecord-gz", SMALL "stages=read"},
    {"tar-decode", "tar", SMALL "stages=decode"},
    {"wt-u8-read", "wt-u8", SMALL "stages=read"},
    /* caches: twice what the same without one delivers */
    {"again", "tree", SMALL "epochs=2 again=1"},
    {"ram", "tree", SMALL "epochs=2 again=1 cache=ram"},
    {"dir", "tree", SMALL "epochs=2 again=1 cache=dir"},
    {"dir-decoded", "tree", SMALL "epochs=2 again=1 cache=dir keep=decoded"},
    {"both", "tree", SMALL "epochs=2 again=1 cache=both " FOUR},
    {"both-decoded", "tree", SMALL "epochs=2 again=1 cache=both keep=decoded"},
    {"small", "tree", SMALL "epochs=2 again=1 cache=small"},
    {"tfrecord-gz-ram", "tfrecord-gz", SMALL "epochs=2 cache=ram"},
    {"tfrecord-gz-decoded", "tfrecord-gz",
     SMALL "epochs=2 cache=dir keep=decoded again=1"},
    {"wt-u8-dir", "wt-u8", SMALL "epochs=2 cache=dir dtype=f32 again=1"},
    {"tar-random-ram", "tar", SMALL "epochs=2 cache=ram crop=random"},
    {"bad-dir", "bad", SMALL "epochs=2 cache=dir again=1"},
    {"bad-decoded", "bad", SMALL "epochs=2 cache=both keep=decoded again=1"},
    /* speed */
    {"one-thread", "tree", SMALL "threads=1 depth=1 prefetch=0"},
    {"many-threads", "tree", SMALL "threads=7 depth=9 prefetch=4"},
    {"auto", "tree", SMALL "threads=auto depth=auto prefetch=auto"},
    {"blocking", "tree", SMALL "io=blocking"},
    {"direct", "tree", SMALL "direct=1"},
    {"tfrecord-direct", "tfrecord", SMALL "direct=1 prefetch=0"},
    {"tfrecord-gz-blocking", "tfrecord-gz", SMALL "io=blocking " FOUR},
    {"tfrecord-gz-direct", "tfrecord-gz", SMALL "direct=1"},
    {"tar-gz-one-thread", "tar-gz", SMALL "threads=1 depth=1 prefetch=0"},
    {"wt-u8-blocking", "wt-u8", SMALL "io=blocking prefetch=3"},
    {"npy-f32-direct", "npy-f32", SMALL "dtype=f32 epochs=2 direct=1"},
    {"large-batch", "tree", SMALL "batch=1000"},
    {"batch-1", "tar", SMALL "batch=1 " FOUR},
    {"max-batches", "tree", SMALL "max-batches=3 epochs=0"},
    /* ranks */
    {"world-2", "tree", SMALL "world=2 epochs=2"},
    {"world-3-keep", "tree", SMALL "world=3 batch=8"},
    {"world-3-drop", "tree", SMALL "world=3 batch=8 remainder=drop epochs=2"},
    {"world-3-pad", "tree", SMALL "world=3 batch=8 remainder=pad epochs=2"},
    {"world-4-pad", "tfrecord-gz", SMALL "world=4 remainder=pad " FOUR},
    {"world-4-drop", "wt-u8", SMALL "world=4 remainder=drop"},
    {"world-4-sequential", "tar", SMALL "world=4 order=sequential"},
    {"drop", "tree", SMALL "remainder=drop"},
    {"pad", "tree", SMALL "remainder=pad"},
    {"pad-block", "tar-gz",
     SMALL "remainder=pad order=block block=5 window=2 epochs=2"},
    /* resumed in an epoch */
    {"resume", "tree", SMALL "after=3 epochs=2"},
    {"resume-sequential", "tfrecord-gz", SMALL "after=4 order=sequential"},
    {"resume-block", "tar", SMALL "after=2 order=block block=3 window=4"},
    {"resume-random", "tree", SMALL "after=5 crop=random flip=1 epochs=2"},
    {"resume-2-3", "tree", SMALL "after=2 from=2 world=3 epochs=2"},
    {"resume-3-1", "tree", SMALL "after=1 from=3 remainder=pad"},
    {"resume-1-4", "wt-u8", SMALL "after=3 world=4"},
    {"resume-bad-2-3", "bad", SMALL "after=2 from=2 world=3 epochs=2"},
    {"resume-bad", "tfrecord-bad", SMALL "after=3 epochs=2"},
    /* parts */
    {"train", "tree", SMALL "holdout=0.2 part=train epochs=2"},
    {"held-out", "tree", SMALL "holdout=0.2 part=held-out"},
    {"held-out-seed", "tree", SMALL "holdout=0.3 split=5 part=held-out"},
    {"train-world-2", "tar-gz", SMALL "holdout=0.25 part=train world=2"},
    {"train-block", "wt-u8",
     SMALL "holdout=0.1 part=train order=block block=8 window=2"},
    {"train-resume", "tree", SMALL "holdout=0.2 part=train after=2 from=2"},
    /* bad samples */
    {"bad", "bad", SMALL "epochs=2"},
    {"bad-fast-nchw", "bad", SMALL "decode=fast layout=nchw dtype=f16"},
    {"bad-sequential", "bad", SMALL "order=sequential batch=5 " FOUR},
    {"bad-block", "bad", SMALL "order=block block=4 window=2"},
    {"bad-changed", "bad", SMALL "harm=1"},
    {"bad-changed-read", "bad", SMALL "harm=1 stages=read"},
    {"bad-world-2-pad", "bad", SMALL "world=2 remainder=pad epochs=2"},
    {"bad-world-3-drop", "bad", SMALL "world=3 remainder=drop"},
    {"bad-world-3-keep", "bad", SMALL "world=3"},
    {"bad-fail", "bad", SMALL "on-error=fail order=sequential threads=1"},
    {"bad-max", "bad", SMALL "max-bad=4"},
    {"bad-max-reached-not", "bad", SMALL "max-bad=40"},
    {"tfrecord-bad", "tfrecord-bad", SMALL},
    {"tfrecord-bad-read", "tfrecord-bad", SMALL "stages=read"},
    {"tfrecord-bad-pad", "tfrecord-bad", SMALL "world=2 remainder=pad"},
    {"tar-bad", "tar-bad", SMALL "epochs=2 " FOUR},
    {"tar-bad-max", "tar-bad", SMALL "max-bad=2 order=sequential"},
    /* blocks of several ranks: see test_golden.c */
    {"block-world-2", "tree", SMALL "order=block block=5 window=3 world=2"},
    {"block-world-3", "tree",
     SMALL "order=block block=4 window=2 world=3 epochs=2"},
    {"block-world-2-tar", "tar", SMALL "order=block block=3 window=2 world=2"},
    {"block-world-4-gz", "tfrecord-gz",
     SMALL "order=block block=4 window=2 world=4 crop=random flip=1"},
    {"block-world-3-wt", "wt-u8",
     SMALL "order=block block=8 window=2 world=3 epochs=2"},
    {"block-world-2-bad", "bad", SMALL "order=block block=4 world=2"},
    {"block-world-2-train", "tree",
     SMALL "order=block block=4 world=2 holdout=0.2 part=train"},
};

const struct gc_case *gc_at(unsigned k)
{
    return k < sizeof(cases) / sizeof(cases[0]) ? &cases[k] : NULL;
}

/* --- settings by name --- */

enum type { U32, U64, F32, CHOICE };

struct knob {
    const char *name;
    enum type type;
    size_t at;
    const char *choices; /* blanks between, in the order of the values */
};

#define OWN(type, name, field)                                                 \
    {                                                                          \
        name, type, offsetof(weir_pipeline_config, field), NULL                \
    }
#define ONE_OF(name, field, choices)                                           \
    {                                                                          \
        name, CHOICE, offsetof(weir_pipeline_config, field), choices           \
    }

/* Where the settings of pictures are. */
#define PICTURE(field) picture.field

static const struct knob knobs[] = {
    OWN(U32, "width", PICTURE(width)),
    OWN(U32, "height", PICTURE(height)),
    OWN(U32, "channels", PICTURE(channels)),
    ONE_OF("dtype", PICTURE(dtype), "f32 f16 u8"),
    ONE_OF("layout", PICTURE(layout), "nhwc nchw"),
    ONE_OF("resize", PICTURE(resize), "bilinear bilinear-noaa area"),
    ONE_OF("decode", PICTURE(decode), "exact fast"),
    OWN(F32, "mean", PICTURE(mean[1])),
    OWN(F32, "std", PICTURE(std[2])),
    ONE_OF("crop", PICTURE(crop), "none center random"),
    OWN(F32, "crop-center", PICTURE(crop_center)),
    OWN(F32, "crop-least", PICTURE(crop_area[0])),
    OWN(F32, "crop-wide", PICTURE(crop_ratio[1])),
    OWN(U32, "flip", PICTURE(flip)),
    ONE_OF("orient", PICTURE(orient), "ignore exif"),
    OWN(U32, "batch", batch),
    ONE_OF("stages", stages, "all read decode"),
    ONE_OF("order", order, "shuffle sequential block"),
    OWN(U64, "seed", seed),
    OWN(U32, "block", block_samples),
    OWN(U32, "window", block_window),
    OWN(U64, "epochs", epochs),
    OWN(U64, "max-batches", max_batches),
    OWN(U32, "world", world),
    ONE_OF("remainder", remainder, "keep drop pad"),
    ONE_OF("on-error", on_error, "skip fail"),
    OWN(U64, "max-bad", max_bad),
    OWN(U32, "threads", threads),
    OWN(U32, "depth", depth),
    OWN(U32, "prefetch", prefetch),
    ONE_OF("io", io, "auto uring blocking"),
    OWN(U32, "direct", direct),
    ONE_OF("keep", cache_what, "encoded decoded"),
    OWN(F32, "holdout", holdout),
    OWN(U64, "split", split_seed),
    ONE_OF("part", part, "all train held-out"),
};

static void unknown(const char *name, const char *value)
{
    fprintf(stderr, "golden: %s=%s\n", name, value);
    abort();
}

static uint32_t choice(const struct knob *k, const char *value)
{
    const char *at = k->choices;
    size_t len = strlen(value);

    for (uint32_t n = 0; *at; n++) {
        size_t word = strcspn(at, " ");

        if (word == len && !memcmp(at, value, len))
            return n;
        at += word + (at[word] == ' ');
    }
    unknown(k->name, value);
    return 0;
}

static void turn(weir_pipeline_config *cfg, const struct knob *k,
                 const char *value)
{
    void *at = (char *)cfg + k->at;
    uint64_t whole = strtoull(value, NULL, 10);
    uint32_t number = strcmp(value, "auto") || k->type != U32 ? (uint32_t)whole
                                                              : WEIR_AUTO;
    float part = wr_strtof(value, NULL);

    if (k->type == CHOICE)
        number = choice(k, value);
    if (k->type == U64)
        memcpy(at, &whole, sizeof(whole));
    else if (k->type == F32)
        memcpy(at, &part, sizeof(part));
    else
        memcpy(at, &number, sizeof(number));
}

static bool turn_way(struct gc_way *way, const char *name, const char *value)
{
    bool yes = value[0] == '1';

    if (!strcmp(name, "cache"))
        snprintf(way->cache, sizeof(way->cache), "%s", value);
    else if (!strcmp(name, "after"))
        way->after = (uint32_t)atoi(value);
    else if (!strcmp(name, "from"))
        way->from = (uint32_t)atoi(value);
    else if (!strcmp(name, "again"))
        way->again = yes;
    else if (!strcmp(name, "index"))
        way->index = yes;
    else if (!strcmp(name, "harm"))
        way->harm = yes;
    else
        return false;
    return true;
}

static void set_one(weir_pipeline_config *cfg, struct gc_way *way,
                    const char *name, const char *value)
{
    for (size_t k = 0; k < sizeof(knobs) / sizeof(knobs[0]); k++)
        if (!strcmp(knobs[k].name, name)) {
            turn(cfg, &knobs[k], value);
            return;
        }
    if (!turn_way(way, name, value))
        unknown(name, value);
}

void gc_config(const struct gc_case *c, weir_pipeline_config *cfg,
               struct gc_way *way)
{
    char text[300], *rest = text, *word;

    weir_pipeline_defaults(cfg);
    *way = (struct gc_way){.from = 1};
    snprintf(text, sizeof(text), "%s", c->settings);
    while ((word = strsep(&rest, " "))) {
        char *value = strchr(word, '=');

        if (!value)
            continue;
        *value++ = '\0';
        set_one(cfg, way, word, value);
    }
}
