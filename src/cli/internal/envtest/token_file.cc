#include "cli/internal/envtest/token_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/fields.h"

namespace muster::cli {

namespace {

/// The fields of a line: each may stand in quotes, in which a quote is written twice. Nullopt if a
/// quote is where none may be.
std::optional<std::vector<std::string>> csv_fields(std::string_view line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    bool closed = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
        const char c = line[at];
        std::string& field = fields.back();
        if (quoted && c == '"' && at + 1 < line.size() && line[at + 1] == '"') {
            field += line[++at];
        } else if (quoted && c == '"') {
            quoted = false;
            closed = true;
        } else if (quoted) {
            field += c;
        } else if (c == ',') {
            fields.emplace_back();
            closed = false;
        } else if (closed || (c == '"' && !field.empty())) {
            return std::nullopt;
        } else if (c == '"') {
            quoted = true;
        } else {
            field += c;
        }
    }
    return quoted ? std::nullopt : std::optional(std::move(fields));
}

}  // namespace

Result<std::vector<apiserver::KnownToken>> read_token_file(std::string_view text) {
    std::vector<apiserver::KnownToken> tokens;
    for (std::size_t number = 1; !text.empty(); ++number) {
        std::string_view line = take_field(text, '\n');
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty()) continue;
        const auto fields = csv_fields(line);
        if (!fields)
            return Error(Code::kInvalid, fmt::format("line {}: a quote is out of place", number));
        if (fields->size() < 3)
            return Error(
                Code::kInvalid,
                fmt::format("line {}: token file must have at least 3 columns (token, user "
                            "name, user uid), found {}",
                            number, fields->size()));
        if (fields->front().empty()) continue;
        apiserver::User user{(*fields)[1], (*fields)[2], {}, {}};
        if (fields->size() > 3)
            for (std::string_view groups = (*fields)[3]; !groups.empty();)
                user.groups.emplace_back(take_field(groups, ','));
        std::erase_if(tokens, [&](const apiserver::KnownToken& each) {
            return each.token == fields->front();
        });
        tokens.push_back({fields->front(), std::move(user)});
    }
    return tokens;
}

}  // namespace muster::cli
