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
    TableOptions::RowObject row_object = TableOptions::RowObject::kMetadata;
    WallTime now = {};
    /// Writes YAML; null: JSON.
    std::string (*yaml)(const json::value& value) = nullptr;
};

/// The body of an answer that is so long that it would hold the loop, written in pieces: what
/// present() makes, to the byte. Owns the objects. Pure: any thread, one at a time.
class LongAnswer {
  public:
    /// `reply`: of a list, or with one object for YAML.
    LongAnswer(apiserver::DefPtr def, apiserver::Reply reply, AnswerForm form);

    /// Whether the answer should be written so, rather than at once.
    static bool suits(const apiserver::Reply& reply, const AnswerForm& form);

    /// False once the answer is whole.
    bool write_some();
    std::string take() { return std::move(text_); }

  private:
    json::object head() const;
    void begin();
    void append(const store::ObjectText& item);

    const apiserver::DefPtr def_;
    const apiserver::Reply reply_;
    const AnswerForm form_;
    std::string text_;
    std::size_t next_ = 0;  ///< the item that is written next
};

}  // namespace muster::apiserver_http
