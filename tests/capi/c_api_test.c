/* The C interface, from C: answers, errors, handles; and on a device an evaluation, events, a stop.
 *   c_api_test PROGRAM CANDIDATE [FOLDER]
 * 77 where there is no Vulkan device, when all else has passed.
 */
#include <kbench/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect_at(int good, const char* what, int line) {
  if (good) return;
  fprintf(stderr, "line %d: not so: %s\n", line, what);
  ++failures;
}
#define EXPECT(condition) expect_at(condition, #condition, __LINE__)

static void holds_at(const char* text, const char* part, int line) {
  if (text != NULL && strstr(text, part) != NULL) return;
  fprintf(stderr, "line %d: no '%s' in: %.2000s\n", line, part, text != NULL ? text : "NULL");
  ++failures;
}
#define HOLDS(text, part) holds_at(text, part, __LINE__)

typedef kbench_status (*call)(const char*, char**);

/* What the call answers, to be freed. */
static char* asked_at(call function, const char* request, kbench_status wanted, int line) {
  char* answer = NULL;
  const kbench_status got = function(request, &answer);
  if (got != wanted || answer == NULL) {
    fprintf(stderr, "line %d: %s, not %s: %.2000s\n", line, kbench_status_name(got),
            kbench_status_name(wanted), answer != NULL ? answer : "NULL");
    ++failures;
  }
  return answer;
}
#define ASK(function, request, wanted) asked_at(function, request, wanted, __LINE__)

static void one(call function, const char* request, kbench_status wanted, const char* part,
                int line) {
  char* answer = asked_at(function, request, wanted, line);
  holds_at(answer, part, line);
  kbench_free(answer);
}
#define ONE(function, request, wanted, part) one(function, request, wanted, part, __LINE__)

static void without_a_device(void) {
  int i;
  EXPECT(strchr(kbench_version(), '.') != NULL);
  for (i = KBENCH_OK; i <= KBENCH_CANCELLED; ++i) {
    EXPECT(strcmp(kbench_status_name((kbench_status)i), "internal") != 0 || i == KBENCH_INTERNAL);
  }
  kbench_free(NULL);
  kbench_stop_free(NULL);
  kbench_stop_request(NULL);
  kbench_evaluator_free(NULL);
  EXPECT(kbench_tasks(NULL, NULL) == KBENCH_INVALID_ARGUMENT);

  ONE(kbench_tasks, NULL, KBENCH_OK, "\"level3/50\"");
  ONE(kbench_tasks, "{\"select\": \"1/19\"}", KBENCH_OK, "\"ReLU\"");
  ONE(kbench_tasks, "{\"select\": \"9/1\"}", KBENCH_NOT_FOUND, "\"not_found\"");
  ONE(kbench_tasks, "{\"select\": 1}", KBENCH_PARSE, "select must be a string");
  ONE(kbench_tasks, "{\"selekt\": \"1/19\"}", KBENCH_PARSE, "no field 'selekt'");
  ONE(kbench_tasks, "{\"select\": ", KBENCH_PARSE, "\"line\":1");
  ONE(kbench_tasks, "[]", KBENCH_PARSE, "must be an object");
  ONE(kbench_tasks, "\"\xff\"", KBENCH_PARSE, "\"code\":\"parse\"");

  ONE(kbench_show, "{\"task\": \"1/19\", \"preset\": \"smoke\"}", KBENCH_OK, "relu");
  ONE(kbench_show, "{\"task\": \"1/19\", \"candidate\": true}", KBENCH_OK, "kbench: 1");
  ONE(kbench_show, "{}", KBENCH_PARSE, "lacks field 'task'");
  ONE(kbench_show, "{\"task\": \"1/19\", \"preset\": \"huge\"}", KBENCH_INVALID_ARGUMENT, "huge");
  ONE(kbench_show, "{\"task\": \"1/19\", \"dtype\": \"f16\"}", KBENCH_OK, "relu");
  ONE(kbench_show, "{\"task\": \"1/19\", \"dtype\": \"f8\"}", KBENCH_INVALID_ARGUMENT,
      "f32, f16, bf16");
  ONE(kbench_show, "{\"task\": \"1/19\", \"overrides\": {\"colour\": 1}}", KBENCH_INVALID_ARGUMENT,
      "colour");
  ONE(kbench_verdicts, NULL, KBENCH_OK, "\"harness_error\"");

  ONE(kbench_leaderboard, NULL, KBENCH_OK, "\"rows\":[]");
  ONE(kbench_leaderboard, "{\"results\": [{}]}", KBENCH_PARSE, "lacks field");
  ONE(kbench_leaderboard, "{\"files\": [\"/nowhere.jsonl\"]}", KBENCH_NOT_FOUND, "nowhere");

  ONE(kbench_prompt, "{\"task\": \"1/19\", \"preset\": \"smoke\"}", KBENCH_OK, "\"role\":\"user\"");
  ONE(kbench_prompt,
      "{\"task\": \"1/19\", \"attempts\": [{\"answer\": \"I will.\", \"feedback\": \"No YAML.\"}]}",
      KBENCH_OK, "No YAML.");
  ONE(kbench_prompt, "{\"task\": \"1/19\", \"set\": \"none\"}", KBENCH_NOT_FOUND, "none");
  ONE(kbench_extract, "{\"task\": \"1/19\", \"text\": \"no idea\"}", KBENCH_OK, "no_candidate");
  ONE(kbench_extract,
      "{\"task\": \"1/19\", \"text\": \"```yaml\\nkbench: 1\\ntask: level1/19\\n```\\n\"}",
      KBENCH_OK, "\"outcome\":\"candidate\"");
  ONE(kbench_feedback, "{\"result\": 1}", KBENCH_PARSE, "\"parse\"");
}

