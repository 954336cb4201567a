// Copies from memory to shared memory that a thread starts and does not wait for. They come in
// groups: each thread closes one at a time, and waits until at most so many of its own are open.
#pragma once

// kBytes is 2, 4, 8 or 16, and both addresses a multiple of it. Where it is not `valid` nothing is
// read and zeros arrive. Copies of 2 bytes, which the device does not have, are waited for.
template <int kBytes>
void copy_async(void* to, const void* from, bool valid) {
  if constexpr (kBytes == 2) {
    const auto* half = static_cast<const unsigned short*>(from);
    *static_cast<unsigned short*>(to) = valid ? *half : 0;
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from), "n"(kBytes), "r"(valid ? kBytes : 0)
                 : "memory");
  }
}
void close_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kOpen>
void wait_for_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kOpen) : "memory");
}
