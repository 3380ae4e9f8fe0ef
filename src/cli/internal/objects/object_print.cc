#include "cli/internal/objects/object_print.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <cstdio>

#include "base/visible_text.h"
#include "cli/internal/objects/json_path_template.h"
#include "kube/values/json_access.h"
#include "manifest/yaml/yaml_writer.h"

namespace muster::cli {

namespace {

json::value shown(const json::value& object, bool managed_fields) {
    json::value copy = object;
    json::object* root = copy.if_object();
    json::value* metadata = root == nullptr ? nullptr : root->if_contains("metadata");
    if (!managed_fields && metadata != nullptr && metadata->is_object())
        metadata->get_object().erase("managedFields");
    return copy;
}

void write(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

}  // namespace

Result<std::string> print_objects(const std::vector<kube::ObjectPtr>& objects,
                                  const std::vector<const ApiResource*>& resources,
                                  const PrintedAs& as, bool one) {
    std::string text;
    if (as.format == ObjectFormat::kName) {
        for (std::size_t i = 0; i < objects.size(); ++i)
            if (const json::object* object = objects[i]->if_object())
                text += fmt::format("{}/{}\n", resources[i]->qualified_singular(),
                                    kube::name_of(*object));
        return text;
    }
    json::value whole;
    if (one && objects.size() == 1) {
        whole = shown(*objects.front(), as.managed_fields);
    } else {
        json::array items;
        for (const kube::ObjectPtr& object : objects)
            items.push_back(shown(*object, as.managed_fields));
        whole = json::object{{"apiVersion", "v1"},
                             {"items", std::move(items)},
                             {"kind", "List"},
                             {"metadata", json::object{{"resourceVersion", ""}}}};
    }
    if (as.format == ObjectFormat::kJson) return manifest::to_pretty_json(whole);
    if (as.format == ObjectFormat::kYaml) return manifest::to_yaml(whole);
    TRY(const JsonPathTemplate layout, JsonPathTemplate::parse(as.json_path));
    return layout.render(whole);
}

std::string print_objects(const std::vector<json::value>& objects, OutputFormat format) {
    if (format == OutputFormat::kJson) {
        json::array items(objects.begin(), objects.end());
        return manifest::to_pretty_json(
            json::object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}});
    }
    std::string text;
    for (const json::value& object : objects) {
        if (!text.empty()) text += "---\n";
        text += manifest::to_yaml(object);
    }
    return text;
}

void print(std::string_view text) { write(visible_text(text)); }

void print_exact(std::string_view text) {
    if (::isatty(STDOUT_FILENO) == 1)
        print(text);
    else
        write(text);
}

}  // namespace muster::cli
