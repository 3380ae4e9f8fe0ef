#include "apiserver_http/internal/printing/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "apiserver/objects/text_fields.h"
#include "apiserver_http/internal/printing/cell_text.h"
#include "apiserver_http/internal/printing/custom_columns.h"
#include "apiserver_http/internal/printing/fields.h"
#include "apiserver_http/internal/printing/printer.h"
#include "store/json_text.h"

namespace muster::apiserver_http {

namespace {

constexpr std::string_view kMetaVersion = "meta.k8s.io/v1";
constexpr std::string_view kPartialMetadata = "PartialObjectMetadata";

/// For kinds without columns of their own.
constexpr Column kPlainColumns[] = {
    kNameColumn,
    {"Created At", "date", "", "When the object was created."},
};

json::array plain_cells(const json::object& object, WallTime) {
    return {name_of(object), string_at(metadata_of(object), "creationTimestamp")};
}

constexpr Printer kPlain{"", kPlainColumns, plain_cells};

json::array definitions(std::span<const Column> columns) {
    json::array list;
    for (const Column& column : columns)
        list.push_back(json::object{{"name", column.name},
                                    {"type", column.type},
                                    {"format", column.format},
                                    {"description", column.description},
                                    {"priority", column.priority}});
    return list;
}

json::object list_metadata(const ListMeta& meta) {
    json::object metadata;
    if (!meta.resource_version.empty()) metadata["resourceVersion"] = meta.resource_version;
    if (!meta.continue_.empty()) metadata["continue"] = meta.continue_;
    if (meta.remaining) metadata["remainingItemCount"] = *meta.remaining;
    return metadata;
}

const Printer& printer_of(const apiserver::ResourceDef& def) {
    const Printer* printer = def.custom ? nullptr : builtin_printer(def.type.qualified());
    return printer == nullptr ? kPlain : *printer;
}

json::array cells(const apiserver::ResourceDef& def, const json::value& object, WallTime now) {
    return def.custom ? custom_cells(def, object, now)
                      : printer_of(def).cells(object.get_object(), now);
}

}  // namespace

const Printer* builtin_printer(std::string_view resource) {
    for (const std::span<const Printer> table :
         {pod_printers(), workload_printers(), network_printers(), cluster_printers(),
          access_printers(), storage_printers()})
        if (auto it = std::ranges::find(table, resource, &Printer::resource); it != table.end())
            return &*it;
    return nullptr;
}

std::optional<RowObject> row_object_of(std::string_view include_object) {
    if (include_object.empty() || include_object == "Metadata") return RowObject::kMetadata;
    if (include_object == "None") return RowObject::kNone;
    if (include_object == "Object") return RowObject::kFull;
    return std::nullopt;
}

json::object table_head(const apiserver::ResourceDef& def, const ListMeta& meta,
                        bool with_columns) {
    json::object table{{"kind", "Table"},
                       {"apiVersion", kMetaVersion},
                       {"metadata", list_metadata(meta)},
                       {"columnDefinitions", nullptr}};
    if (with_columns)
        table["columnDefinitions"] =
            def.custom ? custom_column_definitions(def) : definitions(printer_of(def).columns);
    return table;
}

json::object table_row(const apiserver::ResourceDef& def, const json::value& object,
                       RowObject row_object, WallTime now) {
    json::object row{{"cells", cells(def, object, now)}, {"object", nullptr}};
    switch (row_object) {
        case RowObject::kNone:
            break;
        case RowObject::kMetadata:
            row["object"] = partial_metadata(object.get_object());
            break;
        case RowObject::kFull:
            row["object"] = object;
            break;
    }
    return row;
}

void append_table_row(std::string& row, const apiserver::ResourceDef& def, std::string_view text,
                      const json::value& object, RowObject row_object, WallTime now) {
    row += R"({"cells":)";
    store::append_json(row, cells(def, object, now));
    row += R"(,"object":)";
    switch (row_object) {
        case RowObject::kNone:
            row += "null";
            break;
        case RowObject::kMetadata:
            append_partial_metadata(row, text);
            break;
        case RowObject::kFull:
            row += text;
            break;
    }
    row += '}';
}

json::object partial_metadata_list_head(const ListMeta& meta) {
    return {{"kind", "PartialObjectMetadataList"},
            {"apiVersion", kMetaVersion},
            {"metadata", list_metadata(meta)}};
}

json::object partial_metadata(const json::object& object) {
    return {{"kind", kPartialMetadata},
            {"apiVersion", kMetaVersion},
            {"metadata", metadata_of(object)}};
}

void append_partial_metadata(std::string& partial, std::string_view text) {
    fmt::format_to(std::back_inserter(partial),
                   R"({{"kind":"{}","apiVersion":"{}","metadata":{}}})", kPartialMetadata,
                   kMetaVersion, apiserver::text_at_path(text, "metadata").value_or("{}"));
}

}  // namespace muster::apiserver_http
