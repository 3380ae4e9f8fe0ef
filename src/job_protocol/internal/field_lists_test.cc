#include "job_protocol/internal/field_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "base/test_inputs.h"

namespace muster::job_protocol::field_lists_test {
namespace {

/// The fields of messages, by the message's name.
using Fields = std::map<std::string, std::set<std::string>>;

/// In proto/muster; messages without fields have nothing to convert.
Fields fields_of_protos() {
    static const std::regex message(R"(message (\w+) \{.*)");
    static const std::regex field(R"( +(?:optional |repeated )?[\w.]+ (\w+) = \d+;.*)");
    Fields found;
    for (const auto& file : std::filesystem::directory_iterator(source_path("proto/muster"))) {
        std::ifstream text(file.path());
        std::string name;
        std::smatch match;
        for (std::string line; std::getline(text, line);) {
            if (std::regex_match(line, match, message)) name = match[1];
            if (std::regex_match(line, match, field)) found[name].insert(match[1]);
        }
    }
    return found;
}

void add(std::set<std::string>& names, std::string name) {
    if (name.ends_with('_')) name.pop_back();  // "delete_", since a word of C++ can't be a name
    EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
}
template <class... Accessors>
void add_fields(std::set<std::string>& names, const Field<Accessors...>& field) {
    add(names, std::string(field.name));
}
template <class Member, class... Fields>
void add_fields(std::set<std::string>& names, const OneOf<Member, Fields...>& one_of) {
    one_of.each([&](const auto& field) { add_fields(names, field); });
}

template <class... T>
Fields fields_of_lists() {
    Fields found;
    const auto add_list = [&]<class One>(const One&) {
        const std::string name = WireOf<One>().GetTypeName();
        std::set<std::string>& names = found[name.substr(name.rfind('.') + 1)];
        std::apply([&](const auto&... field) { (add_fields(names, field), ...); },
                   kMessage<One>.fields);
    };
    (add_list(T()), ...);
    return found;
}

// A field that a list lacks would be lost on its way, and nobody would see it.
TEST(FieldLists, HaveAllFieldsOfAllMessages) {
    EXPECT_EQ(
        (fields_of_lists<CheckPeer, Check, LinkFigures, CheckResult, Generation, Member, World,
                         FailureReport, Report, BudgetTerm, PolicyOptions, Terms, Hello, Wait,
                         job_protocol::Run, Stop, Verdict, Directive, Incident, Section, JobRecord,
                         KvSpace, SetKey, GetKey, AddToKey, CompareSetKey, DeleteKey, AwaitKeys,
                         EnterBarrier, JoinSyncPoint, AwaitSyncPoint, KvRequest, KvAnswer,
                         TaskVersions, PsAttendance, PsCluster, VersionRequest, VersionAnswer,
                         MasterClaim, StoredShards, CheckpointFate, CommitEnd>()),
        fields_of_protos());
}

}  // namespace
}  // namespace muster::job_protocol::field_lists_test
