/* choices.h - the words that keys of a description take.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_WORKLOAD_CHOICES_H
#define WR_WORKLOAD_CHOICES_H

#include "base/value.h"

/* The names of the enums of workload.h, for records and messages
 * (wr_choice_name). */
extern const struct wr_choice wr_wl_frameworks[], wr_wl_formats[],
    wr_wl_shuffles[], wr_wl_accesses[], wr_wl_read_types[], wr_wl_consumes[],
    wr_wl_contents[], wr_wl_laws[];

/* Words that stay text; the value of a type is its size in bytes. */
extern const struct wr_choice wr_wl_element_types[], wr_wl_state_types[],
    wr_wl_loaders[], wr_wl_compressions[], wr_wl_modes[];

#endif
