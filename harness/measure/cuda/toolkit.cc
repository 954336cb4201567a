#include "harness/measure/cuda/toolkit.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <system_error>

namespace kbench::cuda {

namespace {

namespace fs = std::filesystem;

/// Major versions of CUDA that kbench supports, newest first.
constexpr const char* kMajors[] = {"13", "12"};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::vector<std::string> versioned(const std::string& name) {
  std::vector<std::string> names;
  for (const char* major : kMajors) names.push_back(name + "." + major);
  names.push_back(name);
  return names;
}

/// The library in one of the folders, the newest version first.
std::string library_in(const std::vector<fs::path>& folders, const std::string& name) {
  for (const fs::path& folder : folders) {
    for (const std::string& file : versioned(name)) {
      if (is_file(folder / file)) return (folder / file).string();
    }
  }
  return "";
}

void add_headers(const fs::path& folder, Toolkit& toolkit) {
  if (!is_file(folder / "cuda_fp16.h")) return;
  toolkit.include.push_back(folder.string());
  // CUDA 13 has its C++ library in a folder of its own.
  if (is_folder(folder / "cccl")) toolkit.include.push_back((folder / "cccl").string());
}

/// Folders in a folder whose names begin so, sorted from the end: the newest version first.
std::vector<fs::path> folders_in(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

bool look_in_toolkit(const fs::path& root, Toolkit& toolkit) {
  const std::vector<fs::path> folders = {root / "lib64", root / "lib",
                                         root / "targets/x86_64-linux/lib",
                                         root / "targets/sbsa-linux/lib"};
  toolkit.nvrtc = library_in(folders, "libnvrtc.so");
  if (toolkit.nvrtc.empty()) return false;
  toolkit.nvjitlink = library_in(folders, "libnvJitLink.so");
  for (const char* include : {"include", "targets/x86_64-linux/include"}) {
    if (toolkit.include.empty()) add_headers(root / include, toolkit);
  }
  return true;
}

/// nvidia/cu13 has all of one version; nvidia/cuda_nvrtc and the like a package each.
bool look_in_packages(const fs::path& site, Toolkit& toolkit) {
  const fs::path nvidia = site / "nvidia";
  for (const fs::path& root : folders_in(nvidia, "cu1")) {
    if (look_in_toolkit(root, toolkit)) return true;
  }
  toolkit.nvrtc = library_in({nvidia / "cuda_nvrtc/lib"}, "libnvrtc.so");
  if (toolkit.nvrtc.empty()) return false;
  toolkit.nvjitlink = library_in({nvidia / "nvjitlink/lib"}, "libnvJitLink.so");
  add_headers(nvidia / "cuda_runtime/include", toolkit);
  return true;
}

void add_packages_of(const fs::path& prefix, std::vector<std::string>& site) {
  for (const fs::path& python : folders_in(prefix / "lib", "python3")) {
    for (const char* name : {"site-packages", "dist-packages"}) {
      if (is_folder(python / name)) site.push_back((python / name).string());
    }
  }
}

}  // namespace

ToolkitPlaces toolkit_places() {
  ToolkitPlaces places;
  places.nvrtc = variable("KBENCH_NVRTC");
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string root = variable(name); !root.empty()) places.roots.push_back(root);
  }
  places.roots.push_back("/usr/local/cuda");
  for (const fs::path& root : folders_in("/usr/local", "cuda-")) {
    places.roots.push_back(root.string());
  }
  places.roots.push_back("/opt/cuda");
  if (const fs::path python = variable("KBENCH_PYTHON"); !python.empty()) {
    add_packages_of(python.parent_path().parent_path(), places.site);
  }
  if (const std::string root = variable("VIRTUAL_ENV"); !root.empty()) {
    add_packages_of(root, places.site);
  }
  for (const std::string& folder : python_folders()) {
    add_packages_of(fs::path(folder).parent_path(), places.site);
  }
  for (const char* prefix : {"/usr/local", "/usr"}) add_packages_of(prefix, places.site);
  return places;
}

std::vector<std::string> python_folders() {
  const bool in_runner = std::getenv(kPythonFolders) != nullptr;
  std::istringstream folders(variable(in_runner ? kPythonFolders : "PATH"));
  std::vector<std::string> all;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const bool there = folder.starts_with('/') && access((folder + "/python3").c_str(), X_OK) == 0;
    if (there && std::find(all.begin(), all.end(), folder) == all.end()) all.push_back(folder);
  }
  return all;
}

Toolkit find_toolkit(const ToolkitPlaces& places) {
  Toolkit toolkit;
  if (!places.nvrtc.empty()) {
    toolkit.nvrtc = places.nvrtc;
    const fs::path folder = fs::path(places.nvrtc).parent_path();
    toolkit.nvjitlink = library_in({folder}, "libnvJitLink.so");
    add_headers(folder.parent_path() / "include", toolkit);
    return toolkit;
  }
  for (const std::string& root : places.roots) {
    if (look_in_toolkit(root, toolkit)) return toolkit;
  }
  for (const std::string& site : places.site) {
    if (look_in_packages(site, toolkit)) return toolkit;
  }
  // The loader may still find it; Debian's package has its headers in /usr/include.
  add_headers("/usr/include", toolkit);
  return toolkit;
}

std::vector<std::string> Toolkit::folders() const {
  std::set<std::string> all;
  std::error_code error;
  for (const std::string& file : {nvrtc, nvjitlink}) {
    if (file.empty()) continue;
    all.insert(fs::path(file).parent_path().string());
    // Resolved: the libraries that this one opens lie beside it and not beside a link to it.
    const fs::path real = fs::canonical(file, error);
    if (!error) all.insert(real.parent_path().string());
  }
  all.insert(include.begin(), include.end());
  return {all.begin(), all.end()};
}

std::string searched(const ToolkitPlaces& places) {
  if (!places.nvrtc.empty()) return "KBENCH_NVRTC, which is '" + places.nvrtc + "'";
  std::string text = "KBENCH_NVRTC, CUDA_HOME, CUDA_PATH";
  for (const std::string& root : places.roots) text += ", " + root;
  return text + ", Python's nvidia packages, the loader";
}

const std::vector<std::string>& nvrtc_names() {
  static const std::vector<std::string> names = versioned("libnvrtc.so");
  return names;
}

const std::vector<std::string>& nvjitlink_names() {
  static const std::vector<std::string> names = versioned("libnvJitLink.so");
  return names;
}

Library::Library(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      name_ = name;
      return;
    }
    const char* error = dlerror();
    reason_ = error ? error : "it cannot be opened";
  }
}

void* Library::symbol(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

}  // namespace kbench::cuda
