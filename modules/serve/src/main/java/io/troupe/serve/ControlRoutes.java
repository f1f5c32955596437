package io.troupe.serve;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.gateway.RefusedTurnException;
import io.troupe.gateway.dialog.MalformedTurnException;
import io.troupe.gateway.fields.RequestRoute;
import io.troupe.gateway.wire.ChatCompletions;
import io.troupe.serve.completion.CompletionRequestReader;
import io.troupe.serve.model.HttpErrorException;
import io.troupe.serve.model.ServedAdapters;
import io.troupe.serve.model.ServedModel;
import io.troupe.serve.model.ServedWeights;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Answers every route but completions: the server's description, its metrics and its weights. */
final class ControlRoutes {
  private static final String MODEL = "/v1/models/";
  private static final String LOAD_ADAPTER = "/v1/load_lora_adapter";
  private static final String UNLOAD_ADAPTER = "/v1/unload_lora_adapter";

  private static final Set<String> COMMANDS =
      Set.of(
          "/pause",
          "/resume",
          "/abort_requests",
          "/update_weights_from_disk",
          LOAD_ADAPTER,
          UNLOAD_ADAPTER);

  /**
   * The routes, as {@code /openapi.json} lists them; the adapter routes only where adapters are
   * allowed.
   */
  private static final Map<String, String> ROUTES =
      Map.ofEntries(
          Map.entry("/v1/completions", "post"),
          Map.entry("/v1/chat/completions", "post"),
          Map.entry("/v1/responses", "post"),
          Map.entry("/v1/messages", "post"),
          Map.entry("/v1/messages/count_tokens", "post"),
          Map.entry("/v1/models", "get"),
          Map.entry("/tokenize", "post"),
          Map.entry("/detokenize", "post"),
          Map.entry("/health", "get"),
          Map.entry("/ping", "get"),
          Map.entry("/version", "get"),
          Map.entry("/metrics", "get"),
          Map.entry("/weight_info", "get"),
          Map.entry("/update_weights_from_disk", "post"),
          Map.entry(LOAD_ADAPTER, "post"),
          Map.entry(UNLOAD_ADAPTER, "post"),
          Map.entry("/pause", "post"),
          Map.entry("/resume", "post"),
          Map.entry("/is_paused", "get"),
          Map.entry("/abort_requests", "post"),
          Map.entry("/openapi.json", "get"));

  /** Whether a route changes what other clients get. */
  static boolean commands(String path) {
    return COMMANDS.contains(path);
  }

  /** Reads a request's body when a route needs it. */
  @FunctionalInterface
  interface Body {
    JsonNode read() throws IOException, HttpErrorException;
  }

  private final ServedModel served;
  private final ServedWeights weights;
  private final ServedAdapters adapters;
  private final RequestTable table;
  private final ServerCounters counters;
  private final String version;
  private final long startNanos;

  ControlRoutes(
      ServedModel served,
      ServedWeights weights,
      ServedAdapters adapters,
      RequestTable table,
      ServerCounters counters,
      String version,
      long startNanos) {
    this.served = served;
    this.weights = weights;
    this.adapters = adapters;
    this.table = table;
    this.counters = counters;
    this.version = version;
    this.startNanos = startNanos;
  }

