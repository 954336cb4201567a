/* kbench for programs in C, and in every language that can call C: JSON in, JSON out.
 *
 * The shared library libkbench.so has these functions and nothing else in sight. docs/embedding.md
 * has complete programs.
 *
 * Every call that can fail returns a kbench_status and writes a text to *answer: where it is
 * KBENCH_OK the answer, a JSON object; else {"code": "not_found", "message": "..."}, with "file",
 * "line" and "column" where a place is known. The caller frees the text with kbench_free(); it is
 * NULL where there was no memory even for that. `request` is a JSON object in UTF-8, and NULL
 * the empty one; a field that a request may not have is an error (KBENCH_PARSE). No C++ exception
 * leaves the library, it prints nothing, and a candidate never runs in the caller's process.
 *
 * Threads: every function may be called from any thread at any time; a handle is freed after all
 * other calls that use it have returned.
 */
#ifndef KBENCH_C_H
#define KBENCH_C_H

#if defined(__GNUC__)
#define KBENCH_API __attribute__((visibility("default")))
#else
#define KBENCH_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What is wrong with a candidate is no error: it is a verdict in a result. */
typedef enum kbench_status {
  KBENCH_OK = 0,
  KBENCH_INVALID_ARGUMENT = 1, /* a value, name or size that makes no sense */
  KBENCH_NOT_FOUND = 2,        /* a task, file, device or program that is not there */
  KBENCH_SHAPE = 3,            /* shapes that an operator cannot take */
  KBENCH_PARSE = 4,            /* a request or a file that is malformed */
  KBENCH_IO = 5,               /* a file that cannot be read or written */
  KBENCH_COMPILE = 6,          /* a shader of kbench's own that does not compile */
  KBENCH_UNSUPPORTED = 7,      /* something this device or build cannot do */
  KBENCH_OUT_OF_MEMORY = 8,    /* host or device memory */
  KBENCH_TIMEOUT = 9,          /* a driver or process that did not answer */
  KBENCH_DEVICE_LOST = 10,     /* the device stopped answering */
  KBENCH_MODEL = 11,           /* a language model that did not answer */
  KBENCH_INTERNAL = 12,        /* a bug in kbench itself */
  KBENCH_CANCELLED = 13        /* stopped through a kbench_stop */
} kbench_status;

/* "not_found"; of a number that is no status "internal". Never freed. */
KBENCH_API const char* kbench_status_name(kbench_status status);
/* "0.1.0". Never freed. */
KBENCH_API const char* kbench_version(void);
/* Frees an answer; NULL is allowed. */
KBENCH_API void kbench_free(char* answer);

/* --- a request to stop ---------------------------------------------------------------------- */

/* Handed to evaluations, any number of them. Once requested it stays so. */
typedef struct kbench_stop kbench_stop;
/* NULL only where there is no memory. */
KBENCH_API kbench_stop* kbench_stop_new(void);
/* Evaluations that were given it return KBENCH_CANCELLED within about a second. */
KBENCH_API void kbench_stop_request(kbench_stop* stop);
KBENCH_API void kbench_stop_free(kbench_stop* stop);

/* --- evaluating ----------------------------------------------------------------------------- */

/* Judges candidates on one device, one after another; keeps a judge process, and with it the device
 * and much else. Two at once from two threads wait for each other; for several devices, or several
 * at once, make one each.
 */
typedef struct kbench_evaluator kbench_evaluator;

/* {"stage": "compile"} as one begins, {"progress": {"samples": .., "speedup": {"low": .., "point":
 * .., "high": ..}, "seconds": ..}} a few times a second while samples are taken. Called in the
 * thread that evaluates; must not call the same evaluator. The text is valid until it returns. What
 * it returns other than 0 stops the evaluation (KBENCH_CANCELLED).
 */
typedef int (*kbench_on_event)(void* user, const char* event);

/* options: as "options" below. Starts nothing yet. `on_event` may be NULL. On failure *evaluator is
 * NULL.
 */
KBENCH_API kbench_status kbench_evaluator_new(const char* options, kbench_on_event on_event,
                                              void* user, kbench_evaluator** evaluator,
                                              char** answer);
/* candidate: {"path": "relu.yaml"}, a YAML file or a folder holding candidate.yaml; or in memory
 * {"files": {"candidate.yaml": "kbench: 1 ...", "k.spv": {"base64": "..."}}}, "manifest" naming
 * the YAML file where it is not candidate.yaml, "name" ("set/relu.yaml") for results, and "author":
 * on a GPU one process may run several of one author. Answers with a result, as
 * docs/results-format.md has it. `stop` may be NULL.
 */
KBENCH_API kbench_status kbench_evaluator_evaluate(kbench_evaluator* evaluator,
                                                   const char* candidate, kbench_stop* stop,
                                                   char** answer);
/* Up to compiling: "compiles" is the best verdict. */
KBENCH_API kbench_status kbench_evaluator_check(kbench_evaluator* evaluator, const char* candidate,
                                                kbench_stop* stop, char** answer);
KBENCH_API void kbench_evaluator_free(kbench_evaluator* evaluator);

/* One evaluation, with a judge of its own: {"candidate": .., "options": ..}. Options, each of which
 * may be left out: {"device": "auto", "program": "/usr/bin/kbench", "preset": "auto", "overrides":
 * {"dim": 65}, "dtype": "f32" (or "f16", "bf16"), "rule": {"tolerance": "kbench", "other_sizes":
 * "note", "validate": false, ..}, "plan": {"precision": .., "max_seconds": .., "seed": 7, ..},
 * "limits": {"compile_seconds": .., ..}, "opponent": "eager", "recorded": {"file": .., "column":
 * ..}}: kbench_question_schema() has all, but for the first two, and kbench/question.h says what
 * they mean. Members of rule, plan and limits may also stand in the options themselves.
 */
