package io.troupe.benchmarks.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.StopReason;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.TokenListener;
import io.troupe.gateway.GatewayServer;
import io.troupe.gateway.GatewaySession;
import io.troupe.gateway.TurnCodec;
import io.troupe.gateway.dialog.PlainConversation;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** An agent that sends its whole conversation back with each result of a tool. */
final class BenchmarkAgent {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final AtomicLong EPISODES = new AtomicLong();
  private static final String KEY = "key";
  private static final String CALL = "[calc 12*34]";
  private static final int QUESTION = 4_000;
  private static final int RESULT = 400;
  private static final CharacterTokenizer TOKENIZER =
      new CharacterTokenizer(
          IntStream.range(' ', 127).mapToObj(Character::toString).collect(Collectors.joining()));
  private static final String TOOLS =
      "[{\"type\":\"function\",\"function\":{\"name\":\"calc\",\"description\":\"Calculates.\","
          + "\"parameters\":{\"type\":\"object\",\"properties\":{\"expression\":{\"type\":\"string\"}}}}}]";

  private final GatewayServer server;
  private final int turns;

  BenchmarkAgent(GatewayServer server, int turns) {
    this.server = server;
    this.turns = turns;
  }

  /** A policy that calls a tool at once, whatever it is asked. */
  private static final class InstantPolicy implements GatewaySession.Policy {
    @Override
    public CompletionStage<Completion> sample(
        int[] request, SamplingSettings settings, int number, TokenListener listener) {
      int[] tokens = TOKENIZER.encode(CALL);
      return CompletableFuture.completedStage(
          new Completion(
              tokens,
              new float[tokens.length],
              TokenVersions.uniform(WeightVersion.BASE, tokens.length),
              FinishReason.STOP_STRING));
    }

    @Override
    public void cancel() {
      // Nothing is ever open.
    }
  }

  /** Runs episodes one after the other; returns the milliseconds of every turn. */
  double[] episodes(int count) throws IOException, InterruptedException {
    List<double[]> millis = new ArrayList<>();
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      for (int i = 0; i < count; i++) {
        millis.add(episode(client));
      }
    }
    return GatewayBenchmark.joined(millis);
  }

  /**
   * Plays episodes and leaves them open, as those of agents that wait for a tool.
   *
   * @return bytes of the heap that they hold
   */
  long idle(int count) throws IOException, InterruptedException {
    List<GatewaySession> open = new ArrayList<>();
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      long before = heap();
      for (int i = 0; i < count; i++) {
        GatewaySession session = opened();
        double[] _ = turns(client, session);
        open.add(session);
      }
      long held = heap() - before;
      open.forEach(server::forget);
      return held;
    }
  }

  private static long heap() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  private GatewaySession opened() {
    LeaseId lease = new LeaseId(new GroupId(EPISODES.incrementAndGet()), 1);
    GatewaySession session =
        GatewaySession.of(
            "g%d".formatted(lease.group().number()),
            KEY,
            lease,
            new GatewaySession.Rules(
                new TurnCodec(new PlainConversation(TOKENIZER), TOKENIZER, Integer.MAX_VALUE),
                turns,
                turns),
            new SamplingSettings(1, CALL.length()),
            new InstantPolicy());
    server.open(session);
    return session;
  }

  private double[] episode(HttpClient client) throws IOException, InterruptedException {
    GatewaySession session = opened();
    double[] millis = turns(client, session);
    server.forget(session);
    Episode episode = session.end(StopReason.COMPLETED).orElseThrow();
    if (episode.sequences().size() != 1 || episode.turns().size() != turns) {
      throw new IOException(
          "an episode of %d turns is %d turns in %d sequences; the gateway lost its way"
              .formatted(turns, episode.turns().size(), episode.sequences().size()));
    }
    return millis;
  }

  private double[] turns(HttpClient client, GatewaySession session)
      throws IOException, InterruptedException {
    ObjectNode body = JSON.createObjectNode();
    ArrayNode messages = body.putArray("messages");
    messages.addObject().put("role", "user").put("content", "q".repeat(QUESTION));
    body.set("tools", JSON.readTree(TOOLS));
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(server.url(session) + "/v1/chat/completions"))
            .header("Content-Type", "application/json")
            .header("Authorization", "Bearer " + KEY);
    double[] millis = new double[turns];
    for (int turn = 0; turn < turns; turn++) {
      byte[] sent = JSON.writeValueAsBytes(body);
      long start = System.nanoTime();
      HttpResponse<byte[]> response =
          client.send(
              request.POST(HttpRequest.BodyPublishers.ofByteArray(sent)).build(),
              HttpResponse.BodyHandlers.ofByteArray());
      millis[turn] = (System.nanoTime() - start) / 1e6;
      JsonNode message = JSON.readTree(response.body()).at("/choices/0/message");
      messages.add(message);
      messages
          .addObject()
          .put("role", "tool")
          .put("tool_call_id", message.at("/tool_calls/0/id").asText())
          .put("content", "r".repeat(RESULT));
    }
    return millis;
  }
}
