// How often kbench tries again what failed through no fault of the candidate. Each failure is tried
// again in one place, and in no other; docs/architecture.md ("What is tried again") has the table.
#pragma once

namespace kbench::judge {

/// The judge: a trial whose runner or baseline ended by no doing of the candidate's, which lacked
/// memory beside what kbench itself holds, or whose clocks disagree.
inline constexpr int kTriesOfATrial = 2;
/// JudgeProcess: an evaluation whose judge was ended from outside, or before it touched the
/// candidate. A Pool asks another evaluator, once, where trouble() then says that this one is lost.
inline constexpr int kTriesOfAJudge = 2;
/// trouble(): opening the device, as a driver may need a moment after it lost a process.
inline constexpr int kTriesOfAStart = 2;
/// Server: seconds in which it may have no room or not be reached, from its last answer on.
inline constexpr double kServerPatienceSeconds = 120;
/// Server: how often one experiment is sent again to a server that does not know it any more.
inline constexpr int kMostForgotten = 5;

}  // namespace kbench::judge
