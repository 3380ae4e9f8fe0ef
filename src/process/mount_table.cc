#include "process/mount_table.h"

#include "base/fields.h"

namespace muster::process {

namespace {

/// mountinfo writes blanks and backslashes of a path as three octal digits.
std::string unescaped(std::string_view text) {
    std::string path;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 3 >= text.size()) {
            path += text[i];
            continue;
        }
        path += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                  (text[i + 3] - '0'));
        i += 3;
    }
    return path;
}

}  // namespace

std::vector<MountEntry> parse_mount_table(std::string_view mountinfo) {
    std::vector<MountEntry> mounts;
    while (!mountinfo.empty()) {
        // id parent device root path options fields... - type source super-options
        std::string_view line = take_field(mountinfo, '\n');
        for (int skipped = 0; skipped < 3; ++skipped) take_field(line, ' ');
        MountEntry mount;
        mount.root = unescaped(take_field(line, ' '));
        mount.path = unescaped(take_field(line, ' '));
        const std::string_view options = take_field(line, ' ');
        mount.read_only = options == "ro" || options.starts_with("ro,");
        while (!line.empty() && take_field(line, ' ') != "-") {
        }
        mount.type = take_field(line, ' ');
        take_field(line, ' ');  // the source
        mount.options = line;
        if (!mount.path.empty() && !mount.type.empty()) mounts.push_back(std::move(mount));
    }
    return mounts;
}

}  // namespace muster::process
