// The products with AVX2, FMA and F16C.
#include "kernels_impl.h"

#if defined(__AVX2__) && (defined(__FMA__) || defined(_MSC_VER))
#include <immintrin.h>

namespace veneer {
namespace {

struct Avx2 {
    static constexpr int WIDTH = 8;
    using value = __m256;
    static value zero() { return _mm256_setzero_ps(); }
    static value set(float f) { return _mm256_set1_ps(f); }
    static value load(const float *p) { return _mm256_loadu_ps(p); }
    static __m128i eight(const uint16_t *p) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i *>(p));
    }
    static value load_f16(const uint16_t *p) { return _mm256_cvtph_ps(eight(p)); }
    static value load_bf16(const uint16_t *p) {
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(eight(p)), 16));
    }
    static void store(float *p, value v) { _mm256_storeu_ps(p, v); }
    static value fma(value a, value b, value c) { return _mm256_fmadd_ps(a, b, c); }
    static float sum(value v) {
        __m128 half = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
        half = _mm_add_ps(half, _mm_movehl_ps(half, half));
        return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
    }
};

} // namespace

const Kernels *avx2_kernels() { return table<Avx2>("avx2"); }

} // namespace veneer

#else

namespace veneer {
const Kernels *avx2_kernels() { return nullptr; }
} // namespace veneer

#endif
