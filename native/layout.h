// Where a ggml_tensor keeps its fields, found in the loaded library at start-up.
//
// Nothing here is compiled against ggml's headers, so that one build serves every llama.cpp: the
// fields are looked for in tensors that the library itself makes, and a field that is not found in
// exactly one place ends the search with the reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace veneer {

struct ProbeError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Layout {
    // Offsets in bytes.
    uint32_t type = 0, buffer = 0, ne = 0, nb = 0, op = 0, src = 0, data = 0, name = 0;
    // Numbers of operations. `views` are those that compute nothing.
    int32_t mul_mat = 0, mul_mat_id = 0, get_rows = 0, mul = 0, add = 0;
    int32_t views[4] = {0, 0, 0, 0};
    // The operation that calls a function (MAP_CUSTOM1), and where its node keeps which one, for how
    // many threads, and what is handed to it.
    int32_t call = 0;
    uint32_t call_function = 0, call_tasks = 0, call_data = 0;
    // Numbers of types.
    int32_t f32 = 0, i32 = 0;
    // How to reach a tensor that is not in this process' memory.
    bool (*is_host)(void *buffer) = nullptr;
    void (*tensor_get)(const void *tensor, void *data, size_t offset, size_t size) = nullptr;
    void (*tensor_set)(void *tensor, const void *data, size_t offset, size_t size) = nullptr;
};

// Raises ProbeError.
Layout probe(const std::string &library);

// A ggml_tensor seen through a layout.
class Node {
  public:
    Node(const Layout &layout, void *tensor) : l_(&layout), p_(static_cast<char *>(tensor)) {}
    explicit operator bool() const { return p_ != nullptr; }
    void *tensor() const { return p_; }
    int32_t type() const { return at<int32_t>(l_->type); }
    int32_t op() const { return at<int32_t>(l_->op); }
    int64_t ne(int i) const { return at<int64_t>(l_->ne + 8 * i); }
    int64_t nb(int i) const { return at<int64_t>(l_->nb + 8 * i); }
    Node src(int i) const { return Node(*l_, at<void *>(l_->src + sizeof(void *) * i)); }
    char *data() const { return at<char *>(l_->data); }
    void *buffer() const { return at<void *>(l_->buffer); }
    const char *name() const { return p_ + l_->name; }
    // Whether it computes nothing.
    bool is_view() const {
        for (int32_t view : l_->views)
            if (op() == view) return true;
        return false;
    }
    const Layout &layout() const { return *l_; }
    // Rows of the whole tensor, whatever its dimensions.
    int64_t rows() const { return ne(1) * ne(2) * ne(3); }
    template <class T> T at(size_t offset) const {
        T value;
        std::memcpy(&value, p_ + offset, sizeof value);
        return value;
    }
    template <class T> void put(size_t offset, T value) {
        std::memcpy(p_ + offset, &value, sizeof value);
    }

  private:
    const Layout *l_;
    char *p_;
};

} // namespace veneer
