package io.troupe.engine.http.probe;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.serve.ToyFixture;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.stream.DoubleStream;

/** Plays SGLang's routes by a script; what it samples depends on the tokens before alone. */
final class FakeSglang implements AutoCloseable {
  private static final int LENGTH = 15;
  private static final double LOG_PROB = -0.5;
  private static final String ROUTES =
      "{\"paths\":{\"/generate\":{},\"/update_weights_from_disk\":{},\"/pause_generation\":{},"
          + "\"/load_lora_adapter\":{},\"/unload_lora_adapter\":{}}}";

  /**
   * Ends one answer.
   *
   * @param tokens that are sent before
   * @param finishReason as JSON
   */
  record End(int tokens, String finishReason) {}

  private final HttpServer server;
  private final int end;
  private final boolean lora;
  private final Queue<End> ends = new ConcurrentLinkedQueue<>();
  private final List<JsonNode> samplingRequests = new CopyOnWriteArrayList<>();
  private volatile boolean paused;
  private volatile boolean bare;
  private volatile boolean loadsAdapters = true;
  private final Set<String> adapters = ConcurrentHashMap.newKeySet();

  /**
   * A server.
   *
   * @param lora whether it was started with --enable-lora; it has the routes in any case
   */
  FakeSglang(boolean lora) throws IOException {
    try (ToyPolicy policy = ToyFixture.policy(Duration.ZERO)) {
      end = policy.tokenizer().endOfSequence();
    }
    this.lora = lora;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::answer);
    server.start();
  }

  String base() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Returns the scorer of the policy whose tokens the server samples. */
  static LocalScorer scores() {
    return (_, sequences) ->
        sequences.stream()
            .map(tokens -> DoubleStream.generate(() -> LOG_PROB).limit(tokens.length - 1).toArray())
            .toList();
  }

  /** The next sample ends so. */
  void end(End next) {
    ends.add(next);
  }

  /** Returns the streamed sample requests of all clients but the probe. */
  List<JsonNode> samplingRequests() {
    return samplingRequests;
  }

  /** Samples no token until the server is resumed. */
  void pause() {
    paused = true;
  }

  /** From now on its log-probabilities are of the bare logits. */
  void tellBareLogProbs() {
    bare = true;
  }

  /** Returns the loaded adapters. */
  Set<String> adapters() {
    return adapters;
  }

  /** Acknowledges loadings of adapters from now on, without loading them. */
  void loadNothing() {
    loadsAdapters = false;
  }

  private String loaded() {
    ObjectNode json = JsonFields.object().put("success", true);
    ObjectNode all = json.putObject("loaded_adapters");
    adapters.forEach(name -> all.putObject(name).put("lora_name", name));
    return json.toString();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      JsonNode asked = body.isEmpty() ? JsonFields.object() : JsonFields.parse(body);
      switch (exchange.getRequestURI().getPath()) {
        case "/v1/models" -> say(exchange, 200, "{\"data\":[{\"id\":\"base\"}]}");
        case "/openapi.json" -> say(exchange, 200, ROUTES);
        case "/get_server_info" -> say(exchange, 200, "{\"enable_lora\":%b}".formatted(lora));
        case "/load_lora_adapter" -> {
          if (loadsAdapters) {
            adapters.add(asked.path("lora_name").asText());
          }
          say(exchange, 200, loaded());
        }
        case "/unload_lora_adapter" -> {
          adapters.remove(asked.path("lora_name").asText());
          say(exchange, 200, "{\"success\":true}");
        }
        case "/continue_generation" -> {
          paused = false;
          say(exchange, 200, "{}");
        }
        case "/generate" -> {
          if (paused) { // SGLang would hold it
            say(exchange, 503, "{}");
          } else {
            generate(exchange, asked);
          }
        }
        default -> exchange.sendResponseHeaders(404, -1);
      }
    } catch (MalformedResponseException bad) {
      throw new IOException(bad);
    }
  }

  private static void say(HttpExchange exchange, int status, String json) throws IOException {
    byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  private void generate(HttpExchange exchange, JsonNode asked) throws IOException {
    List<Integer> tokens = new ArrayList<>();
    asked.path("input_ids").forEach(id -> tokens.add(id.asInt()));
    int first = tokens.size();
    int most = asked.path("sampling_params").path("max_new_tokens").asInt();
    boolean probe = asked.path("rid").asText().startsWith("probe");
    String adapter = asked.path("lora_path").asText("");
    String lost =
        adapter.isEmpty() || adapters.contains(adapter)
            ? ""
            : "{\"error\":{\"message\":\"The following requested LoRA adapters are not loaded: %s\"}}"
                .formatted(adapter);
    if (!asked.path("stream").asBoolean()) {
      if (!lost.isEmpty()) {
        say(exchange, 400, lost);
        return;
      }
      while (tokens.size() < first + most) {
        tokens.add(next(tokens));
      }
      double temperature = asked.path("sampling_params").path("temperature").asDouble();
      String top = "\"output_top_logprobs\":[[[%s,5,null]]],".formatted(bare ? -1 : -temperature);
      String told = message(tokens, first, "{\"type\":\"length\"}");
      say(
          exchange,
          200,
          asked.path("top_logprobs_num").asInt(0) == 1
              ? told.replace("\"meta_info\":{", "\"meta_info\":{" + top)
              : told);
      return;
    }
    exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
    exchange.sendResponseHeaders(200, 0);
    OutputStream out = exchange.getResponseBody();
    if (!probe) {
      samplingRequests.add(asked);
    }
    if (!lost.isEmpty()) {
      event(out, lost);
    } else {
      End last = probe || ends.isEmpty() ? new End(most + 1, "") : ends.remove();
      sample(out, tokens, first, most, last);
    }
    event(out, "[DONE]");
  }

  private void sample(OutputStream out, List<Integer> tokens, int first, int most, End last)
      throws IOException {
    for (int sampled = 1; sampled <= last.tokens(); sampled++) {
      int next = next(tokens);
      tokens.add(next);
      boolean stops = next == end;
      boolean over = stops || sampled == most;
      String why = stops ? "{\"type\":\"stop\"}" : "{\"type\":\"length\"}";
      event(out, message(tokens, first, over ? why : "null"));
      if (over) {
        return;
      }
    }
    event(out, message(tokens, first, last.finishReason()));
  }

  private static void event(OutputStream out, String data) throws IOException {
    out.write("data: %s\n\n".formatted(data).getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  /** All tokens so far. */
  private static String message(List<Integer> tokens, int first, String finishReason) {
    ObjectNode json = JsonFields.object();
    ArrayNode ids = json.putArray("output_ids");
    ArrayNode pairs = json.putObject("meta_info").putArray("output_token_logprobs");
    for (int token : tokens.subList(first, tokens.size())) {
      ids.add(token);
      pairs.addArray().add(LOG_PROB).add(token).addNull();
    }
    String text = json.toString();
    return text.substring(0, text.length() - 2) + ",\"finish_reason\":%s}}".formatted(finishReason);
  }

  /** The next token; the end comes where a sequence has its length. */
  private int next(List<Integer> before) {
    return before.size() >= LENGTH ? end : 3 + Math.floorMod(before.hashCode(), 10);
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