  /**
   * Answers the request.
   *
   * @return false if there is no such route
   */
  boolean answer(HttpReply reply, String method, String path, String query, Body body)
      throws IOException, InterruptedException, HttpErrorException, RefusedTurnException {
    if (path.startsWith(MODEL) && method.equals("GET")) {
      reply.json(200, model(path.substring(MODEL.length())));
      return true;
    }
    String expected = ROUTES.getOrDefault(path, "");
    if (expected.isEmpty() || !offered(path)) {
      return false;
    }
    if (!method.toLowerCase(Locale.ROOT).equals(expected)) {
      throw HttpErrorException.of(
          405,
          "MethodNotAllowed",
          "%s is asked for by %s".formatted(path, expected.toUpperCase(Locale.ROOT)));
    }
    switch (path) {
      case "/health", "/ping" -> health(reply);
      case "/version" ->
          reply.json(200, JsonFields.object().put("version", version).put("server", "troupe"));
      case "/metrics" -> reply.text(200, metrics());
      case "/openapi.json" -> reply.json(200, routes());
      case "/v1/models" -> reply.json(200, models());
      case "/tokenize" -> reply.json(200, tokenize(read(RequestRoute.TOKENIZE, body)));
      case "/detokenize" -> reply.json(200, detokenize(read(RequestRoute.DETOKENIZE, body)));
      case "/weight_info" ->
          reply.json(200, JsonFields.object().put("weight_version", weights.currentTag()));
      case "/update_weights_from_disk" -> update(reply, read(RequestRoute.UPDATE_WEIGHTS, body));
      case LOAD_ADAPTER -> reply.text(200, load(read(RequestRoute.LOAD_ADAPTER, body)));
      case UNLOAD_ADAPTER -> reply.text(200, unload(read(RequestRoute.UNLOAD_ADAPTER, body)));
      case "/pause" -> pause(reply, withQuery(body.read(), query));
      case "/resume" -> {
        JsonNode _ = read(RequestRoute.RESUME, body);
        table.resume();
        reply.json(200, JsonFields.object().put("status", "resumed"));
      }
      case "/is_paused" -> reply.json(200, JsonFields.object().put("is_paused", table.isPaused()));
      case "/abort_requests" -> reply.json(200, abort(read(RequestRoute.ABORT_REQUESTS, body)));
      default -> {
        return false;
      }
    }
    return true;
  }

  private static JsonNode read(RequestRoute route, Body body)
      throws IOException, HttpErrorException {
    JsonNode read = body.read();
    CompletionRequestReader.check(route, read);
    return read;
  }

  /** Parameters of a path count as fields of the body. */
  private static JsonNode withQuery(JsonNode body, String query) throws HttpErrorException {
    ObjectNode all = JsonFields.object().setAll((ObjectNode) body);
    for (String part : query.isEmpty() ? new String[0] : query.split("&", -1)) {
      int equals = part.indexOf('=');
      all.put(
          equals < 0 ? part : part.substring(0, equals),
          equals < 0 ? "" : part.substring(equals + 1));
    }
    CompletionRequestReader.check(RequestRoute.PAUSE, all);
    return all;
  }

  private void health(HttpReply reply) throws IOException {
    boolean coming = weights.coming();
    reply.json(
        coming ? 503 : 200,
        JsonFields.object()
            .put("status", coming ? "reads its weights" : "ok")
            .put("weights", weights.currentTag()));
  }

  private boolean offered(String path) {
    return adapters.offered() || !(path.equals(LOAD_ADAPTER) || path.equals(UNLOAD_ADAPTER));
  }

  private String metrics() {
    return counters.text(
        table.waiting(),
        table.isPaused(),
        weights.current().map(current -> current.number()).orElse(-1L),
        (System.nanoTime() - startNanos) / 1e9);
  }

  private ObjectNode routes() {
    ObjectNode json = JsonFields.object().put("openapi", "3.1.0");
    json.putObject("info").put("title", "troupe serve").put("version", version);
    ObjectNode paths = json.putObject("paths");
    ROUTES.keySet().stream()
        .filter(this::offered)
        .sorted()
        .forEach(path -> paths.putObject(path).putObject(ROUTES.get(path)));
    return json;
  }

  private ObjectNode model(String name) throws HttpErrorException {
    for (JsonNode each : models().path("data")) {
      if (each.path("id").asText().equals(name)) {
        return (ObjectNode) each;
      }
    }
    throw HttpErrorException.of(
        404, "NotFoundError", "the model `%s` does not exist".formatted(name));
  }

  private ObjectNode models() {
    ObjectNode json = JsonFields.object().put("object", "list");
    ArrayNode data = json.putArray("data");
    model(data, served.model()).putNull("parent");
    adapters
        .folders()
        .forEach(
            (name, folder) ->
                model(data, name).put("parent", served.model()).put("root", folder.toString()));
    return json;
  }

  private ObjectNode model(ArrayNode data, String name) {
    return data.addObject()
        .put("id", name)
        .put("object", "model")
        .put("owned_by", "troupe")
        .put("max_model_len", served.contextLength())
        .put("vocabulary_size", served.tokenizer().vocabularySize());
  }

  private ObjectNode tokenize(JsonNode body) throws HttpErrorException, RefusedTurnException {
    boolean chat = body.hasNonNull("messages");
    if (chat == body.hasNonNull("prompt")) {
      throw HttpErrorException.bad("prompt", "send prompt, which is a text, or messages");
    }
    int[] ids = chat ? conversation(body) : text(body);
    ObjectNode json =
        JsonFields.object().put("count", ids.length).put("max_model_len", served.contextLength());
    ArrayNode tokens = json.putArray("tokens");
    for (int id : ids) {
      tokens.add(id);
    }
    return json;
  }

