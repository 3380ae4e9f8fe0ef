#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "kube/schema/schema.h"
#include "kube/values/field_path.h"

namespace muster::kube {

/// The schema of one key of an object: that of its property, or that of all keys of a map. Null if
/// the object does not know the key.
const Schema* field_schema(const Schema& object, std::string_view key);

/// A null that counts as an absent field.
bool is_unwanted_null(const Schema& schema, const json::value& value);
/// A double that is an integer, and no other integer is the same double.
bool is_whole_double(const json::value& value);
/// The field is there, but counts as absent: such a null, or a zero value that means absence.
bool counts_as_absent(const Schema& schema, const json::value& value);

/// The path of the current value of a walk (field_path.h says how it is written). A step costs next
/// to nothing: the text is put together only on request, that is, when something is wrong.
class FieldPath {
  public:
    explicit FieldPath(std::string start) : start_(std::move(start)) {}

    std::string text() const { return text_of(last_); }
    /// The path of a field of the current object.
    std::string field(std::string_view key) const { return child_path(text(), shortened(key)); }

    /// One step down, undone by its destructor. The key outlives it.
    class Step {
      public:
        Step(FieldPath& path, std::string_view key)
            : path_(path), above_(path.last_), key_(key), is_key_(true) {
            path.last_ = this;
        }
        Step(FieldPath& path, std::size_t index) : path_(path), above_(path.last_), index_(index) {
            path.last_ = this;
        }
        ~Step() { path_.last_ = above_; }
        Step(const Step&) = delete;
        Step& operator=(const Step&) = delete;

      private:
        friend class FieldPath;

        FieldPath& path_;
        const Step* above_;
        std::string_view key_;
        std::size_t index_ = 0;
        bool is_key_ = false;
    };

  private:
    std::string text_of(const Step* step) const {
        if (step == nullptr) return start_;
        const std::string above = text_of(step->above_);
        return step->is_key_ ? child_path(above, shortened(step->key_))
                             : item_path(above, step->index_);
    }

    /// A key as long as a body would be copied into each path below it.
    static std::string shortened(std::string_view key) {
        constexpr std::size_t kMost = 512;
        if (key.size() <= kMost) return std::string(key);
        return std::string(cut_utf8(key, kMost)) + "...";
    }

    std::string start_;
    const Step* last_ = nullptr;
};

}  // namespace muster::kube
