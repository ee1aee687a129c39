#include "factors.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "numbers.h"

namespace veneer {
namespace {

// More than any model has; products of three of these fit 64 bits.
constexpr int64_t LARGEST = int64_t(1) << 20;

void require(bool holds, const char *message) {
    if (!holds) throw std::invalid_argument(message);
}

size_t count_of(const Array &array) {
    size_t count = 1;
    for (int64_t size : array.shape) {
        require(size > 0 && size <= LARGEST, "a dimension is empty or too large");
        count *= size_t(size);
    }
    return count;
}

float number(const Array &array, size_t index) {
    if (array.type == Type::f32) return static_cast<const float *>(array.data)[index];
    uint16_t bits = static_cast<const uint16_t *>(array.data)[index];
    return array.type == Type::f16 ? widened_f16(bits) : widened_bf16(bits);
}

} // namespace

Packed::Packed(const Array &array, size_t count) : Packed(array.type, count) {
    std::memcpy(bytes_.data(), array.data, bytes_.size());
}

LowRank::LowRank(const Array &a, const Array &b, uint64_t share_) : share(share_) {
    size_t dims = a.shape.size();
    require((dims == 2 || dims == 3) && b.shape.size() == dims, "A and B need 2 or 3 dimensions");
    size_t count = count_of(a);
    count_of(b);
    n_expert = dims == 3 ? a.shape[0] : 0;
    require(dims == 2 || b.shape[0] == n_expert, "A and B have different numbers of experts");
    rank = a.shape[dims - 2];
    n_in = a.shape[dims - 1];
    n_out = b.shape[dims - 2];
    require(b.shape[dims - 1] == rank, "A and B have different ranks");
    a_ = Packed(a, count);
    pack_b(b);
}

template <class T> static void pack(const T *from, int64_t n_out, int64_t rank, T *to) {
    for (int64_t o = 0; o < n_out; o++)
        for (int64_t k = 0; k < rank; k++)
            to[(o / PANEL * rank + k) * PANEL + o % PANEL] = from[o * rank + k];
}

void LowRank::pack_b(const Array &b) {
    int64_t experts = std::max<int64_t>(n_expert, 1);
    b_ = Packed(b.type, size_t(experts * panels() * rank * PANEL));
    for (int64_t e = 0; e < experts; e++) {
        int64_t from = e * n_out * rank;
        void *to = b_.at(e * panels() * rank * PANEL);
        if (b.type == Type::f32)
            pack(static_cast<const uint32_t *>(b.data) + from, n_out, rank,
                 static_cast<uint32_t *>(to));
        else
            pack(static_cast<const uint16_t *>(b.data) + from, n_out, rank,
                 static_cast<uint16_t *>(to));
    }
}

void LowRank::column(int64_t token, float *u) const {
    for (int64_t k = 0; k < rank; k++) kernels().widen(a_.type(), a_.at(k * n_in + token), 1, u + k);
}

SparseRows::SparseRows(const int64_t *indptr, int64_t rows, const int32_t *indices,
                       const Array &values, int64_t cols)
    : n_rows(rows), n_cols(cols) {
    require(n_rows > 0 && n_rows <= LARGEST && n_cols > 0 && n_cols <= LARGEST,
            "a dimension is empty or too large");
    require(values.shape.size() == 1, "values need one dimension");
    int64_t count = values.shape[0];
    require(indptr[0] == 0 && indptr[n_rows] == count, "indptr does not span the values");
    for (int64_t r = 0; r < n_rows; r++) require(indptr[r] <= indptr[r + 1], "indptr falls");
    for (int64_t i = 0; i < count; i++)
        require(indices[i] >= 0 && indices[i] < n_cols, "a column is out of range");
    indptr_.assign(indptr, indptr + n_rows + 1);
    indices_.assign(indices, indices + count);
    values_.resize(size_t(count));
    for (int64_t i = 0; i < count; i++) values_[i] = number(values, i);
    for (int64_t r = 0; r < n_rows; r++)
        if (indptr_[r] < indptr_[r + 1]) filled_.push_back(int32_t(r));
}

float SparseRows::dot(int64_t row, const float *x) const {
    float total = 0;
    for (int64_t i = indptr_[row]; i < indptr_[row + 1]; i++) total += values_[i] * x[indices_[i]];
    return total;
}

void SparseRows::add_row(int64_t row, float gain, const float *gains, float *y) const {
    for (int64_t i = indptr_[row]; i < indptr_[row + 1]; i++)
        y[indices_[i]] += values_[i] * (gains ? gains[indices_[i]] : gain);
}

size_t SparseRows::nbytes() const {
    return indptr_.size() * sizeof(int64_t) + values_.size() * sizeof(float) +
           (indices_.size() + filled_.size()) * sizeof(int32_t);
}

DenseRows::DenseRows(const Array &values, const int32_t *rows, int64_t count, int64_t total)
    : n_rows(total) {
    require(values.shape.size() == 2, "values need two dimensions");
    size_t size = count_of(values);
    require(n_rows > 0 && n_rows <= LARGEST, "n_rows is empty or too large");
    n_replaced = values.shape[0];
    n_cols = values.shape[1];
    require(rows ? count == n_replaced : n_replaced == n_rows, "rows and values disagree");
    for (int64_t k = 0; rows && k < n_replaced; k++) {
        require(rows[k] >= 0 && rows[k] < n_rows, "a row is out of range");
        require(k == 0 || rows[k - 1] < rows[k], "rows do not rise");
    }
    if (rows && n_replaced < n_rows) rows_.assign(rows, rows + n_replaced);
    values_ = Packed(values, size);
}

int64_t DenseRows::find(int64_t row) const {
    if (rows_.empty()) return row;
    auto found = std::lower_bound(rows_.begin(), rows_.end(), row);
    return found != rows_.end() && *found == row ? found - rows_.begin() : -1;
}

} // namespace veneer
