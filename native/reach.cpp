#include "reach.h"

namespace veneer {
namespace {

// Bytes from the first element to the end of the last one. Every type of activation has 4.
size_t span(Node node) {
    size_t last = 0;
    for (int i = 0; i < 4; i++) {
        if (node.ne(i) == 0) return 0;
        last += size_t(node.ne(i) - 1) * size_t(node.nb(i));
    }
    return last + 4;
}

} // namespace

bool Reach::here(Node node) const {
    return !copies_ && (!node.buffer() || layout_.is_host(node.buffer()));
}

char *Reach::open(Node node, int slot) {
    if (here(node)) return node.data();
    size_t size = span(node);
    copy_[slot].resize(size);
    layout_.tensor_get(node.tensor(), copy_[slot].data(), 0, size);
    return copy_[slot].data();
}

void Reach::close(Node node, int slot) {
    if (!here(node)) layout_.tensor_set(node.tensor(), copy_[slot].data(), 0, span(node));
}

std::vector<int32_t> Reach::integers(Node node) {
    std::vector<int32_t> numbers;
    if (span(node) == 0) return numbers;
    const char *data = open(node, 2);
    numbers.reserve(size_t(node.ne(0) * node.rows()));
    for (int64_t r = 0; r < node.ne(1); r++)
        for (int64_t i = 0; i < node.ne(0); i++) {
            int32_t number;
            std::memcpy(&number, data + r * node.nb(1) + i * node.nb(0), sizeof number);
            numbers.push_back(number);
        }
    return numbers;
}

} // namespace veneer
