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
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * Plays vLLM's routes by a script. What it samples depends on the tokens before alone, so that a
 * completion that was cut and continued is, if all is well, the one that was never cut.
 */
public final class FakeVllm implements AutoCloseable {
  private static final int LENGTH = 15;

  /** The way in which an answer is cut. */
  public enum Cut {
    /** Not at all; it goes on after what is done meanwhile. */
    NONE,
    ABORT,
    CLOSE,
    ERROR,
    ABORT_WITHOUT_LOG_PROBS,
    /** 503 in place of an answer; tokens mean nothing. */
    UNAVAILABLE
  }

  /**
   * Cuts one answer.
   *
   * @param tokens that are sent before
   * @param meanwhile is done between the last of them and the cut
   */
  public record Script(Cut cut, int tokens, Runnable meanwhile) {
    public Script(Cut cut, int tokens) {
      this(cut, tokens, () -> {});
    }
  }

  private final HttpServer server;
  private final int end;
  private final Queue<Script> scripts = new ConcurrentLinkedQueue<>();
  private final List<JsonNode> samplingRequests = new CopyOnWriteArrayList<>();
  private final Set<String> adapters = ConcurrentHashMap.newKeySet();
  private final Map<String, Path> roots = new ConcurrentHashMap<>();
  private final List<String> calls = new CopyOnWriteArrayList<>();
  private final List<String> story = new CopyOnWriteArrayList<>();
  private final AtomicInteger refusals = new AtomicInteger();
  private volatile boolean failsUnloads;
  private volatile boolean failsTries;
  private volatile boolean reloadsItsOwnAlone;
  private final AtomicInteger samples = new AtomicInteger();
  private volatile boolean failsReloads;
  private volatile int mostStops = Integer.MAX_VALUE;
  private volatile boolean resets = true;
  private volatile boolean refusesSampling;
  private volatile Runnable onLoad = () -> {};
  private volatile Runnable onReload = () -> {};
  private volatile String tells = "";
  private volatile String weights = "default";
  private volatile CountDownLatch hangs = new CountDownLatch(0);
  private volatile boolean paused;
  private volatile double shift;
  private volatile boolean listsNoAdapters;
  private volatile boolean namesNoModel;
  private volatile int mostWhole = Integer.MAX_VALUE;
  private final List<String> weightChecks = new CopyOnWriteArrayList<>();

