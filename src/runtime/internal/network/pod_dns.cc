#include "runtime/internal/network/pod_dns.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "base/fields.h"
#include "kube/values/json_access.h"

namespace muster::runtime {

namespace {

constexpr std::size_t kAskedServers = 3;

void add_once(std::vector<std::string>& to, const std::vector<std::string>& more) {
    for (const std::string& text : more)
        if (std::ranges::find(to, text) == to.end()) to.push_back(text);
}

void add_option(std::vector<PodDns::Option>& to, PodDns::Option option) {
    const auto same = std::ranges::find(to, option.name, &PodDns::Option::name);
    if (same == to.end())
        to.push_back(std::move(option));
    else
        same->value = std::move(option.value);
}

/// A resolv.conf, by its directives.
struct Directives {
    std::vector<std::string> nameservers;
    std::vector<std::string> searches;
    std::vector<PodDns::Option> options;
    std::string rest;  ///< whole lines
};

Directives read_directives(std::string_view text) {
    Directives found;
    while (!text.empty()) {
        const std::string line(take_field(text, '\n'));
        std::istringstream stream(line);
        std::string key;
        stream >> key;
        const std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
        if (key == "nameserver" && !words.empty()) {
            found.nameservers.push_back(words.front());
        } else if (key == "search" || key == "domain") {
            // The last line counts.
            found.searches = words;
        } else if (key == "options") {
            for (std::string_view value : words) {
                const std::string_view name = take_field(value, ':');
                add_option(found.options, {.name = std::string(name), .value = std::string(value)});
            }
        } else if (key == "sortlist") {
            found.rest += line + "\n";
        }
    }
    return found;
}

}  // namespace

std::optional<PodDns> pod_dns(const kube::PodSpec& spec) {
    PodDns dns;
    dns.own_alone = kube::string_at(spec.rest, "dnsPolicy") == "None";
    const json::object& config = kube::child(spec.rest, "dnsConfig");
    dns.nameservers = kube::strings_at(config, "nameservers");
    dns.searches = kube::strings_at(config, "searches");
    for (const json::object* option : kube::objects_at(config, "options"))
        if (const std::string_view name = kube::string_at(*option, "name"); !name.empty())
            dns.options.push_back({.name = std::string(name),
                                   .value = std::string(kube::string_at(*option, "value"))});
    if (!dns.own_alone && dns.nameservers.empty() && dns.searches.empty() && dns.options.empty())
        return std::nullopt;
    return dns;
}

PodResolvConf resolv_conf_of_pod(std::string_view of_node, const PodDns& dns) {
    Directives all = dns.own_alone ? Directives{} : read_directives(of_node);
    add_once(all.nameservers, dns.nameservers);
    add_once(all.searches, dns.searches);
    for (const PodDns::Option& option : dns.options) add_option(all.options, option);

    PodResolvConf made;
    for (std::size_t i = 0; i < all.nameservers.size(); ++i) {
        if (i < kAskedServers)
            made.text += fmt::format("nameserver {}\n", all.nameservers[i]);
        else
            made.omitted.push_back(all.nameservers[i]);
    }
    if (!all.searches.empty())
        made.text += fmt::format("search {}\n", fmt::join(all.searches, " "));
    std::vector<std::string> options;
    for (const PodDns::Option& option : all.options)
        options.push_back(option.value.empty() ? option.name
                                               : fmt::format("{}:{}", option.name, option.value));
    if (!options.empty()) made.text += fmt::format("options {}\n", fmt::join(options, " "));
    made.text += all.rest;
    return made;
}

}  // namespace muster::runtime
