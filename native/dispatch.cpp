// Which set of kernels this machine runs.
#include "kernels.h"

#include <cstring>

#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#endif

namespace veneer {
namespace {

#if defined(__x86_64__) && defined(__GNUC__)

bool runs_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("f16c");
}
bool runs_avx512() { return __builtin_cpu_supports("avx512f"); }

#elif defined(_MSC_VER) && defined(_M_X64)

// The system must keep the wide registers (xgetbv) and the processor have the instructions (cpuid).
bool keeps(uint64_t registers) {
    int leaf[4];
    __cpuid(leaf, 1);
    return (leaf[2] >> 27 & 1) && (_xgetbv(0) & registers) == registers;
}
bool runs_avx2() {
    int one[4], seven[4];
    __cpuid(one, 1);
    __cpuidex(seven, 7, 0);
    bool fma = one[2] >> 12 & 1, f16c = one[2] >> 29 & 1, avx2 = seven[1] >> 5 & 1;
    return keeps(0x6) && fma && f16c && avx2;
}
bool runs_avx512() {
    int seven[4];
    __cpuidex(seven, 7, 0);
    return keeps(0xe6) && (seven[1] >> 16 & 1);
}

#else

bool runs_avx2() { return false; }
bool runs_avx512() { return false; }

#endif

struct Available {
    Available() {
        offer(runs_avx512() ? avx512_kernels() : nullptr);
        offer(runs_avx2() ? avx2_kernels() : nullptr);
        offer(neon_kernels());
        offer(portable_kernels());
        used = sets[0];
    }
    void offer(const Kernels *set) {
        if (set) sets[count++] = set;
    }
    const Kernels *sets[5] = {};
    int count = 0;
    const Kernels *used = nullptr;
};

Available &available() {
    static Available sets;
    return sets;
}

} // namespace

const Kernels &kernels() { return *available().used; }

const Kernels *const *available_kernels() { return available().sets; }

bool use_kernels(const char *name) {
    for (const Kernels *const *set = available_kernels(); *set; set++) {
        if (std::strcmp((*set)->name, name) != 0) continue;
        available().used = *set;
        return true;
    }
    return false;
}

} // namespace veneer
