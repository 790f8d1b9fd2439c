/* copy_past.c - copies that leave the caches alone.
 * SPDX-License-Identifier: Apache-2.0 */
#include "safetensors/copy_past.h"

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/mem.h"

#if defined(__SSE2__)
void wr_copy_past(void *to, const void *from, size_t len)
{
    size_t head = WR_MIN(len, -(uintptr_t)to % 64), i;
    const uint8_t *src = from;
    uint8_t *dst = to;

    memcpy(dst, src, head);
    dst += head;
    src += head;
    len -= head;
    for (i = 0; i + 64 <= len; i += 64) {
        __m128i a = _mm_loadu_si128((const __m128i *)(src + i));
        __m128i b = _mm_loadu_si128((const __m128i *)(src + i + 16));
        __m128i c = _mm_loadu_si128((const __m128i *)(src + i + 32));
        __m128i d = _mm_loadu_si128((const __m128i *)(src + i + 48));

        _mm_prefetch((const char *)src + i + 1024, _MM_HINT_NTA);
        _mm_stream_si128((__m128i *)(dst + i), a);
        _mm_stream_si128((__m128i *)(dst + i + 16), b);
        _mm_stream_si128((__m128i *)(dst + i + 32), c);
        _mm_stream_si128((__m128i *)(dst + i + 48), d);
    }
    _mm_sfence(); /* others see it as they see a plain copy */
    memcpy(dst + i, src + i, len - i);
}
#else
void wr_copy_past(void *to, const void *from, size_t len)
{
    memcpy(to, from, len);
}
#endif
