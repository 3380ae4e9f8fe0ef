#include "apiserver_http/internal/wire/answer_body.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <memory>

#include "kube/values/time.h"

namespace muster::apiserver_http::answer_body_test {
namespace {

const WallTime kNow = *kube::parse_time("2026-01-02T03:04:05Z");

/// Writes as the real one does as far as lists go: those of an object have its indentation.
std::string plain_yaml(const json::value& value) {
    std::string text;
    if (const json::array* array = value.if_array())
        for (const json::value& item : *array) text += "- " + json::serialize(item) + "\n";
    if (const json::object* object = value.if_object())
        for (const auto& [key, field] : *object) {
            text += std::string(key) + ":";
            const bool list = field.is_array() && !field.get_array().empty();
            text += list ? "\n" + plain_yaml(field) : " " + json::serialize(field) + "\n";
        }
    return text;
}

apiserver::DefPtr maps() {
    auto def = std::make_shared<apiserver::ResourceDef>();
    def->type.plural = "configmaps";
    def->type.version = "v1";
    return def;
}

store::ObjectTextPtr object(int number, std::size_t bytes) {
    return store::ObjectText::of(std::make_shared<const json::value>(json::object{
        {"kind", "ConfigMap"},
        {"metadata",
         {{"name", fmt::format("m{}", number)}, {"creationTimestamp", "2026-01-02T02:00:00Z"}}},
        {"data", {{"k", std::string(bytes, 'x')}}}}));
}

apiserver::Reply list_of(int count, std::size_t bytes) {
    apiserver::Reply reply;
    reply.body = std::make_shared<const json::value>(
        json::object{{"kind", "ConfigMapList"},
                     {"apiVersion", "v1"},
                     {"metadata", {{"resourceVersion", "7"}, {"remainingItemCount", 3}}}});
    reply.items.emplace();
    for (int i = 0; i < count; ++i) reply.items->push_back(object(i, bytes));
    return reply;
}

struct Written {
    std::string text;
    int pieces = 1;
};

Written written(const apiserver::Reply& reply, const AnswerForm& form) {
    AnswerBody answer(maps(), reply, form);
    Written made;
    while (answer.write_some()) ++made.pieces;
    made.text = answer.take();
    return made;
}

/// The same answer as one value.
json::value value_of(const apiserver::Reply& reply, const AnswerForm& form) {
    const bool rows = form.form == Form::kTable;
    ListMeta meta;
    if (reply.items) meta = {.resource_version = "7", .remaining = 3};
    json::array items;
    for (const store::ObjectTextPtr& item :
         reply.items ? std::span(*reply.items) : std::span(&reply.object, 1)) {
        const kube::ObjectPtr tree = item->tree();
        if (rows)
            items.emplace_back(table_row(*maps(), *tree, form.row_object, kNow));
        else if (form.form == Form::kMetadata)
            items.emplace_back(partial_metadata(tree->get_object()));
        else
            items.push_back(*tree);
    }
    if (!reply.items && !rows) return items.front();
    json::object whole = rows                           ? table_head(*maps(), meta, true)
                         : form.form == Form::kMetadata ? partial_metadata_list_head(meta)
                                                        : reply.body->get_object();
    whole[rows ? "rows" : "items"] = std::move(items);
    return whole;
}

TEST(AnswerBody, IsTheWholeValueInEachForm) {
    apiserver::Reply one;
    one.object = object(1, 100'000);
    const std::pair<const char*, apiserver::Reply> replies[] = {{"none", list_of(0, 0)},
                                                                {"some", list_of(3, 10)},
                                                                {"many", list_of(300, 2000)},
                                                                {"one", one}};
    for (const auto& [name, reply] : replies)
        for (const Form form : {Form::kObject, Form::kTable, Form::kMetadata})
            for (const bool yaml : {false, true}) {
                const AnswerForm wanted{
                    .form = form, .now = kNow, .yaml = yaml ? plain_yaml : nullptr};
                SCOPED_TRACE(fmt::format("{} form {} yaml {}", name, static_cast<int>(form), yaml));
                const json::value value = value_of(reply, wanted);
                EXPECT_EQ(written(reply, wanted).text,
                          yaml ? plain_yaml(value) : json::serialize(value));
            }
}

TEST(AnswerBody, IsWrittenInPieces) {
    const apiserver::Reply reply = list_of(300, 2000);
    EXPECT_EQ(written(reply, {.form = Form::kTable, .now = kNow}).pieces, 3);
    EXPECT_EQ(written(reply, {.now = kNow, .yaml = plain_yaml}).pieces, 3);
    EXPECT_EQ(written(reply, {.now = kNow}).pieces, 1) << "its texts are only copied";
    EXPECT_EQ(written(list_of(10, 1'000'000), {.now = kNow}).pieces, 2);
}

TEST(AnswerBody, SaysHowLargeItWillBe) {
    const apiserver::Reply large = list_of(20, 100'000);
    EXPECT_GE(AnswerBody(maps(), large, {.now = kNow}).bytes(),
              written(large, {.now = kNow}).text.size() - 200);
    EXPECT_LE(AnswerBody(maps(), large, {.now = kNow}).bytes(), 2'010'000u);
    EXPECT_GE(AnswerBody(maps(), large, {.now = kNow, .yaml = plain_yaml}).bytes(), 2'000'000u);
    EXPECT_GE(AnswerBody(maps(), large,
                         {.form = Form::kTable, .row_object = RowObject::kFull, .now = kNow})
                  .bytes(),
              2'000'000u);
    EXPECT_EQ(AnswerBody(maps(), large, {.form = Form::kMetadata, .now = kNow}).bytes(), 0u);
    EXPECT_EQ(AnswerBody(maps(), list_of(3, 1000), {.now = kNow}).bytes(), 0u);
    // What can't be foreseen is what there is.
    AnswerBody rows(maps(), list_of(3000, 200), {.form = Form::kTable, .now = kNow});
    EXPECT_EQ(rows.bytes(), 0u);
    EXPECT_TRUE(rows.write_some());
    const std::size_t first = rows.bytes();
    EXPECT_GT(first, 64u * 1024);
    while (rows.write_some()) {
    }
    EXPECT_GE(rows.bytes(), rows.take().size());
}

TEST(AnswerBody, OfAnotherObjectIsThatObject) {
    apiserver::Reply status;
    status.body = std::make_shared<const json::value>(json::object{{"kind", "Status"}});
    for (const Form form : {Form::kObject, Form::kTable, Form::kMetadata})
        EXPECT_EQ(written(status, {.form = form}).text, R"({"kind":"Status"})");
    EXPECT_EQ(written(status, {.yaml = plain_yaml}).text, "kind: \"Status\"\n");
}

TEST(AnswerBody, IsLongIfItTakesLong) {
    const auto is_long = [](const apiserver::Reply& reply, const AnswerForm& form) {
        return AnswerBody(maps(), reply, form).is_long();
    };
    const AnswerForm json{.now = kNow};
    const AnswerForm metadata{.form = Form::kMetadata, .now = kNow};
    const AnswerForm table{.form = Form::kTable, .now = kNow};
    const AnswerForm yaml{.now = kNow, .yaml = plain_yaml};
    EXPECT_FALSE(is_long(list_of(10, 1000), table));
    EXPECT_TRUE(is_long(list_of(100, 1000), table));
    EXPECT_FALSE(is_long(list_of(100, 1000), json));
    EXPECT_FALSE(is_long(list_of(100, 1000), metadata));
    EXPECT_TRUE(is_long(list_of(20, 100'000), json));
    apiserver::Reply one;
    one.object = object(1, 100'000);
    EXPECT_FALSE(is_long(one, json));
    EXPECT_FALSE(is_long(one, metadata));
    EXPECT_TRUE(is_long(one, table));
    EXPECT_TRUE(is_long(one, yaml));
    apiserver::Reply status;
    status.body = std::make_shared<const json::value>(json::object{{"kind", "Status"}});
    EXPECT_FALSE(is_long(status, table));
}

}  // namespace
}  // namespace muster::apiserver_http::answer_body_test
