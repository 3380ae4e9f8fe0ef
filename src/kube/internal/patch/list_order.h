#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <unordered_map>

#include "kube/values/json.h"

namespace muster::kube {

class Schema;

/// How the items of one list are told apart: by one of their keys, or by value if they are scalars.
class ListIdentity {
  public:
    /// For a list with this schema; null if no schema describes it.
    explicit ListIdentity(const Schema* list);

    /// True for a list of objects that is merged by `key()`.
    bool keyed() const { return !key_.empty(); }
    const std::string& key() const { return key_; }
    /// The text that identifies the item; "" if it lacks its key.
    std::string of(const json::value& item) const;

  private:
    std::string key_;
};

/// Positions in a list by identity; the first of equal ones counts.
class ListPositions {
  public:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    ListPositions(const json::array& list, const ListIdentity& identity);
    std::size_t of(const std::string& id) const;

  private:
    std::unordered_map<std::string, std::size_t> by_id_;
};

/// Orders a merged list as a strategic merge does: items that `wanted` names are in its order, the
/// server's other items in theirs, interleaved as the server had them. Items that the server did
/// not have go as far to the front as the order of `wanted` allows.
json::array in_merge_order(json::array merged, const json::array& wanted, const json::array& server,
                           const ListIdentity& identity);

}  // namespace muster::kube
