package io.troupe.engine.http.probe;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.StopMatcher;
import io.troupe.engine.http.client.InferenceCallException;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceClient.Response;
import io.troupe.engine.http.protocol.CallFailure;
import io.troupe.engine.http.protocol.CompletionChunk;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.http.protocol.GenerateRequest;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Tests a server's capabilities by its list of routes and by sampling a few tokens. The server's
 * version is printed and never relied on. The probe changes nothing on the server.
 */
public final class CapabilityProbe {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int PROBE_TOKEN = 3;
  private static final int NO_SUCH_THING = 404;

  private final InferenceClient wire;
  private JsonNode paths = JsonFields.object();
  private final Set<String> routes = new HashSet<>();
  private final EnumSet<Capability> found = EnumSet.noneOf(Capability.class);

  private CapabilityProbe(InferenceClient wire) {
    this.wire = wire;
  }

  /**
   * Probes a server.
   *
   * @throws InferenceCallException if the server does not answer, or is of no known dialect
   */
  public static Capabilities probe(InferenceClient wire) throws InterruptedException {
    return new CapabilityProbe(wire).look();
  }

  private Capabilities look() throws InterruptedException {
    Response models = wire.get("/v1/models", PATIENCE);
    if (models.status() == 401 || models.status() == 403) {
      throw new InferenceCallException(wire.endpoint(), models.fault());
    }
    paths = wire.get("/openapi.json", PATIENCE).json().path("paths");
    paths.fieldNames().forEachRemaining(routes::add);
    if (wire.get("/is_paused", PATIENCE).json().path("is_paused").asBoolean(false)) {
      throw new InferenceCallException(
          wire.endpoint(),
          CallFailure.of(
              CallFailure.Kind.BUSY,
              "it is paused and samples nothing; resume it by POST /resume"));
    }
    JsonNode version = wire.get("/version", PATIENCE).json();
    Dialect dialect = dialect(models, version);
    JsonNode model = models.json().path("data").path(0);
    routes(dialect);
    ProbeRequest probes = new ProbeRequest(dialect, model.path("id").asText("default"));
    probes.one();
    if (found.contains(Capability.LOG_PROBS)) {
      probes.temperature();
    }
    probes.streamed();
    probes.stopTexts();
    probes.prompt();
    JsonNode props =
        dialect == Dialect.LLAMA_SERVER ? wire.get("/props", PATIENCE).json() : JsonFields.object();
    return new Capabilities(
        dialect,
        version.path("version").asText(props.path("build_info").asText("of unknown version")),
        probes.model,
        model
            .path("max_model_len")
            .asInt(props.path("default_generation_settings").path("n_ctx").asInt(0)),
        found);
  }

  private Dialect dialect(Response models, JsonNode version) throws InterruptedException {
    if (version.path("server").asText("").equals("troupe")) {
      return Dialect.TROUPE;
    }
    if (routes.contains("/generate") && routes.contains("/update_weights_from_disk")) {
      return Dialect.SGLANG;
    }
    if (version.has("version") && (routes.isEmpty() || routes.contains("/v1/completions"))) {
      return Dialect.VLLM;
    }
    if (wire.get("/props", PATIENCE).json().has("default_generation_settings")) {
      return Dialect.LLAMA_SERVER;
    }
    if (models.ok() && routes.contains("/v1/completions")) {
      return Dialect.VLLM;
    }
    throw new InferenceCallException(
        wire.endpoint(),
        CallFailure.of(
            CallFailure.Kind.NO_ROUTE,
            "it is none of vLLM, SGLang, llama-server and troupe serve: GET /v1/models says %d,"
                    .formatted(models.status())
                + " and /openapi.json lists none of their routes"));
  }

