#include "cli/internal/prepare/file_objects.h"

#include <gmock/gmock.h>

#include "manifest/job_lines_fixture.h"

namespace muster::cli::file_objects_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class FileObjects : public testing::Test {
  protected:
    Result<KeyValues> read(const std::string& source) { return read_source(source, reader); }
    std::vector<std::string> add(std::vector<FileObject> objects, const std::string& more = "") {
        const std::string old = "            resources: {requests: {cpu: 1}}";
        const std::string text = manifest::job_with(
            {{old, old + "\n            envFrom: [{secretRef: {name: s, optional: true}}, "
                         "{configMapRef: {name: c}}]"}});
        documents = manifest::read_manifest(text + more, "j.yaml").documents;
        std::vector<std::string> lines;
        for (const manifest::Problem& problem : add_file_objects(documents, objects, reader))
            lines.push_back(format(problem));
        return lines;
    }

    std::map<std::string, std::string> files{
        {"/k/token", "t1\n"},           {"/k/dir/a", "1"},
        {"/k/dir/b", "\xff"},           {"/k/x.env", "# no\n\nA=1\r\n B=x=y\nHOME\nUNSET\n"},
        {"/k/bad.env", "A=1\nB C=2\n"}, {"/k/strange name", "x"}};
    SourceReader reader{
        .file = [this](const std::string& path) -> Result<std::string> {
            const auto found = files.find(path);
            if (found == files.end()) return Error(Code::kNotFound, path + " cannot be read");
            return found->second;
        },
        .directory = [](const std::string& path) -> std::optional<std::vector<std::string>> {
            if (path == "/k/dir") return std::vector<std::string>{"a", "b"};
            if (path == "/k/none") return std::vector<std::string>{};
            return std::nullopt;
        },
        .variable = [](const std::string& name) { return name == "HOME" ? "/h" : ""; }};
    std::vector<manifest::Document> documents;
};

TEST_F(FileObjects, EachFormOfASource) {
    EXPECT_THAT(*read("/k/token"), ElementsAre(Pair("token", "t1\n")));
    EXPECT_THAT(*read("/k/dir"), ElementsAre(Pair("a", "1"), Pair("b", "\xff")));
    EXPECT_THAT(*read("/k/x.env"),
                ElementsAre(Pair("A", "1"), Pair("B", "x=y"), Pair("HOME", "/h")));
    EXPECT_THAT(*read("key=@/k/token"), ElementsAre(Pair("key", "t1\n")));
    EXPECT_THAT(*read("key=a=b"), ElementsAre(Pair("key", "a=b")));
    EXPECT_THAT(*read("key="), ElementsAre(Pair("key", "")));
}

TEST_F(FileObjects, WhatIsWrongWithASource) {
    const struct {
        const char* source;
        const char* wanted;
    } kCases[] = {{"/k/absent", "/k/absent cannot be read"},
                  {"/k/strange name", "\"strange name\" can't be a key"},
                  {"a b=c", "\"a b\" can't be a key"},
                  {"..=c", "\"..\" can't be a key"},
                  {"/k/none", "there is no file in /k/none"},
                  {"/k/bad.env", "line 2: \"B C\" is not a name of a variable"}};
    for (const auto& [source, wanted] : kCases) {
        const auto data = read(source);
        ASSERT_FALSE(data) << source;
        EXPECT_THAT(data.error().message(), HasSubstr(wanted));
    }
}

TEST_F(FileObjects, OneObjectWhereAPodRefersToIt) {
    EXPECT_THAT(
        add({{"Secret", "s", "/k/token"}, {"Secret", "s", "more=1"}, {"ConfigMap", "c", "/k/dir"}}),
        IsEmpty());
    ASSERT_THAT(documents, SizeIs(3));
    const json::object& config = documents[1].object.get_object();
    EXPECT_EQ(config.at("kind"), "ConfigMap");
    EXPECT_EQ(config.at("data"), (json::value{{"a", "1"}}));
    EXPECT_EQ(config.at("binaryData"), (json::value{{"b", "/w=="}}));
    const json::object& secret = documents[2].object.get_object();
    EXPECT_EQ(secret.at("metadata"), (json::value{{"name", "s"}, {"namespace", "default"}}));
    EXPECT_EQ(secret.at("data"), (json::value{{"more", "MQ=="}, {"token", "dDEK"}}));
}

TEST_F(FileObjects, WhatIsWrongNamesTheFlagAndNoValue) {
    EXPECT_THAT(add({{"Secret", "other", "/k/token"}}),
                ElementsAre("--secret other=/k/token: error: no pod of the manifest refers to a "
                            "Secret of that name"));
    EXPECT_THAT(add({{"Secret", "s", "k=hidden"}, {"Secret", "s", "k=other"}}),
                ElementsAre("--secret s=k=...: error: the key \"k\" is given twice"));
    EXPECT_THAT(add({{"ConfigMap", "c", "/k/token"}},
                    "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"),
                ElementsAre("--config c=/k/token: error: the manifest has this ConfigMap itself: "
                            "leave one of them out"));
    files["/k/large"] = std::string((1u << 20) + 1, 'x');
    EXPECT_THAT(add({{"Secret", "s", "/k/large"}}),
                ElementsAre(HasSubstr("--secret s=/k/large: error: it has 1048582 bytes")));
}

}  // namespace
}  // namespace muster::cli::file_objects_test
