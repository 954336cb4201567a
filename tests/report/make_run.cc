// make_run FOLDER [MODELS TASKS SAMPLES ATTEMPTS TEXTS]: a made-up run, for the tests of its page;
// without texts a long one as several models at once leave it.
#include <cstdio>
#include <cstdlib>

#include "tests/report/made_run.h"

int main(int argc, char** argv) {
  if (argc != 2 && argc != 7) {
    std::fprintf(stderr, "make_run FOLDER [MODELS TASKS SAMPLES ATTEMPTS TEXTS]\n");
    return 2;
  }
  kbench::testing::MadeRun made;
  if (argc == 7) {
    for (int i = int(made.models.size()); i < std::atoi(argv[2]); ++i) {
      made.models.push_back("model-" + std::to_string(i + 1));
    }
    made.models.resize(size_t(std::atoi(argv[2])));
    made.tasks = std::atoi(argv[3]);
    made.samples = std::atoi(argv[4]);
    made.attempts = std::atoi(argv[5]);
    made.texts = std::atoi(argv[6]) != 0;
    made.side_by_side = !made.texts;
  }
  std::printf("%d attempts\n", kbench::testing::make_run(argv[1], made));
}
