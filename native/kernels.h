// The two products that cost time, in one version per instruction set, chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace veneer {

enum class Type : uint8_t { f32, f16, bf16 };

inline size_t size_of(Type type) { return type == Type::f32 ? 4 : 2; }

// Columns of B that a panel holds side by side.
constexpr int64_t PANEL = 16;

struct Kernels {
    const char *name;
    // y[i][k] = Σ_j a[k][j] x[i][j] for i < n and k < n_rows, a being n_rows x n_cols by rows.
    void (*dots)(Type type, const void *a, int64_t n_rows, int64_t n_cols, const float *const *x,
                 int64_t n, float *const *y);
    // y[i][o] += gain[o] * Σ_k b[o][k] u[i][k] for i < n and o < n_out; b is packed in panels,
    // [n_out / PANEL rounded up][rank][PANEL]. `gains` may be null: then `gain` is meant for all.
    void (*add_panels)(Type type, const void *b, int64_t n_out, int64_t rank,
                       const float *const *u, int64_t n, float gain, const float *gains,
                       float *const *y);
    // y[j] = a[j] for j < n.
    void (*widen)(Type type, const void *a, int64_t n, float *y);
};

// The set in use: the best that this machine runs, unless another was chosen.
const Kernels &kernels();
// Those that this machine runs, the best first, ended by null.
const Kernels *const *available_kernels();
// False if there is no such set here.
bool use_kernels(const char *name);

// One per source file; null where the file was compiled for another kind of machine.
const Kernels *portable_kernels();
const Kernels *avx2_kernels();
const Kernels *avx512_kernels();
const Kernels *neon_kernels();

} // namespace veneer
