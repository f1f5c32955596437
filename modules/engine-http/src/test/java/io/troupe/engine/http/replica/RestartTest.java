package io.troupe.engine.http.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.completion.Completion;
import io.troupe.core.outage.RestartBackoff;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.fleet.InferenceServers;
import io.troupe.engine.http.probe.LocalPolicy;
import io.troupe.engine.http.probe.LocalScorer;
import io.troupe.engine.http.sidecar.ServerCommand;
import io.troupe.engine.http.sidecar.SidecarSupervision;
import io.troupe.engine.http.sidecar.Sidecars;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.serve.ToyFixture;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server that speaks like llama-server and takes weights at its start alone. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RestartTest {
  /** With the weights of version n it samples nothing but token 3 + n; of version 4 it dies. */
  private static final String SERVER =
      """
      import os, sys
      if len(sys.argv) > 3:
          with open(sys.argv[3] + "/starts", "a") as starts:
              starts.write("x")
              begun = starts.tell()
          if begun <= 10:
              sys.exit("no such device")
      version = int(sys.argv[2].split("/")[-1].split("-")[0])
      if version == 4:
          sys.exit("these weights are none")

      import json, time
      from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
      told = {"/health": {"status": "ok"}, "/v1/models": {"data": [{"id": "m"}]},
              "/props": {"default_generation_settings": {"n_ctx": 64}}}

      def piece(stop):
          return {"tokens": [3 + version], "content": "a", "stop": stop, "stop_type": "limit",
                  "completion_probabilities": [{"id": 3 + version, "prob": 0.5}]}

      class Server(BaseHTTPRequestHandler):
          protocol_version = "HTTP/1.1"
          def answer(self, status, body):
              self.send_response(status)
              self.send_header("Content-Length", str(len(body)))
              self.end_headers()
              self.wfile.write(body)
          def do_GET(self):
              known = told.get(self.path)
              self.answer(200 if known else 404, json.dumps(known or {}).encode())
          def do_POST(self):
              asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
              if not asked["stream"]:
                  self.answer(200, json.dumps(piece(True)).encode())
                  return
              self.send_response(200)
              self.send_header("Connection", "close")
              self.end_headers()
              for i in range(asked["n_predict"]):
                  time.sleep(0.02)
                  last = i == asked["n_predict"] - 1
                  self.wfile.write(b"data: " + json.dumps(piece(last)).encode() + b"\\n\\n")
                  self.wfile.flush()
          def log_message(self, *what):
              pass

      ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Server).serve_forever()
      """;

  @TempDir private Path folder;

  private InferenceServers pool(ToyPolicy policy) throws Exception {
    return pool(policy, "0-base", terms(100, false));
  }

  private static SidecarSupervision.Settings terms(int most, boolean givesUp) {
    return new SidecarSupervision.Settings(
        Duration.ofSeconds(60),
        new RestartBackoff.Settings(most, 600_000, 50, 100, 100),
        Duration.ofMinutes(5),
        givesUp);
  }

  private InferenceServers pool(
      ToyPolicy policy, String firstWeights, SidecarSupervision.Settings terms) throws Exception {
    return pool(policy, firstWeights, terms, "");
  }

  /** A server that fails at its first ten starts, if it is given a folder to count them in. */
  private InferenceServers pool(
      ToyPolicy policy, String firstWeights, SidecarSupervision.Settings terms, String counted)
      throws Exception {
    Path script = Files.writeString(folder.resolve("server.py"), SERVER);
    return InferenceServers.open(
        new LocalPolicy(policy.tokenizer(), policy.contextLength(), LocalScorer.unavailable()),
        List.of(),
        new Sidecars.SidecarPlan(
            1,
            16,
            InferenceEndpoint.Patience.DEFAULT,
            terms,
            (port, weights) ->
                ServerCommand.custom(
                    Stream.of(
                            "python3",
                            script.toString(),
                            ServerCommand.PORT,
                            ServerCommand.WEIGHTS,
                            counted)
                        .filter(word -> !word.isEmpty())
                        .toList(),
                    port,
                    weights.map(Path::toString).orElse(firstWeights)),
            true),
        ServerWeightFolder.Contents.merged(DType.F32),
        Files.createDirectories(folder.resolve("servers")),
        _ -> {},
        ServerWeightFolder.WeightFileFinder.none(),
        Optional.empty());
  }

  private static CompletionStage<List<Completion>> ask(SamplingEngine sampler, long group) {
    return sampler
        .sample(
            List.of(
                new SampleRequest(
                    new LeaseId(new GroupId(group), 1),
                    new int[] {3, 4},
                    2,
                    new SamplingSettings(1, 20),
                    group)))
        .getFirst();
  }

  private static void assertSampledBy(long version, List<Completion> completions) {
    for (Completion completion : completions) {
      assertThat(completion.tokens()).hasSize(20).containsOnly((int) (3 + version));
      assertThat(completion.versions().newest()).isEqualTo(new WeightVersion(version));
    }
  }

  @Test
  void load_serverThatCannotReload_isStartedAnewAndNoGroupIsCut() throws Exception {
    try (ToyPolicy policy = ToyFixture.policy(Duration.ZERO);
        InferenceServers pool = pool(policy);
        SamplingEngine sampler = pool.newSampler()) {
      Await.value(sampler.load(ToyFixture.weights(policy, 1)));
      CompletionStage<List<Completion>> during = ask(sampler, 1);
      Await.value(sampler.load(ToyFixture.weights(policy, 2)));
      assertSampledBy(1, Await.value(during));
      assertSampledBy(2, Await.value(ask(sampler, 2)));
      assertThat(pool.report())
          .contains("continued=0", "failures=0", "updates=2", "updates_failed=0", "restarts=2");
    }
  }

  @Test
  void load_weightsItCannotStartWith_areSkippedAndTheNextOnesUsed() throws Exception {
    try (ToyPolicy policy = ToyFixture.policy(Duration.ZERO);
        InferenceServers pool = pool(policy);
        SamplingEngine sampler = pool.newSampler()) {
      Await.value(sampler.load(ToyFixture.weights(policy, 1)));
      CompletionStage<WeightVersion> never = sampler.load(ToyFixture.weights(policy, 4));
      CompletionStage<List<Completion>> waiting = ask(sampler, 1);
      Await.value(sampler.load(ToyFixture.weights(policy, 5)));
      assertThat(Await.value(never)).as("newer ones are there").isEqualTo(new WeightVersion(5));
      assertSampledBy(5, Await.value(waiting));
    }
  }

  @Test
  void deserted_onceTheOnlyServerIsGivenUp_saysWhy() throws Exception {
    try (ToyPolicy policy = ToyFixture.policy(Duration.ZERO);
        InferenceServers pool = pool(policy, "4-none", terms(3, true));
        SamplingEngine sampler = pool.newSampler()) {
      CompletionStage<List<Completion>> open = ask(sampler, 1);
      assertThat(Await.value(pool.noServersLeft()))
          .startsWith("sidecar-1 is given up: it never served in 3 starts")
          .endsWith("these weights are none");
      assertThat(Await.value(sampler.failed())).startsWith("sidecar-1 is given up");
      assertThat(sampler.ready().toCompletableFuture()).isNotDone();
      assertThatThrownBy(() -> Await.value(open))
          .hasMessageContaining("no inference server is left");
      assertThatThrownBy(() -> Await.value(ask(sampler, 2))).hasMessageContaining("is left");
    }
  }

  @Test
  void sample_serverThatFailsToStartTenTimes_failsWhatWaitsAndIsUsedOnceItHeals() throws Exception {
    try (ToyPolicy policy = ToyFixture.policy(Duration.ZERO);
        InferenceServers pool = pool(policy, "0-base", terms(3, false), folder.toString());
        SamplingEngine sampler = pool.newSampler()) {
      assertThat(Await.value(sampler.ready())).as("it asks for work to tell the run").isFalse();
      assertThatThrownBy(() -> Await.value(ask(sampler, 1)))
          .hasMessageContaining("no inference server serves: sidecar-1: it ended 3 times in a row")
          .hasMessageContaining("no such device");
      var loaded = sampler.load(ToyFixture.weights(policy, 1));
      Await.value(loaded);
      assertSampledBy(1, Await.value(ask(sampler, 2)));
      assertThat(starts()).isEqualTo(12);
      assertThat(pool.noServersLeft().toCompletableFuture()).isNotDone();
    }
  }

  private long starts() throws IOException {
    Path file = folder.resolve("starts");
    return Files.exists(file) ? Files.size(file) : 0;
  }
}
