#include "layout.h"

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "library.h"

namespace veneer {
namespace {

struct InitParameters {
    size_t size;
    void *buffer;
    bool no_alloc;
};

constexpr size_t ARENA = 1 << 20;
// No tensor is larger; the field that lies last (name) must lie before it.
constexpr size_t SPAN = 512;
// ggml_op_name reads past its table where there is no such operation. Every ggml since 2023 has more
// than these, and those that are looked for are among them.
constexpr int32_t OPS = 64;
constexpr int32_t TYPES = 39;

using CallFunction = void (*)(void *, const void *, int, int, void *);

// The functions of ggml that make the tensors in which the fields are looked for.
struct Ggml {
    explicit Ggml(const Library &lib)
        : init(lib.function<decltype(init)>("ggml_init")),
          free(lib.function<decltype(free)>("ggml_free")),
          new_1d(lib.function<decltype(new_1d)>("ggml_new_tensor_1d")),
          new_2d(lib.function<decltype(new_2d)>("ggml_new_tensor_2d")),
          new_3d(lib.function<decltype(new_3d)>("ggml_new_tensor_3d")),
          mul_mat(lib.function<decltype(mul_mat)>("ggml_mul_mat")),
          get_rows(lib.function<decltype(get_rows)>("ggml_get_rows")),
          mul(lib.function<decltype(mul)>("ggml_mul")),
          add(lib.function<decltype(add)>("ggml_add")),
          mul_mat_id(lib.function<decltype(mul_mat_id)>("ggml_mul_mat_id")),
          call(lib.function<decltype(call)>("ggml_map_custom1")),
          get_data(lib.function<decltype(get_data)>("ggml_get_data")),
          get_name(lib.function<decltype(get_name)>("ggml_get_name")),
          op_name(lib.function<decltype(op_name)>("ggml_op_name")),
          type_name(lib.function<decltype(type_name)>("ggml_type_name")),
          from_ptr(lib.function<decltype(from_ptr)>("ggml_backend_cpu_buffer_from_ptr")),
          buffer_free(lib.function<decltype(buffer_free)>("ggml_backend_buffer_free")),
          tensor_alloc(lib.function<decltype(tensor_alloc)>("ggml_backend_tensor_alloc")) {}

