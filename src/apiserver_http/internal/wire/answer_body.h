#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "apiserver/requests/reply.h"
#include "apiserver_http/internal/printing/table.h"
#include "apiserver_http/internal/wire/media_type.h"
#include "apiserver_http/yaml_text.h"

namespace muster::apiserver_http {

/// The form in which an answer about objects is written.
struct AnswerForm {
    Form form = Form::kObject;
    RowObject row_object = RowObject::kMetadata;
    WallTime now = {};
    /// Writes YAML; null: JSON.
    std::string (*yaml)(const json::value& value) = nullptr;
};

/// The body of an answer about objects of a resource, written in pieces that don't hold a loop for
/// long. Other objects (a Status, a Scale) keep their own form. Owns the objects. Pure: any thread,
/// one at a time.
class AnswerBody {
  public:
    AnswerBody(apiserver::DefPtr def, apiserver::Reply reply, AnswerForm form);

    /// Whether writing it all takes so long that it should be done beside the loop.
    bool is_long() const;
    /// How many bytes it has or, if it copies whole objects, will have, as far as is known; 0 for a
    /// small one.
    std::size_t bytes() const;
    /// False once the body is whole.
    bool write_some();
    std::string take() { return std::move(text_); }

  private:
    /// Whether it is of a list or a table, whose items or rows come last.
    bool of_several() const;
    std::span<const store::ObjectTextPtr> items() const;
    ListMeta meta() const;
    /// All but the items or rows.
    json::object head() const;
    void begin(std::span<const store::ObjectTextPtr> items);
    void append(const store::ObjectText& item);
    void append_yaml(const store::ObjectText& item);
    void write_value(const json::value& value);

    const apiserver::DefPtr def_;
    const apiserver::Reply reply_;
    const AnswerForm form_;
    std::size_t copied_bytes_ = 0;  ///< of objects that are copied as they are
    std::string text_;
    std::size_t next_ = 0;  ///< the item that is written next
};

}  // namespace muster::apiserver_http
