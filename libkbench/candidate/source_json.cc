#include "libkbench/candidate/source_json.h"

#include <openssl/evp.h>

#include <climits>

namespace kbench {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& why) { throw Error(ErrorCode::kParse, why); }

std::string text_of(const json& value, const char* what) {
  if (!value.is_string()) fail(std::string(what) + " must be a string");
  return value.get<std::string>();
}

std::string bytes_of(const json& value, const char* what) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object() || value.size() != 1 || !value.contains("base64")) {
    fail(std::string(what) + " must be a string or {\"base64\": \"...\"}");
  }
  return from_base64(text_of(value.at("base64"), "base64"));
}

}  // namespace

bool is_utf8(std::string_view text) {
  // Asked of the JSON library, which has to write it.
  try {
    (void)json(text).dump();
    return true;
  } catch (const json::exception&) {
    return false;
  }
}

std::string to_base64(std::string_view bytes) {
  if (bytes.size() > INT_MAX / 2) fail("a file of " + std::to_string(bytes.size()) + " bytes");
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(length));
  return text;
}

std::string from_base64(std::string_view text) {
  if (text.size() % 4 != 0 || text.size() > INT_MAX) fail("base64 of a length that it cannot have");
  if (text.empty()) return "";
  std::string bytes(text.size() / 4 * 3, '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  // OpenSSL strips white space at both ends and counts padding as zero bytes.
  if (length != static_cast<int>(bytes.size())) fail("what is no base64");
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  bytes.resize(bytes.size() - padding);
  return bytes;
}

CandidateSource source_from_json(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object()) fail("a candidate must be a path, or an object with its files");
  CandidateSource source;
  for (const auto& [key, member] : value.items()) {
    if (key == "path") {
      source.path = bytes_of(member, "path");
    } else if (key == "name") {
      source.path = text_of(member, "name");
    } else if (key == "manifest") {
      source.manifest = text_of(member, "manifest");
    } else if (key == "author") {
      source.author = text_of(member, "author");
    } else if (key == "task_file") {
      source.task_file = text_of(member, "task_file");
    } else if (key == "files") {
      if (!member.is_object()) fail("files must be an object");
      source.files.emplace();
      for (const auto& [path, bytes] : member.items()) {
        (*source.files)[path] = bytes_of(bytes, "a file's content");
      }
    } else {
      fail("a candidate has no field '" + key +
           "'; it has path, or files, manifest and name, and author and task_file");
    }
  }
  const bool named = value.contains("name") || value.contains("manifest");
  if (value.contains("path") == source.files.has_value() || (named && !source.files)) {
    fail("a candidate has either path, or files with manifest and name");
  }
  return source;
}

}  // namespace kbench
