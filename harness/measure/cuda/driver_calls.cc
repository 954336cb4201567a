#include "harness/measure/cuda/driver_calls.h"

namespace kbench::cuda::driver {

const char* Calls::fill(const Library& from) {
  const char* missing = nullptr;
  const auto get = [&](const char* name, auto& call) {
    if (!from.get(name, call) && missing == nullptr) missing = name;
  };
  get("cuInit", init);
  get("cuGetErrorName", error_name);
  get("cuGetErrorString", error_string);
  get("cuDeviceGetCount", device_count);
  get("cuDeviceGet", device_get);
  get("cuDeviceGetUuid_v2", device_uuid);
  get("cuDeviceGetAttribute", device_attribute);
  get("cuDevicePrimaryCtxRetain", context_retain);
  get("cuCtxSetCurrent", context_set);
  get("cuCtxSetLimit", context_limit);
  get("cuImportExternalMemory", import_memory);
  get("cuExternalMemoryGetMappedBuffer", map_buffer);
  get("cuDestroyExternalMemory", destroy_memory);
  get("cuMemAlloc_v2", allocate);
  get("cuMemFree_v2", free);
  get("cuModuleLoadData", module_load);
  get("cuModuleUnload", module_unload);
  get("cuModuleGetFunction", module_function);
  get("cuFuncGetAttribute", function_attribute);
  get("cuFuncSetAttribute", set_function_attribute);
  get("cuOccupancyMaxActiveBlocksPerMultiprocessor", occupancy);
  get("cuOccupancyMaxActiveClusters", cluster_occupancy);
  get("cuLaunchKernelEx", launch);
  get("cuMemcpyDtoDAsync_v2", copy);
  get("cuMemsetD32Async", set_words);
  get("cuStreamCreate", stream_create);
  get("cuEventCreate", event_create);
  get("cuEventRecord", event_record);
  get("cuEventQuery", event_query);
  get("cuEventElapsedTime", event_elapsed);
  get("cuEventDestroy_v2", event_destroy);
  get("cuStreamBeginCapture_v2", capture_begin);
  get("cuStreamEndCapture", capture_end);
  get("cuGraphInstantiateWithFlags", graph_instantiate);
  get("cuGraphUpload", graph_upload);
  get("cuGraphLaunch", graph_launch);
  get("cuGraphDestroy", graph_destroy);
  get("cuGraphExecDestroy", graph_exec_destroy);
  return missing;
}

}  // namespace kbench::cuda::driver
