package io.troupe.engine.http.replica;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.http.broadcast.ServerBroadcast;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceClient.Response;
import io.troupe.engine.http.probe.Capabilities;
import io.troupe.engine.http.probe.Capability;
import io.troupe.engine.http.probe.CapabilityProbe;
import io.troupe.engine.http.probe.LocalPolicy;
import io.troupe.engine.http.probe.ProbeSample;
import io.troupe.engine.http.probe.PublishedWeightForm;
import io.troupe.engine.http.probe.UpdateStep;
import io.troupe.engine.http.protocol.CompletionChunk;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.http.protocol.GenerateRequest;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import io.troupe.engine.protocol.VersionSpan;
import io.troupe.engine.protocol.WeightTag;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The steps of an update, as blocking calls to one server.
 *
 * @param policy the run's policy, for the checks of the weights
 * @param restarter restarts the server with new weights; empty where that is not allowed
 * @param publishing form in which the server gets each version
 * @param broadcast sends the weights by NCCL; empty where servers read files
 * @param idle waits until no sample request of this run is in flight
 */
record WeightUpdateCalls(
    InferenceClient wire,
    LocalPolicy policy,
    Optional<Replica.Restarter> restarter,
    PublishedWeightForm publishing,
    LoadedAdapters adapters,
    Optional<ServerBroadcast> broadcast,
    Idle idle) {
  private static final Duration CALL = Duration.ofSeconds(60);
  private static final Duration READ = Duration.ofMinutes(10);

  /** Waits for the end of the requests in flight. */
  @FunctionalInterface
  interface Idle {
    /** Returns the reason of a failure. */
    Optional<String> await() throws InterruptedException;
  }

  /** The adapter that a request for these weights names; empty for the bare model. */
  String adapter(WeightTag asked) {
    return publishing == PublishedWeightForm.ADAPTERS ? asked.toString() : "";
  }

  /** Takes one step; returns the reason of a failure. */
  Optional<String> take(UpdateStep step, WeightSyncLoop.TargetWeightSet goal, Capabilities can)
      throws InterruptedException {
    WeightTag tag = goal.tag();
    Path directory = goal.directory();
    boolean sglang = can.dialect() == Dialect.SGLANG;
    return switch (step) {
      case PAUSE -> sglang ? pauseSglang() : pause(can);
      case DRAIN -> idle.await();
      case READ -> read(tag, directory, can);
      case CONNECT -> broadcast.orElseThrow().connect(can);
      case BROADCAST -> broadcast.orElseThrow().send(goal.weights(), tag.toString(), can);
      case LOAD -> {
        Optional<String> other = differentBase(can);
        yield other.isPresent() ? other : adapters.load(tag.toString(), directory, can.dialect());
      }
      case LIST -> adapters.missing(tag.toString(), can.dialect());
      case RESTART ->
          restarter.orElseThrow().restart(directory)
              ? Optional.empty()
              : Optional.of("started with %s it does not come to serve".formatted(directory));
      case NAME ->
          fault(
              wire.post(
                  "/update_weight_version",
                  JsonFields.object().put("new_version", tag.toString()),
                  CALL));
      case CONFIRM -> {
        String told = named(can);
        yield told.equals(tag.toString())
            ? Optional.empty()
            : Optional.of("it names its weights '%s', not %s".formatted(told, tag));
      }
      case RESUME ->
          fault(wire.post(sglang ? "/continue_generation" : "/resume", JsonFields.object(), CALL));
      case TRY -> generateOneToken(tag, can);
      case BASE, COMPARE ->
          throw new IllegalStateException("the outcome of a check is more than that");
    };
  }

  private Optional<String> pauseSglang() throws InterruptedException {
    return fault(wire.post("/pause_generation", JsonFields.object().put("mode", "retract"), CALL));
  }

  /**
   * Freezes requests in flight with their keys and values. Depending on its version, vLLM ignores
   * clear_cache in this mode, or does with it what the reset does. New requests never meet keys of
   * older weights, because each carries the name of its weights as cache_salt. The reset drops the
   * keys and values of requests in flight, which are computed again after the resumption.
   */
  private Optional<String> pause(Capabilities can) throws InterruptedException {
    Optional<String> failure =
        fault(wire.post("/pause?mode=keep&clear_cache=false", JsonFields.object(), CALL));
    return failure.isPresent() || !policy.recomputes() || can.dialect() == Dialect.TROUPE
        ? failure
        : fault(
            wire.post(
                "/reset_prefix_cache?reset_running_requests=true", JsonFields.object(), CALL));
  }

  /**
   * Checks that the server samples with the weights that it has by its own report.
   *
   * @param attempt number of the attempt, 0 for the first
   * @param tolerance most nats from the run's policy
   */
  ServedWeightsCheck.CheckOutcome checkWeights(
      WeightSyncLoop.TargetWeightSet goal, Capabilities can, int attempt, double tolerance)
      throws InterruptedException {
    return new ServedWeightsCheck(wire, policy)
        .verdict(can, goal.tag(), goal.weights(), publishing, attempt, tolerance);
  }

  /**
   * Returns the reason why adapters do not fit: merged weights are another base than
   * policy.checkpoint.
   */
  private Optional<String> differentBase(Capabilities can) throws InterruptedException {
    return Stream.of(can.model(), can.has(Capability.WEIGHT_NAME) ? named(can) : "")
        .filter(told -> WeightTag.parse(told).isPresent())
        .findFirst()
        .map(WeightUpdateCalls::differentBase);
  }

  private static String differentBase(String told) {
    return "it serves the merged weights %s of a run, and adapters need policy.checkpoint under them; start it with that"
        .formatted(told);
  }

  private Optional<String> read(WeightTag tag, Path directory, Capabilities can)
      throws InterruptedException {
    ObjectNode body = JsonFields.object();
    if (can.has(Capability.UPDATE_FROM_DISK)) {
      body.put("model_path", directory.toString())
          .put("weight_version", tag.toString())
          .put("abort_all_requests", false)
          .put("flush_cache", true);
      Response answer = wire.post("/update_weights_from_disk", body, READ);
      return answer.ok() && !answer.json().path("success").asBoolean(true)
          ? Optional.of(answer.json().path("message").asText("success=false"))
          : unread(directory, answer);
    }
    body.put("method", "reload_weights").put("timeout", (double) READ.toSeconds());
    body.putObject("kwargs").put("weights_path", directory.toString());
    Response answer = wire.post("/collective_rpc", body, READ);
    return CapabilityProbe.refusesWeightsPath(answer)
        ? Optional.of(
            "its reload_weights takes no weights_path, so it cannot read weights from a directory;"
                + " "
                + Capability.RELOAD_FROM_PATH.remedy(can.dialect()))
        : unread(directory, answer);
  }

  /** The reason why a server did not read; most often the folder is not on its host. */
  private static Optional<String> unread(Path directory, Response answer) {
    return fault(answer)
        .map(
            why ->
                "it cannot read %s, which must have this path on its host too: %s"
                    .formatted(directory, why));
  }

  /** The server's name for its weights. */
  String named(Capabilities can) throws InterruptedException {
    String route = can.dialect() == Dialect.SGLANG ? "/get_weight_version" : "/weight_info";
    return wire.get(route, CALL).json().path("weight_version").asText("");
  }

  /**
   * Resumes a server that a crash between pause and resumption has left paused. SGLang does not
   * report whether it is paused, so it is always resumed.
   */
  void resumeIfPaused() throws InterruptedException {
    Response told = wire.get("/is_paused", CALL);
    if (!told.ok()
        && wire.get("/openapi.json", CALL).json().path("paths").has("/pause_generation")) {
      wire.post("/continue_generation", JsonFields.object(), CALL);
    } else if (told.json().path("is_paused").asBoolean(false)) {
      wire.post("/resume", JsonFields.object(), CALL);
    }
  }

  /** Samples one token. The wait for it includes the server's queue. */
  private CompletionChunk token(Capabilities can, String id, String weights)
      throws MalformedResponseException, InterruptedException {
    GenerateRequest request =
        new GenerateRequest(
            id,
            can.model(),
            new int[] {policy.tokenizer().endOfSequence()},
            1,
            new SamplingSettings(1, 1),
            1,
            1,
            weights,
            Duration.ZERO,
            publishing == PublishedWeightForm.ADAPTERS ? weights : "");
    return new ProbeSample(wire, can).of(request, wire.endpoint().patience().firstToken());
  }

  private Optional<String> generateOneToken(WeightTag tag, Capabilities can)
      throws InterruptedException {
    try {
      CompletionChunk piece = token(can, "try-" + tag, tag.toString());
      if (publishing == PublishedWeightForm.ADAPTERS) {
        Optional<String> other =
            piece.versions().stream()
                .map(VersionSpan::tag)
                .filter(told -> WeightTag.parse(told).isPresent())
                .findFirst()
                .map(WeightUpdateCalls::differentBase);
        if (other.isPresent()) {
          return other;
        }
        boolean echoes = can.dialect() == Dialect.VLLM || can.dialect() == Dialect.TROUPE;
        boolean silent = !echoes && piece.model().isEmpty(); // as SGLang's /generate
        return silent || piece.model().equals(tag.toString())
            ? Optional.empty()
            : Optional.of(
                "a token sampled for trial is of '%s', not of the adapter %s"
                    .formatted(piece.model(), tag));
      }
      return piece.versions().stream()
          .map(VersionSpan::tag)
          .filter(told -> !told.equals(tag.toString()))
          .findFirst()
          .map(told -> "a token sampled for trial is of weights '%s', not %s".formatted(told, tag));
    } catch (MalformedResponseException malformed) {
      return Optional.of(String.valueOf(malformed.getMessage()));
    }
  }

  private static Optional<String> fault(Response answer) {
    return answer.ok() ? Optional.empty() : Optional.of(answer.fault().toString());
  }
}
