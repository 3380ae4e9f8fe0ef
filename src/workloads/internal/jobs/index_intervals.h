#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster::workloads {

/// A set of completion indexes as Jobs write it: "0-2,5,7-8". It takes as much room as its text.
class IndexIntervals {
  public:
    IndexIntervals() = default;
    /// Indexes of `limit` and above are dropped, and so is what is no number or out of order.
    static IndexIntervals parse(std::string_view text, std::int64_t limit);

    void add(std::int64_t index);
    void add_all(const IndexIntervals& other);
    bool contains(std::int64_t index) const;
    std::int64_t count() const { return count_; }
    /// How many of them are in the other set, too.
    std::int64_t count_in(const IndexIntervals& other) const;
    /// Two indexes in a row are written as "1,2", three as "1-3".
    std::string text() const;
    /// The first `most` indexes below `limit` that are not in the set.
    std::vector<std::int64_t> missing(std::int64_t most, std::int64_t limit) const;

  private:
    void add_interval(std::int64_t first, std::int64_t last);

    std::map<std::int64_t, std::int64_t> intervals_;  ///< first to last; neither overlap nor touch
    std::int64_t count_ = 0;
};

}  // namespace muster::workloads
