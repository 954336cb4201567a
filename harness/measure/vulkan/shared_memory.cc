// Device::allocate_shared, Device::import_shared and Buffer::share.
//
// With descriptors the driver's memory is exported. There are no queue family ownership transfers:
// buffers have no layout that these would change, and each process waits for its fence before it
// lets the other go on.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "harness/measure/vulkan/buffer.h"
#include "harness/measure/vulkan/device_state.h"
#include "harness/measure/vulkan/functions.h"
#include "kbench/error.h"

namespace kbench::vulkan {
namespace {

/// GPU drivers map memory in units of this: smaller allocations take as much.
constexpr uint64_t kDeviceGranule = uint64_t{2} << 20;

constexpr VkExternalMemoryHandleTypeFlagBits kDescriptor =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
constexpr VkExternalMemoryHandleTypeFlagBits kHostPointer =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;

VkExternalMemoryBufferCreateInfo external_buffer(VkExternalMemoryHandleTypeFlagBits type) {
  VkExternalMemoryBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
  info.handleTypes = type;
  return info;
}

uint64_t page_bytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

[[noreturn]] void throw_errno(ErrorCode code, const std::string& what) {
  throw Error(code, what + ": " + std::strerror(errno));
}

[[noreturn]] void refuse_description(const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, "shared memory cannot be imported: " + why);
}

/// A memfd whose size is sealed, so that no process can shrink it and make another one fault.
UniqueFd make_file(uint64_t bytes) {
  UniqueFd file(memfd_create("kbench", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.open()) throw_errno(ErrorCode::kOutOfMemory, "memfd_create");
  if (ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) {
    throw_errno(ErrorCode::kOutOfMemory, "sizing shared memory");
  }
  if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    throw_errno(ErrorCode::kInternal, "sealing shared memory");
  }
  return file;
}

/// Opened anew for reading only, so that it cannot be mapped for writing; a duplicate could.
UniqueFd copy_of(const UniqueFd& file, Access access) {
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  UniqueFd copy(access == Access::read_only ? open(path.c_str(), O_RDONLY | O_CLOEXEC)
                                            : fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.open()) throw_errno(ErrorCode::kIo, "sharing memory");
  return copy;
}

/// Maps the file at a random address: shaders of a software device can reach memory near their
/// tensors, and the system would map the file next to libraries. Where several drawn addresses are
/// taken, as a sanitizer takes many, the system chooses. MAP_FAILED as mmap().
void* map_at_random(uint64_t bytes, int protection, const UniqueFd& file) {
  constexpr uint64_t kLeast = uint64_t{1} << 40, kMask = (uint64_t{1} << 46) - 1;
  constexpr int kTries = 16;
  std::random_device random;
  for (int tries_left = kTries - 1;; --tries_left) {
    const uint64_t drawn = uint64_t{random()} << 32 | random();
    const uint64_t place = (kLeast + (drawn & kMask)) / page_bytes() * page_bytes();
    void* const wanted = reinterpret_cast<void*>(place);
    void* const at = mmap(wanted, bytes, protection, MAP_SHARED, file.get(), 0);
    if (at == wanted || at == MAP_FAILED || tries_left == 0) return at;
    munmap(at, bytes);
  }
}

}  // namespace

Buffer Device::State::begin_whole_buffer(uint64_t bytes, uint64_t granule, const void* next) const {
  for (int attempt = 0; attempt < 4; ++attempt) {
    if (bytes > UINT64_MAX - granule) refuse_memory(bytes, "no device has as much");
    const uint64_t whole = (bytes + granule - 1) / granule * granule;
    Buffer buffer = begin_buffer(whole, next);
    bytes = requirements(buffer).size;
    if (bytes == whole) return buffer;
  }
  throw Error(ErrorCode::kUnsupported, "device '" + snapshot.name +
                                           "' needs more memory for a buffer than the buffer "
                                           "covers: what lies behind it could not be checked");
}

UniqueFd Device::State::export_descriptor(const Buffer& buffer) const {
  const auto get_descriptor =
      reinterpret_cast<PFN_vkGetMemoryFdKHR>(vkGetDeviceProcAddr(device, "vkGetMemoryFdKHR"));
  VkMemoryGetFdInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR;
  info.memory = buffer.state_->memory;
  info.handleType = kDescriptor;
  int fd = -1;
  KBENCH_VK(get_descriptor(device, &info, &fd));
  return UniqueFd(fd);
}

Buffer Device::State::share_descriptor(uint64_t bytes) const {
  const VkExternalMemoryBufferCreateInfo external = external_buffer(kDescriptor);
  Buffer buffer = begin_whole_buffer(bytes, kDeviceGranule, &external);
  const uint32_t type = choose_type(buffer, requirements(buffer).memoryTypeBits, MemoryUse::device);
  export_memory(buffer, type);
  count(buffer);
  buffer.state_->sharing = Sharing::descriptor;
  return buffer;
}

void Device::State::export_memory(const Buffer& buffer, uint32_t type) const {
  const VkMemoryDedicatedAllocateInfo dedicated = dedicated_to(buffer.handle());
  VkExportMemoryAllocateInfo exported{};
  exported.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
  // Dedicated memory is made in a tenth of the time (H200: 1 ms a gigabyte, others 12), but
  // imported as such in twice (21 ms, others 10): imports are dedicated only where they must be.
  exported.pNext = &dedicated;
  exported.handleTypes = kDescriptor;
  allocate_memory(buffer, buffer.size(), type, &exported);
  bind(buffer);
  buffer.state_->file = export_descriptor(buffer);
}

