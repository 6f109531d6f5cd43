#include "support/temporary_folder.hpp"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace luce::support {

TemporaryFolder::TemporaryFolder() : root_((std::filesystem::temp_directory_path() / "luce-test-XXXXXX").string()) {
  if (::mkdtemp(root_.data()) == nullptr) throw std::system_error(errno, std::generic_category(), root_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

std::string TemporaryFolder::path(const std::string& name) const { return name.empty() ? root_ : root_ + "/" + name; }

std::string TemporaryFolder::write(const std::string& name, std::span<const std::byte> content) const {
  std::ofstream out(path(name), std::ios::binary);
  out.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path(name));
  return path(name);
}

std::string TemporaryFolder::write(const std::string& name, std::string_view content) const {
  return write(name, std::as_bytes(std::span(content)));
}

}  // namespace luce::support
