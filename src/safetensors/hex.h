/* hex.h - hexadecimal digits, lower case, of checksums and bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_SAFETENSORS_HEX_H
#define WR_SAFETENSORS_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool wr_hex_is(const char *text, size_t digits)
{
    for (size_t k = 0; k < digits; k++)
        if (!(text[k] >= '0' && text[k] <= '9') &&
            !(text[k] >= 'a' && text[k] <= 'f'))
            return false;
    return true;
}

/* Of digits that wr_hex_is knows. */
static inline uint32_t wr_hex_digit(char c)
{
    return (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* 8 digits. */
static inline uint32_t wr_hex_u32(const char *text)
{
    uint32_t v = 0;

    for (int k = 0; k < 8; k++)
        v = v << 4 | wr_hex_digit(text[k]);
    return v;
}

static inline void wr_hex_bytes(const char *text, size_t bytes, uint8_t *ret)
{
    for (size_t k = 0; k < bytes; k++)
        ret[k] = (uint8_t)(wr_hex_digit(text[2 * k]) << 4 |
                           wr_hex_digit(text[2 * k + 1]));
}

/* 2 digits a byte, no NUL. */
static inline void wr_hex_put_bytes(const uint8_t *bytes, size_t len, char *ret)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t k = 0; k < len; k++) {
        ret[2 * k] = digits[bytes[k] >> 4];
        ret[2 * k + 1] = digits[bytes[k] & 15];
    }
}

/* 8 digits, no NUL. */
static inline void wr_hex_put_u32(uint32_t v, char *ret)
{
    const uint8_t bytes[4] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16),
                              (uint8_t)(v >> 8), (uint8_t)v};

    wr_hex_put_bytes(bytes, sizeof(bytes), ret);
}

#endif
