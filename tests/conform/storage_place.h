/* storage_place.h - a folder of files with a known content, and a store on it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_CONFORM_STORAGE_PLACE_H
#define TEST_CONFORM_STORAGE_PLACE_H

#include "storage/meter.h"
#include "storage/storage.h"

#define FILES 40
#define LARGE ((size_t)300000)

struct backend {
    const char *name;
    const char *prefix; /* of the URL */
    enum weir_io io;
    bool direct;
    bool lazy;
    bool own;     /* opened with WR_STORE_OWN */
    bool metered; /* a meter is put around it */
};

/* Meters borrow the stores inside: these are closed after all others. */
struct inside {
    struct wr_meter *meter; /* owned */
    struct wr_store *stores[8];
    unsigned count;
};

struct place {
    const struct backend *be; /* borrowed */
    char dir[256];
    struct inside *inside; /* owned */
    struct wr_store *st;   /* owned */
};

/* Size of file `file`, its byte `at`, its path below the place. */
size_t size_of(unsigned file);
uint8_t byte_of(unsigned file, size_t at);
void name_of(unsigned file, char *buf, size_t cap);

struct wr_store *open_store(const struct place *pl, const char *name,
                            char **ret_leaf);

/* With the backend's engine and directness. */
struct wr_queue *open_queue(const struct place *pl, unsigned depth);

/* For cmocka: *state is a backend before, a place after. */
int place_setup(void **state);
int place_teardown(void **state);

/* The tests of the read queue (storage_queue.c). */
void random_ranges(void **state);
void ranges_of_open_objects(void **state);
void bad_places(void **state);
void changed_files(void **state);
void closing_with_reads_in_flight(void **state);
void a_full_queue_takes_no_more(void **state);
void no_files_are_refused(void **state);

/* The tests of writing (storage_write.c). */
void random_writes(void **state);
void writes_past_the_end(void **state);
void mixed_reads_and_writes(void **state);
void closing_with_writes_in_flight(void **state);
void writes_where_none_can_be(void **state);
void open_to_write_what_exists(void **state);
void sync_and_resize(void **state);
void space_is_known(void **state);

/* The tests of names and locks (storage_change.c). */
void renames_that_replace_nothing(void **state);
void folders_that_swap(void **state);
void locks_have_one_holder(void **state);
void stores_in_memory_forget(void **state);

/* The tests of own stores (storage_own.c). */
void links_are_not_followed(void **state);
void paths_stay_below(void **state);
void strange_files_are_not_opened(void **state);
void a_root_may_be_behind_links(void **state);
void folders_that_become_links(void **state);

#endif
