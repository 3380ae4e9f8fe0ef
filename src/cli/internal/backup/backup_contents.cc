#include "cli/internal/backup/backup_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <limits>
#include <set>

#include "control_plane/daemon/state_files.h"
#include "kube/values/json_access.h"
#include "kube/values/read_json.h"

namespace muster::cli {

namespace {

constexpr std::int64_t kFormat = 1;

Error not_a_backup(std::string_view why) {
    return {Code::kInvalid, fmt::format("it is not a backup of 'muster backup': {}", why)};
}

bool is_known(std::string_view name) {
    return name == control_plane::kStoreFile ||
           std::ranges::find(control_plane::kKeyFiles, name) != control_plane::kKeyFiles.end();
}

Result<BackupMember> read_member(const json::object& member) {
    const std::string_view name = kube::string_at(member, "name");
    const auto size = kube::int_at(member, "size");
    const auto sum = kube::int_at(member, "crc32");
    if (!is_known(name)) return not_a_backup(fmt::format("it has a file \"{}\"", name));
    const bool small = name != control_plane::kStoreFile;
    if (!size || *size < 0 || (small && static_cast<std::uint64_t>(*size) > kMostSmallBytes))
        return not_a_backup(fmt::format("{} has no size that it could have", name));
    if (!sum || *sum < 0 || *sum > std::numeric_limits<std::uint32_t>::max())
        return not_a_backup(fmt::format("{} has no sum", name));
    return BackupMember{std::string(name), static_cast<std::uint64_t>(*size),
                        static_cast<std::uint32_t>(*sum)};
}

}  // namespace

std::string describe_backup(const BackupContents& contents) {
    json::array members;
    for (const BackupMember& member : contents.members)
        members.push_back({{"name", member.name}, {"size", member.size}, {"crc32", member.sum}});
    return json::serialize(json::object{{"format", kFormat},
                                        {"muster", contents.version},
                                        {"made", contents.made},
                                        {"files", std::move(members)}}) +
           "\n";
}

Result<BackupContents> read_backup_description(std::string_view text) {
    const auto read = kube::read_json(text);
    const json::object* const object = read ? read->if_object() : nullptr;
    if (object == nullptr) return not_a_backup("its description is not JSON");
    const auto format = kube::int_at(*object, "format");
    if (!format) return not_a_backup("its description has no format");
    BackupContents contents{.version = std::string(kube::string_at(*object, "muster")),
                            .made = std::string(kube::string_at(*object, "made")),
                            .members = {}};
    if (*format != kFormat)
        return Error(
            Code::kUnsupported,
            fmt::format("it has format {}, and this program reads {}: use the version that "
                        "made it ({}), or a newer one",
                        *format, kFormat, contents.version));
    std::set<std::string> names;
    for (const json::object* each : kube::objects_at(*object, "files")) {
        TRY(BackupMember member, read_member(*each));
        if (!names.insert(member.name).second)
            return not_a_backup(fmt::format("it has {} twice", member.name));
        contents.members.push_back(std::move(member));
    }
    if (!names.contains(std::string(control_plane::kStoreFile)))
        return not_a_backup("it has no store");
    return contents;
}

}  // namespace muster::cli
