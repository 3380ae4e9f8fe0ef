#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace muster::operators {

/// An ordered set of replica indices, one bit for each; the first 64 need no heap memory, which is
/// enough for most jobs.
class IndexSet {
  public:
    IndexSet() = default;
    IndexSet(const IndexSet& other) { *this = other; }
    IndexSet(IndexSet&&) = default;
    IndexSet& operator=(const IndexSet& other);
    IndexSet& operator=(IndexSet&&) = default;

    /// "0-2,5", as batch/v1 writes completedIndexes. Parts that can't be read, or are not below
    /// `limit`, are left out, and so is the rest of a text that repeats itself.
    static IndexSet parse(std::string_view text, std::int32_t limit);
    std::string to_string() const;

    void insert(std::int32_t index);
    void erase(std::int32_t index);
    void set(std::int32_t index, bool present) { present ? insert(index) : erase(index); }
    void clear() { *this = IndexSet(); }
    bool contains(std::int32_t index) const;
    std::int32_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    /// The smallest member from `from` on, or -1.
    std::int32_t next(std::int32_t from) const;

    friend bool operator==(const IndexSet& a, const IndexSet& b);

  private:
    std::size_t words() const { return rest_ ? rest_->size() + 1 : 1; }
    std::uint64_t word(std::size_t at) const { return at == 0 ? first_ : (*rest_)[at - 1]; }
    std::uint64_t& grown_word(std::size_t at);

    std::uint64_t first_ = 0;
    std::unique_ptr<std::vector<std::uint64_t>> rest_;
    std::int32_t size_ = 0;
};

}  // namespace muster::operators
