package io.troupe.engine.http.replica;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.http.client.InferenceCallException;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceClient.Response;
import io.troupe.engine.http.probe.Capabilities;
import io.troupe.engine.http.probe.Capability;
import io.troupe.engine.http.probe.CapabilityProbe;
import io.troupe.engine.http.probe.LocalPolicy;
import io.troupe.engine.http.probe.ProbeSample;
import io.troupe.engine.http.probe.PublishedWeightForm;
import io.troupe.engine.http.probe.UpdateStep;
import io.troupe.engine.http.protocol.CallFailure;
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
 * The steps of an update, as calls of one server. They block, and say what went wrong.
 *
 * @param policy of the run, which adapters are compared with
 * @param restarter none where it must not be started anew for new weights
 * @param publishing what it gets of each version
 * @param idle waits until no draw of ours is in flight
 */
record WeightUpdateCalls(
    InferenceClient wire,
    LocalPolicy policy,
    Optional<Replica.Restarter> restarter,
    PublishedWeightForm publishing,
    LoadedAdapters adapters,
    Idle idle) {
  private static final Duration CALL = Duration.ofSeconds(60);
  private static final Duration READ = Duration.ofMinutes(10);

  /** Waits for the requests in flight. */
  @FunctionalInterface
  interface Idle {
    /** Says what went wrong, if anything. */
    Optional<String> await() throws InterruptedException;
  }

  /** The adapter to ask for, of weights that it draws with; empty for the model as it is. */
  String adapter(WeightTag asked) {
    return publishing == PublishedWeightForm.ADAPTERS ? asked.toString() : "";
  }

  /** Takes one step; says what went wrong, if anything. */
  Optional<String> take(UpdateStep step, WeightSyncLoop.TargetWeightSet goal, Capabilities can)
      throws InterruptedException {
    WeightTag tag = goal.tag();
    Path directory = goal.directory();
    boolean sglang = can.dialect() == Dialect.SGLANG;
    return switch (step) {
      case PAUSE -> sglang ? pauseSglang() : pause(can);
      case DRAIN -> idle.await();
      case READ -> read(tag, directory, can);
      case LOAD -> {
        Optional<String> other = differentBase(can);
        yield other.isPresent() ? other : adapters.load(tag.toString(), directory, can.dialect());
      }
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
      case COMPARE -> throw new IllegalStateException("what comes of a comparison is more");
    };
  }

  private Optional<String> pauseSglang() throws InterruptedException {
    return fault(wire.post("/pause_generation", JsonFields.object().put("mode", "retract"), CALL));
  }

  /**
   * Requests in flight are frozen with their keys and values, and go on with them: vLLM passes
   * clear_cache over in this mode, or takes it for what the reset does, by its version. New
   * requests find no keys of older weights: each carries the name of its weights as cache_salt. The
   * reset takes their keys and values from requests in flight, which compute them again once
   * resumed.
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

  /** Compares what it draws with adapters that it has with what the policy says of it. */
  BaseModelCheck.CheckOutcome compare(WeightSyncLoop.TargetWeightSet goal, Capabilities can)
      throws InterruptedException {
    return new BaseModelCheck(wire, policy).verdict(can, goal.tag(), goal.weights());
  }

  /** What the adapters that a server was given before tell of it. */
  enum Life {
    /** It has them, as the process that was given them. */
    SAME,
    /** It has lost them, as one that was started anew. */
    ANOTHER,
    /** It has none that it should still have. */
    UNTOLD
  }

  /**
   * Whether it is the process that was given adapters before these. A server that does not list its
   * adapters draws a token with the earlier ones.
   */
  Life life(WeightTag loaded, Capabilities can) throws InterruptedException {
    Optional<String> earlier = adapters.loadedBefore(loaded.toString());
    if (earlier.isEmpty()) {
      return Life.UNTOLD;
    }
    if (wire.get("/v1/models", CALL)
        .json()
        .path("data")
        .findValuesAsText("id")
        .contains(earlier.get())) {
      return Life.SAME;
    }
    try {
      CompletionChunk _ = trial(can, "again-" + loaded, earlier.get());
      return Life.SAME;
    } catch (MalformedResponseException drawn) {
      return Life.SAME;
    } catch (InferenceCallException refused) {
      if (refused.fault().ofAdapterRequest().kind() == CallFailure.Kind.NO_ADAPTER) {
        return Life.ANOTHER;
      }
      throw refused;
    }
  }

  /** Adapters belong to the checkpoint they were trained beside; merged weights are another. */
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
          : fault(answer);
    }
    body.put("method", "reload_weights").put("timeout", (double) READ.toSeconds());
    body.putObject("kwargs").put("weights_path", directory.toString());
    Response answer = wire.post("/collective_rpc", body, READ);
    return CapabilityProbe.refusesWeightsPath(answer)
        ? Optional.of(
            "its reload_weights takes no weights_path, so it cannot read weights from a directory;"
                + " "
                + Capability.RELOAD_FROM_PATH.remedy(can.dialect()))
        : fault(answer);
  }

  /** What it calls its weights. */
  String named(Capabilities can) throws InterruptedException {
    String route = can.dialect() == Dialect.SGLANG ? "/get_weight_version" : "/weight_info";
    return wire.get(route, CALL).json().path("weight_version").asText("");
  }

  /**
   * Who crashed between pause and resume left the server paused. SGLang does not tell whether it
   * is, and goes on in any case.
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

  /** Draws one token; a server's queue is in the wait for it. */
  private CompletionChunk trial(Capabilities can, String id, String weights)
      throws MalformedResponseException, InterruptedException {
    GenerateRequest draw =
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
    return new ProbeSample(wire, can).of(draw, wire.endpoint().patience().firstToken());
  }

  private Optional<String> generateOneToken(WeightTag tag, Capabilities can)
      throws InterruptedException {
    try {
      CompletionChunk piece = trial(can, "try-" + tag, tag.toString());
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
        return piece.model().isEmpty() || piece.model().equals(tag.toString())
            ? Optional.empty()
            : Optional.of(
                "a token drawn for trial is of '%s', not of the adapter %s"
                    .formatted(piece.model(), tag));
      }
      return piece.versions().stream()
          .map(VersionSpan::tag)
          .filter(told -> !told.equals(tag.toString()))
          .findFirst()
          .map(told -> "a token drawn for trial is of weights '%s', not %s".formatted(told, tag));
    } catch (MalformedResponseException malformed) {
      return Optional.of(String.valueOf(malformed.getMessage()));
    }
  }

  private static Optional<String> fault(Response answer) {
    return answer.ok() ? Optional.empty() : Optional.of(answer.fault().toString());
  }
}
