/* settings_table.h - every setting of a pipeline, once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * X(name, option, type, member, min, max, choices, default, note, placeholder,
 *   help, key, flags)
 *
 * name     of the setting (weir_config_set), in records and in messages
 * option   what commands call it
 * type     WR_VALUE_... of `member` of weir_pipeline_config
 * min, max of numbers; max 0: no limit of its own
 * default  as text; note: what help shows instead, NULL: the default
 * help     one sentence, no capital, no full stop
 * key      "changes the bytes": where the value lies in the key of a cache of
 *          decoded samples (settings.c), WR_KEY_NEW for what came later, 0:
 *          the bytes of a sample do not depend on it
 * flags    WR_SET_...
 *
 * A new setting is a member of the config, a row here and its name in
 * WR_SETTINGS: it then has its default, checks, weir_config_set, key, job text
 * and, by one line in the command's table, its option. */
#ifndef WR_PIPELINE_SETTINGS_TABLE_H
#define WR_PIPELINE_SETTINGS_TABLE_H

#define WR_SIDE_MAX (1 << 14)

#define WR_SETTING_batch(X)                                                    \
    X(batch, "batch", U32, batch, 1, 1 << 20, NULL, "64", NULL, "N",           \
      "samples per batch", 0, WR_SET_RECORD | WR_SET_LEARN)
#define WR_SETTING_stages(X)                                                   \
    X(stages, "stages", CHOICE, stages, 0, 0, wr_stages_choices, "all", NULL,  \
      "WHAT", "what is done to each sample", 0, WR_SET_RECORD | WR_SET_FRESH)

/* pictures */
#define WR_SETTING_size(X)                                                     \
    X(size, "size", SIDES, picture.width, 1, WR_SIDE_MAX, NULL, "224x224",     \
      NULL, "WxH", "size of the pictures", 0, WR_SET_ALIAS)
#define WR_SETTING_width(X)                                                    \
    X(width, "width", U32, picture.width, 1, WR_SIDE_MAX, NULL, "224", NULL,   \
      "N", "width of the pictures", 8, WR_SET_RECORD)
#define WR_SETTING_height(X)                                                   \
    X(height, "height", U32, picture.height, 1, WR_SIDE_MAX, NULL, "224",      \
      NULL, "N", "height of the pictures", 16, WR_SET_RECORD)
#define WR_SETTING_channels(X)                                                 \
    X(channels, "channels", U32, picture.channels, 1, 3, NULL, "3", NULL, "N", \
      "3 for colour, 1 for grey", 24, WR_SET_RECORD | WR_SET_ODD)
#define WR_SETTING_dtype(X)                                                    \
    X(dtype, "dtype", CHOICE, picture.dtype, 0, 0, wr_dtype_choices, "f32",    \
      NULL, "TYPE", "element type", 32, WR_SET_RECORD)
#define WR_SETTING_layout(X)                                                   \
    X(layout, "layout", CHOICE, picture.layout, 0, 0, wr_layout_choices,       \
      "nhwc", NULL, "ORDER", "order of dimensions", 40, WR_SET_RECORD)
#define WR_SETTING_normalize(X)                                                \
    X(normalize, "normalize", CHOICE, picture.mean, 0, 0,                      \
      wr_normalize_choices, "imagenet", NULL, "HOW",                           \
      "mean and deviation of f32 and f16", 0, WR_SET_ALIAS)
#define WR_SETTING_resize(X)                                                   \
    X(resize, "resize", CHOICE, picture.resize, 0, 0, wr_resize_choices,       \
      "bilinear", NULL, "FILTER", "filter", 48, WR_SET_RECORD | WR_SET_LEARN)
#define WR_SETTING_decode(X)                                                   \
    X(decode, "decode", CHOICE, picture.decode, 0, 0, wr_decode_choices,       \
      "exact", NULL, "HOW", "how JPEG is decoded", 56,                         \
      WR_SET_RECORD | WR_SET_LEARN)
#define WR_SETTING_crop(X)                                                     \
    X(crop, "crop", CHOICE, picture.crop, 0, 0, wr_crop_choices, "none", NULL, \
      "HOW", "part of each picture to use", 64, WR_SET_RECORD | WR_SET_LEARN)
#define WR_SETTING_crop_center(X)                                              \
    X(crop_center, "crop-center", FLOATS, picture.crop_center, 0, 0, NULL,     \
      "0.875", NULL, "F",                                                      \
      "crop center: its side as a fraction of the largest possible", 96, 0)
#define WR_SETTING_mean(X)                                                     \
    X(mean, "mean", FLOATS, picture.mean, -1e6, 0, NULL, "0.485,0.456,0.406",  \
      NULL, "R,G,B", "what is subtracted from f32 and f16, of 0 to 1", 72, 0)
