#include "apiserver_http/internal/wire/long_answer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <memory>

#include "apiserver_http/internal/wire/presented.h"
#include "kube/values/time.h"

namespace muster::apiserver_http {
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
    LongAnswer answer(maps(), reply, form);
    Written made;
    while (answer.write_some()) ++made.pieces;
    made.text = answer.take();
    return made;
}

TEST(LongAnswer, IsWhatAShortOneWouldBe) {
    const apiserver::Reply reply = list_of(300, 2000);
    for (const Form form : {Form::kObject, Form::kTable, Form::kMetadata})
        for (const bool yaml : {false, true}) {
            const AnswerForm wanted{.form = form, .now = kNow, .yaml = yaml ? plain_yaml : nullptr};
            SCOPED_TRACE(fmt::format("form {} yaml {}", static_cast<int>(form), yaml));
            EXPECT_EQ(written(reply, wanted).text,
                      yaml
                          ? plain_yaml(present_value(*maps(), reply, form, wanted.row_object, kNow))
                          : present(*maps(), reply, form, wanted.row_object, kNow));
        }
}

TEST(LongAnswer, IsWrittenInPieces) {
    const apiserver::Reply reply = list_of(300, 2000);
    EXPECT_EQ(written(reply, {.form = Form::kTable, .now = kNow}).pieces, 3);
    EXPECT_EQ(written(reply, {.now = kNow, .yaml = plain_yaml}).pieces, 3);
    EXPECT_EQ(written(reply, {.now = kNow}).pieces, 1) << "its texts are only copied";
    EXPECT_EQ(written(list_of(10, 1'000'000), {.now = kNow}).pieces, 2);
}

TEST(LongAnswer, MayBeOneObjectAsYaml) {
    apiserver::Reply reply;
    reply.object = object(1, 100'000);
    const AnswerForm yaml{.now = kNow, .yaml = plain_yaml};
    ASSERT_TRUE(LongAnswer::suits(reply, yaml));
    EXPECT_EQ(written(reply, yaml).text, plain_yaml(*reply.object->tree()));
}

TEST(LongAnswer, SuitsWhatIsLong) {
    const AnswerForm json{.now = kNow};
    const AnswerForm table{.form = Form::kTable, .now = kNow};
    EXPECT_FALSE(LongAnswer::suits(list_of(10, 1000), table));
    EXPECT_TRUE(LongAnswer::suits(list_of(100, 1000), table));
    EXPECT_FALSE(LongAnswer::suits(list_of(100, 1000), json));
    EXPECT_TRUE(LongAnswer::suits(list_of(20, 100'000), json));
    apiserver::Reply one;
    one.object = object(1, 100'000);
    EXPECT_FALSE(LongAnswer::suits(one, json));
    apiserver::Reply status;
    status.body = std::make_shared<const json::value>(json::object{{"kind", "Status"}});
    EXPECT_FALSE(LongAnswer::suits(status, table));
}

}  // namespace
}  // namespace muster::apiserver_http
