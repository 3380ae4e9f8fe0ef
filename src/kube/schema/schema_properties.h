#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::kube {

class Schema;

/// The fields of an object's schema, sorted by name. Every key of every request is looked up here:
/// among the fields of a usual structure, by short hashes first and then the name once.
class SchemaProperties {
  public:
    using Entry = std::pair<std::string, std::shared_ptr<const Schema>>;
    using const_iterator = std::vector<Entry>::const_iterator;

    SchemaProperties() = default;
    /// Each name once, in any order.
    explicit SchemaProperties(std::vector<Entry> entries);
    SchemaProperties(std::initializer_list<Entry> entries)
        : SchemaProperties(std::vector<Entry>(entries)) {}

    /// False, without a change, if the name is taken. Moves all that follow: for a few.
    std::pair<const_iterator, bool> emplace(std::string_view name,
                                            std::shared_ptr<const Schema> schema);
    void insert_or_assign(std::string_view name, std::shared_ptr<const Schema> schema);

    const_iterator find(std::string_view name) const;
    bool contains(std::string_view name) const { return find(name) != end(); }
    const_iterator begin() const { return entries_.begin(); }
    const_iterator end() const { return entries_.end(); }
    std::size_t size() const { return entries_.size(); }
    bool empty() const { return entries_.empty(); }

  private:
    /// Where the name is, or would be.
    const_iterator place_of(std::string_view name) const;

    std::vector<Entry> entries_;
    std::vector<std::uint32_t> hashes_;  ///< of the name of each entry
};

}  // namespace muster::kube