void Device::State::import_memory(const Buffer& buffer, UniqueFd descriptor, uint32_t type) const {
  const VkMemoryDedicatedAllocateInfo dedicated = dedicated_to(buffer.handle());
  VkImportMemoryFdInfoKHR imported{};
  imported.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR;
  imported.pNext = snapshot.dedicated_descriptors ? &dedicated : nullptr;
  imported.handleType = kDescriptor;
  imported.fd = descriptor.get();
  allocate_memory(buffer, buffer.size(), type, &imported);
  static_cast<void>(descriptor.release());  // the driver's once the import has succeeded
  bind(buffer);
}

Buffer Device::State::import_descriptor(SharedMemory shared) const {
  const VkExternalMemoryBufferCreateInfo external = external_buffer(kDescriptor);
  Buffer buffer = begin_buffer(shared.bytes, &external);
  const VkMemoryRequirements needs = requirements(buffer);
  if (needs.size != shared.bytes) refuse_description("its size is not that of a whole allocation");
  if (shared.memory_type >= memory.memoryTypeCount ||
      !(needs.memoryTypeBits >> shared.memory_type & 1)) {
    refuse_description("its memory type is none of this device's for buffers");
  }
  import_memory(buffer, std::move(shared.descriptor), shared.memory_type);
  return buffer;
}

void Device::State::allocate_file(const Buffer& buffer, const UniqueFd& file, Access access) const {
  const int protection = PROT_READ | (access == Access::read_write ? PROT_WRITE : 0);
  void* mapped = map_at_random(buffer.size(), protection, file);
  if (mapped == MAP_FAILED) {
    throw_errno(errno == ENOMEM ? ErrorCode::kOutOfMemory : ErrorCode::kInvalidArgument,
                "mapping shared memory");
  }
  Buffer::State& state = *buffer.state_;
  state.mapped = static_cast<std::byte*>(mapped);
  state.memory_bytes = buffer.size();
  state.maps_file = true;

  const auto pointer_properties = reinterpret_cast<PFN_vkGetMemoryHostPointerPropertiesEXT>(
      vkGetDeviceProcAddr(device, "vkGetMemoryHostPointerPropertiesEXT"));
  VkMemoryHostPointerPropertiesEXT properties{};
  properties.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT;
  KBENCH_VK(pointer_properties(device, kHostPointer, mapped, &properties));
  VkImportMemoryHostPointerInfoEXT imported{};
  imported.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT;
  imported.handleType = kHostPointer;
  imported.pHostPointer = mapped;
  const uint32_t bits = requirements(buffer).memoryTypeBits & properties.memoryTypeBits;
  allocate_memory(buffer, buffer.size(), choose_type(buffer, bits, MemoryUse::device), &imported);
}

Buffer Device::State::share_host_pointer(uint64_t bytes) const {
  const VkExternalMemoryBufferCreateInfo external = external_buffer(kHostPointer);
  Buffer buffer = begin_whole_buffer(bytes, page_bytes(), &external);
  UniqueFd file = make_file(buffer.size());
  allocate_file(buffer, file, Access::read_write);
  buffer.state_->file = std::move(file);
  bind(buffer);
  count(buffer);
  buffer.state_->sharing = Sharing::host_pointer;
  return buffer;
}

Buffer Device::State::import_host_pointer(SharedMemory shared, Access access) const {
  const VkExternalMemoryBufferCreateInfo external = external_buffer(kHostPointer);
  Buffer buffer = begin_buffer(shared.bytes, &external);
  struct stat file {};
  if (fstat(shared.descriptor.get(), &file) != 0) refuse_description("it has no descriptor");
  if (static_cast<uint64_t>(file.st_size) != shared.bytes ||
      requirements(buffer).size != shared.bytes) {
    refuse_description("its size is not that of a whole allocation");
  }
  allocate_file(buffer, shared.descriptor, access);  // the mapping needs no descriptor
  bind(buffer);
  return buffer;
}

Buffer Device::allocate_shared(uint64_t bytes) {
  return state_->plan.sharing == Sharing::host_pointer ? state_->share_host_pointer(bytes)
                                                       : state_->share_descriptor(bytes);
}

Buffer Device::import_shared(SharedMemory memory, Access access) {
  if (state_->plan.sharing == Sharing::host_pointer) {
    return state_->import_host_pointer(std::move(memory), access);
  }
  return state_->import_descriptor(std::move(memory));
}

SharedMemory Buffer::share(Access access) const {
  if (!state_ || state_->sharing == Sharing::none) {
    throw Error(ErrorCode::kInvalidArgument, "only memory of allocate_shared() can be shared");
  }
  SharedMemory shared{.descriptor = {}, .bytes = state_->size, .memory_type = state_->memory_type};
  if (state_->sharing == Sharing::host_pointer) {
    shared.descriptor = copy_of(state_->file, access);
    return shared;
  }
  shared.descriptor = copy_of(state_->file, Access::read_write);
  return shared;
}

}  // namespace kbench::vulkan
