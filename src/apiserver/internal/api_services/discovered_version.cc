#include "apiserver/internal/api_services/discovered_version.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <map>

#include "apiserver/objects/json_access.h"
#include "kube/values/name_syntax.h"
#include "kube/values/read_json.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kMostRows = 1000;
constexpr std::size_t kMostWords = 32;
constexpr std::size_t kLongestWord = 253;
constexpr std::size_t kLongestUrl = 1024;

std::string_view word_at(const json::object& row, std::string_view key) {
    const std::string_view word = string_at(row, key);
    return word.size() > kLongestWord ? std::string_view() : word;
}

json::array words_at(const json::object& row, std::string_view key) {
    json::array words;
    const json::array* given = array_at(row, key);
    if (given == nullptr) return words;
    for (const json::value& each : *given) {
        const json::string* word = each.if_string();
        if (word == nullptr || word->size() > kLongestWord) continue;
        if (words.size() == kMostWords) break;
        words.emplace_back(*word);
    }
    return words;
}

json::object row_kind(const json::object& row) {
    return {{"group", word_at(row, "group")},
            {"version", word_at(row, "version")},
            {"kind", word_at(row, "kind")}};
}

json::object row_resource(const json::object& row, std::string_view name) {
    json::object resource{{"resource", name},
                          {"responseKind", row_kind(row)},
                          {"scope", bool_at(row, "namespaced") ? "Namespaced" : "Cluster"},
                          {"singularResource", word_at(row, "singularName")},
                          {"verbs", words_at(row, "verbs")}};
    for (const char* key : {"shortNames", "categories"})
        if (json::array words = words_at(row, key); !words.empty())
            resource[key] = std::move(words);
    return resource;
}

}  // namespace

Result<DiscoveredVersion> read_resource_list(std::string_view text) {
    const std::optional<json::value> document = kube::read_json(text);
    const json::object* list = document ? document->if_object() : nullptr;
    if (list == nullptr || string_at(*list, "kind") != "APIResourceList")
        return Error(Code::kInvalid, "the answer is not an APIResourceList");
    std::vector<const json::object*> rows = objects_at(*list, "resources");
    if (rows.size() > kMostRows)
        return Error(Code::kInvalid, fmt::format("the answer lists {} resources, more than {}",
                                                 rows.size(), kMostRows));
    DiscoveredVersion version;
    std::map<std::string_view, std::size_t> places;
    for (const json::object* row : rows) {
        const std::string_view name = string_at(*row, "name");
        if (!kube::is_dns1123_subdomain(name) || places.contains(name)) continue;
        places.emplace(name, version.resources.size());
        version.resources.push_back(row_resource(*row, name));
    }
    for (const json::object* row : rows) {
        const std::string_view name = word_at(*row, "name");
        const std::size_t slash = name.find('/');
        if (slash == name.npos) continue;
        const auto parent = places.find(name.substr(0, slash));
        if (parent == places.end() || slash + 1 == name.size()) continue;
        json::value& subresources = version.resources[parent->second].get_object()["subresources"];
        if (!subresources.is_array()) subresources.emplace_array();
        subresources.get_array().push_back(json::object{{"subresource", name.substr(slash + 1)},
                                                        {"responseKind", row_kind(*row)},
                                                        {"verbs", words_at(*row, "verbs")}});
    }
    version.bytes = json::serialize(version.resources).size();
    return version;
}

std::string openapi_url_in(std::string_view index, const ExtensionServer& server) {
    const std::optional<json::value> document = kube::read_json(index);
    const json::object* whole = document ? document->if_object() : nullptr;
    if (whole == nullptr) return {};
    const std::string key = server.path().substr(1);
    const json::object* entry = object_at(child(*whole, "paths"), key);
    if (entry == nullptr) return {};
    const std::string plain = fmt::format("/openapi/v3/{}", key);
    const std::string_view url = string_at(*entry, "serverRelativeURL");
    const auto is_plain = [](char each) { return each > ' ' && each < '\x7f'; };
    const bool fits = url.size() <= kLongestUrl && std::ranges::all_of(url, is_plain) &&
                      (url == plain || url.starts_with(plain + "?"));
    return fits ? std::string(url) : plain;
}

}  // namespace muster::apiserver
