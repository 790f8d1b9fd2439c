/* text.h - widths and wrapping, which live in base now.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_TEXT_H
#define WR_CLI_TEXT_H

#include "base/text.h"

#endif
