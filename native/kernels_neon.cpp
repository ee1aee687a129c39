// The products with NEON, which every 64-bit ARM has.
#include "kernels_impl.h"

#if defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>

namespace veneer {
namespace {

struct Neon {
    static constexpr int WIDTH = 4;
    using value = float32x4_t;
    static value zero() { return vdupq_n_f32(0); }
    static value set(float f) { return vdupq_n_f32(f); }
    static value load(const float *p) { return vld1q_f32(p); }
    static value load_f16(const uint16_t *p) {
        return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
    }
    static value load_bf16(const uint16_t *p) {
        return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16));
    }
    static void store(float *p, value v) { vst1q_f32(p, v); }
    static value fma(value a, value b, value c) { return vfmaq_f32(c, a, b); }
    static float sum(value v) { return vaddvq_f32(v); }
};

} // namespace

const Kernels *neon_kernels() { return table<Neon>("neon"); }

} // namespace veneer

#else

namespace veneer {
const Kernels *neon_kernels() { return nullptr; }
} // namespace veneer

#endif
