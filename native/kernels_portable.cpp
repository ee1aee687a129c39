// The products for any machine: eight numbers at a time, which compilers turn into what they have.
#include "kernels_impl.h"

namespace veneer {
namespace {

struct Portable {
    static constexpr int WIDTH = 8;
    struct value {
        float lane[WIDTH];
    };
    template <class F> static value each(F lane) {
        value v;
        for (int i = 0; i < WIDTH; i++) v.lane[i] = lane(i);
        return v;
    }
    static value zero() { return set(0); }
    static value set(float f) {
        return each([=](int) { return f; });
    }
    static value load(const float *p) {
        return each([=](int i) { return p[i]; });
    }
    static value load_f16(const uint16_t *p) {
        return each([=](int i) { return widened_f16(p[i]); });
    }
    static value load_bf16(const uint16_t *p) {
        return each([=](int i) { return widened_bf16(p[i]); });
    }
    static void store(float *p, const value &v) {
        for (int i = 0; i < WIDTH; i++) p[i] = v.lane[i];
    }
    static value fma(const value &a, const value &b, const value &c) {
        return each([&](int i) { return a.lane[i] * b.lane[i] + c.lane[i]; });
    }
    static float sum(const value &v) {
        float total = 0;
        for (int i = 0; i < WIDTH; i++) total += v.lane[i];
        return total;
    }
};

} // namespace

const Kernels *portable_kernels() { return table<Portable>("portable"); }

} // namespace veneer
