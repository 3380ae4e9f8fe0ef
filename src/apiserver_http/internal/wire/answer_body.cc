#include "apiserver_http/internal/wire/answer_body.h"

#include <algorithm>
#include <utility>

#include "apiserver/objects/text_fields.h"
#include "apiserver_http/internal/json_access.h"
#include "store/json_text.h"

namespace muster::apiserver_http {

namespace {

/// An answer of at least so many bytes of objects is a long one.
constexpr std::size_t kLong = std::size_t{64} * 1024;
/// How many bytes of objects are written at a time.
constexpr std::size_t kAtATime = std::size_t{256} * 1024;
/// Texts that are only copied cost so much less.
constexpr std::size_t kCopiesFor = 16;

bool only_copies(const AnswerForm& form) {
    return form.form != Form::kTable && form.yaml == nullptr;
}

bool copies_objects(const AnswerForm& form) {
    return form.form == Form::kObject ||
           (form.form == Form::kTable && form.row_object == RowObject::kFull);
}

/// With a comma after each.
std::size_t bytes_of_objects(std::span<const store::ObjectTextPtr> items) {
    std::size_t bytes = items.size();
    for (const store::ObjectTextPtr& item : items) bytes += item->text().size();
    return bytes;
}

}  // namespace

AnswerBody::AnswerBody(apiserver::DefPtr def, apiserver::Reply reply, AnswerForm form)
    : def_(std::move(def)), reply_(std::move(reply)), form_(form) {
    if (copies_objects(form)) copied_bytes_ = bytes_of_objects(items());
}

bool AnswerBody::is_long() const {
    if (!reply_.items)
        return reply_.object != nullptr && !only_copies(form_) &&
               reply_.object->text().size() >= kLong;
    const std::size_t least = only_copies(form_) ? kLong * kCopiesFor : kLong;
    std::size_t bytes = 0;
    for (const store::ObjectTextPtr& item : *reply_.items) {
        bytes += item->text().size();
        if (bytes >= least) return true;
    }
    return false;
}

std::size_t AnswerBody::bytes() const {
    const std::size_t bytes = std::max(text_.capacity(), copied_bytes_);
    return bytes < kLong ? 0 : bytes;
}

bool AnswerBody::write_some() {
    if (!reply_.items && reply_.object == nullptr) {
        write_value(*reply_.body);
        return false;
    }
    const std::span<const store::ObjectTextPtr> items = this->items();
    if (next_ == 0 && of_several()) begin(items);
    const std::size_t most = only_copies(form_) ? kAtATime * kCopiesFor : kAtATime;
    for (std::size_t bytes = 0; next_ < items.size() && bytes < most; ++next_) {
        append(*items[next_]);
        bytes += items[next_]->text().size();
    }
    if (next_ < items.size()) return true;
    if (form_.yaml == nullptr && of_several()) text_ += "]}";
    return false;
}

bool AnswerBody::of_several() const { return reply_.items || form_.form == Form::kTable; }

std::span<const store::ObjectTextPtr> AnswerBody::items() const {
    if (reply_.items) return *reply_.items;
    return {&reply_.object, reply_.object == nullptr ? 0U : 1U};
}

ListMeta AnswerBody::meta() const {
    ListMeta meta;
    if (!reply_.items) {
        meta.resource_version =
            apiserver::string_at_path(reply_.object->text(), "metadata.resourceVersion");
        return meta;
    }
    const json::object* metadata = object_at(reply_.body->get_object(), "metadata");
    if (metadata == nullptr) return meta;
    meta.resource_version = string_at(*metadata, "resourceVersion");
    meta.continue_ = string_at(*metadata, "continue");
    if (const json::value* remaining = metadata->if_contains("remainingItemCount"))
        meta.remaining = remaining->to_number<std::size_t>();
    return meta;
}

json::object AnswerBody::head() const {
    if (form_.form == Form::kTable) return table_head(*def_, meta(), true);
    if (form_.form == Form::kMetadata) return partial_metadata_list_head(meta());
    return reply_.body->get_object();
}

void AnswerBody::write_value(const json::value& value) {
    if (form_.yaml == nullptr)
        store::append_json(text_, value);
    else
        text_ += form_.yaml(value);
}

void AnswerBody::begin(std::span<const store::ObjectTextPtr> items) {
    const std::string_view key = form_.form == Form::kTable ? "rows" : "items";
    if (form_.yaml != nullptr) {
        json::object whole = head();
        if (items.empty()) whole[key].emplace_array();
        text_ = form_.yaml(whole);
        if (!items.empty()) text_.append(key).append(":\n");
        return;
    }
    store::append_json(text_, head());
    text_.pop_back();  // the brace, so that the items can follow
    text_.append(",\"").append(key).append("\":[");
    if (form_.form == Form::kTable || form_.form == Form::kMetadata) return;
    text_.reserve(text_.size() + bytes_of_objects(items) + 2);
}

void AnswerBody::append(const store::ObjectText& item) {
    if (form_.yaml != nullptr) return append_yaml(item);
    if (next_ > 0) text_ += ',';
    if (form_.form == Form::kTable)
        append_table_row(text_, *def_, item.text(), *item.own_tree(), form_.row_object, form_.now);
    else if (form_.form == Form::kMetadata)
        append_partial_metadata(text_, item.text());
    else
        text_ += item.text();
}

void AnswerBody::append_yaml(const store::ObjectText& item) {
    const kube::ObjectPtr tree = item.own_tree();
    if (!of_several() && form_.form != Form::kMetadata) return write_value(*tree);
    json::value value;
    if (form_.form == Form::kTable)
        value = table_row(*def_, *tree, form_.row_object, form_.now);
    else if (form_.form == Form::kMetadata)
        value = partial_metadata(tree->get_object());
    else
        value = *tree;
    text_ += form_.yaml(of_several() ? json::array{std::move(value)} : std::move(value));
}

}  // namespace muster::apiserver_http
