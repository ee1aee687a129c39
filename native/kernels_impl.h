// The products, written once over a vector type V that each instruction set brings.
//
// V has: value (the register), WIDTH, zero, load(const float *), load_f16, load_bf16
// (const uint16_t *), set(float), store, add, fma(a, b, c) = a * b + c, sum. A file that includes
// this may use nothing that other files share a copy of (std:: functions included), or the linker
// might keep the copy that this machine cannot run.
#pragma once

#include "kernels.h"
#include "numbers.h"

namespace veneer {
namespace {

struct F32 {
    using stored = float;
    template <class V> static typename V::value load(const float *p) { return V::load(p); }
    static float one(float v) { return v; }
};

struct F16 {
    using stored = uint16_t;
    template <class V> static typename V::value load(const uint16_t *p) { return V::load_f16(p); }
    static float one(uint16_t v) { return widened_f16(v); }
};

struct Bf16 {
    using stored = uint16_t;
    template <class V> static typename V::value load(const uint16_t *p) { return V::load_bf16(p); }
    static float one(uint16_t v) { return widened_bf16(v); }
};

// R rows of a against N rows of x. Each sum runs in the same order whatever R and N are: a token's
// result must not depend on what else is in the batch.
template <class V, class T, int R, int N>
void dots_block(const typename T::stored *a, int64_t n_cols, const float *const *x, int64_t k,
                float *const *y) {
    typename V::value sum[R][N];
    for (int r = 0; r < R; r++)
        for (int i = 0; i < N; i++) sum[r][i] = V::zero();
    int64_t j = 0;
    for (; j + V::WIDTH <= n_cols; j += V::WIDTH) {
        typename V::value in[N];
        for (int i = 0; i < N; i++) in[i] = V::load(x[i] + j);
        for (int r = 0; r < R; r++) {
            typename V::value w = T::template load<V>(a + r * n_cols + j);
            for (int i = 0; i < N; i++) sum[r][i] = V::fma(w, in[i], sum[r][i]);
        }
    }
    for (int r = 0; r < R; r++)
        for (int i = 0; i < N; i++) {
            float total = V::sum(sum[r][i]);
            for (int64_t t = j; t < n_cols; t++) total += T::one(a[r * n_cols + t]) * x[i][t];
            y[i][k + r] = total;
        }
}

template <class V, class T, int N>
void dots_rows(const typename T::stored *a, int64_t n_rows, int64_t n_cols, const float *const *x,
               float *const *y) {
    int64_t k = 0;
    for (; k + 4 <= n_rows; k += 4) dots_block<V, T, 4, N>(a + k * n_cols, n_cols, x, k, y);
    for (; k < n_rows; k++) dots_block<V, T, 1, N>(a + k * n_cols, n_cols, x, k, y);
}

template <class V, class T>
void dots_typed(const void *a, int64_t n_rows, int64_t n_cols, const float *const *x, int64_t n,
                float *const *y) {
    const auto *w = static_cast<const typename T::stored *>(a);
    int64_t i = 0;
    for (; i + 3 <= n; i += 3) dots_rows<V, T, 3>(w, n_rows, n_cols, x + i, y + i);
    if (n - i == 2) dots_rows<V, T, 2>(w, n_rows, n_cols, x + i, y + i);
    if (n - i == 1) dots_rows<V, T, 1>(w, n_rows, n_cols, x + i, y + i);
}

// P panels of b for N rows: several sums at a time, so that none waits for its last step.
template <class V, class T, int P, int N>
void panel_block(const typename T::stored *b, int64_t rank, const float *const *u,
                 float (*out)[N][PANEL]) {
    constexpr int LANES = PANEL / V::WIDTH;
    typename V::value sum[P][N][LANES];
    for (int p = 0; p < P; p++)
        for (int i = 0; i < N; i++)
            for (int l = 0; l < LANES; l++) sum[p][i][l] = V::zero();
    for (int64_t k = 0; k < rank; k++)
        for (int p = 0; p < P; p++) {
            const typename T::stored *row = b + (p * rank + k) * PANEL;
            typename V::value w[LANES];
            for (int l = 0; l < LANES; l++) w[l] = T::template load<V>(row + l * V::WIDTH);
            for (int i = 0; i < N; i++) {
                typename V::value c = V::set(u[i][k]);
                for (int l = 0; l < LANES; l++) sum[p][i][l] = V::fma(w[l], c, sum[p][i][l]);
            }
        }
    for (int p = 0; p < P; p++)
        for (int i = 0; i < N; i++)
            for (int l = 0; l < LANES; l++) V::store(out[p][i] + l * V::WIDTH, sum[p][i][l]);
}

template <class V>
void add_whole(const float *sum, float gain, const float *gains, float *y) {
    for (int l = 0; l < PANEL; l += V::WIDTH) {
        typename V::value g = gains ? V::load(gains + l) : V::set(gain);
        V::store(y + l, V::fma(V::load(sum + l), g, V::load(y + l)));
    }
}

inline void add_part(const float *sum, int64_t count, float gain, const float *gains, float *y) {
    for (int64_t l = 0; l < count; l++) y[l] += sum[l] * (gains ? gains[l] : gain);
}

// Panels from output o on, as many as there are by P. Gives the output after them.
template <class V, class T, int P, int N>
int64_t panels_from(const typename T::stored *b, int64_t o, int64_t n_out, int64_t rank,
                    const float *const *u, float gain, const float *gains, float *const *y) {
    for (; n_out - o > (P - 1) * PANEL; o += P * PANEL) {
        alignas(64) float sum[P][N][PANEL];
        panel_block<V, T, P, N>(b + o * rank, rank, u, sum);
        for (int p = 0; p < P; p++)
            for (int i = 0; i < N; i++) {
                int64_t at = o + p * PANEL;
                const float *g = gains ? gains + at : nullptr;
                if (at + PANEL <= n_out) add_whole<V>(sum[p][i], gain, g, y[i] + at);
                else add_part(sum[p][i], n_out - at, gain, g, y[i] + at);
            }
    }
    return o < n_out ? o : n_out;
}

template <class V, class T, int N>
void panels_rows(const typename T::stored *b, int64_t n_out, int64_t rank, const float *const *u,
                 float gain, const float *gains, float *const *y) {
    int64_t o = N > 1 ? 0 : panels_from<V, T, 4, N>(b, 0, n_out, rank, u, gain, gains, y);
    panels_from<V, T, 1, N>(b, o, n_out, rank, u, gain, gains, y);
}

template <class V, class T>
void panels_typed(const void *b, int64_t n_out, int64_t rank, const float *const *u, int64_t n,
                  float gain, const float *gains, float *const *y) {
    const auto *w = static_cast<const typename T::stored *>(b);
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) panels_rows<V, T, 4>(w, n_out, rank, u + i, gain, gains, y + i);
    for (; i < n; i++) panels_rows<V, T, 1>(w, n_out, rank, u + i, gain, gains, y + i);
}

template <class V, class T> void widen_typed(const void *a, int64_t n, float *y) {
    const auto *w = static_cast<const typename T::stored *>(a);
    int64_t j = 0;
    for (; j + V::WIDTH <= n; j += V::WIDTH) V::store(y + j, T::template load<V>(w + j));
    for (; j < n; j++) y[j] = T::one(w[j]);
}

template <class V>
void dots(Type type, const void *a, int64_t n_rows, int64_t n_cols, const float *const *x,
          int64_t n, float *const *y) {
    if (type == Type::f32) dots_typed<V, F32>(a, n_rows, n_cols, x, n, y);
    else if (type == Type::f16) dots_typed<V, F16>(a, n_rows, n_cols, x, n, y);
    else dots_typed<V, Bf16>(a, n_rows, n_cols, x, n, y);
}

template <class V>
void add_panels(Type type, const void *b, int64_t n_out, int64_t rank, const float *const *u,
                int64_t n, float gain, const float *gains, float *const *y) {
    if (type == Type::f32) panels_typed<V, F32>(b, n_out, rank, u, n, gain, gains, y);
    else if (type == Type::f16) panels_typed<V, F16>(b, n_out, rank, u, n, gain, gains, y);
    else panels_typed<V, Bf16>(b, n_out, rank, u, n, gain, gains, y);
}

template <class V> void widen(Type type, const void *a, int64_t n, float *y) {
    if (type == Type::f32) widen_typed<V, F32>(a, n, y);
    else if (type == Type::f16) widen_typed<V, F16>(a, n, y);
    else widen_typed<V, Bf16>(a, n, y);
}

template <class V> const Kernels *table(const char *name) {
    static const Kernels kernels = {name, dots<V>, add_panels<V>, widen<V>};
    return &kernels;
}

} // namespace
} // namespace veneer
