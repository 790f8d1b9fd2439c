/* set.c - a preloaded library: the program begins in the locale of its user.
 * SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>
#include <stdlib.h>

/* All of it, as any program that uses libweir may; the command's own rooms see
 * what the command sets (cli/main.c). */
__attribute__((constructor)) static void set_locale(void)
{
    setlocale(getenv("WEIR_TEST_COMMAND") ? LC_CTYPE : LC_ALL, "");
}