/* Lacks its closing brace. */
#define EPISODE_ANSWER                                                                     \
  "{\"text\": \"```yaml\\nkbench: 1\\ntask: level1/19\\nkernels:\\n  k: {file: k.comp}\\n" \
  "dispatch:\\n  - {kernel: k, bind: [x, output], groups: [1]}\\n```\\n\\n"                \
  "```glsl k.comp\\nvoid main() {}\\n```\\n\""

static void episodes(void) {
  char* answer = NULL;
  kbench_episode* episode = (kbench_episode*)&answer;
  kbench_episode_free(NULL);
  EXPECT(kbench_episode_new("{\"task\": \"1/19\", \"attempts\": 0}", &episode, &answer) ==
         KBENCH_INVALID_ARGUMENT);
  EXPECT(episode == NULL);
  kbench_free(answer);
  EXPECT(kbench_episode_new("{\"task\": \"1/19\"}", NULL, &answer) == KBENCH_INVALID_ARGUMENT);
  kbench_free(answer);
  EXPECT(kbench_episode_new("{\"task\": \"1/19\", \"goal\": \"fast\"}", &episode, &answer) ==
         KBENCH_PARSE);
  HOLDS(answer, "goal");
  kbench_free(answer);
  EXPECT(kbench_episode_step(NULL, "{}", &answer) == KBENCH_INVALID_ARGUMENT);
  kbench_free(answer);

  EXPECT(kbench_episode_new("{\"task\": \"1/19\", \"preset\": \"smoke\", \"attempts\": 2}",
                            &episode, &answer) == KBENCH_OK);
  HOLDS(answer, "\"role\":\"user\"");
  HOLDS(answer, "\"next_attempt\":1");
  kbench_free(answer);
  EXPECT(kbench_episode_step(episode, "{\"text\": \"no idea\"}", &answer) == KBENCH_OK);
  HOLDS(answer, "\"outcome\":\"no_candidate\"");
  HOLDS(answer, "\"next_attempt\":2");
  HOLDS(answer, "no idea");
  kbench_free(answer);
  EXPECT(kbench_episode_step(episode, EPISODE_ANSWER "}", &answer) == KBENCH_OK);
  HOLDS(answer, "{\"judge\":{");
  HOLDS(answer, "\"preset\":\"smoke\"");
  kbench_free(answer);
  EXPECT(kbench_episode_step(episode, EPISODE_ANSWER ", \"results\": [{}]}", &answer) ==
         KBENCH_PARSE);
  kbench_free(answer);
  EXPECT(kbench_episode_step(episode, "{\"text\": \"I give up\"}", &answer) == KBENCH_OK);
  HOLDS(answer, "\"ending\":\"attempts\"");
  kbench_free(answer);
  EXPECT(kbench_episode_step(episode, "{\"text\": \"once more\"}", &answer) ==
         KBENCH_INVALID_ARGUMENT);
  HOLDS(answer, "done");
  kbench_free(answer);
  kbench_episode_free(episode);
}