#define WR_SETTING_std(X)                                                      \
    X(std, "std", FLOATS, picture.std, -1e6, 0, NULL, "0.229,0.224,0.225",     \
      NULL, "R,G,B", "what f32 and f16 are divided by then", 84, 0)
#define WR_SETTING_orient(X)                                                   \
    X(orient, "orient", CHOICE, picture.orient, 0, 0, wr_orient_choices,       \
      "ignore", NULL, "HOW", "which way up pictures are; crops come after",    \
      100, WR_SET_RECORD | WR_SET_LEARN | WR_SET_LATER)
#define WR_SETTING_crop_area(X)                                                \
    X(crop_area, "crop-area", FLOATS, picture.crop_area, 0, 0, NULL, "0.08,1", \
      NULL, "A,B", "crop random: its area as a fraction of the picture's", 0,  \
      WR_SET_FRESH)
#define WR_SETTING_crop_ratio(X)                                               \
    X(crop_ratio, "crop-ratio", FLOATS, picture.crop_ratio, 0, 0, NULL,        \
      "0.75,1.3333334", "3/4 to 4/3", "A,B",                                   \
      "crop random: its width over its height", 0, WR_SET_FRESH)
#define WR_SETTING_flip(X)                                                     \
    X(flip, "flip", YES, picture.flip, 0, 0, NULL, "no", NULL, NULL,           \
      "mirror pictures at random, half of them", 0,                            \
      WR_SET_RECORD | WR_SET_LEARN | WR_SET_FRESH)

/* which samples, and in which order */
#define WR_SETTING_order(X)                                                    \
    X(order, "order", CHOICE, order, 0, 0, wr_order_choices, "shuffle", NULL,  \
      "ORDER", "order of an epoch", 0, WR_SET_RECORD | WR_SET_LEARN)
#define WR_SETTING_seed(X)                                                     \
    X(seed, "seed", U64, seed, 0, 0, NULL, "0", NULL, "N",                     \
      "seed of the shuffle", 0, WR_SET_RECORD)
#define WR_SETTING_block_samples(X)                                            \
    X(block_samples, "block-samples", U32, block_samples, 0, 0, NULL, "0",     \
      "about 1.5 MiB", "N", "order block: block size", 0, WR_SET_RECORD)
#define WR_SETTING_block_window(X)                                             \
    X(block_window, "block-window", U32, block_window, 0, 0, NULL, "16", NULL, \
      "N", "order block: blocks mixed together", 0, WR_SET_RECORD)
#define WR_SETTING_epochs(X)                                                   \
    X(epochs, "epochs", U64, epochs, 0, 0, NULL, "1", NULL, "N",               \
      "end before the epoch of this number; 0: no end", 0, WR_SET_RECORD)
#define WR_SETTING_max_batches(X)                                              \
    X(max_batches, "batches", U64, max_batches, 0, 0, NULL, "0", NULL, "N",    \
      "stop after this many batches; 0: no limit", 0, WR_SET_RECORD)
#define WR_SETTING_rank(X)                                                     \
    X(rank, "rank", U32, rank, 0, 0, NULL, "0", NULL, "R",                     \
      "take the share of rank R", 0, WR_SET_RECORD)
#define WR_SETTING_world(X)                                                    \
    X(world, "world", U32, world, 1, UINT32_MAX, NULL, "1", NULL, "W",         \
      "of W ranks", 0, WR_SET_RECORD)
#define WR_SETTING_holdout(X)                                                  \
    X(holdout, "holdout", FLOATS, holdout, 0, 0.5, NULL, "0", NULL, "F",       \
      "hold out this fraction of the samples, evenly spread, for "             \
      "validation",                                                            \
      0, WR_SET_RECORD | WR_SET_LEARN)
#define WR_SETTING_split_seed(X)                                               \
    X(split_seed, "split-seed", U64, split_seed, 0, 0, NULL, "0", NULL, "N",   \
      "seed of the choice of samples to hold out", 0,                          \
      WR_SET_RECORD | WR_SET_LEARN)
#define WR_SETTING_part(X)                                                     \
    X(part, "part", CHOICE, part, 0, 0, wr_part_choices, "all", NULL, "PART",  \
      "with --holdout: which part of the data set to use", 0, WR_SET_RECORD)
#define WR_SETTING_remainder(X)                                                \
    X(remainder, "remainder", CHOICE, remainder, 0, 0, wr_remainder_choices,   \
      "keep", NULL, "HOW", "what to do with the last, short batch", 0,         \
      WR_SET_RECORD)
#define WR_SETTING_on_error(X)                                                 \
    X(on_error, "on-error", CHOICE, on_error, 0, 0, wr_on_error_choices,       \
      "skip", NULL, "HOW", "what to do with a sample that cannot be read", 0,  \
      WR_SET_RECORD)
