// Single numbers of the three types, for the ends of rows that no vector fills.
//
// Everything is static: the files for different instruction sets must not share one copy.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels.h"

namespace veneer {
namespace {

[[maybe_unused]] inline float from_bits(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
}

[[maybe_unused]] inline float widened_bf16(uint16_t bits) { return from_bits(uint32_t(bits) << 16); }

// Exact for every half, subnormals, infinities and NaN included.
[[maybe_unused]] inline float widened_f16(uint16_t half) {
    uint32_t sign = uint32_t(half & 0x8000) << 16;
    uint32_t magnitude = half & 0x7fff;
    if (magnitude >= 0x7c00) return from_bits(sign | 0x7f800000 | ((magnitude & 0x3ff) << 13));
    if (magnitude >= 0x0400) return from_bits(sign | ((magnitude << 13) + 0x38000000));
    float tiny = float(magnitude) * 5.9604644775390625e-8f; // 2^-24
    return sign ? -tiny : tiny;
}

} // namespace
} // namespace veneer
