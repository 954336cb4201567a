// How much reading and resolving a candidate may cost. Every limit is far above what a
// candidate that solves a task needs; together they keep reading and resolving any candidate within
// about a second and a few hundred MiB. Exceeding one is an Error (kParse) at the place.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kbench::limits {

// Files.
inline constexpr size_t kManifestBytes = size_t{1} << 20;    ///< YAML: parsed at about 5 MB/s
inline constexpr size_t kFileBytes = size_t{4} << 20;        ///< any other file
inline constexpr size_t kCandidateBytes = size_t{16} << 20;  ///< all files together
inline constexpr size_t kFiles = 256;       ///< beside the YAML file; each costs a message or two
inline constexpr size_t kLookups = 1024;    ///< different paths tried for #include lines
inline constexpr size_t kPathBytes = 1024;  ///< of a path relative to the folder

// The YAML document. A node takes some 300 bytes once parsed.
inline constexpr size_t kNodes = size_t{1} << 18;  ///< with every alias counted as what it repeats
inline constexpr size_t kTextBytes = 2 * kManifestBytes;  ///< likewise; expressions: 1.5 MB/s
inline constexpr size_t kDepth = 64;                      ///< nesting; the format itself needs 7

// What it holds. The largest shipped network has some 400 steps; a recurrent one that launches a
// kernel for every layer and step of its sequence some thousands.
inline constexpr size_t kKernels = 1024;
inline constexpr size_t kConstants = 512;  ///< of the candidate, and again of each kernel
inline constexpr size_t kRequirements = 16;
inline constexpr size_t kDefines = 512;         ///< likewise
inline constexpr size_t kDefineBytes = 1000;    ///< of a macro's text, and of its name
inline constexpr size_t kSpecialization = 256;  ///< constants of one kernel
inline constexpr size_t kTemporaries = 1024;
inline constexpr size_t kSteps = size_t{1} << 14;  ///< of setup and dispatch together
inline constexpr size_t kRepeats = 8;              ///< around one step
inline constexpr size_t kDataBuffers = 64;
inline constexpr size_t kBind = 256;             ///< buffers of one step, or operands
inline constexpr size_t kPushBytes = 128;        ///< what every Vulkan device offers
inline constexpr size_t kPush = kPushBytes / 4;  ///< push constants of one step
inline constexpr size_t kUniforms = 64;          ///< uniform blocks of one step
inline constexpr size_t kUniformValues = 4096;   ///< numbers of one uniform block
inline constexpr size_t kParameterBytes = 4096;  ///< of a CUDA kernel: what every device takes
inline constexpr size_t kParameters = 256;       ///< of one step, those of `bind` among them
inline constexpr size_t kRank = 16;              ///< extents of a shape, values of an attribute
inline constexpr size_t kAttributes = 64;        ///< of one step
inline constexpr size_t kNameBytes = 100;        ///< of a kernel, a constant, a temporary
inline constexpr size_t kEntryBytes = 1000;      ///< of a CUDA kernel's name, templates spelled out
inline constexpr size_t kDescriptionBytes = 4096;

// Working it out.
inline constexpr size_t kExpressionBytes = 1000;
inline constexpr size_t kExpressionDepth = 64;                ///< parentheses in each other
inline constexpr size_t kMacros = size_t{1} << 17;            ///< of all kernels together
inline constexpr size_t kMacroBytes = size_t{16} << 20;       ///< of defines, likewise
inline constexpr int64_t kTemporaryBytes = int64_t{1} << 44;  ///< 16 TiB: larger than any memory
inline constexpr size_t kLaunches = kSteps;  ///< steps, counted as often as they are repeated
inline constexpr size_t kRepeatedBytes = kTextBytes;   ///< text of steps, counted likewise
inline constexpr size_t kDataBytes = size_t{1} << 19;  ///< of all data together
/// Attributes of built-in operators, either sign: two multiplied stay far below 2^63.
inline constexpr int64_t kAttribute = (int64_t{1} << 31) - 1;

// Messages.
inline constexpr size_t kMessageBytes = 2048;
inline constexpr size_t kListedNames = 24;  ///< how many of the known names a message lists

}  // namespace kbench::limits