  private void routes(Dialect dialect) throws InterruptedException {
    if (routes.contains("/update_weights_from_disk")) {
      found.add(Capability.UPDATE_FROM_DISK);
    }
    if (routes.contains("/collective_rpc")) {
      found.add(Capability.UPDATE_BY_RPC);
    }
    if (found.contains(Capability.UPDATE_BY_RPC) && reloadsFromPath()) {
      found.add(Capability.RELOAD_FROM_PATH);
    }
    if (routes.contains("/init_weight_transfer_engine")
        && routes.contains("/start_weight_update")
        && routes.contains("/finish_weight_update")) {
      found.add(Capability.WEIGHT_TRANSFER);
    }
    if (recomputes(dialect)) {
      found.add(Capability.RECOMPUTE);
    }
    if (loadsAdapters(dialect)) {
      found.add(Capability.ADAPTERS);
    }
    boolean vllmPause = routes.contains("/pause") && routes.contains("/resume");
    if (vllmPause || routes.contains("/pause_generation")) {
      found.add(Capability.PAUSE);
    }
    if (routes.contains("/abort_requests") || routes.contains("/abort_request")) {
      found.add(Capability.ABORT);
    }
    String name = dialect == Dialect.SGLANG ? "/get_weight_version" : "/weight_info";
    if (wire.get(name, PATIENCE).json().has("weight_version")) {
      found.add(Capability.WEIGHT_NAME);
    }
    if (wire.get("/metrics", PATIENCE).ok()) {
      found.add(Capability.METRICS);
    }
  }

  /**
   * Whether the workers' {@code reload_weights} knows {@code weights_path}. The call has a second
   * argument that no version knows, so Python refuses the call before it reads anything. The
   * message names the first unknown argument.
   */
  private boolean reloadsFromPath() throws InterruptedException {
    ObjectNode body = JsonFields.object().put("method", "reload_weights").put("timeout", 20.0);
    body.putObject("kwargs").put("weights_path", "").put("troupe_tries", true);
    return !refusesWeightsPath(wire.post("/collective_rpc", body, PATIENCE));
  }

  /** Whether a call failed because its method has no such argument. */
  public static boolean refusesWeightsPath(Response answer) {
    return !answer.ok()
        && answer.body().matches("(?s).*unexpected keyword argument.{1,4}weights_path.*");
  }

  /** SGLang recomputes after its pause, and {@code troupe serve} by its own configuration. */
  private boolean recomputes(Dialect dialect) {
    boolean resets = false;
    for (JsonNode parameter : paths.path("/reset_prefix_cache").path("post").path("parameters")) {
      resets |= parameter.path("name").asText("").equals("reset_running_requests");
    }
    return switch (dialect) {
      case TROUPE -> true;
      case SGLANG -> routes.contains("/pause_generation");
      case VLLM, VLLM_GENERATE -> resets;
      case LLAMA_SERVER -> false;
    };
  }

  /** SGLang always has the route, and refuses it unless it was started with adapters. */
  private boolean loadsAdapters(Dialect dialect) throws InterruptedException {
    if (dialect != Dialect.SGLANG) {
      return routes.contains("/v1/load_lora_adapter");
    }
    for (String route : List.of("/get_server_info", "/server_info")) {
      JsonNode enabled = wire.get(route, PATIENCE).json().findValue("enable_lora");
      if (enabled != null) {
        return enabled.asBoolean(false) && routes.contains("/load_lora_adapter");
      }
    }
    return false;
  }

  /** Sample requests that show what the routes do not. */
  private final class ProbeRequest {
    private final Dialect dialect;
    private final String model;

    ProbeRequest(Dialect dialect, String model) {
      this.dialect = dialect;
      this.model = model;
    }

    private ObjectNode body(double temperature, boolean stream) {
      return body(new SamplingSettings(temperature, 1), stream);
    }

    private ObjectNode body(SamplingSettings settings, boolean stream) {
      GenerateRequest request =
          new GenerateRequest(
              "probe-" + Long.toHexString(System.nanoTime()),
              model,
              new int[] {PROBE_TOKEN, PROBE_TOKEN},
              1,
              settings,
              1,
              1,
              "",
              Duration.ZERO,
              "");
      return dialect.codec().body(request, stream);
    }

