/* folder.h - the folder of a study: cells, data, results.
 * SPDX-License-Identifier: Apache-2.0
 *
 * FOLDER/cells has a file for each cell, FOLDER/data what is measured with;
 * study.json and study.html are the results. Only FOLDER/cells and FOLDER/data
 * are ever removed, and only what a study made in them. */
#ifndef WR_STUDY_FOLDER_H
#define WR_STUDY_FOLDER_H

#include "study/study.h"

#define WR_FOLDER_PATH 4300

/* FOLDER/NAME, into buf of WR_FOLDER_PATH bytes. */
void wr_folder_path(const struct wr_study *st, const char *name, char *buf);

/* Makes the folder with cells and data in it, and takes it for this study alone
 * (WEIR_EBUSY: another is at work there). A folder that holds other things is
 * refused. What a study that was killed left half done is removed; with `fresh`
 * the cells that are there are, too. */
int wr_folder_make(struct wr_study *st, weir_err *err);

/* Removes what was half done. */
int wr_folder_tidy(const struct wr_study *st, weir_err *err);

/* Bytes that may still be written there. */
int wr_folder_space(const struct wr_study *st, uint64_t *ret, weir_err *err);

/* Removes FOLDER/data/NAME and all in it, if it is there. */
int wr_folder_remove(const struct wr_study *st, const char *name,
                     weir_err *err);

/* Bytes in FOLDER/data. */
uint64_t wr_folder_data_bytes(const struct wr_study *st);

/* Removes FOLDER/data. */
int wr_folder_clean(const char *folder, weir_err *err);

#endif