  /** With the toy policy's token that ends a completion. */
  public FakeVllm() throws IOException {
    try (ToyPolicy policy = ToyFixture.policy(Duration.ZERO)) {
      end = policy.tokenizer().endOfSequence();
    }
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::answer);
    server.start();
  }

  public String base() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Requests that come next are cut so, one after the other; those after them are not. */
  public void cut(Script... next) {
    scripts.addAll(List.of(next));
  }

  /** Returns the streamed sample requests of all clients but the probe. */
  public List<JsonNode> samplingRequests() {
    return samplingRequests;
  }

  /** Returns the loaded adapters. */
  public Set<String> adapters() {
    return adapters;
  }

  /** Routes that change something, as they were called. */
  public List<String> calls() {
    return calls;
  }

  /**
   * Returns the requests with the ends of answers, {@code end MODEL}, each noted before it is sent.
   */
  public List<String> story() {
    return story;
  }

  /** The next adapters are refused, so many times. */
  public void refuseAdapters(int times) {
    refusals.set(times);
  }

  /** Whether it fails at unloading from now on. */
  public void failUnloads(boolean whether) {
    failsUnloads = whether;
  }

  /** From now on its workers' reload takes no directory. */
  void reloadItsOwnAlone() {
    reloadsItsOwnAlone = true;
  }

  /** Whether it refuses, from now on, every sample but those of the probe and of trials. */
  public void refuseSampling(boolean whether) {
    refusesSampling = whether;
  }

  /** Returns the number of samples so far, those of probes and trials included. */
  int samples() {
    return samples.get();
  }

  /** Whether its reload fails from now on, as where it does not see the folder. */
  void failReloads(boolean whether) {
    failsReloads = whether;
  }

  /** From now on it takes no more stop texts than this. */
  void takeStops(int most) {
    mostStops = most;
  }

  /** From now on it resets no requests in flight. */
  void resetNothing() {
    resets = false;
  }

  /** Whether the sample at the end of an update fails from now on. */
  public void failTries(boolean whether) {
    failsTries = whether;
  }

  /** The sample at the end of an update does not end from now on, until this server does. */
  public void hangTries() {
    hangs = new CountDownLatch(1);
  }

  /** Is done within the next loading of an adapter. */
  public void whileLoading(Runnable what) {
    onLoad = what;
  }

  /** Is done within each reload of merged weights. */
  void whileReloading(Runnable what) {
    onReload = what;
  }

  /** The names of the sample requests that checked the weights. */
  public List<String> weightChecks() {
    return weightChecks;
  }

  /** From now on its log-probabilities are so much lower than those of {@link #scores}. */
  public void shift(double nats) {
    shift = nats;
  }

  /** Whether {@code /v1/models} leaves out adapters from now on. */
  public void listNoAdapters(boolean whether) {
    listsNoAdapters = whether;
  }

  /** Completions name no model from now on. */
  public void nameNoModel() {
    namesNoModel = true;
  }

  /** From now on what it samples in one piece has no more tokens. */
  public void endAfter(int tokens) {
    mostWhole = tokens;
  }

  /** Returns the scorer of the policy whose tokens the server samples. */
  public static LocalScorer scores() {
    return (_, sequences) ->
        sequences.stream()
            .map(
                tokens ->
                    IntStream.range(1, tokens.length)
                        .mapToDouble(i -> -worth(Arrays.copyOf(tokens, i + 1)))
                        .toArray())
            .toList();
  }

  /** Sets the server's name of its weights. */
  public void nameWeights(String name) {
    weights = name;
  }

  /** From now on answers say that this sampled them. */
  public void tell(String model) {
    tells = model;
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      JsonNode asked = body.isEmpty() ? JsonFields.object() : JsonFields.parse(body);
      switch (exchange.getRequestURI().getPath()) {
        case "/v1/models" -> say(exchange, models());
        case "/version" -> say(exchange, "{\"version\":\"0.30.0\"}");
        case "/openapi.json" ->
            say(
                exchange,
                "{\"paths\":{\"/v1/completions\":{},\"/collective_rpc\":{},\"/pause\":{},"
                    + "\"/resume\":{},\"/v1/load_lora_adapter\":{},\"/reset_prefix_cache\":"
                    + "{\"post\":{\"parameters\":[{\"name\":\"%s\",\"in\":\"query\"}]}}}}"
                        .formatted(resets ? "reset_running_requests" : "reset_external"));
        case "/reset_prefix_cache" -> {
          called("reset " + exchange.getRequestURI().getQuery());
          say(exchange, "");
        }
        case "/is_paused" -> say(exchange, "{\"is_paused\":%b}".formatted(paused));
        case "/pause" -> {
          story.add("pause " + exchange.getRequestURI().getQuery());
          pause(exchange, true);
        }
        case "/resume" -> pause(exchange, false);
        case "/collective_rpc" -> {
          String unknown =
              reloadsItsOwnAlone
                  ? "weights_path"
                  : asked.path("kwargs").has("troupe_tries") ? "troupe_tries" : "";
          if (unknown.isEmpty() && failsReloads) {
            called("failed reload");
            say(exchange, 500, "{\"error\":{\"message\":\"Cannot find any model weights\"}}");
          } else if (unknown.isEmpty()) {
            called("reload");
            onReload.run();
            say(exchange, "{\"results\":[null]}");
          } else {
            say(
                exchange,
                500,
                ("{\"error\":{\"message\":\"Call to collective_rpc method failed:"
                        + " GPUModelRunner.reload_weights() got an unexpected keyword argument"
                        + " '%s'\"}}")
                    .formatted(unknown));
          }
        }
        case "/v1/load_lora_adapter" -> loadAdapter(exchange, asked);
        case "/v1/unload_lora_adapter" -> {
          String name = asked.path("lora_name").asText();
          called("unload " + name);
          say(exchange, failsUnloads ? 500 : adapters.remove(name) ? 200 : 404, "Success");
        }
        case "/update_weight_version" -> {
          weights = asked.path("new_version").asText();
          say(exchange, "{\"success\":true}");
        }
        case "/weight_info" -> say(exchange, "{\"weight_version\":\"%s\"}".formatted(weights));
        case "/v1/completions" -> complete(exchange, asked);
        default -> exchange.sendResponseHeaders(404, -1);
      }
    } catch (MalformedResponseException bad) {
      throw new IOException(bad);
    }
  }

  private String models() {
    ObjectNode json = JsonFields.object();
    ArrayNode data = json.putArray("data");
    data.addObject().put("id", "base").put("max_model_len", 64);
    (listsNoAdapters ? Set.<String>of() : adapters)
        .forEach(
            name ->
                data.addObject()
                    .put("id", name)
                    .put("parent", "base")
                    .put("root", String.valueOf(roots.get(name))));
    return json.toString();
  }

  /** Has an adapter that somebody else has loaded. */
  public void keep(String name, Path folder) {
    roots.put(name, folder);
    adapters.add(name);
  }

  private void called(String what) {
    calls.add(what);
    story.add(what);
  }

  private void pause(HttpExchange exchange, boolean whether) throws IOException {
    paused = whether;
    say(exchange, "{}");
  }

  private void loadAdapter(HttpExchange exchange, JsonNode asked) throws IOException {
    String name = asked.path("lora_name").asText();
    Path folder = Path.of(asked.path("lora_path").asText());
    called("load " + name);
    Runnable meanwhile = onLoad;
    onLoad = () -> {};
    meanwhile.run();
    if (refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      say(exchange, 400, "{\"error\":{\"message\":\"LoRA rank 2 is greater than max_lora_rank\"}}");
    } else if (!Files.exists(folder.resolve("adapter_config.json"))
        || !Files.exists(folder.resolve("adapter_model.safetensors"))) {
      say(exchange, 404, "{\"error\":{\"message\":\"No adapter found\"}}");
    } else {
      keep(name, folder);
      say(exchange, 200, "Success: LoRA adapter added");
    }
  }

  private static void say(HttpExchange exchange, String json) throws IOException {
    say(exchange, 200, json);
  }

  private static void say(HttpExchange exchange, int status, String json) throws IOException {
    byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  private void complete(HttpExchange exchange, JsonNode asked) throws IOException {
    String model = asked.path("model").asText();
    if (!model.equals("base") && !adapters.contains(model)) {
      say(
          exchange,
          404,
          "{\"error\":{\"message\":\"The model `%s` does not exist.\"}}".formatted(model));
      return;
    }
    if (asked.path("stop").size() > mostStops) {
      say(
          exchange,
          400,
          "{\"error\":{\"message\":\"List should have at most %d items\"}}".formatted(mostStops));
      return;
    }
    int[] prompt = ints(asked.path("prompt"));
    int most = asked.path("max_tokens").asInt();
    samples.incrementAndGet();
    if (!asked.path("stream").asBoolean()) {
      String id = asked.path("request_id").asText();
      boolean fails = failsTries && id.startsWith("try-");
      if (id.startsWith("try-")) {
        awaitEnd();
      }
      if (id.startsWith("check-")) {
        weightChecks.add(id);
      }
      say(exchange, fails ? 500 : 200, whole(asked, prompt, most));
      return;
    }
    boolean probe = asked.path("request_id").asText().startsWith("probe");
    if (!probe) {
      samplingRequests.add(asked);
    }
    if (!probe && refusesSampling) {
      say(exchange, 400, "{\"error\":{\"message\":\"maximum context length\"}}");
      return;
    }
    Script script = probe || scripts.isEmpty() ? new Script(Cut.ABORT, most + 1) : scripts.remove();
    if (script.cut() == Cut.UNAVAILABLE) {
      script.meanwhile().run();
      say(exchange, 503, "{\"error\":{\"message\":\"it starts\"}}");
      return;
    }
    exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
    exchange.sendResponseHeaders(200, 0);
    OutputStream out = exchange.getResponseBody();
    int[] tokens = prompt;
    for (int sampled = 0; sampled < script.tokens() || script.cut() == Cut.NONE; sampled++) {
      if (sampled == script.tokens()) {
        script.meanwhile().run();
      }
      int next = next(tokens);
      boolean stops = next == end;
      boolean full = sampled + 1 == most;
      tokens = Arrays.copyOf(tokens, tokens.length + 1);
      tokens[tokens.length - 1] = next;
      if ((stops || full) && !probe) {
        story.add("end " + model);
      }
      event(out, chunk(asked, tokens, stops ? "stop" : full ? "length" : "", script.cut()));
      if (stops || full) {
        event(out, "[DONE]");
        return;
      }
    }
    script.meanwhile().run();
    story.add("end " + model);
    switch (script.cut()) {
      case NONE, UNAVAILABLE -> throw new IllegalStateException("was answered");
      case ABORT, ABORT_WITHOUT_LOG_PROBS -> {
        if (script.tokens() == 0) { // vLLM says no more than that
          event(out, "[DONE]");
          return;
        }
        event(out, "{\"choices\":[{\"index\":0,\"token_ids\":[],\"finish_reason\":\"abort\"}]}");
        event(out, "[DONE]");
      }
      case ERROR -> {
        event(out, "{\"error\":{\"message\":\"engine dead\"}}");
        event(out, "[DONE]");
      }
      case CLOSE -> {} // and no last chunk: closing the exchange cuts the stream
    }
  }

  private void awaitEnd() {
    try {
      hangs.await();
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  private static void event(OutputStream out, String data) throws IOException {
    out.write("data: %s\n\n".formatted(data).getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  private String chunk(JsonNode asked, int[] tokens, String finish, Cut cut) {
    ObjectNode choice = JsonFields.object().put("index", 0);
    choice.putArray("token_ids").add(tokens[tokens.length - 1]);
    if (cut != Cut.ABORT_WITHOUT_LOG_PROBS) {
      choice.putObject("logprobs").putArray("token_logprobs").add(logProb(tokens, asked));
    }
    if (finish.isEmpty()) {
      choice.putNull("finish_reason");
    } else {
      choice.put("finish_reason", finish);
    }
    ObjectNode json = JsonFields.object().put("model", told(asked));
    json.putArray("choices").add(choice);
    return json.toString();
  }

  private String whole(JsonNode asked, int[] prompt, int most) {
    ObjectNode choice = JsonFields.object().put("index", 0).put("finish_reason", "length");
    ArrayNode ids = choice.putArray("token_ids");
    ObjectNode logProbs = choice.putObject("logprobs");
    ArrayNode numbers = logProbs.putArray("token_logprobs");
    ArrayNode top = logProbs.putArray("top_logprobs");
    int[] tokens = prompt;
    for (int i = 0; i < Math.min(most, mostWhole); i++) {
      tokens = Arrays.copyOf(tokens, tokens.length + 1);
      tokens[tokens.length - 1] = next(tokens);
      ids.add(tokens[tokens.length - 1]);
      numbers.add(logProb(tokens, asked));
      top.addObject().put("token_id:3", -asked.path("temperature").asDouble());
    }
    ObjectNode json = JsonFields.object().put("model", told(asked));
    json.putArray("choices").add(choice);
    return json.toString();
  }

  private String told(JsonNode asked) {
    return namesNoModel ? "" : tells.isEmpty() ? asked.path("model").asText() : tells;
  }

  /** The next token; the end comes where a sequence has its length. */
  private int next(int[] before) {
    return before.length >= LENGTH ? end : 3 + Math.floorMod(Arrays.hashCode(before), 10);
  }

  private double logProb(int[] tokens, JsonNode asked) {
    return -asked.path("temperature").asDouble() * worth(tokens) - shift;
  }

  private static int worth(int[] tokens) {
    return Math.floorMod(Arrays.hashCode(tokens), 7);
  }

  private static int[] ints(JsonNode array) {
    int[] ints = new int[array.size()];
    for (int i = 0; i < ints.length; i++) {
      ints[i] = array.get(i).asInt();
    }
    return ints;
  }

  @Override
  public void close() {
    hangs.countDown();
    server.stop(0);
  }
}
