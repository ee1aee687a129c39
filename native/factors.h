// What adapters bring: numbers that are checked and packed once, and never changed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels.h"

namespace veneer {

// An array as a caller hands it over: C-contiguous.
struct Array {
    Type type;
    const void *data;
    std::vector<int64_t> shape;
};

// Packed numbers of one type.
class Packed {
  public:
    Packed() = default;
    Packed(Type type, size_t count) : type_(type), bytes_(count * size_of(type)) {}
    Packed(const Array &array, size_t count);
    Type type() const { return type_; }
    const void *at(int64_t index) const { return bytes_.data() + index * size_of(type_); }
    void *at(int64_t index) { return bytes_.data() + index * size_of(type_); }
    size_t nbytes() const { return bytes_.size(); }

  private:
    Type type_ = Type::f32;
    std::vector<unsigned char> bytes_;
};

// The product B A, for one weight or for a stack of experts' weights.
class LowRank {
  public:
    // a (rank, n_in) and b (n_out, rank), both with experts in front or both without. Raises
    // std::invalid_argument.
    LowRank(const Array &a, const Array &b, uint64_t share);
    int64_t n_in, n_out, rank, n_expert;
    // Equal and not zero where A is the same.
    uint64_t share;
    Type a_type() const { return a_.type(); }
    Type b_type() const { return b_.type(); }
    // From row k of A, and from panel p of B, on.
    const void *a(int64_t expert, int64_t k = 0) const {
        return a_.at((expert * rank + k) * n_in);
    }
    const void *b(int64_t expert, int64_t p = 0) const {
        return b_.at((expert * panels() + p) * rank * PANEL);
    }
    int64_t panels() const { return (n_out + PANEL - 1) / PANEL; }
    // Bytes of one expert's factors, or of all where there are none.
    size_t nbytes_read() const { return nbytes() / size_t(n_expert ? n_expert : 1); }
    // A's column of one token: u[k] = A[k][token].
    void column(int64_t token, float *u) const;
    size_t nbytes() const { return a_.nbytes() + b_.nbytes(); }

  private:
    void pack_b(const Array &b);
    Packed a_, b_;
};

// A sparse matrix by rows.
class SparseRows {
  public:
    // indptr (n_rows + 1), rising from 0 to the number of values; indices below n_cols. Raises
    // std::invalid_argument.
    SparseRows(const int64_t *indptr, int64_t n_rows, const int32_t *indices, const Array &values,
               int64_t n_cols);
    int64_t n_rows, n_cols;
    // The row times x.
    float dot(int64_t row, const float *x) const;
    // y += the row, each column times its gain.
    void add_row(int64_t row, float gain, const float *gains, float *y) const;
    // Rows that have something in them.
    const std::vector<int32_t> &filled() const { return filled_; }
    size_t nbytes() const;

  private:
    std::vector<int64_t> indptr_;
    std::vector<int32_t> indices_, filled_;
    std::vector<float> values_;
};

// Whole rows of a weight in place of the base's.
class DenseRows {
  public:
    // values (n_replaced, n_cols); rows rising, below n_rows, or null for all. Raises
    // std::invalid_argument.
    DenseRows(const Array &values, const int32_t *rows, int64_t count, int64_t n_rows);
    int64_t n_rows, n_cols, n_replaced;
    // Number k of the replaced rows.
    int64_t row(int64_t k) const { return rows_.empty() ? k : rows_[k]; }
    bool all() const { return rows_.empty(); }
    Type type() const { return values_.type(); }
    const void *values(int64_t k) const { return values_.at(k * n_cols); }
    // Which of the replaced ones it is, or -1.
    int64_t find(int64_t row) const;
    size_t nbytes() const { return values_.nbytes() + rows_.size() * sizeof(int32_t); }

  private:
    std::vector<int32_t> rows_;
    Packed values_;
};

} // namespace veneer