/* Where the judge would have to be asked, but something is wrong before. */
static void before_a_judge(void) {
  char* answer = NULL;
  kbench_evaluator* evaluator = (kbench_evaluator*)&answer;
  EXPECT(kbench_evaluator_new("{\"presett\": 1}", NULL, NULL, &evaluator, &answer) == KBENCH_PARSE);
  EXPECT(evaluator == NULL);
  HOLDS(answer, "presett");
  kbench_free(answer);
  EXPECT(kbench_evaluator_new(NULL, NULL, NULL, NULL, &answer) == KBENCH_INVALID_ARGUMENT);
  kbench_free(answer);
  EXPECT(kbench_evaluator_check(NULL, "{}", NULL, &answer) == KBENCH_INVALID_ARGUMENT);
  kbench_free(answer);
  EXPECT(kbench_evaluate("{\"candidate\": {\"path\": \"/nowhere.yaml\"}}", NULL, &answer) ==
         KBENCH_NOT_FOUND);
  kbench_free(answer);
  EXPECT(kbench_evaluate("{\"candidate\": {\"files\": {}}}", NULL, &answer) == KBENCH_NOT_FOUND);
  HOLDS(answer, "candidate.yaml");
  kbench_free(answer);
  EXPECT(kbench_evaluate("{\"candidate\": {\"files\": {\"candidate.yaml\": \"\"}},"
                         " \"options\": {\"program\": \"/nowhere/kbench\"}}",
                         NULL, &answer) == KBENCH_NOT_FOUND);
  HOLDS(answer, "/nowhere/kbench");
  kbench_free(answer);
}

struct seen {
  int stages, stop_at;
};

static int on_event(void* user, const char* event) {
  struct seen* seen = user;
  if (strstr(event, "\"stage\"") != NULL) ++seen->stages;
  return seen->stages == seen->stop_at;
}

static void on_a_device(const char* program, const char* path) {
  char options[1000], candidate[1000];
  char* answer = NULL;
  struct seen seen = {0, -1};
  kbench_evaluator* evaluator = NULL;
  kbench_stop* stop = kbench_stop_new();
  snprintf(options, sizeof options,
           "{\"program\": \"%s\", \"preset\": \"smoke\","
           " \"plan\": {\"max_seconds\": 0.1, \"min_samples\": 4}}",
           program);
  snprintf(candidate, sizeof candidate, "{\"path\": \"%s\"}", path);
  EXPECT(kbench_evaluator_new(options, on_event, &seen, &evaluator, &answer) == KBENCH_OK);
  kbench_free(answer);
  EXPECT(kbench_evaluator_evaluate(evaluator, candidate, stop, &answer) == KBENCH_OK);
  HOLDS(answer, "\"verdict\":\"passed\"");
  kbench_free(answer);
  EXPECT(seen.stages >= 4);

  EXPECT(kbench_evaluator_check(evaluator, "{\"files\": {\"candidate.yaml\": \"nonsense\"}}", NULL,
                                &answer) == KBENCH_OK);
  HOLDS(answer, "\"verdict\":\"invalid_candidate\"");
  kbench_free(answer);

  seen.stages = 0;
  seen.stop_at = 2;
  EXPECT(kbench_evaluator_evaluate(evaluator, candidate, stop, &answer) == KBENCH_CANCELLED);
  HOLDS(answer, "\"code\":\"cancelled\"");
  kbench_free(answer);
  kbench_stop_request(stop);
  EXPECT(kbench_evaluator_evaluate(evaluator, candidate, stop, &answer) == KBENCH_CANCELLED);
  kbench_free(answer);
  seen.stop_at = -1;
  EXPECT(kbench_evaluator_evaluate(evaluator, candidate, NULL, &answer) == KBENCH_OK);
  HOLDS(answer, "\"verdict\":\"passed\"");
  kbench_free(answer);
  kbench_evaluator_free(evaluator);
  kbench_stop_free(stop);
}

static void files_to_be_sent(const char* path) {
  char request[1000];
  char* answer;
  snprintf(request, sizeof request, "{\"path\": \"%s\"}", path);
  answer = ASK(kbench_candidate_files, request, KBENCH_OK);
  HOLDS(answer, "\"manifest\":\"level1_019_relu.yaml\"");
  HOLDS(answer, "\"relu.comp\":\"");
  EXPECT(answer != NULL && strstr(answer, "softmax") == NULL); /* which lies beside it */
  kbench_free(answer);
  ONE(kbench_candidate_files, "{\"path\": \"/nowhere.yaml\"}", KBENCH_NOT_FOUND, "/nowhere.yaml");
  ONE(kbench_candidate_files, "{\"files\": {}}", KBENCH_PARSE, "files");
}

int main(int argc, char** argv) {
  char request[1000];
  char* devices;
  int usable;
  if (argc != 3) return 2;
  without_a_device();
  before_a_judge();
  episodes();
  files_to_be_sent(argv[2]);
  snprintf(request, sizeof request, "{\"program\": \"%s\"}", argv[1]);
  devices = ASK(kbench_devices, request, KBENCH_OK);
  usable = devices != NULL && strstr(devices, "\"usable\":true") != NULL;
  kbench_free(devices);
  if (usable) on_a_device(argv[1], argv[2]);
  if (!usable && getenv("KBENCH_REQUIRE_VULKAN") != NULL) EXPECT(!"a Vulkan device");
  if (failures > 0) return 1;
  return usable ? 0 : 77;
}
