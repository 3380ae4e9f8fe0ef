#include "apiserver_http/internal/wire/long_answer.h"

#include <utility>

#include "apiserver_http/internal/wire/presented.h"
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
    return form.form == Form::kObject && form.yaml == nullptr;
}

}  // namespace

LongAnswer::LongAnswer(apiserver::DefPtr def, apiserver::Reply reply, AnswerForm form)
    : def_(std::move(def)), reply_(std::move(reply)), form_(form) {}

bool LongAnswer::suits(const apiserver::Reply& reply, const AnswerForm& form) {
    const std::size_t least = only_copies(form) ? kLong * kCopiesFor : kLong;
    if (!reply.items)
        return reply.object != nullptr && form.form == Form::kObject && form.yaml != nullptr &&
               reply.object->text().size() >= least;
    std::size_t bytes = 0;
    for (const store::ObjectTextPtr& item : *reply.items) {
        bytes += item->text().size();
        if (bytes >= least) return true;
    }
    return false;
}

bool LongAnswer::write_some() {
    if (!reply_.items) {
        text_ = form_.yaml(*reply_.object->own_tree());
        return false;
    }
    if (next_ == 0) begin();
    const std::size_t most = only_copies(form_) ? kAtATime * kCopiesFor : kAtATime;
    const std::span<const store::ObjectTextPtr> items = *reply_.items;
    for (std::size_t bytes = 0; next_ < items.size() && bytes < most; ++next_) {
        append(*items[next_]);
        bytes += items[next_]->text().size();
    }
    if (next_ < items.size()) return true;
    if (form_.yaml == nullptr) text_ += "]}";
    return false;
}

/// The answer without its items or rows, which come last in each form.
json::object LongAnswer::head() const {
    const ListMeta meta = list_meta(reply_.body->get_object());
    if (form_.form == Form::kObject) return reply_.body->get_object();
    if (form_.form != Form::kTable) {
        json::object list = partial_metadata_list({}, meta);
        list.erase("items");
        return list;
    }
    json::object table = make_table(*def_, {}, meta, {form_.row_object, true}, form_.now);
    table.erase("rows");
    return table;
}

void LongAnswer::begin() {
    const std::string_view key = form_.form == Form::kTable ? "rows" : "items";
    if (form_.yaml != nullptr) {
        text_ = form_.yaml(head());
        text_.append(key).append(":\n");
        return;
    }
    store::append_json(text_, head());
    text_.pop_back();  // the brace, so that the items can follow
    text_.append(",\"").append(key).append("\":[");
    std::size_t bytes = text_.size() + 2;
    if (only_copies(form_))
        for (const store::ObjectTextPtr& item : *reply_.items) bytes += item->text().size() + 1;
    text_.reserve(bytes);
}

void LongAnswer::append(const store::ObjectText& item) {
    if (form_.yaml == nullptr && next_ > 0) text_ += ',';
    if (only_copies(form_)) {
        text_ += item.text();
        return;
    }
    const kube::ObjectPtr tree = item.own_tree();
    json::value written;
    if (form_.form == Form::kTable)
        written = make_table_row(*def_, *tree, form_.row_object, form_.now);
    else if (form_.form == Form::kObject)
        written = *tree;
    else
        written = partial_metadata(tree->get_object());
    if (form_.yaml == nullptr)
        store::append_json(text_, written);
    else
        text_ += form_.yaml(json::array{std::move(written)});
}

}  // namespace muster::apiserver_http
