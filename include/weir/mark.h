/* mark.h - marks of a program in its own trace.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program that calls WEIR_MARK("step") once per step has its steps exact in
 * what `weir trace` records. Without weir trace nothing happens, and nothing is
 * linked: the symbol is weak, and only the library that is preloaded has it.
 */
#ifndef WEIR_MARK_H
#define WEIR_MARK_H

#ifdef __cplusplus
extern "C" {
#endif

/* There only in a traced program: call it through WEIR_MARK. `text` is kept with
 * the time; equal texts are one kind of mark. */
#if defined(__GNUC__)
__attribute__((weak, visibility("default")))
#endif
extern void
weir_mark(const char *text);

#if defined(__GNUC__)
#define WEIR_MARK(text)                                                        \
    do {                                                                       \
        if (weir_mark)                                                         \
            weir_mark(text);                                                   \
    } while (0)
#else
#define WEIR_MARK(text) ((void)(text))
#endif

#ifdef __cplusplus
}
#endif

#endif
