// Tasks of one's own: a file says what a task computes, at which sizes, from which values. Its
// format is in docs/tasks.md.
//
//     const kbench::TaskSet set = kbench::TaskSet::from_path("tasks/my_mlp.yaml");
//     const auto graph = kbench::build_graph(*set.tasks().front(), kbench::Preset::smoke);
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/candidate_source.h"
#include "kbench/task.h"

namespace kbench {

/// Reads a task's file and makes it known to this process (add_own_task()): named_task(),
/// find_task() and all that take a TaskId take it from then on. `file` is what messages call it.
/// Throws Error (kParse with the place; of shapes that do not fit at preset smoke, too).
const Task& add_task_file(const std::string& text, const std::string& file);

/// "my/block.certificates.jsonl", which has those of my/block.yaml: a CertificateFile a line.
std::string certificates_beside(const std::string& file);

/// The tasks of a file, or of a folder's files *.yaml, by name.
class TaskSet {
 public:
  /// Adds them, with the certificates beside them. Throws as add_task_file(), and kNotFound, kIo;
  /// kInvalidArgument for a folder without such files, or two of which have one name.
  static TaskSet from_path(const std::string& path);
  /// Pointers stay valid as long as the process lives.
  const std::vector<const Task*>& tasks() const { return tasks_; }

 private:
  std::vector<const Task*> tasks_;
};

/// The files of the tasks that were added to this process and count.
std::vector<std::string> own_task_files();
/// What another process that is to judge them does with these: from now on it knows these tasks of
/// one's own and no others, whose memory ends with what uses them. Throws as add_task_file().
void set_task_files(const std::vector<std::string>& texts);

/// The candidate in memory (in_memory()), with its task's file where that is a task of one's own:
/// all that another machine needs to judge it.
CandidateSource for_another_machine(const CandidateSource& source);

/// Of a task that was made of a PyTorch module: which one, and how it was compared with it. Empty
/// for any other.
std::string module_behind(const Task& task);

/// Whether a word where a task is expected is rather a path: it ends in ".yaml" or ".yml", begins
/// with "./", "../" or '/', or is a folder's with a '/' at its end.
bool is_task_path(std::string_view text);

/// select_tasks(), but for items that are paths: these are TaskSet::from_path()'s.
std::vector<const Task*> select_tasks_and_files(std::string_view selection,
                                                Names names = Names::of_one);

/// The task as such a file, at one preset: reading it gives the same graph at that preset. Steps
/// that repeat stand in `repeat`. Throws kUnsupported for a graph that a file cannot say.
std::string task_file_text(const Task& task, const Graph& graph, Preset preset);

/// The task as one file for all presets, with its numbers at each of them. A number that differs is
/// the task's variable that has the same values, else a variable of the file's own. Throws as
/// above, and kUnsupported where the presets differ in more than numbers.
std::string task_file_text(const Task& task);

/// A graph with the sizes it was built or traced at, by name.
struct SizedGraph {
  Variables variables;
  const Graph* graph;
};

/// The same of graphs from elsewhere: four are those at smoke, train, v0 and v0.1; of three train's
/// is v0's, two are smoke and v0.1, and one is all of these. Of `task` name, title, family and
/// tolerance are taken. Graphs must have at least one operator.
std::string task_file_text(const Task& task, std::span<const SizedGraph> built);

}  // namespace kbench
