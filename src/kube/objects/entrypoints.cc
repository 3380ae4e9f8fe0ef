#include "kube/objects/entrypoints.h"

namespace muster::kube {

namespace {

constexpr std::string_view kHub = "docker.io";
constexpr std::string_view kHubOfOld = "index.docker.io";
constexpr std::string_view kBlank = " \t\r\n";

bool is_registry(std::string_view first) {
    return first == "localhost" || first.find_first_of(".:") != std::string_view::npos;
}

std::string key_of(const ImageName& name, bool with_tag) {
    return with_tag && !name.tag.empty() ? name.repository + ":" + name.tag : name.repository;
}

/// Takes one word from the front. False: a quote is not closed.
bool take_word(std::string_view& text, std::string& word) {
    char quote = '\0';
    while (!text.empty()) {
        const char c = text.front();
        if (quote == '\0' && kBlank.find(c) != std::string_view::npos) return true;
        text.remove_prefix(1);
        if (quote == '\'') {
            if (c == '\'')
                quote = '\0';
            else
                word += c;
        } else if (c == '\\') {
            if (text.empty()) return false;
            const char next = text.front();
            text.remove_prefix(1);
            // Within double quotes it stays before what needs none.
            if (quote == '"' && next != '"' && next != '\\' && next != '$' && next != '`')
                word += c;
            if (next != '\n') word += next;
        } else if (c == '"' || (quote == '\0' && c == '\'')) {
            quote = quote == c ? '\0' : c;
        } else {
            word += c;
        }
    }
    return quote == '\0';
}

}  // namespace

ImageName image_name(std::string_view image) {
    image = image.substr(0, image.find('@'));
    ImageName name;
    const std::size_t slash = image.rfind('/');
    const std::size_t colon = image.rfind(':');
    if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) {
        name.tag = image.substr(colon + 1);
        image = image.substr(0, colon);
    }
    const std::size_t first = image.find('/');
    std::string_view registry = kHub;
    if (first != std::string_view::npos && is_registry(image.substr(0, first))) {
        registry = image.substr(0, first);
        image.remove_prefix(first + 1);
    }
    if (registry == kHubOfOld) registry = kHub;
    name.repository = std::string(registry) + "/";
    if (registry == kHub && image.find('/') == std::string_view::npos)
        name.repository += "library/";
    name.repository += image;
    return name;
}

void Entrypoints::add(std::string_view image, std::vector<std::string> command) {
    commands_.insert_or_assign(key_of(image_name(image), true), std::move(command));
}

void Entrypoints::add_missing(const Entrypoints& others) {
    commands_.insert(others.commands_.begin(), others.commands_.end());
}

const std::vector<std::string>* Entrypoints::of(std::string_view image) const {
    const ImageName name = image_name(image);
    for (const bool with_tag : {true, false})
        if (const auto found = commands_.find(key_of(name, with_tag)); found != commands_.end())
            return &found->second;
    return nullptr;
}

Result<std::vector<std::string>> command_words(std::string_view text) {
    std::vector<std::string> words;
    while (true) {
        const std::size_t begin = text.find_first_not_of(kBlank);
        if (begin == std::string_view::npos) break;
        text.remove_prefix(begin);
        std::string& word = words.emplace_back();
        if (!take_word(text, word))
            return Error(Code::kInvalid,
                         "a quote in it is not closed, or it ends with a backslash");
    }
    if (words.empty() || words.front().empty())
        return Error(Code::kInvalid, "there is no command in it");
    return words;
}

}  // namespace muster::kube
