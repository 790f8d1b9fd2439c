#!/usr/bin/python3
# powers.py - the table of powers of five that decimal numbers are made by.
# SPDX-License-Identifier: Apache-2.0
#
# usage: powers.py > number_powers.c
#
# 5^q for q = -342 .. 308, each as the 128 bits from its highest one on: rounded
# down where q is positive, up where it is negative (Lemire, "Number parsing at
# a gigabyte per second", 2021, section 5).

FIRST, LAST = -342, 308


def positive(q):
    power = 5 ** q
    while power < 1 << 127:
        power *= 2
    while power >= 1 << 128:
        power //= 2
    return power


def negative(q):
    power = 5 ** -q
    bits = (power - 1).bit_length()
    if q >= -27:
        return (1 << bits + 127) // power + 1
    c = (1 << 2 * bits + 128) // power + 1
    while c >= 1 << 128:
        c //= 2
    return c


def main():
    print("/* number_powers.c - made by scripts/powers.py.")
    print(" * SPDX-License-Identifier: Apache-2.0 */")
    print('#include "codec/number_powers.h"\n')
    print("const uint64_t wr_number_powers[WR_POWER_LAST - WR_POWER_FIRST + 1]"
          "[2] = {")
    for q in range(FIRST, LAST + 1):
        c = positive(q) if q >= 0 else negative(q)
        print(f"    {{0x{c >> 64:016x}, 0x{c & (1 << 64) - 1:016x}}},")
    print("};")


main()
