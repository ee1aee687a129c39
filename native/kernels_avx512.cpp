// The products with AVX-512F.
#include "kernels_impl.h"

#if defined(__AVX512F__)
#include <immintrin.h>

namespace veneer {
namespace {

struct Avx512 {
    static constexpr int WIDTH = 16;
    using value = __m512;
    static value zero() { return _mm512_setzero_ps(); }
    static value set(float f) { return _mm512_set1_ps(f); }
    static value load(const float *p) { return _mm512_loadu_ps(p); }
    static __m256i sixteen(const uint16_t *p) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p));
    }
    static value load_f16(const uint16_t *p) { return _mm512_cvtph_ps(sixteen(p)); }
    static value load_bf16(const uint16_t *p) {
        return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(sixteen(p)), 16));
    }
    static void store(float *p, value v) { _mm512_storeu_ps(p, v); }
    static value fma(value a, value b, value c) { return _mm512_fmadd_ps(a, b, c); }
    static float sum(value v) { return _mm512_reduce_add_ps(v); }
};

} // namespace

const Kernels *avx512_kernels() { return table<Avx512>("avx512"); }

} // namespace veneer

#else

namespace veneer {
const Kernels *avx512_kernels() { return nullptr; }
} // namespace veneer

#endif
