/* patient.h - machines to examine: a root with files, and what is found there.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_DOCTOR_PATIENT_H
#define TEST_DOCTOR_PATIENT_H

#include "doctor/doctor.h"

struct patient {
    char root[64];           /* "" for the machine that the test runs on */
    struct wr_finding *list; /* owned */
    size_t count;
};

/* A root that a shell script fills; NULL: this machine itself. */
void patient_make(struct patient *p, const char *script);

/* Examines it, with one path or none (NULL). */
void patient_examine(struct patient *p, const char *path);

/* What a check found, which must be there; NULL when it was not made. */
const struct wr_finding *patient_finding(const struct patient *p,
                                         const char *check);
void patient_done(struct patient *p);

/* Asserts health, and that `found` and `remedy` are parts of its texts. */
void patient_has(const struct patient *p, const char *check,
                 enum wr_health health, const char *found, const char *remedy);

#endif
