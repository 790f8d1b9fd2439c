/* weir.h - feeds training from storage. Includes the whole public API.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program opens a data set, opens a pipeline on it, and takes batches:
 *
 *     weir_dataset *ds;
 *     weir_pipeline *p;
 *     const weir_batch *b;
 *     weir_pipeline_config cfg;
 *     weir_err err;
 *     int r;
 *
 *     if (weir_dataset_open(&ds, "/data/train", NULL, &err) < 0)
 *         die(err.msg);
 *     weir_pipeline_defaults(&cfg);
 *     if (weir_pipeline_open(&p, ds, &cfg, &err) < 0)
 *         die(err.msg);
 *     while ((r = weir_pipeline_next(p, &b, &err)) > 0) {
 *         train(b->data, b->labels, b->count);
 *         weir_batch_release(b);
 *     }
 *     if (r < 0)
 *         die(err.msg);
 *     weir_pipeline_close(&p);
 *     weir_dataset_close(&ds);
 *
 * The library never prints, never exits and installs no signal handlers. After
 * fork the child must not use handles of the parent.
 */
#ifndef WEIR_WEIR_H
#define WEIR_WEIR_H

#include "weir/error.h"
#include "weir/dtype.h"
#include "weir/io.h"
#include "weir/picture.h"
#include "weir/split.h"
#include "weir/config.h"
#include "weir/dataset.h"
#include "weir/batch.h"
#include "weir/pipeline.h"
#include "weir/checkpoint.h"
#include "weir/ckpt_manage.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_VERSION_MAJOR 0
#define WEIR_VERSION_MINOR 1
#define WEIR_VERSION_PATCH 0
#define WEIR_VERSION                                                           \
    (WEIR_VERSION_MAJOR * 10000 + WEIR_VERSION_MINOR * 100 + WEIR_VERSION_PATCH)

/* Version of the library at run time, as WEIR_VERSION; static text for
 * people. Safe from any thread. */
WEIR_API int weir_version(void);
WEIR_API const char *weir_version_string(void);

#ifdef __cplusplus
}
#endif
#endif
