#include "harness/evaluate/prompts/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kbench/error.h"
#include "tests/error_of.h"

namespace kbench::prompts {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::optional<std::string> partial(const std::string& name) {
  if (name == "greeting") return "hello {{name}}";
  if (name == "endless") return "{{> endless}}";
  if (name == "open") return "{{#list}}";
  return std::nullopt;
}

Template parse(const std::string& text) {
  std::set<std::string> used;
  return Template(text, "set/a.mustache", {"name", "list", "list.item", "flag"}, partial, &used);
}

std::string complaint(const std::string& text) {
  const Error e = error_of([&] { parse(text); });
  EXPECT_EQ(e.code(), ErrorCode::kParse);
  return e.what();
}

TEST(Template, PutsValuesInAsTheyAre) {
  EXPECT_EQ(parse("{{name}}").render({{"name", "a < b && \"c\""}}), "a < b && \"c\"");
  EXPECT_EQ(parse("{{{name}}}").render({{"name", "'<'"}}), "'<'");
}

TEST(Template, NeverReadsAValueAsATemplate) {
  EXPECT_EQ(parse("{{name}}").render({{"name", "{{flag}}{{#list}}"}}), "{{flag}}{{#list}}");
}

TEST(Template, HasSectionsAndPartials) {
  const json values = {
      {"name", "n"}, {"list", {{{"item", "1"}}, {{"item", "2"}}}}, {"flag", false}};
  EXPECT_EQ(parse("{{#list}}{{item}},{{/list}}").render(values), "1,2,");
  EXPECT_EQ(parse("{{#flag}}yes{{/flag}}{{^flag}}no{{/flag}}").render(values), "no");
  EXPECT_EQ(parse("{{> greeting}}!").render(values), "hello n!");
}

TEST(Template, TakesAnEmptyTextForFalse) {
  EXPECT_EQ(parse("{{#name}}{{name}}{{/name}}.").render({{"name", ""}}), ".");
}

TEST(Template, ComplainsWithFileAndLine) {
  EXPECT_THAT(complaint("one\n{{nam}}"),
              HasSubstr("set/a.mustache:2: unknown value 'nam'; did you mean 'name'?"));
  EXPECT_THAT(complaint("{{item}}"), HasSubstr("unknown value 'item'"));
  EXPECT_THAT(complaint("\n\n{{#list}}{{item}}"),
              HasSubstr("set/a.mustache:3: the section 'list' is not closed"));
  EXPECT_THAT(complaint("{{#list}}{{/flag}}"), HasSubstr("'list' is open, and 'flag' is closed"));
  EXPECT_THAT(complaint("{{/list}}"), HasSubstr("was not opened"));
  EXPECT_THAT(complaint("a {{name\n}}"), HasSubstr("a.mustache:1: a tag is not closed"));
  EXPECT_THAT(complaint("{{name"), HasSubstr("a tag is not closed"));
  EXPECT_THAT(complaint("{{}}"), HasSubstr("without a name"));
  EXPECT_THAT(complaint("{{=<% %>=}}"), HasSubstr("delimiters"));
  EXPECT_THAT(complaint("{{> nothing}}"), HasSubstr("no partial 'nothing.mustache'"));
  EXPECT_THAT(complaint("{{> endless}}"), HasSubstr("without end"));
  EXPECT_THAT(complaint("{{> open}}"), HasSubstr("set/open.mustache:1: the section 'list'"));
}

}  // namespace
}  // namespace kbench::prompts