    void one() throws InterruptedException {
      Response answer = wire.post(dialect.codec().path(), body(1, false), PATIENCE);
      if (answer.status() == 503) {
        // A troupe serve before its first weights; its capabilities are known.
        if (dialect == Dialect.TROUPE) {
          found.addAll(
              List.of(
                  Capability.TOKEN_IDS,
                  Capability.LOG_PROBS,
                  Capability.SAMPLED_LOG_PROBS,
                  Capability.PROMPT_ECHO,
                  Capability.STREAM,
                  Capability.STOP_TEXTS,
                  Capability.WEIGHT_SPANS));
          return;
        }
      }
      if (!answer.ok() && answer.status() != NO_SUCH_THING) {
        throw new InferenceCallException(wire.endpoint(), answer.fault());
      }
      try {
        CompletionChunk piece = dialect.codec().pieces(JsonFields.parse(answer.body())).getFirst();
        if (piece.tokens().length == 1) {
          found.add(Capability.TOKEN_IDS);
        }
        if (piece.logProbs().length == 1 && Double.isFinite(piece.logProbs()[0])) {
          found.add(Capability.LOG_PROBS);
        }
        if (piece.prompt().length > 0) {
          found.add(Capability.PROMPT_ECHO);
        }
        if (answer.json().findValue("weight_versions") != null && !piece.versions().isEmpty()) {
          found.add(Capability.WEIGHT_SPANS);
        }
      } catch (MalformedResponseException otherShape) {
        found.remove(Capability.TOKEN_IDS);
      }
    }

    /** Whether the best token's log-probability changes with the temperature. */
    void temperature() throws InterruptedException {
      if (dialect == Dialect.TROUPE || dialect == Dialect.LLAMA_SERVER) { // asked for by name
        found.add(Capability.SAMPLED_LOG_PROBS);
        return;
      }
      double cool = best(0.5);
      double warm = best(2);
      if (Double.isFinite(cool) && Double.isFinite(warm) && Math.abs(cool - warm) > 1e-6) {
        found.add(Capability.SAMPLED_LOG_PROBS);
      }
    }

    private double best(double temperature) throws InterruptedException {
      ObjectNode body = body(temperature, false);
      boolean sglang = dialect == Dialect.SGLANG;
      body.put(sglang ? "top_logprobs_num" : "logprobs", 1);
      JsonNode answer = wire.post(dialect.codec().path(), body, PATIENCE).json();
      JsonNode top =
          sglang
              ? answer.path("meta_info").path("output_top_logprobs").path(0)
              : answer.path("choices").path(0).path("logprobs").path("top_logprobs").path(0);
      double best = Double.NEGATIVE_INFINITY;
      for (JsonNode one : top) {
        JsonNode logProb = sglang ? one.path(0) : one; // SGLang: number, id, text
        best = Math.max(best, logProb.asDouble(Double.NEGATIVE_INFINITY));
      }
      return best;
    }

    void streamed() throws InterruptedException {
      Response answer = wire.post(dialect.codec().path(), body(1, true), PATIENCE);
      if (answer.ok() && answer.body().contains("data:")) {
        found.add(Capability.STREAM);
      }
    }

    void stopTexts() throws InterruptedException {
      SamplingSettings settings =
          new SamplingSettings(1, 1)
              .withStops(
                  IntStream.rangeClosed(0, StopMatcher.MOST_OF_A_REQUEST)
                      .mapToObj("<troupe-stop-%d>"::formatted)
                      .toList());
      if (wire.post(dialect.codec().path(), body(settings, false), PATIENCE).ok()) {
        found.add(Capability.STOP_TEXTS);
      }
    }

    void prompt() throws InterruptedException {
      if (dialect == Dialect.LLAMA_SERVER) {
        return;
      }
      ObjectNode body = body(1, false);
      if (dialect == Dialect.SGLANG) {
        body.put("logprob_start_len", 0);
      } else {
        body.put("prompt_logprobs", 0);
      }
      JsonNode answer = wire.post(dialect.codec().path(), body, PATIENCE).json();
      if (answer.path("choices").path(0).path("prompt_logprobs").size() == 2
          || answer.path("meta_info").path("input_token_logprobs").size() == 2) {
        found.add(Capability.PROMPT_LOG_PROBS);
      }
    }
  }
}