    void *(*init)(InitParameters);
    void (*free)(void *);
    void *(*new_1d)(void *, int, int64_t);
    void *(*new_2d)(void *, int, int64_t, int64_t);
    void *(*new_3d)(void *, int, int64_t, int64_t, int64_t);
    void *(*mul_mat)(void *, void *, void *);
    void *(*get_rows)(void *, void *, void *);
    void *(*mul)(void *, void *, void *);
    void *(*add)(void *, void *, void *);
    void *(*mul_mat_id)(void *, void *, void *, void *);
    void *(*call)(void *, void *, CallFunction, int, void *);
    void *(*get_data)(const void *);
    const char *(*get_name)(const void *);
    const char *(*op_name)(int);
    const char *(*type_name)(int);
    void *(*from_ptr)(void *, size_t);
    void (*buffer_free)(void *);
    int (*tensor_alloc)(void *, void *, void *);
};

struct Context {
    Context(const Ggml &ggml, char *arena, bool no_alloc)
        : ggml_(ggml), handle(ggml.init({ARENA, arena, no_alloc})) {
        if (!handle) throw ProbeError("ggml_init gave no context");
    }
    ~Context() { ggml_.free(handle); }
    Context(const Context &) = delete;
    const Ggml &ggml_;
    void *handle;
};

int32_t number_of(const char *(*name_of)(int), const char *wanted, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        const char *name = name_of(i);
        if (name && std::strcmp(name, wanted) == 0) return i;
    }
    throw ProbeError(std::string("ggml knows no ") + wanted);
}

template <class T> T read(const void *tensor, size_t offset) {
    T value;
    std::memcpy(&value, static_cast<const char *>(tensor) + offset, sizeof value);
    return value;
}

// The one offset, in steps of `step`, at which the test holds.
uint32_t only(const char *field, size_t step, const std::function<bool(size_t)> &holds) {
    std::optional<uint32_t> found;
    for (size_t offset = 0; offset + 32 <= SPAN; offset += step) {
        if (!holds(offset)) continue;
        if (found) throw ProbeError(std::string(field) + " was found in more than one place");
        found = uint32_t(offset);
    }
    if (!found) throw ProbeError(std::string(field) + " was not found");
    return *found;
}

bool holds_four(const void *tensor, size_t offset, const std::array<int64_t, 4> &wanted) {
    return std::memcmp(static_cast<const char *>(tensor) + offset, wanted.data(), 32) == 0;
}

// No thread ever calls it: it is looked for in a node that is never computed.
void called(void *, const void *, int, int, void *) {}
constexpr int64_t CALL_TASKS = 0x5eed00;

// Tensors of one set of sizes; two sets must tell the same layout.
struct Specimens {
    Specimens(const Ggml &g, void *c, int64_t n_in, int64_t n_out, int64_t n, const Layout &l)
        : weight(g.new_2d(c, l.f32, n_in, n_out)), x(g.new_2d(c, l.f32, n_in, n)),
          y(g.mul_mat(c, weight, x)), ids(g.new_1d(c, l.i32, n)), rows(g.get_rows(c, weight, ids)),
          gain(g.new_1d(c, l.f32, n_in)), product(g.mul(c, x, gain)), sum(g.add(c, x, gain)),
          experts(g.new_3d(c, l.f32, n_in, n_out, 5)), inputs(g.new_3d(c, l.f32, n_in, 1, n)),
          choice(g.new_2d(c, l.i32, 2, n)), mixed(g.mul_mat_id(c, experts, inputs, choice)),
          call(g.call(c, x, called, int(CALL_TASKS + n), ids)) {
        y_ne = {n_out, n, 1, 1};
        y_nb = {4, 4 * n_out, 4 * n_out * n, 4 * n_out * n};
    }
    void *weight, *x, *y, *ids, *rows, *gain, *product, *sum, *experts, *inputs, *choice, *mixed,
        *call;
    std::array<int64_t, 4> y_ne, y_nb;
};

void find_fields(const Ggml &g, const Specimens &s, Layout &l) {
    l.ne = only("ne", 8, [&](size_t o) { return holds_four(s.y, o, s.y_ne); });
    l.nb = only("nb", 8, [&](size_t o) { return holds_four(s.y, o, s.y_nb); });
    l.src = only("src", 8, [&](size_t o) {
        return read<void *>(s.y, o) == s.weight && read<void *>(s.y, o + 8) == s.x &&
               read<void *>(s.mixed, o) == s.experts && read<void *>(s.mixed, o + 8) == s.inputs &&
               read<void *>(s.mixed, o + 16) == s.choice && read<void *>(s.sum, o + 8) == s.gain;
    });
    l.data = only("data", 8, [&](size_t o) {
        return read<void *>(s.y, o) == g.get_data(s.y) && read<void *>(s.x, o) == g.get_data(s.x);
    });
    l.op = only("op", 4, [&](size_t o) {
        return read<int32_t>(s.y, o) == l.mul_mat && read<int32_t>(s.rows, o) == l.get_rows &&
               read<int32_t>(s.mixed, o) == l.mul_mat_id && read<int32_t>(s.sum, o) == l.add &&
               read<int32_t>(s.product, o) == l.mul && read<int32_t>(s.x, o) == 0;
    });
    l.name = uint32_t(g.get_name(s.y) - static_cast<const char *>(s.y));
    if (l.name + 64 > SPAN) throw ProbeError("name lies outside of the tensor");
}

void find_type(const Ggml &g, void *context, const Specimens &s, Layout &l) {
    int32_t f16 = number_of(g.type_name, "f16", TYPES);
    void *half = g.new_1d(context, f16, 7);
    l.type = only("type", 4, [&](size_t o) {
        return read<int32_t>(half, o) == f16 && read<int32_t>(s.ids, o) == l.i32 &&
               read<int32_t>(s.y, o) == l.f32 && read<int32_t>(s.choice, o) == l.i32;
    });
}

void find_call(const Specimens &s, int64_t n, Layout &l) {
    l.call = read<int32_t>(s.call, l.op);
    l.call_function = only("a call's function", 4, [&](size_t o) {
        return read<CallFunction>(s.call, o) == called;
    });
    l.call_tasks = only("a call's threads", 4, [&](size_t o) {
        return read<int32_t>(s.call, o) == int32_t(CALL_TASKS + n);
    });
    l.call_data =
        only("a call's data", 4, [&](size_t o) { return read<void *>(s.call, o) == s.ids; });
}

// A tensor gets its buffer from a backend, so this one is made without memory of its own.
void find_buffer(const Ggml &g, char *arena, Layout &l) {
    Context context(g, arena, true);
    void *tensor = g.new_1d(context.handle, l.f32, 8);
    alignas(64) static char memory[256];
    void *buffer = g.from_ptr(memory, sizeof memory);
    if (!buffer) throw ProbeError("ggml made no buffer");
    g.tensor_alloc(buffer, tensor, memory);
    l.buffer = only("buffer", 8, [&](size_t o) { return read<void *>(tensor, o) == buffer; });
    bool host = l.is_host(buffer);
    g.buffer_free(buffer);
    if (!host) throw ProbeError("ggml does not know its own memory");
}

void find_numbers(const Ggml &g, Layout &l) {
    l.f32 = number_of(g.type_name, "f32", TYPES);
    l.i32 = number_of(g.type_name, "i32", TYPES);
    l.mul_mat = number_of(g.op_name, "MUL_MAT", OPS);
    l.mul_mat_id = number_of(g.op_name, "MUL_MAT_ID", OPS);
    l.get_rows = number_of(g.op_name, "GET_ROWS", OPS);
    l.mul = number_of(g.op_name, "MUL", OPS);
    l.add = number_of(g.op_name, "ADD", OPS);
    const char *views[] = {"VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE"};
    for (int i = 0; i < 4; i++) l.views[i] = number_of(g.op_name, views[i], OPS);
}

bool same(const Layout &a, const Layout &b) {
    return a.type == b.type && a.ne == b.ne && a.nb == b.nb && a.op == b.op && a.src == b.src &&
           a.data == b.data && a.name == b.name && a.call == b.call &&
           a.call_function == b.call_function && a.call_tasks == b.call_tasks &&
           a.call_data == b.call_data;
}

} // namespace

Layout probe(const std::string &path) {
    Library library(path);
    Ggml ggml(library);
    Layout layout;
    layout.is_host = library.function<decltype(layout.is_host)>("ggml_backend_buffer_is_host");
    layout.tensor_get = library.function<decltype(layout.tensor_get)>("ggml_backend_tensor_get");
    layout.tensor_set = library.function<decltype(layout.tensor_set)>("ggml_backend_tensor_set");
    find_numbers(ggml, layout);
    std::vector<char> arena(ARENA);
    Layout again = layout;
    for (Layout *found : {&layout, &again}) {
        // Bytes that ggml leaves alone must not look like a field.
        std::memset(arena.data(), found == &layout ? 0xa5 : 0x5a, ARENA);
        Context context(ggml, arena.data(), false);
        int64_t step = found == &layout ? 0 : 6;
        Specimens specimens(ggml, context.handle, 37 + step, 53 + step, 11 + step, *found);
        find_fields(ggml, specimens, *found);
        find_call(specimens, 11 + step, *found);
        find_type(ggml, context.handle, specimens, *found);
    }
    if (!same(layout, again)) throw ProbeError("two sets of tensors tell different layouts");
    find_buffer(ggml, arena.data(), layout);
    return layout;
}

} // namespace veneer
