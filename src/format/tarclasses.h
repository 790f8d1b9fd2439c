/* tarclasses.h - folders of keys as classes of samples.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_TARCLASSES_H
#define WR_FORMAT_TARCLASSES_H

#include "format/format.h"

/* Labels are in the archives, or else nowhere: then the first folder of each
 * key is its class. That is known when all is read. */
int wr_tar_classify(struct wr_index_job *job, weir_err *err);

#endif
