#pragma once

#include <string>
#include <string_view>

namespace muster::cli {

// Values of a chart in generated YAML. A value to be set by the chart is a text with a mark in it,
// which needs no quotes there; later the marks become template expressions.

/// The mark of ".Values.image".
std::string chart_value(std::string_view path);
/// The mark of a list item that stands for all items of ".Values.extraArgs".
std::string chart_items(std::string_view path);

/// YAML with its marks replaced by expressions: a value that is only a mark becomes JSON of any
/// type, a mark within a text is replaced in place.
std::string with_expressions(std::string_view yaml);

/// Both texts merged: common lines once, lines that differ under a condition.
std::string either(std::string_view condition, std::string_view then, std::string_view otherwise);

/// The whole text under a condition.
std::string only_if(std::string_view condition, std::string_view text);

}  // namespace muster::cli
