/* images.h - what a tree of pictures may look like, for those who make one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_IMAGES_H
#define WR_FORMAT_IMAGES_H

/* Folders inside each other, the root included; deeper ones are not read. */
#define WR_IMAGES_DEPTH 64

#endif