KBENCH_API kbench_status kbench_evaluate(const char* request, kbench_stop* stop, char** answer);
KBENCH_API kbench_status kbench_check(const char* request, kbench_stop* stop, char** answer);

/* {} -> {"properties": {..}}: the JSON Schema of the options above, but for device and program. */
KBENCH_API kbench_status kbench_question_schema(const char* request, char** answer);

/* candidate: {"path": ..} -> {"files": {..}, "manifest": "..", "task_file": ".."}: what another
 * machine needs to judge it. Bytes that are no text are {"base64": ".."}; "task_file" is there
 * where the candidate is of a task of one's own that this process knows. What is wrong with a
 * candidate is left to its judge.
 */
KBENCH_API kbench_status kbench_candidate_files(const char* candidate, char** answer);

/* {"program": ..} -> {"devices": [..]}: usable or not, and why. */
KBENCH_API kbench_status kbench_devices(const char* request, char** answer);

/* --- tasks ---------------------------------------------------------------------------------- */

/* {"select": "level1/19,2/1-9"} -> {"tasks": [{"task": "level1/19", "name": "ReLU", ..}]}; all of
 * them without.
 */
KBENCH_API kbench_status kbench_tasks(const char* request, char** answer);
/* {"task": "level1/19", "preset": "v0.1", "overrides": {}, "dtype": "f32", "candidate": false} ->
 * {"facts": {..}, "text": ".."}: what `kbench show` says, with --json and without; and "candidate",
 * a YAML file of built-in operators, where it is asked for.
 */
KBENCH_API kbench_status kbench_show(const char* request, char** answer);

/* {} -> {"verdicts": [{"name": "wrong_values", "candidates_fault": true, "explanation": ".."}]}:
 * all that a result's "verdict" may be. What is not the candidate's fault deserves neither reward
 * nor penalty.
 */
KBENCH_API kbench_status kbench_verdicts(const char* request, char** answer);

/* --- scores --------------------------------------------------------------------------------- */

/* {"results": [..], "files": ["results.jsonl"], "tasks": "1/1-100", "thresholds": [1],
 *  "speedup_of": "own"} ->
 * {"rows": [..], "text": "..", "notes": ".."}: the leaderboard of results that are given or stand
 * in files, over these tasks (without "tasks": over those that have a result). Results in several
 * dtypes are refused.
 */
KBENCH_API kbench_status kbench_leaderboard(const char* request, char** answer);

/* --- language models ------------------------------------------------------------------------ */

/* {"task": .., "preset": .., "overrides": .., "set": "default", "shots": 1, "precision": true,
 * "code": false, "reference": false, "builtins": "forbid", "language": "glsl" ("hlsl", "cuda",
 * "triton", "torch": a ModelNew), "device": {..} as kbench_devices() has it, "attempts": [{"files":
 * {..}, "answer": "..", "feedback": "..", "outcome": ".."}]} -> {"messages": [{"role": ..,
 * "content": ..}], "hash": ".."}. With attempts, what asks for a better one.
 */
KBENCH_API kbench_status kbench_prompt(const char* request, char** answer);
/* {"text": "..", "finish": "stop", "task": ".."} -> {"outcome": "candidate", "files": {..},
 * "leniencies": [..], "explanation": ".."}: the candidate in a model's answer.
 */
KBENCH_API kbench_status kbench_extract(const char* request, char** answer);
/* {"result": {..}, "candidate": {..}, "max_characters": 4000} -> {"text": "..", "hash": ".."}: what
 * a model is told of a result. "candidate" may be left out.
 */
KBENCH_API kbench_status kbench_feedback(const char* request, char** answer);

/* --- episodes ------------------------------------------------------------------------------- */

/* One chain of attempts at one task (kbench/episode.h) whose caller does the judging. */
typedef struct kbench_episode kbench_episode;

/* request: the members of kbench_prompt()'s but "attempts", and {"attempts": 4,
 * "goal": "correct" (or "faster:1.5"), "shown": "last" (or "best", "history"),
 * "smoke": "first" (or "after", "never"), "max_characters": 4000 (of feedback),
 * "history_characters": 48000}; each may be left out but the task. Answers with what the model is
 * to be asked: {"messages": [..], "hash": "..", "next_attempt": 1, "done": false, "ending": null
 * (or "goal", "attempts", "repeated", "too_long")}. On failure *episode is NULL.
 */
KBENCH_API kbench_status kbench_episode_new(const char* request, kbench_episode** episode,
                                            char** answer);
/* request: {"text": "..", "finish": "stop", "results": [..]}, a model's answer. Where a candidate
 * in it has to be judged and "results" lacks that result, the answer is {"judge": {"task": ..,
 * "preset": .., "variables": {..}, "dtype": ".." (left out: "f32"), "files": {..}, "quick": false}}
 * and nothing has happened: judge the files at these sizes ("quick": only whether they are right)
 * and call again with the same request and that result added to "results". Else the step is made,
 * and the answer has the members of kbench_episode_new()'s and {"step": {"attempt": {..},
 * "files": {..}, "result": {..}, "reduced": {..} (of smaller sizes, where the feedback tells of
 * those; else null), "feedback": "..", "counted": true}}; "counted" is false where kbench, the
 * driver or the machine failed three times: the same answer may be handed in again.
 */
KBENCH_API kbench_status kbench_episode_step(kbench_episode* episode, const char* request,
                                             char** answer);
KBENCH_API void kbench_episode_free(kbench_episode* episode);

#ifdef __cplusplus
}
#endif

#endif /* KBENCH_C_H */
