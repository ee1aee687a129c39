// veneer._overlay: see engine/veneer/_overlay.pyi for what each name promises.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <variant>

#include "overlay.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace veneer;

namespace {

using AnyArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
template <class T> using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using GainArgument = std::variant<double, Vector<float>>;

struct OverlayError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Python's objects hold what the runtime shares: both may outlive the other.
template <class T> struct Held {
    std::shared_ptr<const T> it;
};
using HeldEdit = Held<Edit>;
using HeldPlan = Held<Plan>;

template <class T> using TermArgument = std::pair<Held<T>, GainArgument>;

Array array_of(const AnyArray &array) {
    Array result{Type::f32, array.data(), {}};
    nb::dlpack::dtype type = array.dtype();
    if (type == nb::dtype<float>()) result.type = Type::f32;
    else if (type.code == uint8_t(nb::dlpack::dtype_code::Float) && type.bits == 16)
        result.type = Type::f16;
    else if (type == nb::dtype<uint16_t>()) result.type = Type::bf16;
    else throw std::invalid_argument("numbers are float32, float16, or uint16 that hold bfloat16");
    for (size_t i = 0; i < array.ndim(); i++) result.shape.push_back(int64_t(array.shape(i)));
    return result;
}

template <class T> std::vector<T> vector_of(const std::optional<Vector<T>> &array) {
    return array ? std::vector<T>(array->data(), array->data() + array->shape(0)) : std::vector<T>();
}

Gain gain_of(const GainArgument &argument) {
    Gain gain;
    if (auto number = std::get_if<double>(&argument)) gain.all = float(*number);
    else gain.each = vector_of<float>(std::get<Vector<float>>(argument));
    return gain;
}

template <class T> std::vector<Term<T>> terms_of(const std::vector<TermArgument<T>> &arguments) {
    std::vector<Term<T>> terms;
    for (const auto &[factors, gain] : arguments) terms.push_back({factors.it, gain_of(gain)});
    return terms;
}

template <class T> nb::object array_from(const std::vector<T> &numbers) {
    auto *kept = new std::vector<T>(numbers);
    nb::capsule owner(kept, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner).cast();
}

using Rows = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::object product_of(const Held<LowRank> &held, const Rows &x) {
    auto edit = std::make_shared<Edit>();
    edit->low_rank.push_back({held.it, {}});
    edit->n_out = held.it->n_out;
    if (held.it->n_expert > 0 || int64_t(x.shape(1)) != held.it->n_in)
        throw std::invalid_argument("x does not fit, or there are experts");
    auto *y = new std::vector<float>(x.shape(0) * size_t(held.it->n_out));
    nb::capsule owner(y, [](void *p) noexcept { delete static_cast<std::vector<float> *>(p); });
    Work work;
    Strip &strip = work.add(edit.get(), 0).strip;
    for (size_t i = 0; i < x.shape(0); i++) {
        strip.x.push_back(x.data() + i * x.shape(1));
        strip.y.push_back(y->data() + i * size_t(held.it->n_out));
    }
    Applier(1).run(work);
    size_t shape[] = {x.shape(0), size_t(held.it->n_out)};
    return nb::ndarray<nb::numpy, float, nb::ndim<2>>(y->data(), 2, shape, owner).cast();
}

std::map<std::string, int64_t> fields_of(const Layout &l) {
    return {{"type", l.type}, {"buffer", l.buffer}, {"ne", l.ne},     {"nb", l.nb},
            {"op", l.op},     {"src", l.src},       {"data", l.data}, {"name", l.name}};
}

std::map<std::string, int64_t> ops_of(const Layout &l) {
    return {{"MUL_MAT", l.mul_mat},
            {"MUL_MAT_ID", l.mul_mat_id},
            {"GET_ROWS", l.get_rows},
            {"MUL", l.mul},
            {"ADD", l.add}};
}

nb::tuple kernel_names() {
    nb::list names;
    for (const Kernels *const *set = available_kernels(); *set; set++) names.append((*set)->name);
    return nb::tuple(names);
}

HeldEdit make_edit(const std::string &role, const std::string &name,
                   const std::vector<TermArgument<LowRank>> &low_rank,
                   const std::vector<TermArgument<SparseRows>> &sparse,
                   const std::optional<Held<DenseRows>> &replace,
                   const std::optional<Vector<float>> &scale,
                   const std::optional<Vector<float>> &bias) {
    auto edit = std::make_shared<Edit>();
    edit->role = role_named(role);
    edit->name = name;
    edit->low_rank = terms_of(low_rank);
    edit->sparse = terms_of(sparse);
    if (replace) edit->replace = replace->it;
    edit->scale = vector_of<float>(scale);
    edit->bias = vector_of<float>(bias);
    edit->check();
    return {edit};
}

HeldPlan make_plan(const std::vector<HeldEdit> &edits) {
    auto plan = std::make_shared<Plan>();
    for (const auto &edit : edits) plan->edits.push_back(edit.it);
    plan->check();
    return {plan};
}

nb::tuple edits_of(const HeldPlan &plan) {
    nb::list edits;
    for (const auto &edit : plan.it->edits) edits.append(HeldEdit{edit});
    return nb::tuple(edits);
}

Held<SparseRows> make_sparse(const Vector<int64_t> &indptr, const Vector<int32_t> &indices,
                             const AnyArray &values, int64_t n_cols) {
    Array numbers = array_of(values);
    if (indptr.shape(0) < 2 || numbers.shape.size() != 1 || indices.shape(0) != values.shape(0))
        throw std::invalid_argument("indptr, indices and values disagree");
    return {std::make_shared<SparseRows>(indptr.data(), int64_t(indptr.shape(0)) - 1,
                                         indices.data(), numbers, n_cols)};
}

Held<DenseRows> make_dense(const AnyArray &values, const std::optional<Vector<int32_t>> &rows,
                           int64_t n_rows) {
    return {std::make_shared<DenseRows>(array_of(values), rows ? rows->data() : nullptr,
                                        rows ? int64_t(rows->shape(0)) : 0, n_rows)};
}

void begin(Overlay &overlay, const Vector<int32_t> &tokens,
           const std::optional<std::vector<std::optional<HeldPlan>>> &plans,
           const std::optional<Vector<int32_t>> &rows) {
    if (plans.has_value() != rows.has_value())
        throw std::invalid_argument("plans and rows come together");
    Plans held;
    if (plans)
        for (const auto &plan : *plans) held.push_back(plan ? plan->it : nullptr);
    if (rows && (held.empty() || rows->shape(0) != tokens.shape(0)))
        throw std::invalid_argument("every token needs a plan");
    for (int32_t row : vector_of<int32_t>(rows))
        if (row < 0 || size_t(row) >= held.size())
            throw std::invalid_argument("a row names a plan that is not there");
    overlay.begin(vector_of<int32_t>(tokens), std::move(held), vector_of<int32_t>(rows));
}

void finish(Overlay &overlay) {
    std::string error = overlay.finish();
    if (!error.empty()) throw OverlayError(error);
}

void bind_factors(nb::module_ &m) {
    nb::class_<Held<LowRank>>(m, "LowRank")
        .def(
            "__init__",
            [](Held<LowRank> *self, const AnyArray &a, const AnyArray &b, uint64_t share) {
                new (self) Held<LowRank>{
                    std::make_shared<LowRank>(array_of(a), array_of(b), share)};
            },
            "a"_a, "b"_a, "share"_a = 0)
        .def("product", product_of, "x"_a)
        .def_prop_ro("n_in", [](const Held<LowRank> &f) { return f.it->n_in; })
        .def_prop_ro("n_out", [](const Held<LowRank> &f) { return f.it->n_out; })
        .def_prop_ro("rank", [](const Held<LowRank> &f) { return f.it->rank; })
        .def_prop_ro("n_expert", [](const Held<LowRank> &f) { return f.it->n_expert; })
        .def_prop_ro("nbytes", [](const Held<LowRank> &f) { return f.it->nbytes(); });
    nb::class_<Held<SparseRows>>(m, "SparseRows")
        .def(
            "__init__",
            [](Held<SparseRows> *self, const Vector<int64_t> &indptr,
               const Vector<int32_t> &indices, const AnyArray &values, int64_t n_cols) {
                new (self) Held<SparseRows>(make_sparse(indptr, indices, values, n_cols));
            },
            "indptr"_a, "indices"_a, "values"_a, "n_cols"_a)
        .def_prop_ro("nbytes", [](const Held<SparseRows> &f) { return f.it->nbytes(); });
    nb::class_<Held<DenseRows>>(m, "DenseRows")
        .def(
            "__init__",
            [](Held<DenseRows> *self, const AnyArray &values,
               const std::optional<Vector<int32_t>> &rows, int64_t n_rows) {
                new (self) Held<DenseRows>(make_dense(values, rows, n_rows));
            },
            "values"_a, "rows"_a.none(), "n_rows"_a)
        .def_prop_ro("nbytes", [](const Held<DenseRows> &f) { return f.it->nbytes(); });
}

void bind_plans(nb::module_ &m) {
    nb::class_<HeldEdit>(m, "Edit")
        .def(
            "__init__",
            [](HeldEdit *self, const std::string &role, const std::string &name,
               const std::vector<TermArgument<LowRank>> &low_rank,
               const std::vector<TermArgument<SparseRows>> &sparse,
               const std::optional<Held<DenseRows>> &replace,
               const std::optional<Vector<float>> &scale,
               const std::optional<Vector<float>> &bias) {
                new (self) HeldEdit(make_edit(role, name, low_rank, sparse, replace, scale, bias));
            },
            "role"_a, "name"_a, nb::kw_only(), "low_rank"_a = nb::tuple(),
            "sparse"_a = nb::tuple(), "replace"_a.none() = nb::none(),
            "scale"_a.none() = nb::none(), "bias"_a.none() = nb::none())
        .def_prop_ro("role", [](const HeldEdit &e) { return name_of(e.it->role); })
        .def_prop_ro("name", [](const HeldEdit &e) { return e.it->name; });
    nb::class_<HeldPlan>(m, "Plan")
        .def(
            "__init__",
            [](HeldPlan *self, const std::vector<HeldEdit> &edits) {
                new (self) HeldPlan(make_plan(edits));
            },
            "edits"_a)
        .def_prop_ro("edits", edits_of)
        .def_prop_ro("nbytes", [](const HeldPlan &p) { return p.it->nbytes(); });
}

void bind_overlay(nb::module_ &m) {
    nb::class_<Overlay>(m, "Overlay")
        .def(nb::init<const Layout &, int, bool, bool>(), "layout"_a, "n_threads"_a = 1,
             "copies"_a = false, "rides"_a = false)
        .def_prop_ro("callback",
                     [](const Overlay &) { return reinterpret_cast<uintptr_t>(&Overlay::callback); })
        .def_prop_ro("user_data",
                     [](const Overlay &o) { return reinterpret_cast<uintptr_t>(&o); })
        .def(
            "publish",
            [](Overlay &o, const std::optional<HeldPlan> &plan) {
                o.publish(plan ? plan->it : nullptr);
            },
            "plan"_a.none())
        .def("begin", begin, "tokens"_a, "plans"_a.none() = nb::none(),
             "rows"_a.none() = nb::none())
        .def("finish", finish)
        .def(
            "hits",
            [](const Overlay &o, const HeldPlan &plan) {
                return array_from<int64_t>(o.hits(plan.it.get()));
            },
            "plan"_a);
}

} // namespace

NB_MODULE(_overlay, m) {
    // What a worker still holds at its end goes with the process; it is no news for its log.
    nb::set_leak_warnings(false);
    nb::exception<ProbeError>(m, "ProbeError", PyExc_RuntimeError);
    nb::exception<OverlayError>(m, "OverlayError", PyExc_RuntimeError);
    nb::class_<Layout>(m, "Layout")
        .def_prop_ro("fields", fields_of)
        .def_prop_ro("ops", ops_of);
    m.def("probe", &probe, "library"_a);
    m.def("kernels", [] { return kernels().name; });
    m.def("available_kernels", kernel_names);
    m.def(
        "use_kernels",
        [](const std::string &name) {
            if (!use_kernels(name.c_str())) throw std::invalid_argument("no kernels " + name);
        },
        "name"_a);
    bind_factors(m);
    bind_plans(m);
    bind_overlay(m);
}