#define WR_SETTING_max_bad(X)                                                  \
    X(max_bad, "max-bad", U64, max_bad, 0, 0, NULL, "0", NULL, "N",            \
      "fail once more samples of an epoch were bad; 0: no limit", 0, 0)

/* how */
#define WR_SETTING_threads(X)                                                  \
    X(threads, "threads", U32, threads, 0, 1024, wr_auto_choices, "0",         \
      "one per core", "N", "workers", 0, WR_SET_RECORD)
#define WR_SETTING_depth(X)                                                    \
    X(depth, "depth", U32, depth, 1, 4096, wr_auto_choices, "32", NULL, "N",   \
      "reads in flight per worker", 0, WR_SET_RECORD)
#define WR_SETTING_prefetch(X)                                                 \
    X(prefetch, "prefetch", U32, prefetch, 0, 1024, wr_auto_choices, "1",      \
      NULL, "N",                                                               \
      "finished batches kept ahead; 0: work only while the consumer waits", 0, \
      WR_SET_RECORD)
#define WR_SETTING_memory(X)                                                   \
    X(memory, "memory", BYTES, memory, 0, 0, NULL, "0",                        \
      "a quarter of the machine's", "SIZE",                                    \
      "memory that 'auto' may use for batches and reads", 0, 0)
#define WR_SETTING_io(X)                                                       \
    X(io, "io", CHOICE, io, 0, 0, wr_io_choices, "auto", NULL, "ENGINE",       \
      "I/O engine", 0, WR_SET_RECORD)
#define WR_SETTING_direct(X)                                                   \
    X(direct, "direct", YES, direct, 0, 0, NULL, "no", NULL, NULL,             \
      "O_DIRECT: past the page cache", 0, WR_SET_RECORD)
#define WR_SETTING_cache(X)                                                    \
    X(cache, "cache", TEXT, cache, 0, 0, NULL, NULL, NULL, "TIERS",            \
      "tiers that keep samples, fastest first, with their sizes: "             \
      "ram:4GiB,/fast/dir:200GiB",                                             \
      0, WR_SET_RECORD)
#define WR_SETTING_cache_what(X)                                               \
    X(cache_what, "cache-what", CHOICE, cache_what, 0, 0,                      \
      wr_cache_what_choices, "encoded", NULL, "WHAT", "what the tiers keep",   \
      0, WR_SET_RECORD)

/* All of them, in the order of records and job texts. */
/* which fields: keys of caches have it by arrays.c */
#define WR_SETTING_fields(X)                                                   \
    X(fields, "fields", TEXT, fields, 0, 0, NULL, NULL,                        \
      "all but those of bytes", "NAMES",                                       \
      "fields to deliver, as image,mask,label; * for all", 0, WR_SET_RECORD)

/* a range of the samples */
#define WR_SETTING_sample_first(X)                                             \
    X(sample_first, "sample-first", U64, sample_first, 0, 0, NULL, "0", NULL,  \
      "N", "use the samples from this one on, counted from 0", 0, 0)
#define WR_SETTING_sample_count(X)                                             \
    X(sample_count, "sample-count", U64, sample_count, 0, 0, NULL, "0", NULL,  \
      "N", "use so many samples; 0: all that follow", 0, 0)

#define WR_SETTINGS_1(X, a) WR_SETTING_##a(X)
#define WR_SETTINGS_4(X, a, b, c, d)                                           \
    WR_SETTING_##a(X) WR_SETTING_##b(X) WR_SETTING_##c(X) WR_SETTING_##d(X)
#define WR_SETTINGS(X)                                                         \
    WR_SETTINGS_4(X, batch, stages, size, width)                               \
    WR_SETTINGS_4(X, height, channels, dtype, layout)                          \
    WR_SETTINGS_4(X, normalize, resize, decode, crop)                          \
    WR_SETTINGS_4(X, crop_center, mean, std, orient)                           \
    WR_SETTINGS_4(X, crop_area, crop_ratio, flip, order)                       \
    WR_SETTINGS_4(X, seed, block_samples, block_window, epochs)                \
    WR_SETTINGS_4(X, max_batches, rank, world, holdout)                        \
    WR_SETTINGS_4(X, split_seed, part, remainder, on_error)                    \
    WR_SETTINGS_4(X, max_bad, threads, depth, prefetch)                        \
    WR_SETTINGS_4(X, memory, io, direct, cache)                                \
    WR_SETTINGS_1(X, cache_what)                                               \
    WR_SETTINGS_1(X, fields)                                                   \
    WR_SETTINGS_1(X, sample_first)                                             \
    WR_SETTINGS_1(X, sample_count)

#endif
