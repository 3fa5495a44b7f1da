// Trains the model of a MetaGraphDef: train MODEL CHECKPOINT. Prints the bits of loss and weights.
#include <sluice_c.h>
#include <stdio.h>
#include <stdlib.h>

static void check(sluice_error* error) {
  if (error == NULL) return;
  fprintf(stderr, "error %d: %s\n", sluice_error_code(error), sluice_error_message(error));
  exit(1);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  float x[8][2], y[8];
  for (int i = 0; i < 8; ++i) {
    x[i][0] = i / 8.0f;
    x[i][1] = (i % 3) / 4.0f;
    y[i] = x[i][0] * x[i][1];
  }
  const int64_t x_dims[] = {8, 2}, y_dims[] = {8, 1};
  sluice_tensor *xs, *ys, *fetched[2];
  check(sluice_tensor_wrap(SLUICE_FLOAT, x_dims, 2, x, sizeof x, NULL, NULL, &xs));
  check(sluice_tensor_wrap(SLUICE_FLOAT, y_dims, 2, y, sizeof y, NULL, NULL, &ys));

  sluice_graph* graph;
  sluice_session* session;
  const char *train, *init;
  const sluice_hyper_parameter rate = {"learning_rate", 0.02};
  check(sluice_graph_load(argv[1], &graph));
  check(sluice_graph_minimize(graph, "loss", "Adam", &rate, 1, &train));
  check(sluice_graph_initializer(graph, &init));
  check(sluice_session_new(graph, NULL, NULL, &session));
  check(sluice_session_run(session, NULL, 0, NULL, 0, NULL, &init, 1, NULL));

  const sluice_feed feeds[] = {{"x", xs}, {"y", ys}};
  const char* fetches[] = {"loss", "weights"};
  for (int step = 0; step < 200; ++step) {
    check(sluice_session_run(session, feeds, 2, NULL, 0, NULL, &train, 1, NULL));
  }
  check(sluice_session_run(session, feeds, 2, fetches, 2, fetched, NULL, 0, NULL));
  check(sluice_session_save(session, argv[2], 200));

  for (int k = 0; k < 2; ++k) {
    const uint32_t* bits = sluice_tensor_data(fetched[k]);
    printf("%s", fetches[k]);
    for (int64_t i = 0; i < sluice_tensor_elements(fetched[k]); ++i) printf(" %08x", bits[i]);
    printf("\n");
    sluice_tensor_free(fetched[k]);
  }
  sluice_session_free(session);
  sluice_graph_free(graph);
  sluice_tensor_free(xs);
  sluice_tensor_free(ys);
  return 0;
}
