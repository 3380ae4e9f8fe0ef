#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "kube/field_path.h"
#include "kube/schema.h"

namespace muster::kube {

/// The schema of one key of an object: its property, or what a map says about all keys. Null when
/// the object does not know the key.
const Schema* field_schema(const Schema& object, std::string_view key);

/// The path of the value that a walk stands at (field_path.h says how it is written).
class FieldPath {
  public:
    explicit FieldPath(std::string start) : text_(std::move(start)) {}

    const std::string& text() const { return text_; }
    /// The path of a field of the object that the walk stands at.
    std::string field(std::string_view key) const { return child_path(text_, key); }

    /// One step down, undone by its destructor.
    class Step {
      public:
        Step(FieldPath& path, std::string_view key) : path_(path), above_(std::move(path.text_)) {
            path.text_ = child_path(above_, key);
        }
        Step(FieldPath& path, std::size_t index) : path_(path), above_(std::move(path.text_)) {
            path.text_ = item_path(above_, index);
        }
        ~Step() { path_.text_ = std::move(above_); }
        Step(const Step&) = delete;
        Step& operator=(const Step&) = delete;

      private:
        FieldPath& path_;
        std::string above_;
    };

  private:
    std::string text_;
};

}  // namespace muster::kube