  private int[] text(JsonNode body) throws HttpErrorException {
    try {
      return served.encoded(
          body.path("prompt").textValue(), body.path("add_special_tokens").asBoolean(true));
    } catch (IllegalArgumentException foreign) {
      throw HttpErrorException.bad("prompt", String.valueOf(foreign.getMessage()));
    }
  }

  private int[] conversation(JsonNode body) throws HttpErrorException, RefusedTurnException {
    try {
      return served.codec().encode(ChatCompletions.request(body), Optional.empty());
    } catch (MalformedTurnException malformed) {
      throw HttpErrorException.bad(malformed.parameter(), String.valueOf(malformed.getMessage()));
    }
  }

  private ObjectNode detokenize(JsonNode body) throws HttpErrorException {
    int size = served.tokenizer().vocabularySize();
    int[] ids = new int[body.path("tokens").size()];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = body.path("tokens").path(i).intValue();
      if (ids[i] >= size) {
        throw HttpErrorException.bad(
            "tokens", "token %d is no id in [0, %d]".formatted(i, size - 1));
      }
    }
    return JsonFields.object().put("prompt", served.tokenizer().decode(ids));
  }

  /** Loads an adapter. The lock keeps the base weights the same during the merge and after it. */
  private synchronized String load(JsonNode body) throws HttpErrorException {
    String name = text(body, "lora_name");
    Path folder = path(body, "lora_path");
    WeightSnapshot base =
        weights
            .kept()
            .orElseThrow(
                () ->
                    HttpErrorException.of(503, "ServiceUnavailable", "no weights were loaded yet"));
    adapters.load(name, folder, base, served.model());
    return "Success: the adapter %s is loaded.".formatted(name);
  }

  private String unload(JsonNode body) throws HttpErrorException {
    String name = text(body, "lora_name");
    adapters.unload(name);
    return "Success: the adapter %s is unloaded.".formatted(name);
  }

  private static String text(JsonNode body, String field) throws HttpErrorException {
    if (!body.path(field).isTextual()) {
      throw HttpErrorException.bad(field, field + " is a text");
    }
    return body.path(field).textValue();
  }

  private static Path path(JsonNode body, String field) throws HttpErrorException {
    try {
      return Path.of(text(body, field));
    } catch (InvalidPathException none) {
      throw HttpErrorException.bad(field, "%s is no path: %s".formatted(field, none.getMessage()));
    }
  }

  private synchronized void update(HttpReply reply, JsonNode body)
      throws IOException, HttpErrorException {
    Path directory = path(body, "model_path");
    if (weights.coming()) {
      throw HttpErrorException.of(503, "ServiceUnavailable", "its first weights are being read");
    }
    if (!adapters.names().isEmpty()) {
      throw HttpErrorException.bad(
          "model_path",
          "the adapters %s are of the weights in use; unload them first"
              .formatted(adapters.names()));
    }
    ObjectNode json = JsonFields.object();
    int status = 200;
    try {
      String tag = weights.load(directory, body.path("weight_version").asText(""));
      counters.updates().incrementAndGet();
      json.put("success", true).put("message", "weights loaded").put("weight_version", tag);
    } catch (IOException | IllegalArgumentException unfit) {
      status = 400;
      json.put("success", false)
          .put("message", String.valueOf(unfit.getMessage()))
          .put("weight_version", weights.currentTag());
    }
    reply.json(status, json.put("num_paused_requests", table.waiting()));
  }

  private void pause(HttpReply reply, JsonNode fields)
      throws IOException, InterruptedException, HttpErrorException {
    String mode = fields.path("mode").asText("abort");
    try {
      table.pause(RequestTable.PauseMode.valueOf(mode.toUpperCase(Locale.ROOT)));
    } catch (UnsupportedOperationException cannot) {
      throw HttpErrorException.of(501, "NotImplementedError", String.valueOf(cannot.getMessage()));
    }
    reply.json(200, JsonFields.object().put("status", "paused"));
  }

  private ObjectNode abort(JsonNode body) {
    List<String> ids = new ArrayList<>();
    body.path("request_ids").forEach(id -> ids.add(id.asText()));
    return JsonFields.object().put("status", "aborted").put("aborted", table.abort(ids));
  }
}
